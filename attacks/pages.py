"""The live page's server: viewers that come and go, that read nothing, that send garbage; an hour with a viewer.

    python -m attacks.pages [connections] [messages] [hours]

The run must go on, every message must be answered or end its connection, and in the end nothing may be left: no
viewer, no open file, no thread, and no memory that grows with the number of connections.
"""

import json
import logging
import os
import socket as sockets
import sys
import threading
import time
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random

import psutil
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

import covey
from covey.viewer import Live, Server

VALID = (
    {"type": "ack", "frame": 1},
    {"type": "watch", "layers": ["truth", "first_explored"], "details": ["paths", "links"], "rate_hz": 30},
    {"type": "pause"},
    {"type": "play"},
    {"type": "step", "count": 2},
    {"type": "speed", "factor": 100.0},
    {"type": "do", "event": {"wall": {"from": [1, 1], "to": [2, 2]}}},
    {"type": "do", "event": {"place": {"robot": "robot0", "pose": [3, 3, 0]}}},
    {"type": "drive", "robot": "robot0", "twist": [0.5, 0.0, 0.3]},
)
STRANGE = (
    None,
    True,
    -1,
    0,
    1e308,
    -1e-308,
    2**70,
    "",
    "x" * 5000,
    "\x1b[31m",
    [],
    [[]],
    {},
    {"a": {}},
    "NaN",
    "robot0",
)


@dataclass
class Outcome:
    """What came of an attack: what is wrong, and figures to print."""

    wrong: list[str] = field(default_factory=list)
    figures: dict[str, object] = field(default_factory=dict)


def message(random: Random) -> str | bytes:
    """Return a message that is mostly wrong."""
    kind = random.randrange(10)
    if kind == 0:
        return random.randbytes(random.randrange(2000))
    if kind == 1:
        return "".join(chr(random.randrange(32, 1000)) for _ in range(random.randrange(300)))
    data = json.loads(json.dumps(random.choice(VALID)))
    for _ in range(random.randrange(3)):
        at = data
        while isinstance(at, dict) and at and random.random() < 0.6:
            key = random.choice(list(at))
            if not isinstance(at[key], dict):
                at[key] = deepcopy(random.choice(STRANGE))
                break
            at = at[key]
        else:
            if isinstance(at, dict):
                at[random.choice(("id", "robot", "x", "type"))] = deepcopy(random.choice(STRANGE))
    text = json.dumps(data)
    return text[: random.randrange(len(text))] if kind == 2 else text


def attack(connections: int = 1000, messages: int = 2000, hours: float = 0.0, seed: int = 1) -> Outcome:
    """Attack a run that is watched."""
    outcome, random = Outcome(), Random(seed)
    live = Live(factor=50.0)
    world = covey.World.maze(size_m=(20, 14), seed=1)
    stop = covey.Stop(explored=None, timeout_s=1e6)
    sim = covey.Simulation(world, robots=3, controller="wander", seed=3, stop=stop, observers=[live.observe])
    process = psutil.Process()
    with Server(live) as server:
        runner = threading.Thread(target=lambda: sim.run(before_step=live.before_step), daemon=True)
        runner.start()
        try:
            _come_and_go(live, server, 20 if connections < 500 else 500, random)  # what is made once is made now
            before = process.memory_info().rss, process.num_fds(), threading.active_count()
            begin = time.perf_counter()
            _come_and_go(live, server, connections, random)
            _wait(lambda: not live.hub.clients)
            after = process.memory_info().rss, process.num_fds(), threading.active_count()
            outcome.figures["connections per second"] = round(connections / (time.perf_counter() - begin))
            outcome.figures["memory grown [MB]"] = round((after[0] - before[0]) / 1e6, 1)
            if live.hub.clients:
                outcome.wrong.append(f"{len(live.hub.clients)} viewers are left")
            if after[1] > before[1] + 3 or after[2] > before[2] + 2:
                outcome.wrong.append(f"files and threads grew from {before[1:]} to {after[1:]}")
            if after[0] - before[0] > 60e6:
                outcome.wrong.append(f"memory grew by {(after[0] - before[0]) / 1e6:.0f} MB")
            outcome.figures["garbage"] = _garbage(live, server, sim, messages, random, outcome)
            if hours:
                outcome.figures["hour"] = _long(server, sim, 3600.0 * hours, process, outcome)
        finally:
            live.gate.end()
            runner.join(30)
    if live.fault is not None:
        outcome.wrong.append(f"the page failed: {live.fault!r}")
    if runner.is_alive():
        outcome.wrong.append("the run does not end")
    return outcome


def _open(server: Server, edits: bool = True):
    token = (server.url if edits else server.view_url).split("token=")[1]
    return connect(
        f"ws://127.0.0.1:{server.port}/ws",
        subprotocols=["covey.1", f"token.{token}"],
        origin=f"http://127.0.0.1:{server.port}",
        max_size=None,
        open_timeout=30,
    )


def _come_and_go(live: Live, server: Server, count: int, random: Random) -> None:
    """Connect and leave: in good order, without a word, in the middle of a handshake, with a wrong token."""
    for _ in range(count):
        way = random.randrange(4)
        if way == 3:
            with sockets.create_connection(("127.0.0.1", server.port)) as raw:
                raw.sendall(b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\n" + random.randbytes(random.randrange(60)))
            continue
        with suppress(ConnectionClosed, InvalidHandshake, EOFError, OSError), _open(server, way != 1) as viewer:
            viewer.send(json.dumps(VALID[1]))
            if way == 2:
                viewer.socket.shutdown(sockets.SHUT_RDWR)  # as a laptop that is shut
            else:
                viewer.recv(timeout=10)


def _garbage(live: Live, server: Server, sim: covey.Simulation, count: int, random: Random, outcome: Outcome) -> str:
    sent = ended = 0
    while sent < count:
        with suppress(ConnectionClosed, EOFError, OSError), _open(server) as viewer:
            ended += 1
            reader = threading.Thread(target=_read_all, args=(viewer,), daemon=True)
            reader.start()
            for _ in range(random.randrange(1, 40)):
                viewer.send(message(random))
                sent += 1
                if random.random() < 0.05:
                    time.sleep(0.01)
    _wait(lambda: not live.hub.clients)  # the last of them may have paused the run
    live.gate.speed(50.0)
    live.gate.play()
    step = sim.clock.step
    if not _wait(lambda: sim.clock.step > step):
        outcome.wrong.append(f"the run stands after garbage: {sim.status}")
    return f"{sent} messages over {ended} connections"


def _read_all(viewer) -> None:
    with suppress(ConnectionClosed, EOFError, OSError):
        for _ in viewer:
            pass


def _long(server: Server, sim: covey.Simulation, for_s: float, process: psutil.Process, outcome: Outcome) -> str:
    """Watch for some simulated time; memory may not grow in its second half."""
    seen, begin_s = [], sim.time
    with suppress(ConnectionClosed, EOFError, OSError), _open(server) as viewer:
        viewer.send(json.dumps(VALID[1] | {"layers": ["truth", "first_explored", "last_explored", "last_covered"]}))
        viewer.send(json.dumps({"type": "speed", "factor": None}))
        viewer.send(json.dumps({"type": "play"}))
        while sim.time < begin_s + for_s:
            got = viewer.recv(timeout=30)
            if isinstance(got, bytes):
                header = json.loads(got[4 : 4 + int.from_bytes(got[:4], "little")])
                if header["type"] == "frame":
                    viewer.send(json.dumps({"type": "ack", "frame": header["frame"]}))
                    seen.append((header["time_s"], process.memory_info().rss / 1e6))
    half = next(mb for time_s, mb in seen if time_s >= begin_s + for_s / 2)
    if seen[-1][1] - half > 30:
        outcome.wrong.append(f"memory grew from {half:.0f} to {seen[-1][1]:.0f} MB in the second half")
    last_s = seen[-1][0] - begin_s
    return f"{last_s:.0f} s simulated, {half:.0f} MB at half, {seen[-1][1]:.0f} MB at the end, {len(seen)} frames"


def _wait(wanted, timeout_s: float = 20.0) -> bool:
    end = time.monotonic() + timeout_s
    while not wanted():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


if __name__ == "__main__":
    logging.getLogger("websockets").setLevel(logging.CRITICAL)  # it reports the ends of its own viewers
    given = [float(text) for text in sys.argv[1:]]
    connections, messages, hours = [*given, *(1000, 2000, 1.0)[len(given) :]]
    result = attack(int(connections), int(messages), hours)
    print(json.dumps(result.figures, indent=1), "\n".join(result.wrong) or "nothing wrong", sep=os.linesep)
    sys.exit(bool(result.wrong))
