"""Two recorded runs side by side."""

import numpy as np
import pytest
from tests.viewer.browser.conftest import page_in, until
from tests.viewer.browser.test_replay import PIXEL

import covey
from covey.viewer import Server
from covey.viewer.recorded import Recorded


@pytest.fixture(scope="module")
def shorter(tmp_path_factory):
    """Return a run of 5 s with another seed in the world of `recorded`."""
    world = covey.World.maze(size_m=(20, 14), seed=1)
    folder = tmp_path_factory.mktemp("shorter") / "run"
    return covey.Simulation(world, robots=2, controller="nearest_frontier", seed=8, recording=folder).run(until_s=5.0)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """Return a run of 3 s in another world."""
    folder = tmp_path_factory.mktemp("elsewhere") / "run"
    return covey.Simulation(covey.World.empty(8, 8), robots=1, controller="wander", recording=folder).run(until_s=3.0)


@pytest.fixture
def two(browser, recorded, shorter):
    """Return the page and its two frames."""
    run = recorded[0]
    errors = []
    server = Server(Recorded(run, shorter), second=Recorded(shorter, run))
    with server, page_in(browser, errors, 1300, 700) as page:
        page.goto(server.view_url)
        until(
            lambda: page.evaluate("!!(window.covey && covey.apps.every((app) => app.model.layers.size > 1))"), page=page
        )
        yield page, page.frames[1:]
    assert errors == []


def test_both_show_the_same_time(two, recorded, shorter):
    page, (left, right) = two
    for frame, other in ((left, right), (right, left)):
        step = 30 if frame == left else 42
        frame.evaluate(f"covey.player.seek({step})")
        assert other.evaluate("covey.model.step()") == step
    shown = np.reshape(list(left.evaluate("[...covey.model.poses()]")), (-1, 3))
    np.testing.assert_allclose(shown, recorded[0].poses[41], atol=1e-5)
    shown = np.reshape(list(right.evaluate("[...covey.model.poses()]")), (-1, 3))
    np.testing.assert_allclose(shown, shorter.poses[41], atol=1e-5)
    left.get_by_role("button", name="Play", exact=True).click()
    until(lambda: right.evaluate("covey.model.step() > 45"), page=page)
    left.evaluate("covey.player.seek(70)")  # beyond the end of the other
    assert right.evaluate("covey.model.step()") == 50
    assert left.evaluate("covey.model.step()") >= 70


def test_each_says_which_run_it_is(two, recorded, shorter):
    names = [f"{run.folder.parent.name}/{run.folder.name}" for run in (recorded[0], shorter)]
    heads = [frame.get_by_role("heading", level=1).inner_text() for frame in two[1]]
    assert heads == [f"A: {names[0]}, seed 3", f"B: {names[1]}, seed 8"]


def test_both_look_at_the_same_place(two):
    page, (left, right) = two
    looks = "[covey.view.pixel_m, ...covey.view.ground(100, 100).toArray()]"
    for moved, other in ((left, right), (right, left)):
        before = other.evaluate(looks)
        moved.evaluate("covey.view.zoom(0.5, 100, 150)")
        until(lambda at=before, frame=other: frame.evaluate(looks) != at, page=page)
        assert other.evaluate(looks) == moved.evaluate(looks)


def test_runs_in_different_worlds_have_a_camera_each(browser, recorded, elsewhere):
    errors = []
    server = Server(Recorded(recorded[0]), second=Recorded(elsewhere))
    with server, page_in(browser, errors, 1300, 700) as page:
        page.goto(server.view_url)
        until(lambda: page.evaluate("!!(window.covey && covey.apps)"), page=page)
        left, right = page.frames[1:]
        looks = "[covey.view.pixel_m, ...covey.view.middle.toArray()]"
        before = right.evaluate(looks)
        left.evaluate(
            "new Promise((done) => { covey.view.zoom(0.5, 100, 150); requestAnimationFrame(() => requestAnimationFrame(done)); })"
        )
        assert right.evaluate(looks) == before
        left.evaluate("covey.player.seek(20)")  # the time is that of both
        assert right.evaluate("covey.model.step()") == 20
        for frame in (left, right):
            title = frame.get_by_role("heading", level=1)
            assert title.evaluate("one => one.scrollWidth <= one.clientWidth")
        page.set_viewport_size({"width": 640, "height": 400})  # as at a zoom of 200 %
        for frame in (left, right):
            until(lambda frame=frame: frame.evaluate("covey.view.canvas.clientHeight") > 100, "a scene", page=page)
            assert frame.evaluate("document.querySelector('.slider').getBoundingClientRect().bottom <= innerHeight")
    assert errors == []


def test_the_difference_shows_what_the_other_has_seen(two, recorded, shorter):
    page, (left, _) = two
    mine, theirs = (run.maps.first_explored for run in (recorded[0], shorter))
    truth = recorded[0].maps.truth
    left.evaluate("covey.player.seek(50)")
    left.get_by_role("button", name="Layers, editing and plots").click()
    left.get_by_role("checkbox", name="Explored by the other run").check()
    until(lambda: left.evaluate("covey.model.layers.has('other_explored')"), page=page)
    only_mine = (mine >= 0) & (mine <= 50) & (theirs < 0)
    shared = (mine >= 0) & (mine <= 50) & (theirs >= 0) & (theirs <= 50)
    colors = []
    for cells in (only_mine, shared):
        cells = cells & (truth.cells == 0)
        middle = next(
            (r, c)
            for r, c in np.argwhere(cells).tolist()
            if r > 5
            and c > 5
            and cells[r - 4 : r + 5, c - 4 : c + 5].sum() == 81
            and np.hypot(*(recorded[0].poses[:60, :, :2] - truth.to_world(np.array([r, c]))).reshape(-1, 2).T).min()
            > 0.6
        )
        place = truth.to_world(np.array(middle)).tolist()
        left.evaluate(
            "new Promise((done) => { covey.view.draw(); requestAnimationFrame(() => requestAnimationFrame(done)); })"
        )
        colors.append(left.evaluate(PIXEL, place))
    assert colors[0] == [255, 255, 255]
    assert colors[1] != colors[0]
