"""A run that has ended: its page stays while somebody looks, and a run without viewers ends at once."""

import json
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request

import pytest
from websockets.sync.client import connect

import covey
from covey.plain import unpack
from covey.viewer import Joined, Live, Server

SHORT = "world: {empty_m: [6, 6]}\nrobots: [{robot: disc, count: 2, controller: random_ballistic_walk}]\nstop: {timeout_s: 100}\n"


def test_layers_can_be_looked_at_after_the_end():
    live = Live(None, False)
    sim = covey.Simulation(covey.World.maze(size_m=(20, 14), seed=1), robots=2, observers=[live.observe])

    def run():
        sim.run(until_s=0.5, before_step=live.before_step)
        live.linger()

    with Server(live) as server:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        token = server.url.split("token=")[1]
        address, origin = f"ws://127.0.0.1:{server.port}/ws", f"http://127.0.0.1:{server.port}"
        with connect(address, subprotocols=["covey.1", f"token.{token}"], origin=origin, max_size=None) as socket:
            ask(socket, type="play")
            while not sim.done:
                time.sleep(0.02)
            ask(socket, type="watch", layers=["truth"], rate_hz=60)
            layer = until(socket, lambda header: header["type"] == "layer")
            assert layer["name"] == "truth"
            ask(socket, type="do", event={"kind": "radio_dies", "robot": sim.names[0]}, id=5)
            refused = until(socket, lambda header: header.get("id") == 5)
            assert (refused["type"], refused["text"]) == ("refused", "the run has ended")
            assert thread.is_alive()
        thread.join(240)
        assert not thread.is_alive()


@pytest.mark.slow
@pytest.mark.parametrize("interrupted", [False, True])
def test_the_command_says_so_and_prints_its_results_when_the_last_viewer_has_left_or_at_ctrl_c(tmp_path, interrupted):
    (tmp_path / "short.yaml").write_text(SHORT)
    command = [sys.executable, "-m", "covey", "run", "short.yaml", "--live", "--no-pictures", "--speed", "5"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        url = next(
            found for line in process.stderr if (found := re.search(r"http://127\.0\.0\.1:(\d+)/#token=(\S+)", line))
        )
        port, token = url.groups()
        protocols = ["covey.1", f"token.{token}"]
        with connect(
            f"ws://127.0.0.1:{port}/ws", subprotocols=protocols, origin=f"http://127.0.0.1:{port}", max_size=None
        ) as socket:
            ask(socket, type="speed", factor=None)
            assert any("the run has ended: timeout; its record is in " in line for line in process.stderr)
            result = until(socket, lambda header: header["type"] == "result")
            assert (result["status"], result["metrics"][1][:2]) == ("timeout", ["simulated_time_s", 100.0])
            assert (tmp_path / result["folder"] / "metrics.json").is_file()
            assert any("its page stays" in line for line in process.stderr)
            with connect(
                f"ws://127.0.0.1:{port}/ws", subprotocols=protocols, origin=f"http://127.0.0.1:{port}", max_size=None
            ) as late:
                hello = until(late, lambda header: header["type"] == "hello")
            assert hello["result"]["metrics"] == result["metrics"]
            assert hello["record"] == str(tmp_path / result["folder"])
            ask(socket, type="pause", id=3)
            until(socket, lambda header: header.get("id") == 3)  # somebody looks, so it is there
            assert process.poll() is None
            if interrupted:
                process.send_signal(signal.SIGINT)
                process.wait(240)
        out, said = process.communicate(timeout=240)
        assert "run folder" in out
        assert "Traceback" not in said
        assert process.returncode == 3  # ended without the goal
    finally:
        process.kill()
        process.communicate()
    (run,) = (tmp_path / "runs" / "short").glob("2*")
    assert covey.Run(run).status == "timeout"


def test_a_page_that_is_loading_when_the_run_of_a_worker_ends_gets_its_last_state(monkeypatch):
    for name in ("covey.viewer.joined._LAST_S", "covey.viewer.server.RELOAD_S"):
        monkeypatch.setattr(name, 120.0)
    sim = covey.Simulation(covey.World.empty(4, 4), robots=1, controller="still")
    sim.step()
    joined = Joined(sim)
    joined.before_step(sim)
    address, _, token = joined.url.partition("/#token=")
    with urllib.request.urlopen(address) as page:
        page.read()
    sim.end()
    ending = threading.Thread(target=joined.end, daemon=True)
    ending.start()
    at = address.replace("http", "ws") + "/ws"
    with connect(at, subprotocols=["covey.1", f"token.{token}"], origin=address, max_size=None) as socket:
        ask(socket, type="watch", layers=[], rate_hz=60)
        last = until(socket, lambda header: header["type"] == "frame")
        assert last["status"] == "stopped"
        ending.join(240)
        assert not ending.is_alive()


def ask(socket, **message):
    socket.send(json.dumps(message))


def until(socket, wanted):
    end = time.monotonic() + 240
    while time.monotonic() < end:
        message = socket.recv(timeout=240)
        header = json.loads(message) if isinstance(message, str) else unpack(message)[0]
        if header["type"] == "frame":
            ask(socket, type="ack", frame=header["frame"])
        if wanted(header):
            return header
    raise AssertionError("it did not come")
