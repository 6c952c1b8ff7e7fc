"""`Live`: lets viewers follow a simulation, and steer it."""

import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from covey.errors import CoveyError, InvalidValueError
from covey.results.metrics.headlines import of_interest
from covey.results.run import Run
from covey.results.snapshot import RunEvent, Snapshot
from covey.runtime.simulation import Simulation
from covey.viewer.description import description_of
from covey.viewer.details import details_of
from covey.viewer.drawn import Drawn, packed
from covey.viewer.edits import Edits, Starts
from covey.viewer.flights import ignored
from covey.viewer.gate import Gate
from covey.viewer.heat import Heat
from covey.viewer.hub import RELOAD_S, SHARES, Hub, PageClient
from covey.viewer.inspect_robot import known_of, measured
from covey.viewer.layers import layers_of
from covey.viewer.linked import LinkChanges
from covey.viewer.messages import (
    Add,
    Do,
    Drive,
    End,
    Form,
    Launch,
    Me,
    Message,
    Open,
    Pause,
    Play,
    Probe,
    Quit,
    Redo,
    Speed,
    Step,
    Undo,
    Watch,
)
from covey.viewer.past import News, Past, PastSample, State, team_of

LOG = logging.getLogger("covey")
LAPSE_S = 0.5
"""Wall time without a message after which a robot that a viewer drives goes on by itself [s]."""
ToDraw = Drawn | Callable[[Simulation], Drawn]
_KEEP = 500
"""Number of steps after which they are kept, even if nobody looks."""


class Anew(Exception):
    """The run begins anew, because its first robots have changed; raised before its first step."""


class Live:
    """Shows a simulation to viewers. Pass `before_step` to `Simulation.run`, and `observe` as an observer.

    What viewers see and when they come changes nothing in the run. What they change is an input, which is recorded.

    Args:
        factor: simulated seconds per second; None: as fast as possible.
        playing: whether the run begins at once.
        drawn: what gives the marks that are to be seen now, by layer, or a function of the simulation that returns it.

    Attributes:
        gate: play, pause, step, speed.
        hub: the viewers.
        starts: lets viewers add robots before the first step; None: they cannot.
        fault: the first error of showing a state; None if there was none.
    """

    def __init__(self, factor: float | None = None, playing: bool = True, drawn: ToDraw | None = None):
        self.gate = Gate(factor, playing)
        self.hub = Hub(repeats=True)
        self.hub.waiting |= self.gate.state
        self.starts: Starts | None = None
        self._to_draw: ToDraw = drawn or {}
        self._drawn: Drawn = {}
        self._sim: Simulation | None = None
        self._snapshot: Snapshot | None = None
        self._heat: Heat | None = None
        self._links: LinkChanges | None = None
        self._calls: queue.SimpleQueue[tuple[PageClient, Message]] = queue.SimpleQueue()
        self._work = threading.Event()
        self._driving: dict[PageClient, tuple[Drive, float]] = {}  # and when it lapses, by the clock of the wall
        self._news, self._edited = News(), 0
        self._edits = Edits()
        self.fault: Exception | None = None
        self._next = 0.0
        self._took = dict.fromkeys(SHARES, (-np.inf, -np.inf))  # begin and end of showing, to either kind of viewers
        self._late = False  # whether a step has not been published
        self._watched = True  # whether somebody looked at the last step

    # -- the simulation's thread ---------------------------------------------------------------------------------------

    def begin(self, sim: Simulation) -> None:
        """Get to know the simulation; called before its first step, or later for a page without what is counted."""
        self._sim, self._snapshot = sim, None
        self._driving.clear()
        self._news = News(states=[State(sim.clock.step, sim.state.pose.astype(np.float32), {})])
        self._edited = len(sim.world_state.log)
        whole = sim.clock.step == 0  # what is counted from the first step on is not known later
        self._heat = Heat(sim) if whole else None
        self._links = LinkChanges(sim)
        layers, starts = layers_of(sim) | (self._heat.layers() if self._heat else {}), self.starts
        self._drawn = self._to_draw(sim) if callable(self._to_draw) else self._to_draw
        hello: dict[str, Any] = {"drawn": list(self._drawn), "record": record_of(sim)}
        if starts is not None:
            hello |= {"added": starts.added, "robots_text": starts.text}
        self._edits.begin(sim, [] if starts is None else starts.calls)
        past = Past(len(sim.names), sim.clock.step_s)
        self.hub.describe(description_of(sim, list(layers)) | hello, layers, past)
        self._work.set()

    def before_step(self, sim: Simulation) -> None:
        """Wait until the simulation may go on, and let what viewers have asked for happen.

        Raises:
            Anew: the run is to begin anew, with other robots.
        """
        if self._sim is not sim:
            self.begin(sim)
        if self._late and self.gate.stands:
            self._publish(sim)
        while (what := self.gate.wait(sim.clock.step_s, self._work)) == "work":
            self._work.clear()
            self._answer(sim)
            self._publish(sim)
        if what == "end":
            sim.end()
            self._publish(sim)
        else:
            self._lapse(sim)

    def observe(self, snapshot: Snapshot) -> None:
        """Take in a step."""
        sim, hub, news = self._sim, self.hub, self._news
        if sim is None:
            return
        self._snapshot = snapshot
        if self._heat is not None:
            self._safely(self._heat.add_step, snapshot)
        if snapshot.events or self._edits.waiting or sim.inputs.applied or snapshot.step <= 1:
            waited = bool(self._edits.waiting)
            told = self._edits.add_events(sim, snapshot.events)
            news.events += [_plain(event) | told.get(id(event), {}) for event in snapshot.events]
            if waited:
                self._tell()
        if len(edits := sim.world_state.log) > self._edited:
            news.changes += [edit.changed for edit in edits[self._edited :]]
            self._edited = len(edits)
        news.states.append(State(snapshot.step, snapshot.pose.astype(np.float32), snapshot.mission))
        due = hub.past is not None and hub.past.wants(snapshot.step)
        if due or snapshot.radio is not None:
            self._safely(self._take_links, sim, snapshot, due)
        if due:
            self._safely(self._sample, sim, snapshot)
        if len(news.states) >= _KEEP:
            self._safely(hub.add, self._taken())
        if not hub.clients:
            if self._watched:
                ignored(sim)
            self._watched = False
            return
        self._late = self._watched = True
        if time.perf_counter() >= self._next or sim.done:
            self._publish(sim)

    def _take_links(self, sim: Simulation, snapshot: Snapshot, due: bool) -> None:
        """Note the changes of links."""
        if self._links is not None:
            self._news.links += self._links.changes_of(sim, snapshot, due)

    def _sample(self, sim: Simulation, snapshot: Snapshot) -> None:
        """Note the measurements of this step."""
        of_robots, team = measured(sim, snapshot.mission)
        self._news.samples.append(PastSample(snapshot.time_s, team, of_robots))

    def _taken(self) -> News:
        """Return the news, and begin anew."""
        news, self._news = self._news, News()
        return news

    def finish(self, run: Run) -> None:
        """Tell viewers the result of the run: its folder, how it ended, and its main metrics."""
        metrics = [[name, _plain_value(value), meaning] for name, (value, meaning) in of_interest(run).items()]
        self.hub.finish({"folder": str(run.folder), "status": run.status, "metrics": metrics})

    def linger(self) -> None:
        """Go on showing the run, which has ended, until the last viewer has left."""
        sim, seen = self._sim, time.monotonic()
        if sim is None:
            return
        self._publish(sim)
        while self.hub.clients or time.monotonic() - seen < RELOAD_S:
            if self.hub.clients:
                seen = time.monotonic()
            if self._work.wait(0.2):
                self.catch_up()

    def catch_up(self) -> None:
        """Answer viewers of a run that has ended, and show them its last state."""
        if self._sim is not None and self._work.is_set():
            self._work.clear()
            self._answer(self._sim)
            self._publish(self._sim)

    def _publish(self, sim: Simulation) -> None:
        """Show the present state."""
        self._safely(self._show, sim)

    def _safely(self, do: Callable[..., Any], *given: Any) -> None:
        """Do something for the page. A fault of it is said once, and never ends the run."""
        try:
            do(*given)
        except Exception as error:
            if self.fault is None:
                LOG.exception("the page cannot show this state of the run; the run goes on")
                self.fault = error

    def _show(self, sim: Simulation) -> None:
        hub, begun, waits = self.hub, time.perf_counter(), self.gate.stands or sim.done
        wishes = {edits: hub.wishes(edits) for edits in SHARES}
        due = {edits: self._due(edits, rate_hz) for edits, (*_, rate_hz) in wishes.items() if rate_hz}
        now = [edits for edits, when in due.items() if waits or begun >= when]
        self._next = min(due.values(), default=0.0)
        if not now:
            return
        self._late = False
        wanted = zip(*(wishes[edits][:3] for edits in now), strict=True)
        layers, details, robots = (set[Any]().union(*of) for of in wanted)
        state = sim.state
        arrays = {
            "pose": state.pose.astype(np.float32),
            "flags": (state.halted + 2 * state.vanished + 4 * ~state.radio_alive).astype(np.uint8),
        }
        header: dict[str, Any] = {"step": sim.clock.step, "time_s": sim.time, "status": sim.status, **self.gate.state}
        if self._snapshot is not None:
            header["team"] = team_of(self._snapshot.mission)
        more, plain = details_of(sim, details, robots)
        for name in self._drawn:
            if name in details:
                plain[name], own = packed(self._drawn[name]())
                more |= {f"{name}/{part}": values for part, values in own.items()}
        if "messages" not in details:
            ignored(sim)
        hub.publish(header | plain, arrays | more, layers, self._taken(), complete=waits, to=now)
        self._took |= dict.fromkeys(now, (begun, time.perf_counter()))
        self._next = min(self._due(edits, wishes[edits][-1]) for edits in due)

    def _due(self, edits: bool, rate_hz: float) -> float:
        """Return when viewers get the next state: at their rate, and within their share of the simulation's time."""
        begun, ended = self._took[edits]
        return max(begun + 1.0 / rate_hz, ended + (ended - begun) / SHARES[edits] if ended > begun else ended)

    def _answer(self, sim: Simulation) -> None:
        """Do what viewers have asked for since the last step."""
        hub = self.hub
        while not self._calls.empty():
            (client, message), anew = self._calls.get(), False
            try:
                if sim.done and isinstance(message, Do | Undo | Redo | Drive | Add):
                    raise InvalidValueError("the run has ended")
                if isinstance(message, Do):
                    self._edits.do(sim, client.number, message.event)
                elif isinstance(message, Undo):
                    anew = self._edits.undo(sim, client.number, self.starts)
                elif isinstance(message, Redo):
                    anew = self._edits.redo(sim, client.number, self.starts)
                elif isinstance(message, Me):
                    hub.recognize(client, message.key)
                elif isinstance(message, Drive):
                    self._drive(sim, client, message)
                elif isinstance(message, Probe):
                    known = {"x": message.x, "y": message.y, "text": known_of(sim, message.x, message.y)}
                    hub.say({"type": "probe", **known}, client)
                elif isinstance(message, Add):
                    if self.starts is None:
                        raise InvalidValueError("this run is no scenario: robots cannot be added")
                    anew = True
                    if message.pose is None:
                        self.starts.change(sim, message.group, None)
                    else:
                        self._edits.add(client.number, self.starts, sim, (message.group, message.pose))
            except CoveyError as error:
                hub.say({"type": "refused", "id": message.id, "text": str(error)}, client)
            except Exception as error:
                LOG.exception("a request of the page failed; the run goes on")
                hub.say({"type": "refused", "id": message.id, "text": f"it failed: {error!r}"[:1000]}, client)
            else:
                hub.say({"type": "done", "id": message.id}, client)
                if isinstance(message, Do | Undo | Redo | Add | Me):
                    self._tell()
                if anew:
                    raise Anew

    def _tell(self) -> None:
        """Tell viewers that may edit what they can take back, and what waits for the next step."""
        for client in self.hub.clients[:]:
            if client.edits:
                self.hub.say({"type": "edits", **self._edits.state(client.number)}, client)

    def _drive(self, sim: Simulation, client: PageClient, message: Drive) -> None:
        """Let a viewer drive a robot; only changes are inputs."""
        before = self._driving.get(client)
        if before is not None and before[0].robot != message.robot:
            self._let_go(sim, client)
            before = None
        if message.twist is None:
            if before is not None:
                self._let_go(sim, client)
            return
        if before is None or before[0].twist != message.twist:
            self._edits.drive(sim, client.number, {"drive": message.robot, "twist": message.twist})
        for other in [one for one, (drive, _) in self._driving.items() if drive.robot == message.robot]:
            del self._driving[other]  # who drives it last drives it
        self._driving[client] = (message, time.perf_counter() + LAPSE_S)

    def _lapse(self, sim: Simulation) -> None:
        """Let go the robots whose drivers have said nothing for some time, or have left."""
        if not self._driving:
            return
        now = time.perf_counter()
        for client, (_, until) in list(self._driving.items()):
            if now > until or client not in self.hub.clients:
                self._let_go(sim, client)

    def _let_go(self, sim: Simulation, client: PageClient) -> None:
        self._edits.drive(sim, client.number, {"drive": self._driving.pop(client)[0].robot})

    # -- the server's thread -------------------------------------------------------------------------------------------

    def handle(self, client: PageClient, message: Message) -> None:
        """Do what a viewer asks for, or let the simulation's thread do it before the next step."""
        hub, gate = self.hub, self.gate
        match message:
            case Watch():
                hub.watching(client, message)
                self._wake()
            case Play() | Pause() | Step() | Speed() | End():
                steer: dict[type, Callable[[Any], None]] = {
                    Play: lambda _: gate.play(),
                    Pause: lambda _: gate.pause(),
                    Step: lambda m: gate.step(m.count),
                    Speed: lambda m: gate.speed(m.factor),
                    End: lambda _: gate.end(),
                }
                steer[type(message)](message)
                self._wake()  # viewers see where it stands
                hub.say({"type": "state", **gate.state})
                hub.say({"type": "done", "id": message.id}, client)
            case Form() | Launch() | Open() | Quit():
                hub.say({"type": "refused", "id": message.id, "text": "this page shows one run"}, client)
            case _:
                self._calls.put((client, message))
                self._wake()

    def _wake(self) -> None:
        self._work.set()
        self.gate.wake()


def record_of(sim: Simulation) -> str:
    """Return the folder of the record of a run; empty if it is thrown away."""
    folder = sim.record_folder
    return "" if folder is None else str(folder)


def _plain_value(value: Any) -> Any:
    """Return a metric as plain data: a number that is not finite becomes text."""
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else str(value)
    return value.item() if isinstance(value, np.generic) else value


def _plain(event: RunEvent) -> dict[str, Any]:
    """Return an event as plain data; NaN, a place that it does not have, becomes None."""
    return {name: None if value != value else value for name, value in vars(event).items() if value not in ("", {})}
