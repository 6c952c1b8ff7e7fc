"""A page that joins late, or comes back, shows what the run has been; what it keeps has bounds."""

import threading
from contextlib import contextmanager, suppress

import pytest
from tests.viewer.browser.conftest import until
from tests.viewer.browser.test_playback import button, maze
from tests.viewer.browser.test_replay import opened

import covey
from covey.missions.patrolling import Patrolling
from covey.viewer import Live, Server


def test_who_joins_late_steps_back_to_poses_before_it_came(page_of):
    sim, poses = maze(), []
    sim.observers.append(lambda snapshot: poses.append(snapshot.pose.copy()))
    first = page_of(sim)
    first.steps(40)
    page = first.page.context.new_page()
    page.goto(first.server.url)
    until(lambda: page.evaluate("!!(window.covey && covey.model.frame)"), "the second page", page=page)
    page.get_by_role("slider", name="Time").fill("7")
    assert page.evaluate("covey.model.step()") == 7
    assert page.evaluate("[...covey.model.poses()]") == pytest.approx(poses[6].ravel().tolist(), abs=1e-5)
    page.get_by_role("button", name="Step back", exact=True).click()
    assert page.evaluate("[...covey.model.poses()]") == pytest.approx(poses[5].ravel().tolist(), abs=1e-5)
    page.get_by_role("button", name="Now", exact=True).click()
    figure = "document.querySelector('figure[aria-label=\"explored share union\"]')?.dataset.value"
    until(lambda: page.evaluate(f"Number({figure}) > 0"), "the plot", page=page)
    times = page.evaluate("covey.model.times")
    assert times == pytest.approx([step / 10 for step in range(41)])
    trail = page.evaluate("covey.model.history.map((one) => one.step)")
    assert trail == [*range(41)]
    assert page.evaluate("covey.model.measured.times.length") >= 4


def test_a_page_that_comes_back_has_the_whole_past(page_of):
    shown = page_of(maze())
    shown.steps(10)
    shown.page.evaluate("covey.connection.socket.close()")
    shown.until("covey.connection.state === 'lost'")
    shown.live.gate.step(20)
    shown.until("covey.connection.state === 'open' && covey.model.newestStep() === 30")
    assert shown.page.evaluate("covey.model.history.map((one) => one.step)") == [*range(31)]


def test_a_server_that_comes_back_at_its_port_shows_its_run_from_the_start(page_of):
    first = page_of(maze())
    first.steps(25)
    first.page.get_by_role("slider", name="Time").fill("9")

    def refused(expression):
        first.errors[:] = [
            one for one in first.errors if "WebSocket" not in one and "ERR_CONNECTION_REFUSED" not in one
        ]
        return first.page.evaluate(expression)

    first.server.__exit__()
    until(lambda: refused("covey.connection.state === 'ended'"), "the lost connection", page=first.page)
    assert "Covey was ended at 2.5 s" in first.page.locator(".notice").inner_text()
    assert first.page.locator(".whose").inner_text() == "the past; the run was seen last at 2.5 s"
    with Server(Live(), port=first.server.port):  # another one, with tokens of its own
        until(lambda: refused("covey.connection.state === 'replaced'"), "the refusal", page=first.page)
        assert "Another covey answers at this address now." in first.page.locator(".notice").inner_text()
    live = Live(playing=False)
    sim = maze(observers=[live.observe])
    server = Server(live, port=first.server.port)
    server._tokens = first.server._tokens
    with server, running(live, sim):
        again = "covey.connection.state === 'open' && covey.model.frame?.step === 0"
        until(lambda: refused(again), "the new connection", page=first.page)
        assert first.page.evaluate("covey.model.shown") is None
        assert first.page.evaluate("covey.model.history.map((one) => one.step)") == [0]
        button(first, "Step").click()
        first.until("covey.model.newestStep() === 1")
        assert sim.clock.step == 1
        assert first.page.evaluate("[...covey.model.poses()]") == pytest.approx(
            sim.state.pose.ravel().tolist(), abs=1e-5
        )
        assert first.page.evaluate("covey.model.layers.size") > 0


@contextmanager
def running(live, sim):
    thread = threading.Thread(target=lambda: sim.run(until_s=600.0, before_step=live.before_step), daemon=True)
    thread.start()
    try:
        yield
    finally:
        live.gate.end()
        thread.join(240)
        assert not thread.is_alive()


def test_what_the_page_keeps_of_a_long_run_has_bounds(page_of):
    """Frames of four hours go through the page's model, as the server sends them."""
    shown = page_of(maze())
    kept = shown.page.evaluate(
        """() => {
            const n = 3, { model } = covey;
            model.changed = () => {};
            for (let frame = 1; frame <= 30000; frame++) {
                const steps = Int32Array.from({ length: 5 }, (_, k) => 5 * frame - 4 + k);
                const pose = new Float32Array(3 * n).fill(5 * frame);
                const trail = Float32Array.from({ length: 5 * 3 * n }, (_, k) => steps[Math.floor(k / 9)]);
                const measures = new Float32Array(n).fill(frame);
                const arrays = new Map([
                    ["pose", { data: pose, shape: [n, 3] }],
                    ["trail_step", { data: steps, shape: [5] }],
                    ["trail_pose", { data: trail, shape: [5, n, 3] }],
                    ["trail_team:explored_share_union", { data: Float64Array.from(steps), shape: [5] }],
                    ["time_s", { data: Float64Array.of(0.5 * frame), shape: [1] }],
                    ["measures_then", { data: measures, shape: [1, 1, n] }],
                    ["team_measure:cpu_sense_s", { data: Float64Array.of(frame), shape: [1] }],
                ]);
                const events = [{ step: 5 * frame, time_s: 0.5 * frame, kind: frame === 1 ? "input" : "collision", x: 0, y: 0, text: "", data: {} }];
                const links = [[5 * frame, 0, 1, frame % 2], [5 * frame, 0, 2, 1]];
                model.takeFrame({ step: 5 * frame, time_s: 0.5 * frame, status: null, events, links, measures_then: ["distance_m"] }, arrays);
            }
            delete model.changed;
            model.changed();
            const gaps = model.history.slice(1).map((one, k) => [model.newestStep() - model.history[k].step, one.step - model.history[k].step]);
            return {
                poses: model.history.length,
                wrong: model.history.filter(({ step, pose }) => step && pose[0] !== step).length,
                first: model.history[0].step,
                recent: gaps.filter(([age]) => age <= 5000).every(([, gap]) => gap === 1),
                coarse: Math.max(...gaps.map(([age, gap]) => (gap > 1 ? gap / age : 0))),
                events: model.events.length + " " + model.leftOut + " " + model.events.some((one) => one.kind === "input"),
                links: model.linkChanges.length,
                up: [...model.links].sort(),
                unlike: model.times.filter((time_s, k) => k && model.series.get("explored_share_union")[k] !== Math.round(10 * time_s)).length,
                times: [model.times.length, model.series.get("explored_share_union").length, model.times.at(-1)],
                measured: [model.measured.times.length, model.measured.team.get("cpu_sense_s").length],
            };
        }"""
    )
    assert (kept["first"], kept["wrong"], kept["recent"]) == (0, 0, True)
    assert kept["poses"] <= 24_000
    assert kept["coarse"] < 1 / 100
    events, left_out, has_input = kept["events"].split()
    assert int(events) <= 2000 + 2000 + 100
    assert int(events) + int(left_out) >= 30_000
    assert has_input == "true"
    assert kept["links"] <= 40_000 + 2
    assert kept["up"] == ["0 2"]
    assert kept["unlike"] == 0
    assert kept["times"] == [kept["poses"], kept["poses"], 15_000]
    assert kept["measured"][0] == kept["measured"][1] <= 2000
    shown.page.get_by_role("slider", name="Time").fill("100")
    told = shown.page.get_by_role("status", name="What is kept of this time").inner_text()
    assert float(told.removeprefix("a pose every ").removesuffix(" s")) >= 0.2
    shown.page.get_by_role("button", name="List of events").click()
    assert "earlier events are not kept" in shown.page.get_by_role("list", name="Events", exact=True).inner_text()


THEN = """(step) => {
    const { model } = covey;
    covey.player.seek(step);
    const pairs = [...(model.arrays.get("link")?.data ?? [])];
    return {
        step: model.step(),
        said: document.querySelector(".main-number").textContent,
        pose: [...model.poses()].map((value) => value.toFixed(3)).join(),
        flags: [...model.arrays.get("flags").data],
        links: pairs.flatMap((one, k) => (k % 2 ? [] : [`${one} ${pairs[k + 1]}`])).sort(),
        truth: [...model.layers.get("truth").cells].join(""),
        explored: [...model.layers.get("first_explored").cells].map((at) => Number(at >= 0 && at <= step)).join(""),
        covered: [...model.layers.get("first_covered").cells].map((at) => Number(at >= 0 && at <= step)).join(""),
        distance: [...(model.measures.get("distance_m") ?? [])].map((value) => value.toFixed(2)),
    };
}"""


@pytest.mark.parametrize("mission", [{}, {"mission": Patrolling(sight_m=6.0)}], ids=["exploration", "patrol"])
def test_with_viewers_that_come_and_go_the_past_is_that_of_the_recording(page_of, browser, tmp_path, mission):
    """Pages are open in steps 1 to 12, 20 to 30 and from 60 on; each then is compared with the page of `covey view`."""
    wall = {"wall": {"polygon_m": [[1, 1], [2, 1], [2, 2], [1, 2]]}, "at_s": 3.5}
    fault = {"kind": "dies", "robot": "robot1", "at_s": 4.0, "for_s": 1.0}
    sim = maze(events=[wall], faults=[fault], radio=6.0, recording=tmp_path / "run", **mission)
    shown = page_of(sim)
    shown.steps(12)

    def alone(count):
        shown.live.gate.step(count)
        until(lambda: shown.live.gate.stands and not shown.live.hub.clients, page=shown.page)

    def opened_again():
        shown.page.goto(shown.server.url)
        shown.until("!!(window.covey && covey.model.frame && covey.model.layers.size > 1)")

    shown.page.goto("about:blank")
    alone(8)
    opened_again()
    shown.steps(10)
    shown.page.goto("about:blank")
    alone(30)
    opened_again()
    shown.page.get_by_label("Covered", exact=True).check()
    shown.steps(10)
    shown.until("covey.model.layers.has('first_covered')")
    steps = [5, 12, 16, 25, 36, 38, 41, 46, 51, 61, 69]
    live = {step: shown.page.evaluate(THEN, step) for step in steps}
    plot = shown.page.evaluate("[covey.model.times, covey.model.series.get('explored_share_union')]")
    assert shown.page.evaluate("(covey.player.seek(null), covey.model.shown)") is None
    assert (
        shown.page.evaluate("covey.model.layers.get('truth').cells.reduce((a, b) => a + b)")
        == sim.world.grid.cells.sum()
    )
    shown.live.gate.end()

    def finished():
        with suppress(covey.RunFolderError):
            return covey.Run(tmp_path / "run")

    run = until(finished, "the end of the record", page=shown.page)
    with opened(browser, run) as page:
        page.get_by_label("Covered", exact=True).check()
        until(lambda: page.evaluate("covey.model.layers.has('first_covered')"), page=page)
        until(lambda: page.evaluate("covey.model.measures.has('distance_m') && covey.model.complete"), page=page)
        recorded = {step: page.evaluate(THEN, step) for step in steps}
    sampled = [step for step in steps if step % 10 == 1]  # of the robots there is a sample per second
    for step in steps:
        if step not in sampled:
            del live[step]["distance"], recorded[step]["distance"]
        assert live[step] == recorded[step], step
    assert len({one["said"] for one in live.values()}) > 8
    assert len({one["truth"] for one in live.values()}) == 2
    assert {tuple(one["flags"]) for one in live.values()} == {(0, 0, 0), (0, 5, 0)}
    assert plot[0] == pytest.approx([step / 10 for step in range(71)])
    assert plot[1][1:] == run.series("explored_share_union")[:70].tolist()
