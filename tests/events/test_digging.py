"""Robots that move ground from here to there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import covey
from covey.errors import InvalidValueError
from covey.robots.catalogue import disc
from covey.robots.digger import Digger
from covey.world.editing.ground_edits import dig
from covey.world.ground import Ground

ROLLING = Ground.of(np.fromfunction(lambda r, c: np.sin(r / 3) + 0.2 * c, (21, 31)), 1.0, range_m=(-20, 20))


def volume_and_moment(altitude, frame):
    """The integrals of z, x z and y z over the ground: each triangle by the midpoints of its sides, exact for them."""
    x0, y0, s = frame
    rows, columns = (k.ravel() for k in np.meshgrid(*(np.arange(n - 1) for n in altitude.shape), indexing="ij"))
    total = np.zeros(3)
    for corners in (((0, 0), (0, 1), (1, 1)), ((0, 0), (1, 0), (1, 1))):
        at = [(rows + r, columns + c) for r, c in corners]
        for a, b in ((0, 1), (1, 2), (2, 0)):
            z = (altitude[at[a]] + altitude[at[b]]) / 2
            x, y = (x0 + s * (at[a][1] + at[b][1]) / 2, y0 + s * (at[a][0] + at[b][0]) / 2)
            total += np.array([z.sum(), (x * z).sum(), (y * z).sum()]) * s * s / 6
    return total


def digger(controller, start=(0.0, 0.0, 0.0), world=None, **options):
    robot = disc().model_copy(update={"digger": Digger(reach_m=1.5, most_m3=0.2, load_s=1.0, radius_m=0.4)})
    group = covey.Group("d", robot, [start], controller)
    return covey.Simulation(world or ROLLING.world(), [group], stop=covey.Stop(timeout_s=3), **options)


async def one_load(robot):
    await robot.dig((1.2, 0.3), (-0.4, 1.1), 0.2)
    assert robot.time == pytest.approx(1.0)  # as long as a load takes


def test_ground_is_moved_from_here_to_there_and_none_of_it_is_lost():
    sim = digger(one_load)
    before, frame = sim.world.ground.altitude.copy(), sim.world.ground.frame
    run = sim.run()
    after = sim.world.ground.altitude
    moved = volume_and_moment(after, frame) - volume_and_moment(before, frame)
    # 0.2 m3 are carried by (-1.6, 0.8) m; nothing comes or goes.
    np.testing.assert_allclose(moved, [0.0, 0.2 * -1.6, 0.2 * 0.8], atol=1e-9)
    sunk = np.minimum(after - before, 0)
    assert volume_and_moment(sunk, frame)[0] < -0.15  # what was taken up has not just been spread
    assert sim.altitude_at((1.0, 0.0)) < ROLLING.altitude_at((1.0, 0.0)) - 0.05
    assert sim.altitude_at((0.0, 1.0)) > ROLLING.altitude_at((0.0, 1.0)) + 0.05
    (event,) = run.events.filter(run.events["kind"] == "ground_changed").iter_rows(named=True)
    assert (event["robot"], event["other"], event["step"]) == ("d0", "dig", 2)
    assert not (run.events["kind"] == "controller_failed").any()


@pytest.mark.slow
@given(
    spacing=st.floats(0.05, 2.0), radius=st.floats(0.05, 2.0), volume=st.floats(1e-3, 1.0),
    from_x=st.floats(-5, 5), from_y=st.floats(-5, 5), to_x=st.floats(-5, 5), to_y=st.floats(-5, 5),
)  # fmt: skip
def test_volume_is_kept_whatever_is_dug(spacing, radius, volume, from_x, from_y, to_x, to_y):
    count = int(20 / spacing) + 1
    ground = Ground.of(np.zeros((count, count)), spacing, range_m=(-1e4, 1e4))
    edit = dig(ground, (from_x, from_y), (to_x, to_y), volume, radius)
    carried = volume_and_moment(ground.edited(edit).altitude, ground.frame)
    size = float(np.abs(edit.after).sum()) * spacing**2 + volume
    np.testing.assert_allclose(
        carried, [0, volume * (to_x - from_x), volume * (to_y - from_y)], atol=1e-9 * max(size, 1.0) * 10
    )


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (((1.6, 0.0), (0.0, 0.0), 0.1), "from_m is .* 1.60 m from d0, which reaches 1.5 m; drive nearer"),
        (((0.5, 0.0), (0.0, -1.6), 0.1), "to_m is .* reaches 1.5 m"),
        (((float("nan"), 0.0), (0.0, 0.0), 0.1), "from_m is"),
        (((1.0, 0.0), (0.0, 1.0), 0.3), "at most most_m3, 0.2 m3"),
        (((1.0, 0.0), (0.0, 1.0), -0.1), "cannot move -0.1 m3"),
        (((1.0, 0.0), (0.0, 1.0), float("nan")), "cannot move nan m3"),
    ],
)
def test_what_a_digger_cannot_do_is_refused(call, said):
    sim = digger(lambda robot: None)
    with pytest.raises(InvalidValueError, match=said):
        sim.robot("d0").dig(*call)
    sim.step()
    assert sim.world.ground.version == 0


def test_a_robot_without_a_tool_cannot_dig_and_one_with_a_load_begins_no_other():
    sim = covey.Simulation(ROLLING.world(), 1, lambda robot: None)
    with pytest.raises(InvalidValueError, match=r"has no digger; give its robot `digger: \{reach_m: 1\}`"):
        sim.robot(sim.names[0]).dig((0.5, 0), (0, 0.5), 0.01)
    robot = digger(lambda robot: None).robot("d0")
    robot.dig((0.5, 0), (0, 0.5), 0.01)
    with pytest.raises(InvalidValueError, match="is moving a load until 1 s; await"):
        robot.dig((0.5, 0), (0, 0.5), 0.01)


def test_places_are_in_the_world_whatever_the_heading():
    sim = digger(lambda robot: robot.dig((3.0, -2.0), (2.0, -1.0), 0.1) if robot.time == 0 else None, (2.0, -2.0, 2.0))
    sim.step()
    sim.step()
    dug = sim.world.ground.altitude - ROLLING.altitude
    x, y = np.meshgrid(*(ROLLING.frame[k] + np.arange(n) for k, n in ((0, 31), (1, 21))))
    for sign, place in ((-1, (3.0, -2.0)), (1, (2.0, -1.0))):
        at = np.unravel_index((sign * dug).argmax(), dug.shape)
        assert (x[at], y[at]) == pytest.approx(place)


def test_what_the_ground_does_not_allow_is_refused_as_an_event():
    shallow = Ground.of(np.zeros((21, 31)), 1.0, range_m=(-0.01, 20))
    for world, start, said in (
        (shallow.world(), (0.0, 0.0, 0.0), "declared to reach from -0.01"),
        (ROLLING.world(), (14.0, 0.0, 0.0), "inside the ground"),
        (covey.World.empty(9, 9), (0.0, 0.0, 0.0), "has no ground"),
    ):
        x = start[0] + 0.5
        sim = digger(lambda robot, x=x: robot.dig((x, 0), (x, 1), 0.2) if robot.time == 0 else None, start, world)
        events = sim.run().events
        (event,) = events.filter(events["kind"] == "refused").iter_rows(named=True)
        assert event["robot"] == "d0"
        assert said in event["text"]
        if world.ground is not None:
            np.testing.assert_array_equal(sim.world.ground.altitude, world.ground.altitude)


@pytest.mark.slow
def test_a_run_with_digging_comes_out_again_to_the_byte_and_in_processes_too(tmp_path):
    for name, where in (("a", "in_process"), ("b", "in_process"), ("c", "processes")):
        digger(one_load, recording=tmp_path / name, execution={"controllers": where}).run()
    for file in ("measurements.parquet", "events.parquet", "ground.npz"):
        first, *others = [(tmp_path / name / file).read_bytes() for name in "abc"]
        assert all(other == first for other in others), file
