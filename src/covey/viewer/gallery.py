"""`Gallery`: the scenarios as cards with pictures; a run of one is started from a form."""

import base64
import itertools
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import covey
from covey.errors import CoveyError, InvalidValueError, ScenarioError, UnknownNameError
from covey.registry import looking
from covey.scenario.load import load_scenario
from covey.scenario.shipped import library
from covey.scenario.yaml12 import MAX_BYTES, parse_yaml
from covey.viewer.children import Child, Replays
from covey.viewer.forms import checked, filled, form_of
from covey.viewer.hub import Hub, PageClient
from covey.viewer.messages import Form, Launch, Message, Open, Quit, Watch
from covey.viewer.pictures import picture_of

MOST_RUNNING = 8
"""Largest number of runs at a time."""
_FIRST = ("maze", "office", "cave", "hills")
_ENDS: dict[int | None, str] = {0: "goal reached", 3: "ended without the goal", 130: "interrupted"}
_ENDED_AS = {"reached": "goal reached", "interrupted": "interrupted", "failed": "failed"}
_LIKE_OURS = re.compile(rb"^(world|robots)\s*:", re.MULTILINE)
_SPEED = re.compile(r"max|\d+(\.\d+)?")


@dataclass
class Started:
    """A run that this gallery has started."""

    number: str
    name: str
    child: Child

    @property
    def runs(self) -> bool:
        """Whether the run has not ended; its page may last longer."""
        return self.child.code is None and not self.child.ended

    @property
    def folder(self) -> Path | None:
        """Its folder, which it names at its end; None before, and if it has left none."""
        if self.child.record:
            return self.child.folder / self.child.record
        for line in reversed(self.child.words):
            named = re.fullmatch(r"(?:interrupted; the record up to now is in )?(\S.*)", line)
            if named and ((path := self.child.folder / named[1]) / "manifest.json").is_file():
                return path
        return None

    @property
    def state(self) -> str:
        """How it is, in words."""
        code, words = self.child.code, self.child.words
        if self.runs:
            return "running" if self.child.url else "starting"
        if self.child.ended:
            return _ENDED_AS.get(self.child.ended, _ENDS[3])
        return _ENDS.get(code) or "failed: " + (words[-1] if words else f"exit code {code}")


class Gallery:
    """Shows the scenarios that ship with Covey and those in a folder, and starts runs of them.

    Each run is a process ``covey run NAME --live`` with a page of its own. All end with the gallery.

    Args:
        folder: folder of the user's scenarios, and of the folder ``runs``.
        host: the address on which the pages of the runs listen.

    Attributes:
        hub: the viewers.
        runs: the runs that it has started, by number.
    """

    def __init__(self, folder: Path | None = None, host: str = "127.0.0.1"):
        self.hub, self.folder, self.host = Hub(), (folder or Path.cwd()).resolve(), host
        self.runs: dict[str, Started] = {}
        self._numbers = itertools.count(1)
        self._replays = Replays(host)
        self._work = ThreadPoolExecutor(3, "covey-gallery")
        self._pictures: dict[str, str] = {}
        self._sources: dict[str, str] = {}
        self._closing = False
        self._look()

    def __enter__(self) -> "Gallery":
        self._work.submit(self._draw)
        return self

    def __exit__(self, *_: object) -> None:
        self._closing = True
        self._work.shutdown(wait=False, cancel_futures=True)
        children = [run.child for run in list(self.runs.values())]
        for child in children:
            child.interrupt()
        for child in children:
            child.end()
        self._replays.end()
        self._work.shutdown()

    # -- cards ---------------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Look which scenarios there are; if that has changed, tell the viewers."""
        shipped, files = library(), scenario_files(self.folder)
        sources = {name: name for name in shipped} | {path.name: str(path) for path in files}
        if sources == self._sources:
            return
        order = [*(name for name in _FIRST if name in shipped), *(name for name in shipped if name not in _FIRST)]
        cards = [_card(name, shipped[name]) for name in order]
        cards += [_card(path.name, path) | {"file": True} for path in files]
        self._sources = sources
        hello = {"type": "hello", "mode": "gallery", "covey": covey.__version__, "cards": cards}
        self.hub.describe(hello | {"folder": self.folder.name}, {})

    def _draw(self) -> None:
        """Look for new files, and draw the pictures that are missing, one after the other."""
        self._look()
        for name, source in list(self._sources.items()):
            if self._closing:
                return
            if name in self._pictures:
                continue
            try:
                with looking():
                    self._pictures[name] = base64.b64encode(picture_of(load_scenario(source))).decode()
                self.hub.say({"type": "picture", "name": name, "png": self._pictures[name]})
            except (CoveyError, OSError, MemoryError) as error:
                problem = (str(error).splitlines() or [type(error).__name__])[0][:300]
                self.hub.say({"type": "picture", "name": name, "problem": problem})

    # -- messages ------------------------------------------------------------------------------------------------------

    def handle(self, client: PageClient, message: Message) -> None:
        """Do what a viewer asks for."""
        match message:
            case Watch():
                for name, png in list(self._pictures.items()):
                    self.hub.say({"type": "picture", "name": name, "png": png}, client)
                self.hub.say(self._listed(client), client)
                self._work.submit(self._draw)
            case Form():
                self._answer(client, message, self._form)
            case Launch():
                self._answer(client, message, self._launch)
            case Open():
                self._answer(client, message, self._open)
            case Quit():
                self._answer(client, message, self._quit)
            case _:
                self.hub.say({"type": "refused", "id": message.id, "text": "this page shows no run"}, client)

    def _answer(self, client: PageClient, message: Message, do: Callable[[Any], dict[str, Any]]) -> None:
        """Do something in a thread of the gallery, and tell the viewer how it went."""

        def work() -> None:
            answer: dict[str, Any] = {"id": message.id}
            try:
                answer |= {"type": "done"} | do(message)
            except ScenarioError as error:
                problems = [{"path": problem.file, "text": problem.message} for problem in error.problems]
                answer |= {"type": "refused", "text": "\n".join(one["text"] for one in problems), "problems": problems}
            except (CoveyError, OSError) as error:
                answer |= {"type": "refused", "text": str(error)}
            except Exception as error:
                answer |= {"type": "refused", "text": f"{type(error).__name__}: {error}"}
                raise
            finally:
                self.hub.say(answer, client)

        self._work.submit(work)

    def _form(self, message: Form) -> dict[str, Any]:
        with looking():
            return {"parts": form_of(filled(self._source(message.name), message.changes))}

    def _launch(self, message: Launch) -> dict[str, Any]:
        if not _SPEED.fullmatch(message.speed):
            raise InvalidValueError(f"speed {message.speed!r}: give max, or simulated seconds per second")
        if sum(run.runs for run in list(self.runs.values())) >= MOST_RUNNING:
            raise InvalidValueError(f"{MOST_RUNNING} runs are running; end one of them first")
        source = self._source(message.name)
        checked(source, message.changes)
        changes = [part for path, text in message.changes.items() for part in ("-s", f"{path}={text}")]
        page = ["--live", "--host", self.host, "--speed", message.speed, "--quiet", "--no-pictures"]
        page += ["--paused"] if message.paused else []
        run = self._start(message.name, ["run", source, *page, *changes])
        return {"run": run.number, "url": run.child.url}

    def _start(self, name: str, arguments: list[str]) -> Started:
        number = str(next(self._numbers))
        run = self.runs[number] = Started(number, name, Child(arguments, self.folder, self._changed))
        if self._closing:  # it has begun too late to be among those that `__exit__` ends
            run.child.end()
        if not run.child.wait():
            del self.runs[number]
            raise InvalidValueError("\n".join(run.child.words) or "the run has ended at once")
        return run

    def _open(self, message: Open) -> dict[str, Any]:
        run = self._run(message.run)
        if run.runs:
            return {"url": run.child.url}
        if (folder := run.folder) is None:
            raise InvalidValueError("this run has left no record")
        return {"url": self._replays.open(folder)}

    def _quit(self, message: Quit) -> dict[str, Any]:
        self._run(message.run).child.interrupt()
        return {}

    def _source(self, name: str) -> str:
        """Return the path or name of a scenario on a card; no other can be read or run."""
        if name not in self._sources:
            raise UnknownNameError("scenario", name, self._sources)
        return self._sources[name]

    def _run(self, number: str) -> Started:
        if number not in self.runs:
            raise InvalidValueError(f"there is no run {number!r:.40}")
        return self.runs[number]

    def _changed(self, child: Child) -> None:
        for client in list(self.hub.clients):
            self.hub.say(self._listed(client), client)

    def _listed(self, client: PageClient) -> dict[str, Any]:
        """Return the list of runs; who only watches gets the addresses that only let watch."""
        runs = [
            {
                "run": run.number,
                "name": run.name,
                "state": run.state,
                "running": run.runs,
                "url": "" if not run.runs else run.child.url if client.edits else run.child.view_url,
                "folder": _inside(run.folder, self.folder),
            }
            for run in list(self.runs.values())
        ]
        return {"type": "runs", "runs": runs[::-1]}


def scenario_files(folder: Path) -> list[Path]:
    """Return the scenario files in a folder, sorted; no code is run, and links out of the folder are not followed.

    One that is not valid YAML is among them, so that its card says why.
    """
    found = []
    for path in sorted((*folder.glob("*.yaml"), *folder.glob("*.yml"))):
        with suppress(OSError, CoveyError):
            is_ours = path.is_file() and path.name[0] != "." and path.resolve().parent == folder
            if not is_ours or path.stat().st_size > MAX_BYTES:
                continue
            text = path.read_bytes()
            try:
                data = parse_yaml(text, path.name).data
                is_ours = isinstance(data, dict) and "world" in data and "robots" in data
            except ScenarioError:
                is_ours = _LIKE_OURS.search(text) is not None
            if is_ours:
                found.append(path)
    return found


def _inside(path: Path | None, folder: Path) -> str:
    return "" if path is None else str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _card(name: str, path: Path) -> dict[str, Any]:
    return {"name": name, "title": path.stem.replace("_", " ").capitalize(), "line": _first_sentence(path)}


def _first_sentence(path: Path) -> str:
    """Return the first sentence of the comment at the top of a file."""
    words = []
    with suppress(OSError):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if not line.startswith("#") or not line.strip("# "):
                break
            words.append(line.strip("# "))
    return re.split(r"(?<=\.)\s", " ".join(words), maxsplit=1)[0][:300]
