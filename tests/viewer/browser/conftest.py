"""A real browser for tests of the page. They act by role and label, and compare with the simulation.

Without Chromium or Playwright these tests are skipped; with COVEY_BROWSER=required, as in `.ci/run`, they fail.
"""

import os
import shutil
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import covey
from covey.scenario.records import Scenario
from covey.viewer import Live, Server
from covey.viewer.adding import run_shown
from covey.viewer.hub import PageClient
from covey.viewer.messages import Probe

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None

ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    # suggestions below the address bar: each window would load a page of 400 files for them, a third of a test's time
    "--disable-features=PreloadTopChromeWebUI,WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup",
    "--process-per-site",  # the pages of a module have one process, which starts once
)

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
needs_axe = pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core: cd web && npm ci")


def barriers(page, part="document"):
    """Return what keeps people out of a page, or of an element of it, after axe-core; its context must have ``bypass_csp``."""
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(path=AXE)
    found = page.evaluate(f"axe.run({part}, {{resultTypes: ['violations']}})")
    return [(one["id"], [node["html"][:200] for node in one["nodes"]][:3]) for one in found["violations"]]


@pytest.fixture(scope="module")
def browser(pytestconfig):
    """Return a browser, which stays open for the next module; `tests/conftest.py` closes it before other tests."""
    if not hasattr(pytestconfig, "open_browser"):
        pytestconfig.open_browser, pytestconfig.close_browser = opened()
    return pytestconfig.open_browser


def opened():
    """Return a new browser, and what closes it."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None or sync_playwright is None:
        reason = "needs Chromium (Debian: chromium)" if chromium is None else "needs Playwright"
        if os.environ.get("COVEY_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    with ExitStack() as stack:
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        stack.callback(browser.close)
        browser.new_context(reduced_motion="reduce")  # that of `page_in`
        return browser, stack.pop_all().close


def listen(page, errors):
    """Let the errors of a page go to a list, and return the listeners."""
    heard = {
        "pageerror": lambda error: errors.append(str(error)),
        "console": lambda said: said.type == "error" and errors.append(said.text),
    }
    for event, listener in heard.items():
        page.on(event, listener)
    return heard


@contextmanager
def page_in(browser, errors, width=980, height=800):
    """Give the page that the tests of a module share, as a new one would be; errors in it go to a list.

    A new context with a new page takes twice as long until it shows a run.
    """
    shared = browser.contexts[0]
    page = shared.pages[0] if shared.pages else shared.new_page()
    page.set_default_timeout(240_000)
    page.set_viewport_size({"width": width, "height": height})
    heard = listen(page, errors)
    yield page
    for event, listener in heard.items():
        page.remove_listener(event, listener)
    for other in shared.pages[1:]:
        other.close()
    if not page.is_closed():
        if page.url.startswith("http"):
            page.evaluate("sessionStorage.clear()")
        page.goto("about:blank")
        page.mouse.move(0, 0)
    shared.clear_cookies()


@contextmanager
def page_of_its_own(browser, errors, **context):
    """Give a page in a context of its own, with options of Playwright's ``browser.new_context``."""
    size = {"width": 980, "height": 800}
    pages = browser.new_context(**{"viewport": size, "reduced_motion": "reduce"} | context)
    pages.set_default_timeout(240_000)
    page = pages.new_page()
    listen(page, errors)
    yield page
    pages.close()


@pytest.fixture(scope="module")
def lingering():
    """Return a list for threads of runs that have ended, and their pages, which wait 2 s for a viewer to come back.

    They all end, without an error, before the module does; no test waits for its own.
    """
    threads: list[tuple[threading.Thread, Live]] = []
    yield threads
    for thread, live in threads:
        thread.join(240)
        assert not thread.is_alive()
        assert live.fault is None


def numbers(page, expression):
    """Return the numbers of an array of JavaScript. They come as text: Playwright takes ten times as long for a list."""
    text = page.evaluate(f"{expression}.join()")
    return np.array(text.split(",") if text else [], float)


@dataclass
class Shown:
    """A simulation, and a page that shows it."""

    page: Any
    live: Live
    server: Server
    errors: list[str]

    @property
    def sim(self) -> covey.Simulation:
        """The simulation; a run that begins anew has another one."""
        assert self.live._sim is not None
        return self.live._sim

    def until(self, expression: str, timeout_s: float = 30.0) -> Any:
        """Wait until JavaScript gives something true, and return it; `covey` is the App of the page."""

        def look():
            assert not self.errors, self.errors
            return self.page.evaluate(expression)

        return until(look, expression, timeout_s, self.page)

    def steps(self, count: int) -> None:
        """Take steps, and wait until the page shows the last one."""
        wanted = self.sim.clock.step + count
        self.live.gate.step(count)
        self.until(f"covey.model.newestStep() >= {wanted}")

    def between_steps(self) -> None:
        """Wait until the simulation's thread has answered between two steps; after a pause it then stands."""
        asking = PageClient(edits=False)
        self.live.handle(asking, Probe(type="probe", x=0.0, y=0.0))
        until(lambda: asking.texts, "an answer between steps", page=self.page)


def until(wanted, name="it", timeout_s=240.0, page=None):
    """Call a function until it gives something true, and return that."""
    end = time.monotonic() + timeout_s
    while True:
        if value := wanted():
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{name} did not become true in {timeout_s} s")
        if page is None:
            time.sleep(0.02)
        else:
            page.wait_for_timeout(20)


@pytest.fixture
def page_of(browser, lingering):
    """Return a function that runs a simulation in a thread and opens its page, which has drawn the first frame.

    ``page_of(sim)``: the simulation, paused; of a scenario with ``folder``, its run. Options: ``playing``, ``factor`` (None: as fast as possible), ``edits``
    (False: the address that only lets watch), ``until_s``, ``script`` (JavaScript that is run before the page's), ``drawn`` (as of `Live`), and those of Playwright's ``browser.new_context``, such as
    ``viewport={"width": 400, "height": 800}``. An error in the page fails the test.
    """
    errors: list[str] = []
    with ExitStack() as stack:

        def open_page(
            what,
            *,
            folder=None,
            playing=False,
            factor=None,
            edits=True,
            until_s=600.0,
            script="",
            drawn=None,
            **context,
        ):
            live, ended = Live(factor, playing, drawn), threading.Event()

            def run():
                try:
                    if isinstance(what, Scenario):
                        run_shown(what, folder, live, until_s=until_s)
                    else:
                        what.observers.append(live.observe)
                        what.run(until_s=until_s, before_step=live.before_step)
                finally:
                    ended.set()
                live.linger()

            server = stack.enter_context(_running(live, run, ended, lingering))
            if script or context:
                page = stack.enter_context(page_of_its_own(browser, errors, **context))
                page.add_init_script(script)
            else:
                page = stack.enter_context(page_in(browser, errors))
            page.goto(server.url if edits else server.view_url)
            shown = Shown(page, live, server, errors)
            shown.until("!!(window.covey && covey.model.frame && covey.model.layers.size)")
            return shown

        yield open_page
        assert not errors, errors


@contextmanager
def _running(live, run, ended, lingering):
    """Serve the page of a run in a thread of its own, which sets ``ended`` before it lingers."""
    with Server(live) as server:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            live.gate.end()
            live.hub.clients.clear()
            assert ended.wait(240)  # the first step may have to be compiled
            lingering.append((thread, live))
            assert live.fault is None
