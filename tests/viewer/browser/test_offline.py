"""The exported page plays a run from a file, with the network off."""

from contextlib import contextmanager

import numpy as np
from tests.viewer.browser.conftest import numbers, until

from covey.cli import main

ARRAYS = ("path", "lidar")


@contextmanager
def exported(browser, run, folder, fragment="", least=1):
    """Open an exported run; it must ask for nothing, and have no errors."""
    path = folder / "run.html"
    assert main(["export", str(run.folder), "--out", str(path)]) == 0
    context = browser.new_context(offline=True, viewport={"width": 980, "height": 800})
    errors, asked = [], []
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: said.type == "error" and errors.append(said.text))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{path.as_uri()}{fragment}")
    until(
        lambda: page.evaluate(f"!!(window.covey && covey.model.frame && covey.model.layers.size > {least})"), page=page
    )
    try:
        yield page
    finally:
        context.close()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert errors == []


def test_the_file_plays_without_a_network(browser, recorded, tmp_path):
    run, seen = recorded
    with exported(browser, run, tmp_path, "#t=2.0") as page:
        assert page.evaluate("covey.model.step()") == 20
        for step in (60, 20):
            page.evaluate(f"covey.player.seek({step})")
            shown = np.reshape(list(page.evaluate("[...covey.model.poses()]")), (-1, 3))
            np.testing.assert_allclose(shown, seen[step]["pose"], atol=1e-5)
            cells = numbers(page, "covey.model.layers.get('truth').cells")
            np.testing.assert_array_equal(np.reshape(cells, seen[step]["truth"].shape), seen[step]["truth"])
        page.get_by_role("button", name="Play", exact=True).click()
        until(lambda: page.evaluate("covey.model.step() > 22"), page=page)


def test_the_file_holds_paths_scans_and_maps_as_they_grew(browser, detailed, tmp_path):
    run, seen = detailed
    with exported(browser, run, tmp_path) as page:
        page.get_by_role("option", name="robot1").click()
        page.get_by_role("checkbox", name="Lidar").check()
        page.get_by_role("checkbox", name="Map of the robot", exact=True).check()
        for step, known in ((25, 20), (47, 40)):
            page.evaluate(f"covey.player.seek({step})")
            arrays = {name: numbers(page, f"covey.model.arrays.get('{name}').data") for name in ARRAYS}
            np.testing.assert_allclose(arrays["path"].reshape(-1, 2), seen[step]["path"], atol=1e-4)
            begin, end = seen[known]["lidar_of"][1:3]
            np.testing.assert_allclose(arrays["lidar"].reshape(-1, 3), seen[known]["lidar"][begin:end], atol=1e-4)
            cells = numbers(page, "covey.model.layers.get('map:robot1').cells")
            np.testing.assert_array_equal(np.reshape(cells, seen[known]["map:robot1"].shape), seen[known]["map:robot1"])
