"""``covey`` in processes that begin at once: they are forked from one that has loaded the libraries."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.ros.forks", "tests.ros.loaded"])


class Covey:
    """A process that runs ``covey`` with some arguments in a folder; what it says is in files there."""

    def __init__(self, arguments, folder, environment, number):
        self.said, self.complained = (Path(folder) / f"{name}{number}.txt" for name in ("out", "err"))
        self.said.touch()
        self.complained.touch()
        where = str(folder), environment, str(self.said), str(self.complained)
        self._process = _FORKS.Process(target=_run, args=(list(arguments), *where))
        self._process.start()

    @property
    def pid(self):
        return self._process.pid

    @property
    def returncode(self):
        return self._process.exitcode

    def wait(self, timeout=None):
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("covey", timeout)
        return self.returncode

    def communicate(self, timeout=None):
        self.wait(timeout)
        return self.said.read_text(), self.complained.read_text()

    def kill(self):
        self._process.kill()
        self._process.join()


def _run(arguments, folder, environment, said, complained):
    for path, stream in ((said, 1), (complained, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), stream)
    sys.stdout, sys.stderr = (os.fdopen(stream, "w", buffering=1) for stream in (1, 2))
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    from covey.cli import main

    sys.argv[1:] = arguments
    sys.exit(main())
