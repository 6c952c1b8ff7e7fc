"""The ten lessons in JupyterLab, in a browser, as students open them: each is run with its solution, and must be done.

The script writes the course into a folder, starts JupyterLab there, and drives Chromium: it opens each notebook, puts
the solution into the gap, runs all cells, and reads what the page shows. A lesson is right if its check says `done`, no
cell fails or warns, and pictures are drawn. Then a cell plays at the speed of the clock: the live page must be alive in
its frame and the line below it go on while the cell runs, and the recording be in its place afterwards. In another one,
at speed 0, each press of Step must be one step. A third one draws a run and shows its page.

    make notebooks          # installs JupyterLab into .notebooks, and runs this script
    python benchmarks/notebooks.py --jupyter VENV/bin/jupyter [--pictures FOLDER] [--lessons 1 5]
"""

import argparse
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, Frame, Page, sync_playwright
from playwright.sync_api import TimeoutError as Late

from covey.lab.lessons.course import lessons, write_lessons

SETTINGS = {  # all cells stand in the page, and no news or tours before them
    "@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension/notification.jupyterlab-settings": {"fetchNews": "false", "checkForUpdates": False},
}
LIVE = """import covey
out = covey.play(lambda team: (0.5, 0.3), robots=3, stop_s=8, seed=2, speed=1)
"""
BY_HAND = """import covey
out = covey.play(lambda team: (0.5, 0.3), robots=3, stop_s=0.5, speed=0)
"""
SHOWN = (
    """import covey
run = covey.load_scenario("hello").build().run(until_s=3)
run.plot("trajectories")
""",
    "run.view()\n",
)
OURS = ("install", "picture")
"""Cells that a notebook has besides those of the lesson."""
TOLD = re.compile(r"\d+ contacts?, first .*; see out\.events\s*")  # a fact, not an error
LOAD_S, RUN_S = 120.0, 300.0


@contextmanager
def jupyterlab(program: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Start JupyterLab in a folder; yield its address and the token."""
    for name, settings in SETTINGS.items():
        file = folder / ".settings" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    own = {"JUPYTERLAB_SETTINGS_DIR": folder / ".settings", "JUPYTER_CONFIG_DIR": folder / ".config"}
    command = [program, "lab", "--no-browser", f"--port={port}", f"--IdentityProvider.token={token}", "--allow-root"]
    with (folder / "jupyter.log").open("w") as log:
        server = subprocess.Popen(
            command, cwd=folder, env=os.environ | {k: str(v) for k, v in own.items()}, stdout=log, stderr=log
        )
        try:
            end = time.monotonic() + LOAD_S
            while not answers(f"http://127.0.0.1:{port}/api?token={token}"):
                if time.monotonic() > end or server.poll() is not None:
                    raise SystemExit(f"JupyterLab has not started:\n{(folder / 'jupyter.log').read_text()[-3000:]}")
                time.sleep(0.3)
            yield f"http://127.0.0.1:{port}", token
        finally:
            server.terminate()
            server.wait()


def answers(url: str) -> bool:
    """Return whether a server answers."""
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False


def opened(page: Page, base: str, token: str, name: str) -> None:
    """Open a notebook, and wait until its kernel is there and idle (without a kernel it is `idle` too)."""
    page.goto(f"{base}/lab/tree/{name}?reset&token={token}")
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=1000 * LOAD_S)
    page.locator(".jp-KernelName", has_text="Python 3").first.wait_for(timeout=1000 * LOAD_S)
    page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").first.wait_for(
        timeout=1000 * LOAD_S, state="attached"
    )


def no_kernels(page: Page, base: str, token: str) -> None:
    """End the kernels, which else stay in memory, each with its Covey."""
    for session in page.request.get(f"{base}/api/sessions?token={token}").json():
        page.request.delete(f"{base}/api/sessions/{session['id']}?token={token}")


def run_all(page: Page) -> None:
    """Run all cells, and wait until each has run."""
    begin(page)
    done = """() => {
        const prompts = [...document.querySelectorAll('.jp-Notebook .jp-CodeCell .jp-InputPrompt')];
        const all = prompts.every(prompt => /\\[\\d+\\]/.test(prompt.innerText));
        return all || document.querySelector('[data-mime-type$="error"]');
    }"""
    page.wait_for_function(done, timeout=1000 * RUN_S)


def shown(page: Page) -> dict[str, Any]:
    """Return what the outputs of a notebook show: text, errors and warnings, and the number of pictures."""
    output = page.locator(".jp-Notebook .jp-OutputArea-output")
    pictures = page.locator(".jp-OutputArea-output img, .jp-OutputArea-output iframe")
    broken = "i => i.closest('.jp-Notebook') && i.complete && !i.naturalWidth"
    errors = page.locator(
        ".jp-OutputArea-output[data-mime-type$='stderr'], .jp-OutputArea-output[data-mime-type$='error']"
    )
    return {
        "text": "\n".join(output.all_inner_texts()),
        "errors": errors.all_inner_texts(),
        "pictures": pictures.count(),
        "broken": page.evaluate(f"[...document.images].filter({broken}).map(i => i.src)"),
    }


def with_solutions(folder: Path) -> list[str]:
    """Write the course with the solutions in the gaps; return the names of the notebooks."""
    write_lessons(folder)
    names = []
    for lesson in lessons():
        file = folder / f"{lesson.name}.ipynb"
        book = json.loads(file.read_text())
        cells = [cell for cell in book["cells"] if cell["cell_type"] == "code" and cell["id"] not in OURS]
        kinds = [kind for kind, _ in lesson.cells if kind != "markdown"]
        for kind, cell in zip(kinds, cells, strict=True):
            if kind == "complete":
                cell["source"] = lesson.solution.splitlines(keepends=True)
        file.write_text(json.dumps(book))
        names.append(file.name)
    about = json.loads((folder / names[0]).read_text())
    for name, codes in {"live": (LIVE,), "by_hand": (BY_HAND,), "shown": SHOWN}.items():
        code_cell = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
        cells = [code_cell | {"id": f"{name}{k}", "source": code} for k, code in enumerate(codes)]
        (folder / f"{name}.ipynb").write_text(json.dumps(about | {"cells": cells}))
    return names


def begin(page: Page) -> None:
    """Run all cells by the menu."""
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()


def live_page(page: Page) -> Frame:
    """Wait for the live page in its cell, until it has something to show."""
    handle = page.locator("iframe[title='Covey, live']").element_handle(timeout=60_000)
    frame = handle.content_frame() if handle is not None else None
    assert frame is not None
    frame.wait_for_function("() => window.covey && covey.model.frame", timeout=60_000)
    return frame


def live(page: Page, pictures: Path | None) -> tuple[list[str], str]:
    """Play in a cell at the speed of the clock; return what is wrong, and what was seen."""
    begin(page)
    frame, wrong, times, lines = live_page(page), list[str](), list[float](), list[str]()
    line = page.locator(".jp-OutputArea-output pre", has_text=re.compile(r" of 8 s|8\.0 s in")).first
    while not has_run(page):
        with suppress(Error):  # at the end the frame goes
            times.append(frame.evaluate("() => covey.model.frame.time_s"))
            lines.append(line.inner_text(timeout=500))
            if pictures is not None and 3.0 < times[-1] < 5.0:
                page.screenshot(path=pictures / "notebook_live.png")
        page.wait_for_timeout(500)
    told = re.search(r"8\.0 s in ([0-9.]+) s", line.inner_text())
    if told is None or float(told[1]) < 7.9:
        wrong.append(f"8 s at speed 1 end with {line.inner_text()!r}")
    if len(set(times)) < 8 or times != sorted(times):
        wrong.append(f"the live page shows only {times}")
    if len({line for line in lines if " of 8 s" in line}) < 5:
        wrong.append(f"the line of the cell says only {lines}")
    return wrong + kept(page, pictures), f"{len(set(times))} times in the page, {len(set(lines))} lines of progress"


def by_hand(page: Page, pictures: Path | None) -> tuple[list[str], str]:
    """Play in a cell at speed 0, and press Step; return what is wrong, and what was seen."""
    begin(page)
    frame, times = live_page(page), list[float]()
    for k in range(1, 6):
        page.wait_for_timeout(300)  # nothing moves by itself
        times.append(frame.evaluate("() => covey.model.frame.time_s"))
        frame.get_by_role("button", name="Step", exact=True).click()
        if k < 5:
            frame.wait_for_function(f"() => covey.model.frame.time_s > {0.1 * k - 0.05}", timeout=10_000)
    while not has_run(page):
        page.wait_for_timeout(100)
    right = [round(0.1 * k, 1) for k in range(5)] == [round(time, 1) for time in times]
    return [] if right else [f"the page shows {times} s after 0, 1, 2, 3 and 4 steps"], f"{len(times)} steps by Step"


def drawn(page: Page, pictures: Path | None) -> tuple[list[str], str]:
    """Draw a run in a cell, and show its page in another; return what is wrong, and what was seen."""
    run_all(page)
    wrong, images = kept(page, None), page.locator(".jp-OutputArea-output img")
    if images.count() != 1 or shown(page)["broken"]:
        wrong.append(f"{images.count()} pictures, of which do not load: {shown(page)['broken']}")
    if pictures is not None:
        page.screenshot(path=pictures / "notebook_shown.png")
    return wrong, "a picture, and a page to play"


def has_run(page: Page) -> bool:
    """Return whether the first cell has run."""
    return page.evaluate("() => /\\[\\d+\\]/.test(document.querySelector('.jp-CodeCell .jp-InputPrompt').innerText)")


def kept(page: Page, pictures: Path | None) -> list[str]:
    """Return what is wrong with the recording in a cell that has run."""
    errors = shown(page)["errors"]
    recording = page.frame_locator(".jp-OutputArea-output iframe").first
    try:
        recording.get_by_role("button", name="Play", exact=True).wait_for(timeout=30_000)
    except Late as error:
        return [*errors, f"no recording in the cell: {str(error).splitlines()[0]}"]
    if pictures is not None:
        page.screenshot(path=pictures / "notebook_recording.png")
    return errors


def main() -> None:
    """Run the lessons, and print what is wrong with each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jupyter", type=Path, required=True, help="the program of an environment with JupyterLab")
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of the pages")
    parser.add_argument("--lessons", type=int, nargs="*", default=range(1, 11))
    options = parser.parse_args()
    if options.pictures is not None:
        options.pictures.mkdir(parents=True, exist_ok=True)
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    bad = 0
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        folder = Path(home)
        names = with_solutions(folder)
        with jupyterlab(options.jupyter.absolute(), folder) as (base, token):
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            for k, name in enumerate(names, 1):
                if k not in options.lessons:
                    continue
                begun = time.monotonic()
                opened(page, base, token, name)
                run_all(page)
                what, wrong = shown(page), []
                if f"lesson {k}: done" not in what["text"]:
                    wrong.append(f"it is not done: {what['text'][-1000:]!r}")
                wrong += [f"an error: {text[:500]!r}" for text in what["errors"] if not TOLD.fullmatch(text)]
                wrong += [f"a picture that does not load: {source[:100]}" for source in what["broken"]]
                if not what["pictures"]:
                    wrong.append("it shows no picture of what the student did")
                bad += bool(wrong)
                seconds = time.monotonic() - begun
                print(f"{name}: {'; '.join(wrong) or 'done'}, {what['pictures']} pictures, {seconds:.0f} s", flush=True)
                if options.pictures is not None:
                    page.screenshot(path=options.pictures / f"{name[:-6]}.png")
                no_kernels(page, base, token)
            for name, tried in {"live": live, "by_hand": by_hand, "shown": drawn}.items():
                opened(page, base, token, f"{name}.ipynb")
                wrong, seen = tried(page, options.pictures)
                bad += bool(wrong)
                print(f"{name}.ipynb: {'; '.join(wrong) or 'done'}, {seen}", flush=True)
                no_kernels(page, base, token)
            browser.close()
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
