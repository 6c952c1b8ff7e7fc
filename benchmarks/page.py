"""The live page: frames per second, what a viewer costs the run, data, and how fast a pause answers.

A headless Chromium draws in software (no graphics card). The simulation, the server and the browser share the machine.

    python benchmarks/page.py [frames] [cost] [idle] [data] [pause] [large] [size]

* frames: 500 walkers in a cave of 1024 x 1024 cells, 980 x 800 pixels: drawings per second, all of them of new states.
* cost: wall time of `maze` (6 robots, as fast as possible) with one viewer at 10 Hz over none, runs in turn: a viewer
  that only reads, and the page.
* idle: processor time of a page at which nobody looks over that of the steps of its run, in one run: `maze` (6 and 30
  robots) and `patrol`.
* data: `maze` with 30 robots and all layers watched: bytes per second on the socket, compressed.
* pause: from the request until the simulation stands, 95th percentile of 100.
* large: 1000 walkers in 5000 x 5000 cells.
* size: the page, compressed as a server or a wheel would.
"""

import gzip
import json
import shutil
import statistics
import sys
import threading
import time
from contextlib import contextmanager, nullcontext, suppress

from playwright.sync_api import sync_playwright
from walkers import scenario
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

import covey
from covey.plain import unpack
from covey.scenario.load import load
from covey.viewer import Live, Server
from covey.viewer.server import page as page_html

ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


@contextmanager
def running(sim: covey.Simulation, live: Live):
    """Run a simulation in a thread, and serve it."""
    sim.observers.append(live.observe)
    with Server(live) as server:
        thread = threading.Thread(target=lambda: sim.run(before_step=live.before_step), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            live.gate.end()
            thread.join()


@contextmanager
def browsing(url: str):
    """Open the page in a browser of 980 x 800 pixels."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": 980, "height": 800})
        page.goto(url)
        while not page.evaluate("!!(window.covey && covey.model.frame)"):
            page.wait_for_timeout(50)
        yield page
        browser.close()


def count(page, seconds: float) -> tuple[float, float]:
    """Return drawings and new states per second."""
    page.evaluate("window.drawn = 0; covey.view.onDraw.push(() => window.drawn++); 0")
    page.wait_for_timeout(2000)
    state = "[window.drawn, covey.model.frame.frame, performance.now()]"
    drawn, frame, begin = page.evaluate(state)
    page.wait_for_timeout(1000 * seconds)
    drawn2, frame2, end = page.evaluate(state)
    return 1e3 * (drawn2 - drawn) / (end - begin), 1e3 * (frame2 - frame) / (end - begin)


def frames(robots: int = 500, side_m: float = 102.0) -> None:
    """Print the frames per second."""
    sim = scenario(robots, 10.0, side_m, resolution_m=0.1).build()
    live = Live(factor=3.0)
    with running(sim, live) as server, browsing(server.url) as page:
        for client in live.hub.clients:
            live.hub.watching(client, client.watch.model_copy(update={"rate_hz": 60.0}))
        drawn, states = count(page, 15.0)
        rows, columns = sim.world.grid.shape
        print(
            f"{robots} robots, {rows} x {columns} cells: {drawn:.1f} drawings/s, {states:.1f} new states/s", flush=True
        )


class Reader(threading.Thread):
    """A viewer that only reads; in a thread, it takes less of the processor than a page."""

    def __init__(self, server: Server, rate_hz: float = 10.0, everything: bool = False):
        super().__init__(daemon=True)
        self.server, self.rate_hz, self.everything = server, rate_hz, everything
        self.bytes = self.raw = self.frames = 0

    def run(self) -> None:
        token = self.server.url.split("token=")[1]
        with (
            connect(
                f"ws://127.0.0.1:{self.server.port}/ws",
                subprotocols=["covey.1", f"token.{token}"],
                origin=f"http://127.0.0.1:{self.server.port}",
                max_size=None,
            ) as socket,
            suppress(ConnectionClosed),
        ):
            for message in socket:
                if isinstance(message, str):
                    hello = json.loads(message)
                    if hello["type"] == "hello":
                        layers = hello["layers"] if self.everything else ["truth", "first_explored"]
                        details = hello.get("details", ["estimates"]) if self.everything else []
                        watch = {"type": "watch", "layers": layers, "details": details, "rate_hz": self.rate_hz}
                        if self.everything:
                            watch["robots"] = list(range(len(hello["robots"])))
                        socket.send(json.dumps(watch))
                    continue
                header, _ = unpack(message)
                self.raw += len(message)
                self.bytes += len(gzip.compress(message, 1))
                if header["type"] == "frame":
                    self.frames += 1
                    socket.send(json.dumps({"type": "ack", "frame": header["frame"]}))


def maze(robots: int) -> covey.Simulation:
    """Return `maze` with a number of robots."""
    return load("maze", {"robots.0.count": robots})


def cost(pairs: int = 10) -> None:
    """Print the wall time with a page and a viewer over that of a run without a page."""
    maze(6).run(until_s=5.0)  # compiles
    alone, read, seen = [], [], []
    for _ in range(pairs):
        for times, kind in ((alone, None), (read, "reader"), (seen, "page")):
            sim, live = maze(6), Live(playing=False)
            if kind is None:
                begin = time.perf_counter()
                sim.run()
                times.append(time.perf_counter() - begin)
                continue
            with running(sim, live) as server:
                if kind == "reader":
                    reader = Reader(server)
                    reader.start()
                    while not reader.frames:
                        time.sleep(0.01)
                with browsing(server.url) if kind == "page" else nullcontext():
                    begin = time.perf_counter()
                    live.gate.play()
                    while not sim.done:
                        time.sleep(0.005)
                    times.append(time.perf_counter() - begin)
    base = statistics.median(alone)
    for name, times in (("a viewer that reads", read), ("the page", seen)):
        ratios = [a / b for a, b in zip(times, alone, strict=True)]
        print(f"maze, 6 robots, {base:.2f} s alone; {name}: {statistics.median(ratios):.3f} of it", flush=True)


def idle(most: int = 1500) -> None:
    """Print the processor time of a page at which nobody looks over that of the steps of its run."""
    for name, changes in (("maze", {}), ("maze", {"robots.0.count": 30}), ("patrol", {})):
        sim, live = load(name, changes), Live()
        page, whole = [0.0], [0.0]
        sim.observers.append(timed(live.observe, page))
        before_step, step = timed(live.before_step, page), timed(sim.step, whole)
        with Server(live):
            while not sim.done and sim.clock.step < most:
                if sim.clock.step == 100:  # compiled
                    page[0] = whole[0] = 0.0
                asked = page[0]
                before_step(sim)
                whole[0] += page[0] - asked
                step()
        run_s = whole[0] - page[0]
        print(
            f"{name}, {len(sim.names)} robots, nobody looks: {page[0] / run_s:.4f} of a step without a page, "
            f"{1e6 * page[0] / (sim.clock.step - 100):.0f} of {1e6 * run_s / (sim.clock.step - 100):.0f} us",
            flush=True,
        )


def timed(function, spent: list[float]):
    """Return a function whose processor time, of its own thread, is added to what has been spent."""

    def call(*given):
        begin = time.thread_time()
        try:
            return function(*given)
        finally:
            spent[0] += time.thread_time() - begin

    return call


def data(seconds: float = 20.0) -> None:
    """Print the data to one viewer."""
    sim, live = maze(30), Live(factor=1.0, playing=False)
    with running(sim, live) as server:
        reader = Reader(server, everything=True)
        reader.start()
        while not reader.frames:
            time.sleep(0.05)
        time.sleep(2.0)
        live.gate.play()
        before, begin, raw = reader.bytes, time.perf_counter(), reader.raw
        time.sleep(seconds)
        wall = time.perf_counter() - begin
        print(
            f"maze, 30 robots, all layers at 10 Hz: {(reader.bytes - before) / wall / 1e6:.2f} MB/s, "
            f"{(reader.raw - raw) / wall / 1e6:.2f} MB/s before it is deflated",
            flush=True,
        )


def pause(rounds: int = 100) -> None:
    """Print how fast a pause answers."""
    sim, live = maze(6), Live()
    sim.stop = (
        sim.stop.model_copy(update={"explored": None, "timeout_s": 1e6}) if hasattr(sim.stop, "explored") else sim.stop
    )
    with running(sim, live) as server:
        token = server.url.split("token=")[1]
        waits = []
        with connect(
            f"ws://127.0.0.1:{server.port}/ws",
            subprotocols=["covey.1", f"token.{token}"],
            origin=f"http://127.0.0.1:{server.port}",
            max_size=None,
        ) as socket:
            while json.loads(socket.recv())["type"] != "hello":
                pass
            for number in range(rounds):
                if sim.done:
                    break
                time.sleep(0.02)
                begin = time.perf_counter()
                socket.send(json.dumps({"type": "pause", "id": number}))
                while True:
                    text = socket.recv()
                    if isinstance(text, str) and json.loads(text).get("id") == number:
                        break
                step = sim.clock.step
                answered = time.perf_counter()
                time.sleep(0.03)
                assert sim.clock.step - step <= 1, "it went on"
                waits.append(1e3 * (answered - begin))
                socket.send(json.dumps({"type": "play"}))
        print(f"pause: {statistics.quantiles(waits, n=20)[-1]:.1f} ms (95 % of {len(waits)})", flush=True)


def large() -> None:
    """Print what 1000 robots in 5000 x 5000 cells give."""
    frames(1000, 500.0)


def size() -> None:
    """Print the size of the page."""
    print(f"page: {len(gzip.compress(page_html(), 9)) / 1000:.0f} kB compressed", flush=True)


if __name__ == "__main__":
    for name in sys.argv[1:] or ("size", "pause", "data", "idle", "cost", "frames", "large"):
        globals()[name]()
