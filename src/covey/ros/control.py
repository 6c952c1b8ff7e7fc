"""`Control`: requests to the simulation itself, as texts and as services: pause, play, step, speed, reset, end."""

import logging
import time
from typing import TYPE_CHECKING

from covey.errors import CoveyError, InvalidValueError
from covey.ros.commands import MarkerService
from covey.ros.maps import MapTopics
from covey.ros.messages import Stamp
from covey.ros.qos import COMMAND
from covey.ros.services import Request, Service
from covey.ros.simulation_services import SimulationServices
from covey.runtime.simulation import Simulation

if TYPE_CHECKING:
    from covey.ros.bridge import Bridge

LOG = logging.getLogger("covey")
_WARN_EVERY_S = 2.0
_TEXT, _TRIGGER, _SET_BOOL = "std_msgs/msg/String", "std_srvs/srv/Trigger", "std_srvs/srv/SetBool"


class Control:
    """Requests to the simulation: texts on ``/covey/control``.

    ``pause``, ``play``, ``step`` or ``step 10``, ``speed 2`` or ``speed max``, ``save_map``, ``reset`` (the run ends,
    and a new one begins) and ``end``.

    Services, all std_srvs/Trigger: ``/covey/pause``, ``play``, ``step``, ``save_map``, ``reset``, ``end``; and
    ``/covey/real_time``, a SetBool: false is as fast as possible. Those of ``simulation_interfaces`` are there, too.

    Args:
        bridge: the simulation's bridge.
    """

    def __init__(self, bridge: "Bridge"):
        self._bridge = bridge
        words = "pause", "play", "step", "save_map", "reset", "end"
        self._services = [(word, Service(bridge.node, f"~/{word}", _TRIGGER)) for word in words]
        self._real_time = Service(bridge.node, "~/real_time", _SET_BOOL)
        self._standard = SimulationServices(bridge)
        self._first = next(iter(bridge.commands), None)
        if self._first is not None:
            self._markers = MarkerService(bridge.robots[self._first], "/set_marker_position")
        self._requests = bridge.node.reader("/covey/control", _TEXT, COMMAND)
        self.maps = MapTopics(bridge)
        self._next_warning, self._warned = 0.0, set[str]()

    def begin(self, sim: Simulation) -> None:
        """Get to know a simulation before its first step."""
        self._sim = sim
        self.maps.begin(sim)

    def send(self, stamp: Stamp) -> None:
        """Send what belongs to no single robot."""
        self.maps.send(stamp)

    def serve(self) -> None:
        """Let the first robot that ROS drives report what nobody in particular reports."""
        if self._first is not None:
            self._markers.serve(self._bridge.commands[self._first], self._bridge.host.handle(self._first))

    def apply(self) -> None:
        """Do what was asked for since the last call."""
        for data in self._requests.take():
            try:
                text = self._bridge.participant.types.decode(_TEXT, data).data
                self.do(text)
            except CoveyError as error:
                LOG.warning("/covey/control: %s", error)
        if (now := time.monotonic()) >= self._next_warning:
            self._next_warning = now + _WARN_EVERY_S
            self._warn()
        self._bridge.parameters.serve()
        self._standard.serve()
        for word, service in self._services:
            for request, _ in service.asked():
                self._reply(service, request, word)
        for request, wanted in self._real_time.asked():
            self._reply(self._real_time, request, f"speed {1 if wanted.data else 'max'}")

    def _warn(self) -> None:
        """Say, once each, what others send in vain, and that others tell the time, too."""
        participant = self._bridge.participant
        said = [
            f"{topic} has a sender of {kind}, which nobody hears: it takes {ours}"
            for topic, kind, ours in participant.misfits()
        ]
        said += [
            f"{topic} has a sender with best effort, which nobody hears: it takes reliable senders"
            for topic in participant.unreliable()
        ]
        said += [
            f"another program on domain {participant.domain_id} sends /clock, too: time jumps between both. End one of "
            f"them, or give one another domain, such as --domain {(participant.domain_id + 1) % 100}"
            for _ in participant.others("/clock")
        ]
        for one in said:
            if one not in self._warned:
                self._warned.add(one)
                LOG.warning("%s", one)

    def _reply(self, service: Service, request: Request, text: str) -> None:
        """Do what a request asks for, and reply."""
        try:
            values = {"success": True, "message": self.do(text)}
        except CoveyError as error:
            values = {"success": False, "message": str(error)}
        service.answer(request, values)

    def do(self, text: str) -> str:
        """Do what a text asks for, and return what was done.

        Raises:
            InvalidValueError: it asks for nothing that exists.
        """
        pacer, (word, *rest) = self._bridge.pacer, text.split() or [""]
        match word, rest:
            case "pause", []:
                pacer.pause()
            case "play", []:
                pacer.play()
            case "step", _ if len(rest) < 2:
                played = pacer.playing
                pacer.step(_count(rest[0]) if rest else 1)
                if played:
                    LOG.warning("/covey/control: %s while time runs: it stands after that; write play to go on", text)
                    return f"{text}; then it is paused"
            case "speed", [factor]:
                pacer.factor = _factor(factor)
            case "save_map", []:
                return self.maps.save()
            case "reset", []:
                self._bridge.again = True
                self._sim.end()
                pacer.play()
            case "end", []:
                self._sim.end()
                pacer.play()
            case _:
                raise InvalidValueError(
                    f"{text!r:.60} is no request; write pause, play, step N, speed X, save_map, reset or end"
                )
        return text


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 10**9:
        raise InvalidValueError(f"step {text}: give a whole number of steps")
    return int(text)


def _factor(text: str) -> float | None:
    """Return simulated seconds per second; None for ``max``."""
    if text == "max":
        return None
    try:
        factor = float(text)
    except ValueError:
        factor = -1.0
    if not 1e-3 <= factor < float("inf"):
        raise InvalidValueError(f"speed {text}: give max, or a factor such as 1 or 10")
    return factor
