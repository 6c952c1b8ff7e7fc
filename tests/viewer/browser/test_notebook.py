"""The page in a cell of a notebook."""

import numpy as np
from tests.viewer.browser.conftest import until

import covey


def cell_of(browser, shown):
    """Return a page like a notebook that shows a cell, and the frame in it."""
    page = browser.new_context(offline=True, viewport={"width": 900, "height": 700}).new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_content(f"<h1>A notebook</h1>{shown._repr_html_()}")
    frame = until(lambda: next((frame for frame in page.frames if frame != page.main_frame), None), page=page)
    until(lambda: frame.evaluate("!!(window.covey && covey.model.frame && covey.model.layers.size > 1)"), page=page)
    return page, frame, errors


def test_a_run_plays_in_a_cell(browser, recorded):
    run, seen = recorded
    page, frame, errors = cell_of(browser, run.view())
    assert frame.evaluate("covey.model.step() === covey.model.newestStep()")  # it stands at the end
    frame.get_by_role("button", name="Play", exact=True).click()
    until(lambda: frame.evaluate("covey.model.step() > 3"), page=page)
    frame.get_by_role("button", name="Pause", exact=True).click()
    step = frame.evaluate("covey.model.step()")
    shown = np.reshape(list(frame.evaluate("[...covey.model.poses()]")), (-1, 3))
    np.testing.assert_allclose(shown, seen[step]["pose"], atol=1e-5)
    assert errors == []
    page.context.close()


def test_a_simulation_is_shown_as_it_is_now_and_stays_as_it_was(browser, tmp_path):
    def simulation(folder):
        world = covey.World.maze(size_m=(20, 14), seed=1)
        return covey.Simulation(world, robots=2, controller="nearest_frontier", seed=3, recording=tmp_path / folder)

    watched, alone = simulation("watched"), simulation("alone")
    for _ in range(15):
        watched.step()
    cell = watched.view()
    page, frame, errors = cell_of(browser, cell)
    shown = np.reshape(list(frame.evaluate("[...covey.model.poses()]")), (-1, 3))
    np.testing.assert_allclose(shown, watched.state.pose, atol=1e-5)
    assert frame.evaluate("covey.model.step()") == 15
    assert errors == []
    page.context.close()
    watched.run(until_s=3.0)
    alone.run(until_s=3.0)
    for name in ("measurements.parquet", "team.parquet", "maps.npz"):
        assert (tmp_path / "watched" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
