"""The page docs/layers.md, with a picture of every layer. To renew it, with Chromium and Playwright:

python docs/images/every_layer.py
"""

import io
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

import covey
from covey.mapping.localization import Noise
from covey.missions import Formation
from covey.onboard.group import Group
from covey.viewer import Live, Server
from covey.viewer.recorded import Recorded

HERE = Path(__file__).parent
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
WIDTH = 440
HEAD = """# Every layer

The column *Layers* on the right of the [live page](watching.md) and of a replay switches what the scene shows. Layers
*of the robot* show the robot that was selected last.
"""


def maze(recording: Path | None = None, **options: Any) -> covey.Simulation:
    """Return four robots in a maze that know their poses to 0.15 m, and whose radio takes 0.5 s and reaches 12 m."""
    start = [(-9, 6, -1.57), (9, 6, -1.57), (-9, -6, 1.57), (1, -2, 3.14)]
    group = Group("scout", covey.robots.pioneer3dx(), start, localization=Noise(sigma_m=0.15))
    radio = covey.Radio(range_m=12.0, latency_s=0.5)
    world = covey.World.maze(size_m=(20, 14), seed=1)
    given = {"controller": "nearest_frontier", "share_maps": 1.0, "radio": radio, "seed": 3} | options
    return covey.Simulation(world, [group], recording=recording, **given)


def tagged() -> covey.Simulation:
    """Return two robots that leave a tag every 2 s."""

    async def leave(robot):
        for number in range(10):
            robot.leave_tag(number)
            await robot.goto((-6 + 1.5 * number, -2 if robot.name[-1] == "0" else 1.5))

    group = Group("scout", covey.robots.pioneer3dx(), [(-8, -2, 0), (-8, 1.5, 0)])
    return covey.Simulation(covey.World.empty(20, 14), [group], leave)


def walled_in() -> covey.Simulation:
    """Return a robot whose first goal lies between four walls."""

    async def go(robot):
        for goal in ((5.0, 0.0), (-5.0, 3.0)):
            await robot.goto(goal)

    corners = [(4, -1), (6, -1), (6, 1), (4, 1), (4, -1)]
    walls = [{"wall": {"from": a, "to": b}, "at_s": 0.0} for a, b in pairwise(corners)]
    group = Group("scout", covey.robots.pioneer3dx(), [(-8, -2, 0)])
    return covey.Simulation(covey.World.empty(20, 14), [group], go, events=walls)


def ordered() -> covey.Simulation:
    """Return six robots that have the order to form a hexagon."""
    mission = Formation(objective_m=(3.0, 0.0), formation="hexagon", spacing_m=3.0)
    start = [(-6.0, y, 0.0) for y in (-5.0, -3.0, -1.0, 1.0, 3.0, 5.0)]
    group = Group("scout", covey.robots.pioneer3dx(), start)
    return covey.Simulation(covey.World.empty(20, 14), [group], "wander", mission=mission)


def on_truth(*layers: str) -> dict[str, tuple[str, list[int]]]:
    """Return that each layer is shown with the walls alone."""
    return dict.fromkeys(layers, ("truth", []))


@dataclass
class Scene:
    """A simulation after some seconds, and for each layer what is shown with it and which robots are selected."""

    make: Callable[[], covey.Simulation]
    until_s: float
    shows: dict[str, tuple[str, list[int]]]
    view: str = "covey.fit()"


SCENES = [
    Scene(
        maze,
        25.0,
        {
            "truth": ("", []),
            **on_truth("starts", "explored"),
            "explored-by": ("truth numbers", [1]),
            **on_truth("covered", "first-seen", "last-seen", "last-covered", "seen-by", "passed-by", "visits"),
            "union": ("", []),
            "map": ("numbers", [1]),
            "frontiers": ("union", []),
            **on_truth("trails"),
            "paths": ("truth explored", []),
            "lidar": ("truth numbers", [1, 3]),
            "visible": ("truth numbers", [1, 3]),
            **on_truth("estimates", "links"),
            "groups": ("truth links", []),
            **on_truth("messages"),
        },
    ),
    Scene(
        lambda: maze(events=[{"wall": {"from": [2.5, -4], "to": [2.5, -2]}, "at_s": 20.0}]),
        25.0,
        {"standing": ("truth explored covered", [])},
    ),
    Scene(tagged, 16.0, {"tags": ("truth trails", [])}),
    Scene(walled_in, 20.0, {"given-up": ("truth trails", [])}),
    Scene(ordered, 1.0, {**on_truth("numbers", "names"), "targets": ("truth numbers", [])}),
    Scene(lambda: covey.load("rescue"), 100.0, {"finds": ("truth trails", []), "searched": ("truth", [])}),
    Scene(lambda: covey.load("patrol"), 60.0, {"waypoints": ("truth trails", []), "notes": ("truth", [])}),
    Scene(
        lambda: covey.load("hills"),
        60.0,
        {
            "ground": ("trails", []),
            "slope": ("", []),
            "altitude": ("ground", [0]),
            "error": ("ground", [0]),
            "interval": ("ground", [0]),
        },
    ),
]


@contextmanager
def shown(playwright: Any, source: Any) -> Iterator[tuple[Page, Server]]:
    """Open the page of a source, without its left column."""
    with Server(source) as server:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 830, "height": 480}, color_scheme="light")
        page.goto(server.url)
        while not page.evaluate("!!(window.covey && covey.model.frame)"):
            page.wait_for_timeout(100)
        page.get_by_role("button", name="Robots", exact=True).click()
        yield page, server
        browser.close()


def drawn(page: Page, layer: str, beside: str, robots: list[int], view: str) -> dict[str, str]:
    """Save the picture of a layer; return its group, title, description and legend."""
    page.evaluate("for (const name of [...covey.stage.shown]) covey.stage.show(name, false)")
    for name in (*beside.split(), layer):
        page.evaluate("name => covey.stage.show(name, true)", name)
    page.evaluate("robots => covey.model.select(robots)", robots)
    page.evaluate(f"() => {{ {view} }}")
    page.wait_for_timeout(1500)
    info = page.evaluate(
        """name => {
            const { model, stage, view } = covey, layer = stage.layers.find((one) => one.name === name);
            const { origin, rows, columns, resolution_m } = model.hello.world;
            const [left, bottom] = view.pixel(origin[0], origin[1], 0);
            const [right, top] = view.pixel(origin[0] + columns * resolution_m, origin[1] + rows * resolution_m, 0);
            const box = view.canvas.getBoundingClientRect();
            const [width, height] = [right - left + 24, bottom - top + 24];
            const clip = { x: box.x + left - 12, y: box.y + top - 12, width, height };
            const legend = layer.legend?.(stage.context) ?? {};
            const words = legend.keys ? legend.keys.map((key) => key[1]).join(", ")
                : legend.scale ? (legend.words ? legend.words + ": " : "") + "from " + legend.scale.join(" to ") : "";
            return { name, group: layer.group, title: layer.title, about: layer.about ?? "", words, clip };
        }""",
        layer,
    )
    image = Image.open(io.BytesIO(page.screenshot(clip=info.pop("clip")))).convert("RGB")
    image = image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.Resampling.LANCZOS)
    image.quantize(256).save(HERE / "layers" / f"{layer}.png", optimize=True)
    return info


def of_simulations(playwright: Any) -> Iterator[dict[str, str]]:
    """Draw the layers of all scenes."""
    for scene in SCENES:
        live, sim = Live(playing=False), scene.make()
        sim.observers.append(live.observe)
        thread = threading.Thread(target=lambda sim=sim, live=live: sim.run(before_step=live.before_step), daemon=True)
        thread.start()
        with shown(playwright, live) as (page, _):
            live.gate.step(round(scene.until_s / page.evaluate("covey.model.hello.step_s")))
            while page.evaluate("covey.model.frame.time_s") < scene.until_s - 1e-6:
                page.wait_for_timeout(100)
            for layer, (beside, robots) in scene.shows.items():
                yield drawn(page, layer, beside, robots, scene.view)
            live.gate.end()
        thread.join(60)


def of_two_runs(playwright: Any) -> Iterator[dict[str, str]]:
    """Draw the layer that compares two recorded runs."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [maze(Path(folder) / str(seed), seed=seed).run(until_s=15.0) for seed in (3, 4)]
        with shown(playwright, Recorded(*runs)) as (page, _):
            page.evaluate("covey.player.seek(150)")
            yield drawn(page, "other-explored", "truth explored", [], "covey.fit()")


def markdown(layers: list[dict[str, str]]) -> str:
    """Return the page."""
    groups = list(dict.fromkeys(one["group"] for one in layers))
    text = HEAD
    for group in groups:
        text += f"\n## {group}\n\n| layer | picture |\n|---|---|\n"
        for one in layers:
            if one["group"] == group:
                words = "<br>".join(
                    filter(None, (f"**{one['title']}**", one["about"], one["words"] and f"*{one['words']}*"))
                )
                text += f"| {words} | ![{one['title']}](images/layers/{one['name']}.png) |\n"
    return text


if __name__ == "__main__":
    (HERE / "layers").mkdir(exist_ok=True)
    with sync_playwright() as started:
        found = [*of_simulations(started), *of_two_runs(started)]
    order = ["World", "Robots", "Radio", "Explored and covered", "Heat maps", "Maps of the robots"]
    found.sort(key=lambda one: order.index(one["group"]))
    (HERE.parent / "layers.md").write_text(markdown(found), encoding="utf-8")
