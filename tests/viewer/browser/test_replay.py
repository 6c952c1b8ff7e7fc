"""The page plays a recorded run by itself, and goes to any step."""

from contextlib import contextmanager

import numpy as np
import pytest
from tests.viewer.browser.conftest import until

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
    with Server(Recorded(run)) as server:
        page = browser.new_page(viewport={"width": 980, "height": 800})
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(server.view_url)
        until(lambda: page.evaluate("!!(window.covey && covey.model.frame && covey.model.layers.size > 1)"), page=page)
        try:
            yield page
        finally:
            page.close()
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
        cells = replay.evaluate("[...covey.model.layers.get('truth').cells]")
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
