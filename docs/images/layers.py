"""The pictures of the page's layers. To renew them, with Chromium and Playwright: python docs/images/layers.py"""

import io
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


@contextmanager
def page_of(
    playwright: Any, name: str, width: int = 860, height: int = 640
) -> Iterator[tuple[Any, Callable[[float], None]]]:
    """Yield the live page of a scenario, before its first step, and a function that runs it until a time [s]."""
    live, sim = Live(playing=False), covey.load(name)
    sim.observers.append(live.observe)

    def go_to(until_s: float) -> None:
        step_s, time_s = page.evaluate("[covey.model.hello.step_s, covey.model.frame.time_s]")
        live.gate.step(round((until_s - time_s) / step_s))
        while page.evaluate("covey.model.frame.time_s") < until_s - 1e-6 and thread.is_alive():
            page.wait_for_timeout(50)

    with Server(live) as server:
        thread = threading.Thread(target=lambda: sim.run(before_step=live.before_step), daemon=True)
        thread.start()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
        page.goto(server.url)
        while not page.evaluate("!!(window.covey && covey.model.frame)"):
            page.wait_for_timeout(100)
        yield page, go_to
        browser.close()
        live.gate.end()
        thread.join(60)


def show(page: Any, layers: str) -> None:
    """Show these layers, and no others."""
    page.evaluate("for (const name of [...covey.stage.shown]) covey.stage.show(name, false)")
    for layer in layers.split():
        page.evaluate("name => covey.stage.show(name, true)", layer)


def screenshot(page: Any) -> Image.Image:
    """Return what the page shows."""
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def pictures(playwright: Any, name: str) -> dict[str, Image.Image]:
    """Return the pictures of a scenario in 256 colours."""
    until_s, wanted = PICTURES[name]
    found = {}
    with page_of(playwright, name) as (page, go_to):
        page.get_by_role("button", name="Robots", exact=True).click()  # folds the column away
        go_to(until_s)
        for picture, (layers, robots, view) in wanted.items():
            show(page, layers)
            page.evaluate("robots => covey.model.select(robots)", robots)
            page.evaluate(f"() => {{ {view or 'covey.fit()'} }}")
            page.wait_for_timeout(2000)
            found[picture] = screenshot(page).quantize(256)
    return found


if __name__ == "__main__":
    with sync_playwright() as started:
        for scenario_name in PICTURES:
            for picture_name, image in pictures(started, scenario_name).items():
                image.save(Path(__file__).parent / f"layers-{picture_name}.png", optimize=True)
