"""What the tests of ROS share: waiting, and the independent peer as a process."""

import json
import subprocess
import sys
import time
from pathlib import Path


def until(ask, seconds=30.0):
    """Return the first answer that is true."""
    end = time.monotonic() + seconds
    while not (answer := ask()):
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)
    return answer


class PeerProcess:
    """The peer of ``peer.py`` in a process of its own: ``peer.take(topic="rt/scan")`` asks it and returns its answer."""

    def __init__(self, domain, tag):
        command = [sys.executable, "-m", "tests.ros.peer", str(domain), tag]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.process = subprocess.Popen(command, **pipes, text=True, cwd=Path(__file__).parents[2])
        self._joined = False

    def __getattr__(self, command):
        def ask(**values):
            if not self._joined:  # it loads its libraries while the test goes on
                assert self.process.stdout.readline() == "ready\n", self.process.stderr.read()
                self._joined = True
            self.process.stdin.write(json.dumps({"do": command} | values) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            return json.loads(line)

        return ask

    def graph_of(self, **counts):
        """Return the graph once it has as many participants, writers or readers as given."""

        def complete():
            graph = self.graph()
            return graph if all(len(graph[name]) >= count for name, count in counts.items()) else None

        return until(complete)

    def close(self):
        """End it; return what it complained about."""
        self.process.kill()
        return self.process.communicate()[1]
