"""How long a recorded run of one hour with 30 robots takes to open in the page, and to go to another time.

    python benchmarks/replay.py [--hours 1] [--robots 30] [--cells 800]

It makes a run folder (robots that walk at random, a pose each 0.1 s, a grid of cells x cells), opens it in a headless
Chromium without a graphics card, and prints wall times [s]. It needs Playwright and Chromium. Goals: 2 s and 0.5 s.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

import covey
from covey.cli import main
from covey.geometry.grid import Grid
from covey.results.manifest import build_manifest
from covey.results.maps import Maps
from covey.results.recorder import Recorder
from covey.results.snapshot import Event, Snapshot
from covey.viewer import Server
from covey.viewer.recorded import Recorded

ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
READY = "!!(window.covey && covey.model.frame && covey.model.layers.has('truth') && covey.model.layers.size > 1)"
DRAWN = """(step) => new Promise((done) => {
    const begun = performance.now();
    covey.player.seek(step);
    requestAnimationFrame(() => {
        covey.view.renderer.getContext().finish();
        requestAnimationFrame(() => done((performance.now() - begun) / 1000));
    });
})"""


def made(folder: Path, steps: int, n: int, side: int) -> None:
    """Write the folder of a run."""
    rng = np.random.default_rng(1)
    resolution, size_m = 0.1, 0.1 * side
    names = [f"scout{i}" for i in range(n)]
    recorder = Recorder(folder, names)
    body = {"group": "scout", "kind": "pioneer3dx", "start": [[0.0, 0.0, 0.0]] * n, "discs_m": [[0.0, 0.0, 0.25]]}
    recorder.open(build_manifest(names, 1) | {"step_s": 0.1, "bodies": [body]})
    pose = np.zeros((n, 3))
    pose[:, :2] = rng.uniform(2.0, size_m - 2.0, (n, 2))
    counts = np.zeros(n, np.int64)
    for step in range(1, steps + 1):
        pose[:, 2] += rng.normal(0.0, 0.1, n)
        pose[:, :2] += 0.05 * np.column_stack((np.cos(pose[:, 2]), np.sin(pose[:, 2])))
        pose[:, :2] = np.clip(pose[:, :2], 1.0, size_m - 1.0)
        noisy = pose + rng.normal(0.0, 0.01, (n, 3))
        events = [Event(step, 0.1 * step, "note", names[step % n], text="hello")] if step % 50 == 0 else []
        still = np.zeros((n, 3))
        motion = (pose, noisy, still, still, np.zeros(n), counts, counts, np.zeros(n))
        shares = {"explored_share_union": step / steps, "explored_share": np.full(n, step / steps)}
        recorder.observe(Snapshot(step, 0.1 * step, *motion, events=events, mission=shares))
    row, column = np.mgrid[:side, :side]
    truth = ((row % 40 == 0) & (column % 60 > 15)).astype(np.uint8)
    first = (np.hypot(row - side / 2, column - side / 2) / side * 1.4 * steps).astype(np.int32)
    changed = np.array(
        [(step, 41 * side + 41, k % 2, 1 - k % 2) for k, step in enumerate(range(100, steps, 100))], np.int32
    )
    grid = Grid(truth, resolution)
    beliefs = [Grid(np.where(truth, 100, 0).astype(np.int8), resolution) for _ in range(n)]
    maps = Maps(grid, truth == 0, first, first, first, robots=beliefs, changed=changed.reshape(-1, 4))
    recorder.close("timeout", maps)


def measure(folder: Path, steps: int) -> None:
    """Open the folder in a page and as a file, and print the times."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        begun = time.perf_counter()
        recorded = Recorded(covey.Run(folder))
        read_s = time.perf_counter() - begun
        with Server(recorded) as server:
            opened_s, seeks = look(browser, server.view_url, steps)
        print(
            f"covey view    folder read {read_s:.2f} s, page open {opened_s:.2f} s, together {read_s + opened_s:.2f} s"
        )
        print(f"              seek median {statistics.median(seeks):.3f} s, longest {max(seeks):.3f} s of {len(seeks)}")
        path, begun = folder.parent / "run.html", time.perf_counter()
        main(["export", str(folder), "--out", str(path)])
        print(f"covey export  {time.perf_counter() - begun:.2f} s")
        opened_s, seeks = look(browser, path.as_uri(), steps)
        print(f"file          page open {opened_s:.2f} s")
        print(f"              seek median {statistics.median(seeks):.3f} s, longest {max(seeks):.3f} s of {len(seeks)}")
        browser.close()


def look(browser, address: str, steps: int) -> tuple[float, list[float]]:
    """Return the time until a page shows the run [s], and the times of seeks [s]."""
    page = browser.new_page(viewport={"width": 980, "height": 800})
    begun = time.perf_counter()
    page.goto(address)
    while not page.evaluate(READY):
        page.wait_for_timeout(5)
    page.evaluate(DRAWN, 1)
    opened_s = time.perf_counter() - begun
    seeks = [page.evaluate(DRAWN, int(step)) for step in np.random.default_rng(2).integers(1, steps, 20)]
    page.close()
    return opened_s, seeks


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--robots", type=int, default=30)
    parser.add_argument("--cells", type=int, default=800)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        count = round(36_000 * given.hours)
        begun = time.perf_counter()
        made(Path(scratch) / "run", count, given.robots, given.cells)
        size = sum(path.stat().st_size for path in (Path(scratch) / "run").iterdir())
        shape = f"{given.robots} robots, {count} steps, {given.cells}² cells"
        print(f"{shape}: {size / 1e6:.1f} MB, made in {time.perf_counter() - begun:.0f} s")
        measure(Path(scratch) / "run", count)
