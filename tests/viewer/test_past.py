"""Who joins a run late gets its past, and the past has bounds."""

import threading
from contextlib import contextmanager

import numpy as np
import pytest
from tests.viewer.browser.conftest import until
from tests.viewer.test_live import Viewer, running, simulation

from covey.plain import unpack
from covey.viewer import Live, Server
from covey.viewer.past import News, Past, PastSample, State, newest_of_each_kind, summed_up
from covey.viewer.recorded import layers_of


@contextmanager
def watched_late(steps, **options):
    """Run some steps without a viewer, then pause; yield what an observer saw, the simulation and the server."""
    live, seen, reached = Live(), [], threading.Event()
    sim = simulation(live, **options)

    def observe(snapshot):
        seen.append(snapshot.pose.copy())
        if snapshot.step == steps:
            live.gate.pause()
            reached.set()

    sim.observers.append(observe)
    with Server(live) as server:
        thread = threading.Thread(target=lambda: sim.run(until_s=600.0, before_step=live.before_step), daemon=True)
        thread.start()
        try:
            assert reached.wait(240)
            yield seen, sim, server
        finally:
            live.gate.end()
            thread.join(240)
            assert not thread.is_alive()
            assert live.fault is None


def test_who_joins_late_gets_poses_events_links_and_measurements(tmp_path):
    faults = [{"kind": "radio_dies", "robot": "robot1", "at_s": 1.0}]
    with watched_late(60, faults=faults, share_maps=1.0, recording=tmp_path / "run") as (seen, sim, server):
        viewer = Viewer(server)
        viewer.send(type="watch", rate_hz=60)
        viewer.until(lambda header: header["type"] == "frame")
    past, run = viewer.past, sim.close()
    assert past["step"].tolist() == [*range(61)]
    np.testing.assert_allclose(past["pose"][1:], seen[:60], atol=1e-5)
    assert viewer.frame is not None
    assert viewer.frame["events"] == []
    expected = [(row["step"], row["kind"], row["robot"]) for row in run.events.to_dicts() if row["step"] <= 60]
    assert [(one["step"], one["kind"], one.get("robot", "")) for one in viewer.events] == expected
    index = {name: i for i, name in enumerate(sim.names)}
    assert run.links is not None
    links = [
        [r["step"], index[r["robot"]], index[r["other"]], r["up"]] for r in run.links.to_dicts() if r["step"] <= 60
    ]
    assert past["links"].tolist() == links
    steps = np.round(past["time_s"] / sim.clock.step_s).astype(int)
    assert steps[0] == 1
    assert max(np.diff(steps)) == 10  # once per second
    np.testing.assert_array_equal(past["team:explored_share_union"][1:], run.series("explored_share_union")[:60])
    distance = past["measures_then"][:, 0]
    assert distance.shape == (len(steps), 3)
    np.testing.assert_allclose(distance, run.series("distance_m")[steps - 1], atol=1e-4)


def test_who_comes_goes_and_comes_again_has_no_gap_and_the_world_as_it_was(tmp_path):
    """Nobody looks between steps 10 and 40, in which a wall appears; a frame of before is not sent with the past."""
    wall = {"wall": {"polygon_m": [[1, 1], [2, 1], [2, 2], [1, 2]]}, "at_s": 2.0}
    live = Live(playing=False)
    sim = simulation(live, events=[wall], recording=tmp_path / "run")
    with running(live, sim) as server:
        first = Viewer(server)
        first.send(type="watch", rate_hz=60, details=["measures"])
        first.ask(type="step", count=10)
        first.until(lambda header: header.get("step") == 10)
        first.socket.close()
        live.gate.step(30)
        until(lambda: live.gate.stands and sim.clock.step == 40 and not live.hub.clients)
        second = Viewer(server)
        second.send(type="watch", rate_hz=60, layers=["truth", "first_covered"])
        assert second.until(lambda header: header["type"] == "frame")["step"] == 40
        assert second.past["step"].tolist() == [*range(41)]
        second.ask(type="step", count=12)
        samples = []
        second.until(lambda header: samples.extend(second.arrays.get("time_s", [])) or header.get("step") == 52)
        known = second.past["time_s"].tolist() + [time_s for time_s in samples if time_s > 4.0]
        assert sorted(set(known)) == pytest.approx([0.1 + k for k in range(6)])
        live.gate.end()
    run = sim.close()
    for name in ("explored_share_union", "covered_share"):
        np.testing.assert_array_equal(second.past[f"team:{name}"][1:], run.series(name)[:40])
    np.testing.assert_array_equal(second.past["changed"], run.maps.changed)
    assert len(run.maps.changed)
    np.testing.assert_array_equal(second.layers["first_covered"], layers_of(run)["first_covered"]()[1])


@pytest.mark.parametrize("robots", [1, 30, 1000])
def test_poses_of_a_long_run_stay_within_bounds_and_are_thinned_with_age(robots):
    past, steps = Past(robots, 0.1), 40_000
    for step in range(steps):
        past.add(News(states=[State(step, np.full((robots, 3), step, np.float32), {"a": step})]))
    _, arrays = unpack(past.message())
    kept, poses = arrays["step"].astype(int), arrays["pose"]
    assert poses.nbytes <= 8_000_000 or len(kept) <= 256
    assert (poses == kept[:, None, None]).all()
    assert (arrays["team:a"] == kept).all()
    assert (kept[0], kept[-1]) == (0, steps - 1)
    ages, gaps = kept[-1] - kept[:-1], np.diff(kept)
    recent = ages <= 40
    assert (gaps[recent] == 1).all()
    assert recent.sum() == 40
    assert (gaps <= np.maximum(1, ages / 10)).all()  # a tenth of the age at most, with the least room


def test_samples_of_a_long_run_stay_within_bounds_and_cover_it_evenly():
    past = Past(2, 0.1)
    for step in range(1, 36_001):
        if past.wants(step):
            past.add(News(samples=[PastSample(step / 10, {"b": step}, {"c": np.full(2, step)})]))
    _, arrays = unpack(past.message())
    times = arrays["time_s"]
    assert 500 <= len(times) <= 1000
    assert max(np.diff(times)) <= 3600 / 400
    assert times[0] == 0.1
    assert times[-1] > 3590
    np.testing.assert_array_equal(arrays["team_measure:b"], np.round(times * 10))
    np.testing.assert_array_equal(arrays["measures_then"][:, 0, 1], np.round(times * 10))


def test_many_events_of_a_kind_leave_room_for_others():
    events = [{"kind": "input", "step": 1}, *({"kind": "collision", "step": k} for k in range(5000))]
    kept = newest_of_each_kind(events)
    assert kept[0] == {"kind": "input", "step": 1}
    assert [one["step"] for one in kept[1:]] == [*range(3000, 5000)]


def test_links_that_are_summed_up_leave_the_same_links_up():
    random = np.random.default_rng(1)
    up, changes = set(), []
    for step in range(50_000):
        a, b = sorted(random.choice(20, 2, replace=False).tolist())
        up ^= {(a, b)}
        changes.append((step, a, b, int((a, b) in up)))
    kept = summed_up(changes)
    assert len(kept) <= 20_000 + 20 * 19 / 2
    assert kept[-20_000:] == changes[-20_000:]
    for upto in (1, 5_000, 20_000):
        end = len(kept) - 20_000 + upto
        assert up_after(kept[:end]) == up_after(changes[: 30_000 + upto])


def up_after(changes):
    return {pair for pair, on in {(a, b): on for _, a, b, on in changes}.items() if on}


def test_who_has_missed_too_much_gets_the_past_anew():
    past = Past(1, 0.1)
    past.add(News(events=[{"kind": "input", "step": 0}]))
    known = past.events.end
    assert known >= past.events.whole_from
    for step in range(9):
        past.add(News(events=[{"kind": "collision", "step": step}] * 1000))
    assert known < past.events.whole_from
    assert past.events.since(past.events.end) == []
    assert len(past.events.since(past.events.end - 3)) == 3


def test_a_trail_has_steps_at_equal_distances():
    past = Past(1, 0.1)
    past.add(News(states=[State(step, np.full((1, 3), step, np.float32), {}) for step in range(3000)]))
    assert past.trail(2999) == {}
    assert past.trail(2989)["trail_step"].tolist() == [*range(2990, 3000)]
    trail = past.trail(-1)
    assert trail["trail_step"].tolist() == [*range(0, 3000, 8)]  # 375 of at most 512
    assert trail["trail_pose"][:, 0, 0].tolist() == [*range(0, 3000, 8)]
