"""Properties are judged by their truth, not by how fast a loaded machine finds it."""

import compileall
import gc
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from _pytest.assertion import rewrite
from hypothesis import HealthCheck, settings

settings.register_profile("covey", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("covey")

# threads of linear algebra wait for each other on the processors that all tests share: fits would take five times as long
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a shell starts so what runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

if "PYTEST_XDIST_WORKER" not in os.environ:  # once, as hundreds of processes import it, some without leave to write
    compileall.compile_dir(Path(__file__).parents[1] / "src", quiet=2)


class Failures:
    """Write which tests failed, and why, into a file for `.ci/again`: a line each, with the seed of the run.

    Each is printed at once too, since a run that is killed prints no summary.
    """

    def __init__(self, path: str, config: pytest.Config) -> None:
        self.path, self.config, self.seen = path, config, set()

    def pytest_runtest_logreport(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if not report.failed or report.nodeid in self.seen:
            return
        self.seen.add(report.nodeid)
        told = report.longreprtext.splitlines()
        why = next((line[1:].strip() for line in told if line.startswith("E ")), told[-1] if told else "")
        self.config.get_terminal_writer().line(f"\n{report.nodeid}: {why}")
        seed = self.config.getoption("randomly_seed", default=0)
        with open(self.path, "a") as file:
            file.write(f"{seed}\t{report.nodeid}\t{why}\n".replace("\r", " "))

    pytest_collectreport = pytest_runtest_logreport


def pytest_configure(config: pytest.Config) -> None:
    if "COVEY_FAILED" in os.environ and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(Failures(os.environ["COVEY_FAILED"], config))


def rewrite_share(config: pytest.Config) -> None:
    """Rewrite the asserts of a share of the tests, so that the workers do it once together, not each for itself."""
    worker = config.workerinput
    state = config.stash[rewrite.assertstate_key]
    files = sorted(Path(__file__).parent.rglob("test_*.py"))
    for file in files[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        kept = rewrite.get_cache_dir(file) / (file.stem + rewrite.PYC_TAIL)
        if rewrite._read_pyc(file, kept) is None:
            with suppress(SyntaxError):  # which collecting it reports
                read, code = rewrite._rewrite_test(file, config)
                rewrite.try_makedirs(kept.parent)
                rewrite._write_pyc(state, code, read, kept)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session):
    """Keep the tests as pytest rewrote them, which takes half of the time of collecting them.

    What has been collected stays: looking for garbage in it would take a third of that time, and go on through all tests.
    """
    saved, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    gc.disable()
    if "workerinput" in vars(session.config):
        rewrite_share(session.config)
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = saved
        gc.freeze()
        gc.set_threshold(10_000, 10, 10)
        gc.enable()


def is_of_browser(item: pytest.Item) -> bool:
    return item.path.is_relative_to(Path(__file__).parent / "viewer" / "browser")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the tests of the page follow each other, in whatever order: they share a browser."""
    items.sort(key=is_of_browser)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Close the browser before a test that needs none: Playwright holds an event loop in this thread."""
    if not is_of_browser(item):
        close_browser(item.config)


def pytest_sessionfinish(session: pytest.Session) -> None:
    close_browser(session.config)


def close_browser(config: pytest.Config) -> None:
    if hasattr(config, "open_browser"):
        del config.open_browser
        config.close_browser()


def pytest_unconfigure() -> None:
    gc.freeze()  # Python would search through all of it once more


@pytest.fixture(autouse=True)
def ends_when_asked():
    """A test that leaves SIGTERM or Ctrl-C ignored hangs another one: what is ignored is so in child processes, too."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    ignored = [n for n, handler in before.items() if signal.getsignal(n) == signal.SIG_IGN != handler]
    for number in ignored:
        signal.signal(number, before[number])
    assert not ignored, f"{ignored} are ignored after this test"


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave pictures empty, for tests that look at none: to draw them takes most of the time of a report."""
    from covey.results.figures.style import Picture

    monkeypatch.setattr(Picture, "to_bytes", lambda _picture, _kind: b"")
