"""The page plays a recorded run by itself, and goes to any step."""

from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from tests.viewer.browser.conftest import numbers, page_in, until

from covey.viewer import Server
from covey.viewer.recorded import Recorded

PIXEL = """([x, y]) => {
    const [px, py] = covey.view.pixel(x, y), canvas = covey.view.canvas, gl = covey.view.renderer.getContext();
    const scale = canvas.width / canvas.clientWidth, out = new Uint8Array(4);
    gl.readPixels(Math.round(px * scale), canvas.height - 1 - Math.round(py * scale), 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, out);
    return [...out].slice(0, 3);
}"""


@contextmanager
def opened(browser, run):
    errors = []
    with Server(Recorded(run)) as server, page_in(browser, errors) as page:
        page.goto(server.view_url)
        until(lambda: page.evaluate("!!(window.covey && covey.model.frame && covey.model.layers.size > 1)"), page=page)
        yield page
    assert not errors


@pytest.fixture
def replay(browser, recorded):
    with opened(browser, recorded[0]) as page:
        yield page


def drawn(page):
    page.evaluate(
        "new Promise((done) => { covey.view.draw(); requestAnimationFrame(() => requestAnimationFrame(done)); })"
    )


def test_it_shows_each_step_as_it_was(replay, recorded):
    _, seen = recorded
    for step in (60, 20, 45):
        replay.evaluate(f"covey.player.seek({step})")
        shown = np.reshape(list(replay.evaluate("[...covey.model.poses()]")), (-1, 3))
        np.testing.assert_allclose(shown, seen[step]["pose"], atol=1e-5)
        cells = numbers(replay, "covey.model.layers.get('truth').cells")
        np.testing.assert_array_equal(np.reshape(cells, seen[step]["truth"].shape), seen[step]["truth"])


def test_pixels_show_what_had_been_explored_and_which_walls_stood(replay, recorded):
    run, seen = recorded
    truth = run.maps.truth
    last = len(seen)
    rows, columns = np.nonzero(seen[last]["explored"] & ~seen[10]["explored"] & (seen[last]["truth"] == 0))
    # a cell in the middle of a newly explored area, far from robots and walls
    cell = next(
        (r, c)
        for r, c in zip(rows[::7].tolist(), columns[::7].tolist(), strict=True)
        if (seen[last]["explored"] & ~seen[10]["explored"])[r - 4 : r + 5, c - 4 : c + 5].all()
        and (seen[last]["truth"][r - 4 : r + 5, c - 4 : c + 5] == 0).all()
        and all(
            np.hypot(*(one["pose"][:, :2] - truth.to_world(np.array([r, c]))).T).min() > 1.0 for one in seen.values()
        )
    )
    place = truth.to_world(np.array(cell)).tolist()
    wall = [1.5, 1.5]
    colors = {}
    for step in (10, last):
        replay.evaluate(f"covey.player.seek({step})")
        drawn(replay)
        colors[step] = [replay.evaluate(PIXEL, at) for at in (place, wall)]
    assert colors[10][0] != colors[last][0]  # unseen, then explored
    assert colors[10][1] != colors[last][1]  # free, then a wall


def test_play_pause_and_steps_in_both_directions(replay):
    replay.get_by_role("button", name="Play", exact=True).click()
    until(lambda: replay.evaluate("covey.model.step() > 5"), page=replay)
    replay.get_by_role("button", name="Pause", exact=True).click()
    step = replay.evaluate("covey.model.step()")
    replay.get_by_role("button", name="Step", exact=True).click()
    assert replay.evaluate("covey.model.step()") == step + 1
    for _ in range(3):
        replay.get_by_role("button", name="Step back").click()
    assert replay.evaluate("covey.model.step()") == step - 2
    assert not replay.get_by_role("button", name="End run").is_visible()


def test_it_stops_at_the_end_and_begins_again(replay, recorded):
    replay.get_by_role("combobox", name="Speed").select_option("50")
    replay.get_by_role("button", name="Play", exact=True).click()
    last = len(recorded[1])
    until(lambda: replay.evaluate("covey.model.step()") == last, page=replay)
    replay.wait_for_timeout(200)  # it would have taken 100 steps
    assert replay.evaluate("covey.model.step()") == last
    replay.get_by_role("combobox", name="Speed").select_option("1")
    replay.get_by_role("button", name="Play", exact=True).click()
    assert until(lambda: 0 < replay.evaluate("covey.model.step()") < last, page=replay)


def test_links_are_those_of_the_step(replay, recorded):
    run, _ = recorded
    for step in (70, 1, 40):
        replay.evaluate(f"covey.player.seek({step})")
        up = set()
        for at, robot, other, came in run.links.select("step", "robot", "other", "up").iter_rows():
            if at <= step:
                pair = f"{run.names.index(robot)} {run.names.index(other)}"
                up = up | {pair} if came else up - {pair}
        assert set(replay.evaluate("[...covey.model.links]")) == up


def test_estimates_come_when_somebody_looks_at_them(replay, recorded):
    run, _ = recorded
    replay.evaluate("covey.player.seek(40)")
    assert replay.evaluate("!covey.model.arrays.has('estimate')")
    replay.get_by_role("checkbox", name="Estimated poses").check()
    until(lambda: replay.evaluate("covey.model.arrays.has('estimate')"), page=replay)
    shown = np.reshape(list(replay.evaluate("[...covey.model.arrays.get('estimate').data]")), (-1, 3))
    np.testing.assert_allclose(shown, run.estimates[39], atol=1e-5)
    assert replay.get_by_role("checkbox", name="Lidar").count() == 0  # scans are not recorded


@pytest.fixture
def detailed_replay(browser, detailed):
    with opened(browser, detailed[0]) as page:
        yield page


def floats(page, name):
    return numbers(page, f"covey.model.arrays.get('{name}').data")


def test_plans_are_those_of_the_step(detailed_replay, detailed):
    _, seen = detailed
    page = detailed_replay
    until(lambda: page.evaluate("covey.model.arrays.has('path')"), page=page)
    for step in (45, 3, 60):
        page.evaluate(f"covey.player.seek({step})")
        assert floats(page, "path_of").tolist() == seen[step]["path_of"].tolist()
        np.testing.assert_allclose(floats(page, "path").reshape(-1, 2), seen[step]["path"], atol=1e-4)


def test_scans_of_the_selected_robots_are_those_recorded_last(detailed_replay, detailed):
    _, seen = detailed
    page = detailed_replay
    page.get_by_role("checkbox", name="Lidar").check()
    page.get_by_role("option", name="robot0").click()
    page.get_by_role("option", name="robot2").click(modifiers=["Control"])
    until(lambda: page.evaluate("covey.model.arrays.get('lidar_of')?.data.length") == 3, page=page)
    for step, known in ((47, 40), (11, 10)):
        page.evaluate(f"covey.player.seek({step})")
        begin = seen[known]["lidar_of"]
        rays = np.concatenate([seen[known]["lidar"][begin[i] : begin[i + 1]] for i in (0, 2)])
        np.testing.assert_allclose(floats(page, "lidar").reshape(-1, 3), rays, atol=1e-4)
        np.testing.assert_allclose(floats(page, "lidar_at").reshape(-1, 3), seen[known]["lidar_at"][[0, 2]], atol=1e-4)
    assert page.get_by_text("Recorded every 1 s.").is_visible()


def test_maps_are_those_recorded_last_in_both_directions(detailed_replay, detailed):
    _, seen = detailed
    page = detailed_replay
    page.get_by_role("option", name="robot1").click()
    for title, name in (("Map of the robot", "map:robot1"), ("Merged map", "union")):
        box = page.get_by_role("checkbox", name=title, exact=True)
        box.check()
        until(partial(page.evaluate, f"covey.model.layers.has('{name}')"), page=page)
        for step, known in ((60, 60), (25, 20), (41, 40), (1, 1)):
            page.evaluate(f"covey.player.seek({step})")
            found = numbers(page, f"covey.model.layers.get('{name}').cells")
            np.testing.assert_array_equal(np.reshape(found, seen[known][name].shape), seen[known][name])
        assert page.get_by_text("Recorded every 2 s.").is_visible()
        box.uncheck()


def test_pixels_show_what_a_robot_knew(detailed_replay, detailed):
    run, seen = detailed
    page = detailed_replay
    page.get_by_role("option", name="robot1").click()
    page.get_by_role("checkbox", name="Map of the robot", exact=True).check()
    until(lambda: page.evaluate("covey.model.layers.has('map:robot1')"), page=page)
    grid = run.map_changes.at(60, "robot1")
    new = (seen[60]["map:robot1"] == 0) & (seen[20]["map:robot1"] == -1)
    row, column = next(
        (r, c) for r, c in np.argwhere(new).tolist() if new[r - 3 : r + 4, c - 3 : c + 4].all() and r > 3 and c > 3
    )
    place = grid.to_world(np.array((row, column))).tolist()
    colors = {}
    for step in (20, 60):
        page.evaluate(f"covey.player.seek({step})")
        drawn(page)
        colors[step] = page.evaluate(PIXEL, place)
    assert colors[20] != colors[60]


def test_a_patrol_shows_idleness_flags_and_measurements_of_the_time(browser, patrolled):
    run, seen = patrolled
    with opened(browser, run) as page:
        until(lambda: page.evaluate("covey.model.measures.has('distance_m')"), page=page)
        for step in (150, 30, 190):
            page.evaluate(f"covey.player.seek({step})")
            last_s, flags = seen[step]
            idle = page.evaluate("[...covey.model.arrays.get('idleness_s').data]")
            np.testing.assert_allclose(idle, 0.1 * step - last_s, atol=1e-4)
            assert page.evaluate("[...covey.model.arrays.get('flags').data]") == flags.tolist()
            distance = page.evaluate("[...covey.model.measures.get('distance_m')]")
            np.testing.assert_allclose(distance, run.series("distance_m")[step - 1], rtol=1e-6)
        page.get_by_role("combobox", name="Sort robots by").select_option("distance_m")
        farthest = run.names[int(np.argmax(run.series("distance_m")[189]))]
        assert page.get_by_role("listbox", name="Robots").get_by_role("option").first.inner_text().startswith(farthest)
        page.get_by_role("combobox", name="Plot to add").select_option("robot distance_m")
        page.get_by_role("button", name="Add plot").click()
        plot = page.get_by_role("figure", name="distance [m], each robot")
        assert plot.locator("canvas").count() == 1


def test_poses_of_many_blocks_and_first_looks_are_those_of_the_run(browser, recorded, monkeypatch):
    monkeypatch.setattr("covey.viewer.recorded._BLOCK_BYTES", 200)  # five steps of three robots
    run, _ = recorded
    with opened(browser, run) as page:
        until(lambda: page.evaluate("covey.model.history.at(-1).pose !== null"), page=page)
        shown = page.evaluate("covey.model.history.map(({ step, pose }) => [step, ...pose])")
        expected = np.column_stack((np.arange(1, 81), run.poses.astype(np.float32).reshape(80, -1)))
        np.testing.assert_array_equal(shown, expected)
        cells = numbers(page, "covey.model.layers.get('first_explored').cells")
        np.testing.assert_array_equal(cells, run.maps.first_explored.ravel())
