"""The exported page plays a run from a file, with the network off."""

import numpy as np
from tests.viewer.browser.conftest import until

from covey.cli import main


def test_the_file_plays_without_a_network(browser, recorded, tmp_path):
    run, seen = recorded
    path = tmp_path / "run.html"
    assert main(["export", str(run.folder), "--out", str(path)]) == 0
    context = browser.new_context(offline=True, viewport={"width": 980, "height": 800})
    errors, asked = [], []
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: said.type == "error" and errors.append(said.text))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{path.as_uri()}#t=2.0")
    until(lambda: page.evaluate("!!(window.covey && covey.model.frame && covey.model.layers.size > 1)"), page=page)
    assert page.evaluate("covey.model.step()") == 20
    for step in (60, 20):
        page.evaluate(f"covey.player.seek({step})")
        shown = np.reshape(list(page.evaluate("[...covey.model.poses()]")), (-1, 3))
        np.testing.assert_allclose(shown, seen[step]["pose"], atol=1e-5)
        cells = page.evaluate("[...covey.model.layers.get('truth').cells]")
        np.testing.assert_array_equal(np.reshape(cells, seen[step]["truth"].shape), seen[step]["truth"])
    page.get_by_role("button", name="Play", exact=True).click()
    until(lambda: page.evaluate("covey.model.step() > 22"), page=page)
    context.close()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert errors == []
