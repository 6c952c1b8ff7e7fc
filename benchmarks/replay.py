"""How long a recorded run of one hour with 30 robots takes to open in the page, and to go to another time.

    python benchmarks/replay.py [--hours 1] [--robots 30] [--cells 800]

It makes a run folder (robots that walk at random, a pose each 0.1 s, a grid of cells x cells), starts `covey view`, and
opens the page in a headless Chromium without a graphics card. It prints wall times [s]: of the command until it prints
its address; of the page from the begin of its loading until walls, robots and explored cells are drawn; and until it
has all poses. It needs Chromium. Goals: 2 s for the page, 0.5 s for a seek.
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from websockets.sync.client import ClientConnection, connect

from covey.cli import main
from covey.geometry.grid import Grid
from covey.results.manifest import build_manifest
from covey.results.maps import Maps
from covey.results.recorder import Recorder
from covey.results.snapshot import RunEvent, Snapshot

ARGUMENTS = (
    *("--headless=new", "--remote-debugging-port=0", "--window-size=980,800", "--no-sandbox", "--no-first-run"),
    *("--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking"),
)
READY = """window.covey?.model.frame && covey.model.poses() !== null
    && ["truth", "first_explored"].every((name) => covey.model.layers.has(name))"""
COMPLETE = "covey.model.history.at(-1).pose !== null"
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
        events = [RunEvent(step, 0.1 * step, "note", names[step % n], text="hello")] if step % 50 == 0 else []
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


@contextmanager
def opened(scratch: Path) -> Iterator["Page"]:
    """Give a page of a headless Chromium. Unlike Playwright, it does not hand all messages on to a debugger."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    command = [program, *ARGUMENTS, f"--user-data-dir={scratch}", "about:blank"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as browser:
        assert browser.stderr is not None
        port = next(found[1] for line in browser.stderr if (found := re.search(r"ws://127.0.0.1:(\d+)", line)))
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as listed:
            page = next(one for one in json.load(listed) if one["type"] == "page")
        with connect(page["webSocketDebuggerUrl"], max_size=None, compression=None) as socket:
            yield Page(socket)
        browser.terminate()


class Page:
    """A page, spoken to by the debugging protocol."""

    def __init__(self, socket: ClientConnection):
        self.socket, self.number = socket, 0

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the debugging protocol."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while (answer := json.loads(self.socket.recv())).get("id") != self.number:
            pass
        return answer["result"]

    def evaluate(self, script: str) -> Any:
        """Return what a script gives; None if it fails, as it does while a page is being loaded."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        return answer["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until a script gives something true."""
        while not self.evaluate(script):
            time.sleep(0.005)


def measure(folder: Path, steps: int) -> None:
    """Open the folder in a page and as a file, and print the times."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "covey", "view", str(folder)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as view:
        assert view.stderr is not None
        address = next(line.split()[1] for line in view.stderr if line.startswith("watch"))
        command_s = time.perf_counter() - begun
        print(f"covey view    prints its address after {command_s:.2f} s")
        look(address, steps)
        view.terminate()
    path, begun = folder.parent / "run.html", time.perf_counter()
    main(["export", str(folder), "--out", str(path)])
    print(f"covey export  {time.perf_counter() - begun:.2f} s")
    look(path.as_uri(), steps)


def look(address: str, steps: int) -> None:
    """Print the time until a page shows the run, and those of seeks [s]."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch, opened(Path(scratch)) as page:
        begun = time.perf_counter()
        page.call("Page.navigate", url=address)
        page.until(READY)
        page.evaluate(f"({DRAWN})(1)")
        opened_s = time.perf_counter() - begun
        page.until(COMPLETE)
        complete_s = time.perf_counter() - begun
        seeks = [page.evaluate(f"({DRAWN})({step})") for step in np.random.default_rng(2).integers(1, steps, 20)]
    print(f"page          drawn after {opened_s:.2f} s, has all poses after {complete_s:.2f} s")
    print(f"              seek median {statistics.median(seeks):.3f} s, longest {max(seeks):.3f} s of {len(seeks)}")


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
