"""What the tests of ROS share: waiting, and the independent peer as a process."""

import json
import subprocess
import sys
import time
import weakref
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import ClassVar

from covey.ros.dds import Writer
from covey.ros.libraries import Policy

PARTICIPANTS = weakref.WeakSet()
"""Those of this process and this test, see ``conftest.py``."""


def until(ask, seconds=30.0):
    """Return the first answer that is true."""
    end = time.monotonic() + seconds
    while not (answer := ask()):
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)
    return answer


def delivered(participant):
    """Wait until the readers that a participant has looked at have all that it has written."""
    for end in participant._ends:
        if isinstance(end, Writer) and end.readers:
            assert end.await_readers(30_000_000_000), end.end.topic.name


class Looks:
    """The looks of a simulation, in another thread, for requests: it takes them only between two steps.

    It looks once before each step, and again and again while it waits: for its time, to be played on, or for answers.
    """

    def __init__(self, bridge):
        self._look, self._bridge, self._steps = bridge.control.apply, bridge, []
        bridge.control.apply = self

    def __call__(self):
        self._look()
        self._steps.append(self._bridge.sim.clock.step)

    def held(self):
        """Return the step before which the simulation waits, once it has looked twice from now on and taken none."""
        begun = len(self._steps)

        def twice():
            last = self._steps[begun:][-2:]
            return len(last) == 2 and last[0] == last[1]

        until(twice)
        return self._steps[-1]


class PeerProcess:
    """The peer of ``peer.py`` in a process of its own: ``peer.take(topic="rt/scan")`` asks it and returns its answer.

    A process that has left its domain serves the next test.
    """

    _idle: ClassVar = []

    def __init__(self, domain, tag):
        self._domain, self._services = domain, {}
        self.process, self._errors = self._idle.pop() if self._idle else self._started()
        self._say("join", domain=domain, tag=tag)
        self._joined = False  # it loads its libraries while the test goes on

    @staticmethod
    def _started():
        errors = TemporaryFile("w+")  # noqa: SIM115 (as long as the process)
        pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
        how = {"text": True, "cwd": Path(__file__).parents[2]}
        return subprocess.Popen([sys.executable, "-m", "tests.ros.peer"], stderr=errors, **pipes, **how), errors

    def _say(self, command, **values):
        self.process.stdin.write(json.dumps({"do": command} | values) + "\n")
        self.process.stdin.flush()

    def _answer(self):
        line = self.process.stdout.readline()
        assert line, f"the peer has died: {self._complaints()}"
        return json.loads(line)

    def _complaints(self):
        self._errors.seek(0)
        text = self._errors.read()
        self._errors.truncate(0)
        self._errors.seek(0)  # the process writes on from there
        return text

    def __getattr__(self, command):
        return partial(self._ask, command)

    def _ask(self, command, **values):
        self.join()
        self._say(command, **values)
        return self._answer()

    def write(self, topic, **how):
        """Write, see `Peer.write`; readers of this process that send no receipts have it then, too, or one before it."""
        self._ask("write", topic=topic, **how)
        for ros in PARTICIPANTS:
            for end in ros._ends if ros.domain_id == self._domain else ():
                if end.end.topic.name == topic and Policy.Reliability.BestEffort in end.end.get_qos() and end.matched:
                    until(partial(ros.waiter(end), 0.0))

    def matched(self, topic):
        """Return how many ends of others its own end of a topic has met; 0 until those of this process have met it."""
        count = self._ask("matched", topic=topic)
        return count if self._met(topic) else 0

    def client(self, name, service, kind):
        """Let it be a client of a service; several may ask the same one."""
        self._services[name] = service
        self._ask("client", name=name, service=service, kind=kind)

    def ready(self, name):
        """Return whether a client and its service have met, both ways."""
        service = self._services[name]
        clients = list(self._services.values()).count(service)
        met = self._met(f"rq{service}Request", clients) and self._met(f"rr{service}Reply", clients)
        return met and self._ask("ready", name=name)

    def _met(self, topic, count=1):
        """Return whether all ends of a topic in this process have met its own: what is sent before that is lost."""
        ends = [end for ros in PARTICIPANTS if ros.domain_id == self._domain for end in ros._ends]
        return all(end.matched >= count for end in ends if end.end.topic.name == topic)

    def join(self):
        """Wait until it is on the domain."""
        if not self._joined:
            self._answer()
            self._joined = True

    def graph_of(self, **counts):
        """Return the graph once it has as many participants, writers or readers as given."""

        def complete():
            graph = self.graph()
            return graph if all(len(graph[name]) >= count for name, count in counts.items()) else None

        return until(complete)

    def close(self):
        """Let it leave the domain; return what it complained about."""
        try:
            self.leave()
            self._idle.append((self.process, self._errors))
        except (BrokenPipeError, AssertionError):  # the test has killed it
            self.process.kill()
            with suppress(BrokenPipeError):
                self.process.communicate()
            with self._errors:
                return self._complaints()
        return self._complaints()
