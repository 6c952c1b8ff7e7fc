"""The pictures of the page's layers. To renew them, with Chromium and Playwright: python docs/images/layers.py"""

import io
import shutil
import threading
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

import covey
from covey.viewer import Live, Server

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
DEEP = "covey.view.perspective = true; covey.fit(); covey.view.orbit(0.5, -0.15);"
PICTURES: dict[str, tuple[float, dict[str, tuple[str, list[int], str]]]] = {
    "maze": (
        70.0,
        {
            "sensors": ("truth explored numbers lidar visible estimates starts trails", [1, 3], ""),
            "maps": ("truth union frontiers names links groups", [], ""),
            "heat": ("truth last-seen numbers notes", [], ""),
            "perspective": ("truth explored numbers paths trails", [], DEEP),
        },
    ),
    "patrol": (60.0, {"waypoints": ("truth explored waypoints numbers paths trails", [], "")}),
    "hills": (
        60.0,
        {
            "landscape": ("ground explored numbers paths trails", [], DEEP + "covey.view.zoom(0.75);"),
            "belief": ("ground altitude numbers trails", [0], "covey.view.perspective = false; covey.fit();"),
        },
    ),
}
"""Seconds of a scenario, then for each picture its layers, the selected robots, and what is done to the view."""


def pictures(playwright: Any, name: str) -> dict[str, Image.Image]:
    """Return the pictures of a scenario in 256 colours."""
    until_s, wanted = PICTURES[name]
    live, sim = Live(playing=False), covey.load(name)
    sim.observers.append(live.observe)
    with Server(live) as server:
        thread = threading.Thread(target=lambda: sim.run(before_step=live.before_step), daemon=True)
        thread.start()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 860, "height": 640}, color_scheme="light")
        page.goto(server.url)
        while not page.evaluate("!!(window.covey && covey.model.frame)"):
            page.wait_for_timeout(100)
        page.get_by_role("button", name="Robots", exact=True).click()  # folds the column away
        live.gate.step(round(until_s / page.evaluate("covey.model.hello.step_s")))
        while page.evaluate("covey.model.frame.time_s") < until_s - 1e-6:
            page.wait_for_timeout(100)
        found = {}
        for picture, (layers, robots, view) in wanted.items():
            page.evaluate("for (const name of [...covey.stage.shown]) covey.stage.show(name, false)")
            for layer in layers.split():
                page.evaluate("name => covey.stage.show(name, true)", layer)
            page.evaluate("robots => covey.model.select(robots)", robots)
            page.evaluate(f"() => {{ {view or 'covey.fit()'} }}")
            page.wait_for_timeout(2000)
            found[picture] = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(256)
        browser.close()
        live.gate.end()
        thread.join(60)
    return found


if __name__ == "__main__":
    with sync_playwright() as started:
        for scenario_name in PICTURES:
            for picture_name, image in pictures(started, scenario_name).items():
                image.save(Path(__file__).parent / f"layers-{picture_name}.png", optimize=True)
