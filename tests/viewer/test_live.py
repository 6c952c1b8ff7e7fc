"""A run that viewers follow and steer, over real sockets; what they get is compared with the simulation."""

import asyncio
import gzip
import json
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

import covey
from covey.plain import unpack
from covey.viewer import Live, Server
from covey.viewer.details import DETAILS
from covey.viewer.hub import MOST_TEXTS, Hub, PageClient
from covey.viewer.messages import Watch
from covey.viewer.past import News
from covey.viewer.server import page, send_to


class Viewer:
    """A page in a few lines: it puts together what it is sent."""

    def __init__(self, server, edits=True, **options):
        token = (server.url if edits else server.view_url).split("token=")[1]
        options = {"origin": f"http://127.0.0.1:{server.port}"} | options
        self.socket = connect(
            f"ws://127.0.0.1:{server.port}/ws", subprotocols=["covey.1", f"token.{token}"], max_size=None, **options
        ).__enter__()
        self.layers, self.frame, self.arrays, self.events, self.texts = {}, None, {}, [], []
        self.past = {}

    def send(self, **message):
        self.socket.send(json.dumps(message))

    def take(self, timeout=240.0):
        message = self.socket.recv(timeout=timeout)
        if isinstance(message, str):
            self.texts.append(json.loads(message))
            return self.texts[-1]
        header, arrays = unpack(message)
        if header["type"] == "layer":
            self.layers[header["name"]] = arrays["cells"].copy()
        elif header["type"] == "past":
            self.events, self.past = header["events"], arrays
        else:
            self.frame, self.arrays = header, arrays
            self.events += header["events"]
            for name in [name[6:] for name in arrays if name.startswith("tiles:")]:
                cells = self.layers[name]
                across = -(-cells.shape[1] // 32)
                for tile, part in zip(arrays[f"tiles:{name}"], arrays[f"cells:{name}"], strict=True):
                    row, column = 32 * (tile // across), 32 * (tile % across)
                    there = cells[row : row + 32, column : column + 32]
                    there[:] = part[: there.shape[0], : there.shape[1]]
            self.send(type="ack", frame=header["frame"])
        return header

    def until(self, wanted, timeout=240.0):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            header = self.take()
            if wanted(header):
                return header
        raise AssertionError("it did not come")

    def ask(self, **message):
        self.send(**message, id=7)
        return self.until(lambda header: header.get("id") == 7)


def simulation(live, **options):
    world = covey.World.maze(size_m=(20, 14), seed=1)
    return covey.Simulation(world, robots=3, controller="nearest_frontier", seed=3, observers=[live.observe], **options)


@contextmanager
def running(live, sim):
    with Server(live) as server:
        thread = threading.Thread(target=lambda: sim.run(until_s=1e6, before_step=live.before_step), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            live.gate.end()
            thread.join(240)  # the first step may have to be compiled
            assert not thread.is_alive()


@pytest.mark.parametrize("repeats", [True, False])
def test_within_a_machine_only_what_repeats_is_deflated(repeats):
    live = Live()
    live.hub = Hub(repeats)
    with Server(live) as server:
        extensions = Viewer(server).socket.response.headers.get("Sec-WebSocket-Extensions", "")
    assert ("permessage-deflate" in extensions) == repeats
    assert Live().hub.repeats


def test_the_page_comes_compressed_to_who_takes_that():
    with Server(Live()) as server:
        for accepted, packed in (("gzip, br", True), ("identity", False)):
            address = urllib.request.Request(f"http://127.0.0.1:{server.port}/", headers={"Accept-Encoding": accepted})
            with urllib.request.urlopen(address) as answer:
                body = answer.read()
                assert (answer.headers["Content-Encoding"] == "gzip") == packed
            assert (gzip.decompress(body) if packed else body) == page()
            assert (len(body) < len(page()) / 3) == packed


def test_what_a_viewer_puts_together_is_the_truth():
    live = Live(playing=False)
    sim = simulation(live)
    with running(live, sim) as server:
        viewer = Viewer(server)
        hello = viewer.until(lambda header: header["type"] == "hello")
        assert [robot["name"] for robot in hello["robots"]] == sim.names
        viewer.send(type="watch", layers=["truth", "first_explored", f"map:{sim.names[1]}"], rate_hz=50)
        viewer.ask(type="step", count=40)
        viewer.until(lambda header: header.get("step") == 40)
        np.testing.assert_allclose(viewer.arrays["pose"], sim.state.pose, atol=1e-5)
        np.testing.assert_array_equal(viewer.layers["truth"], sim.world.grid.cells)
        np.testing.assert_array_equal(viewer.layers["first_explored"], sim.scoring.exploration.cells.first_step)


def test_steps_that_two_viewers_ask_for_add_up():
    live = Live(playing=False)
    sim = simulation(live)
    with running(live, sim) as server:
        viewers = Viewer(server), Viewer(server)
        for viewer in viewers:
            viewer.send(type="watch", rate_hz=60)
        for k in range(10):
            viewers[k % 2].send(type="step", id=k)
        viewers[0].send(type="step", count=15, id=10)
        viewers[0].until(lambda header: header["type"] == "frame" and header["step"] == 25)
        assert viewers[0].frame["steps"] == 0
        viewers[1].until(lambda header: header["type"] == "frame" and header["step"] == 25)
    assert sim.clock.step == 25


def test_pause_and_end_stop_the_run():
    live = Live(factor=1.0)
    sim = simulation(live)
    with running(live, sim) as server:
        viewer = Viewer(server)
        viewer.until(lambda header: header["type"] == "hello")
        viewer.send(type="watch", rate_hz=50)
        viewer.until(lambda header: header.get("step", 0) >= 1)  # the first step may have to be compiled
        assert viewer.ask(type="pause")["type"] == "done"
        ask = partial(viewer.ask, type="probe", x=0.0, y=0.0)  # the simulation answers between two steps
        ask()
        step = sim.clock.step
        assert [ask() and sim.clock.step for _ in range(20)] == [step] * 20
        viewer.ask(type="end")
    assert sim.status == "stopped"
    assert sim.close().status == "stopped"


def test_events_of_a_viewer_are_inputs_and_bad_ones_are_refused_with_words():
    live = Live(playing=False)
    sim = simulation(live)
    with running(live, sim) as server:
        viewer = Viewer(server)
        viewer.until(lambda header: header["type"] == "hello")
        viewer.send(type="watch", rate_hz=50)
        refused = viewer.ask(type="do", event={"door": "nowhere", "to": "open"})
        assert refused["type"] == "refused"
        assert "no doors" in refused["text"]
        assert viewer.ask(type="do", event={"kind": "radio_dies", "robot": sim.names[0]})["type"] == "done"
        viewer.ask(type="step", count=2)
        viewer.until(lambda header: any(event["kind"] == "input" for event in viewer.events))
        assert viewer.arrays["flags"][0] & 4


def test_who_only_watches_changes_nothing():
    live = Live(playing=False)
    sim = simulation(live)
    with running(live, sim) as server:
        viewer = Viewer(server, edits=False)
        hello = viewer.until(lambda header: header["type"] == "hello")
        assert not hello["edits"]
        for message in ({"type": "play"}, {"type": "end"}, {"type": "do", "event": {}}):
            assert "only" in viewer.ask(**message)["text"]
        assert sim.clock.step == 0
        assert not sim.done


def test_a_run_with_viewers_has_the_same_bytes(tmp_path):
    def bytes_of(folder):
        return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet")) if path.stem != "host"} | {
            "maps": (folder / "maps.npz").read_bytes()
        }

    alone, stop = Live(), covey.Stop(timeout_s=20.0)  # the end of a run is shown, however late a viewer is
    simulation(alone, recording=tmp_path / "alone", stop=stop).run()
    live = Live(playing=False)
    sim = simulation(live, recording=tmp_path / "watched", stop=stop)
    with Server(live) as server:
        thread = threading.Thread(target=lambda: sim.run(before_step=live.before_step), daemon=True)
        thread.start()
        viewers = [Viewer(server), Viewer(server, edits=False)]
        for viewer in viewers:
            hello = viewer.until(lambda header: header["type"] == "hello")
            viewer.send(type="watch", layers=hello["layers"], details=sorted(DETAILS), robots=[0], rate_hz=60)
        viewers[0].send(type="play")
        viewers[1].socket.close()
        viewers[0].until(lambda header: header.get("step", 0) > 0)
        thread.join(240)
    assert bytes_of(tmp_path / "alone") == bytes_of(tmp_path / "watched")


@pytest.mark.slow
def test_a_viewer_that_reads_nothing_stops_nobody():
    live = Live(playing=False)
    sim = simulation(live)
    with running(live, sim) as server:
        deaf, viewer = Viewer(server), Viewer(server)
        hello = viewer.until(lambda header: header["type"] == "hello")
        for one in (deaf, viewer):
            one.send(type="watch", layers=hello["layers"], rate_hz=60)
        viewer.send(type="play")
        viewer.until(lambda header: header.get("step", 0) >= 300)
        client = next(client for client in live.hub.clients if client.acknowledged == 0)
        assert client.frame <= 2


@pytest.mark.parametrize(
    ("options", "status"),
    [({"origin": "http://evil.example"}, 403), ({"origin": None}, 403), ({"host": "evil.example"}, 421)],
)
def test_who_comes_from_elsewhere_is_refused(options, status):
    with Server(Live()) as server:
        if "host" in options:
            import http.client

            connection = http.client.HTTPConnection("127.0.0.1", server.port)
            connection.request("GET", "/", headers={"Host": options["host"]})
            assert connection.getresponse().status == status
            return
        with pytest.raises(InvalidStatus) as refused:
            Viewer(server, **options)
        assert refused.value.response.status_code == status


def test_a_wrong_token_is_refused():
    with Server(Live()) as server, pytest.raises(InvalidStatus) as refused:
        connect(
            f"ws://127.0.0.1:{server.port}/ws",
            subprotocols=["covey.1", "token.wrong"],
            origin=f"http://127.0.0.1:{server.port}",
        )
    assert refused.value.response.status_code == 401


def test_there_is_a_largest_number_of_viewers(monkeypatch):
    monkeypatch.setattr("covey.viewer.server.MOST_VIEWERS", 2)
    with Server(Live()) as server:
        here = [Viewer(server), Viewer(server)]
        with pytest.raises(InvalidStatus) as refused:
            Viewer(server)
        here.pop().socket.close()
        while len(server.source.hub.clients) > 1:
            time.sleep(0.01)
        here.append(Viewer(server))
    assert refused.value.response.status_code == 503


def test_connections_without_a_token_are_few_and_the_oldest_makes_room(monkeypatch):
    monkeypatch.setattr("covey.viewer.server.MOST_STRANGERS", 3)
    with Server(Live()) as server:
        here = [Viewer(server)]  # it has shown its token
        idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(6)]
        for each in idle[:3]:
            each.settimeout(60.0)
            with suppress(ConnectionResetError):
                assert each.recv(1) == b""
        here.append(Viewer(server))
        assert [viewer.take()["type"] for viewer in here] == ["waiting"] * 2
        for each in idle:
            each.close()


@pytest.mark.slow
@pytest.mark.parametrize(("files", "taken"), [(64, False), (120, True)])
def test_idle_connections_do_not_end_a_run_with_few_files(tmp_path, files, taken):
    code = (
        "import os, resource, covey\n"
        "from contextlib import suppress\n"
        "from covey.viewer import Live, Server\n"
        "live = Live()\n"
        "sim = covey.Simulation(covey.World.empty(6, 6), 2, 'wander', observers=[live.observe], recording='run')\n"
        "sim.step()\n"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))\n"
        "with Server(live) as server:\n"
        "    mine = []\n"
        f"    with suppress(OSError):\n        while {taken}: mine.append(os.open(os.devnull, os.O_RDONLY))\n"
        "    for file in mine[-8:]: os.close(file)\n"
        "    print(server.port, flush=True)\n"
        "    input()\n"
        "    sim.close()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    port = int(child.stdout.readline())
    with ExitStack() as others:
        for _ in range(20 if taken else 80):  # a connection waits in the queue of the system if no file is left
            others.enter_context(socket.create_connection(("127.0.0.1", port)))
        asks = others.enter_context(socket.create_connection(("127.0.0.1", port)))
        asks.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert asks.recv(1)  # it has come to all that came before
        _, said = child.communicate("\n")
    assert child.returncode == 0
    assert covey.Run(tmp_path / "run").status == "stopped"
    assert taken <= said.count("\n") <= 1  # of many that come at once, one may find no file
    assert "no file is left for new viewers of the page" in said or not said


@pytest.mark.parametrize(("edits", "share"), [(True, 0.3), (False, 0.1)])
def test_viewers_get_a_share_of_the_time(edits, share):
    """Showing took 0.5 s: the next state comes after 0.5 s / share, whatever rate is asked for."""
    live = Live()
    live._took[edits] = 10.0, 10.5
    assert live._due(edits, 60.0) == pytest.approx(10.5 + 0.5 / share)
    assert live._due(edits, 0.01) == pytest.approx(110.0)


def test_who_only_watches_asks_for_nothing_in_the_states_of_others():
    hub = Hub()
    for edits in (True, False):
        hub.join(client := PageClient(edits))
        client.texts.clear()
        hub.watching(client, Watch(type="watch", details=("paths",) if edits else ("lidar",), rate_hz=60))
    assert [hub.wishes(edits)[1] for edits in (True, False)] == [{"paths"}, {"lidar"}]
    hub.publish({"step": 1}, {}, set(), News(), to=[True])
    assert [len(hub.next_for(client)[0]) for client in hub.clients] == [1, 0]
    hub.publish({"step": 2}, {}, set(), News())
    for client in hub.clients:
        client.due = 0.0
    assert [len(hub.next_for(client)[0]) for client in hub.clients] == [1, 1]


def test_a_viewer_that_wants_more_gets_it_at_once():
    live = Live()
    sim = simulation(live)
    with running(live, sim) as server:
        viewer = Viewer(server)
        viewer.send(type="watch", rate_hz=0.001)  # the second frame would come after 1000 s
        viewer.until(lambda header: header["type"] == "frame")
        viewer.send(type="watch", rate_hz=50)
        viewer.until(lambda header: header["type"] == "frame")
        assert viewer.frame["frame"] == 2


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"type": "fly"}', '{"type": "speed", "factor": 0}', "[" * 100_000, b"\0"]
)
def test_garbage_is_refused_with_words_and_the_run_goes_on(text):
    live = Live(playing=False)
    sim = simulation(live)
    with running(live, sim) as server:
        viewer = Viewer(server)
        viewer.until(lambda header: header["type"] == "hello")
        viewer.socket.send(text)
        assert viewer.until(lambda header: header["type"] == "refused")["text"]
        assert viewer.ask(type="pause")["type"] == "done"


def test_the_page_loads_nothing_and_its_policy_names_its_own_script():
    import http.client

    with Server(Live()) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.request("GET", "/")
        response = connection.getresponse()
        body = response.read().decode()
    policy = response.getheader("Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert policy.count("sha256-") == 2
    assert "unsafe" not in policy
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=.?https?:", body)


@pytest.fixture
def with_broken(monkeypatch):
    """Return a context: a run in which a function of the page raises, and a viewer who has been greeted."""

    def broken(*_):
        raise ZeroDivisionError("a bug")

    @contextmanager
    def started(name):
        monkeypatch.setattr(f"covey.viewer.live.{name}", broken)
        live = Live(playing=False)
        sim = simulation(live)
        with running(live, sim) as server:
            viewer = Viewer(server)
            viewer.until(lambda header: header["type"] == "hello")
            yield live, sim, viewer

    return started


def test_a_fault_of_the_page_does_not_end_the_run(with_broken, caplog):
    with with_broken("details_of") as (live, sim, viewer):
        viewer.send(type="watch", layers=["truth"], rate_hz=60)
        assert viewer.ask(type="step", count=30)["type"] == "done"
        end = time.monotonic() + 240
        while sim.clock.step < 30 and time.monotonic() < end:
            time.sleep(0.01)
        assert sim.clock.step == 30
    assert isinstance(live.fault, ZeroDivisionError)
    assert [record.message for record in caplog.records if "page" in record.message] == [
        "the page cannot show this state of the run; the run goes on"
    ]


def test_a_request_that_fails_does_not_end_the_run(with_broken, caplog):
    with with_broken("known_of") as (_, _, viewer):
        assert "ZeroDivisionError" in viewer.ask(type="probe", x=1.0, y=1.0)["text"]
        assert viewer.ask(type="pause")["type"] == "done"
    assert "the run goes on" in caplog.text


def test_answers_do_not_pile_up_for_a_viewer_that_reads_nothing():
    hub = Hub()
    deaf = PageClient(edits=False)
    hub.join(deaf)
    for number in range(MOST_TEXTS + 500):
        hub.say({"type": "refused", "id": number}, deaf)
    assert len(deaf.texts) == MOST_TEXTS


def test_who_only_watches_cannot_flood_the_simulation():
    """50 messages per second reach it at most."""
    live = Live(playing=False)
    sim = simulation(live)
    with running(live, sim) as server:
        viewer = Viewer(server, edits=False)
        viewer.until(lambda header: header["type"] == "hello")
        begin = time.perf_counter()
        for _ in range(50):
            viewer.send(type="watch", rate_hz=60)
        viewer.ask(type="play")
        assert time.perf_counter() - begin > 0.9


def test_a_server_on_all_interfaces_answers_to_each_of_their_names_and_to_no_other():
    import http.client

    addresses = [
        one.address for every in psutil.net_if_addrs().values() for one in every if one.family == socket.AF_INET
    ]
    with Server(Live(), "0.0.0.0") as server:
        for name, status in [*((one, 200) for one in addresses), ("localhost", 200), ("evil.example", 421)]:
            connection = http.client.HTTPConnection("127.0.0.1", server.port)
            connection.request("GET", "/", headers={"Host": f"{name}:{server.port}"})
            assert connection.getresponse().status == status
        assert "0.0.0.0" not in server.url


@pytest.mark.parametrize("contained", [True, False])
def test_in_a_container_the_address_is_that_of_a_published_port(contained, monkeypatch, tmp_path):
    mark = tmp_path / "containerenv"
    if contained:
        mark.touch()
    monkeypatch.setattr("covey.viewer.server._MARKS_OF_CONTAINERS", (mark,))
    interfaces = {"eth0": [SimpleNamespace(address="172.17.0.2", family=socket.AF_INET)]}
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: interfaces)
    with Server(Live(), "0.0.0.0") as server:
        assert urllib.parse.urlsplit(server.url).hostname == ("127.0.0.1" if contained else "172.17.0.2")


@pytest.mark.parametrize("turns", range(5))
def test_whoever_leaves_while_something_comes_for_it_is_sent_nothing_more(turns):
    """Otherwise its sender waits for ever, and with it the end of the program."""

    async def leaves():
        client = PageClient(edits=True)
        looked, hub = asyncio.Event(), Hub()
        hub.next_for = lambda _: looked.set() or ([], 600.0)
        sender = asyncio.ensure_future(send_to(None, hub, client))
        client.wanted.set()
        await looked.wait()
        await asyncio.sleep(0)  # it waits again
        client.wanted.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        sender.cancel()
        return await asyncio.wait({sender}, timeout=20)

    ended, _ = asyncio.run(leaves())
    assert ended
