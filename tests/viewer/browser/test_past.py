"""A page that joins late, or comes back, shows what the run has been; what it keeps has bounds."""

import threading
from contextlib import contextmanager

import pytest
from tests.viewer.browser.conftest import until
from tests.viewer.browser.test_playback import button, maze

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
    assert times[0] == pytest.approx(0.1)
    trail = page.evaluate("covey.model.history.map((one) => one.step)")
    assert trail == [*range(41)]
    assert page.evaluate("covey.model.measured.times.length") >= 8


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
        first.errors[:] = [one for one in first.errors if "ERR_CONNECTION_REFUSED" not in one]  # nobody listens there
        return first.page.evaluate(expression)

    first.server.__exit__()
    until(lambda: refused("covey.connection.state === 'lost'"), "the lost connection", page=first.page)
    assert "connection is lost" in first.page.locator(".notice").inner_text()
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
                    ["measures", { data: measures, shape: [1, n] }],
                ]);
                const events = [{ step: 5 * frame, time_s: 0.5 * frame, kind: frame === 1 ? "input" : "collision", x: 0, y: 0, text: "{}" }];
                const links = [[5 * frame, 0, 1, frame % 2], [5 * frame, 0, 2, 1]];
                const team = { explored_share_union: frame };
                model.takeFrame({ step: 5 * frame, time_s: 0.5 * frame, status: null, events, links, team, measures: ["distance_m"], team_measures: { cpu_sense_s: frame } }, arrays);
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
    assert kept["times"][0] == kept["times"][1] <= 2000
    assert kept["times"][2] > 14_900
    assert kept["measured"][0] == kept["measured"][1] <= 2000
    shown.page.get_by_role("slider", name="Time").fill("100")
    told = shown.page.get_by_role("status", name="What is kept of this time").inner_text()
    assert float(told.removeprefix("a pose every ").removesuffix(" s")) >= 0.2
    shown.page.get_by_role("button", name="List of events").click()
    assert "earlier events are not kept" in shown.page.get_by_role("list", name="Events", exact=True).inner_text()
