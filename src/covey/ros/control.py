"""`Control`: requests to the simulation itself, by topic: pause, play, step, speed, reset, end."""

import logging
from typing import TYPE_CHECKING

from covey.errors import CoveyError, InvalidValueError
from covey.ros.maps import MapTopics
from covey.ros.messages import Stamp
from covey.ros.qos import COMMAND
from covey.ros.types import MessageError
from covey.runtime.simulation import Simulation

if TYPE_CHECKING:
    from covey.ros.bridge import Bridge

LOG = logging.getLogger("covey")
_TEXT = "std_msgs/msg/String"


class Control:
    """Requests to the simulation: texts on ``/covey/control``.

    ``pause``, ``play``, ``step`` or ``step 10``, ``speed 2`` or ``speed max``, ``save_map``, ``reset`` (the run ends,
    and a new one begins) and ``end``.

    Args:
        bridge: the simulation's bridge.
    """

    def __init__(self, bridge: "Bridge"):
        self._bridge = bridge
        self._requests = bridge.node.reader("/covey/control", _TEXT, COMMAND)
        self.maps = MapTopics(bridge)

    def begin(self, sim: Simulation) -> None:
        """Get to know a simulation before its first step."""
        self._sim = sim
        self.maps.begin(sim)

    def send(self, stamp: Stamp) -> None:
        """Send what belongs to no single robot."""
        self.maps.send(stamp)

    def look(self) -> None:
        """Do what was asked for since the last call."""
        for data in self._requests.take():
            try:
                text = self._bridge.participant.types.decode(_TEXT, data).data
                self.do(text)
            except (CoveyError, MessageError) as error:
                LOG.warning("/covey/control: %s", error)

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
                pacer.step(_count(rest[0]) if rest else 1)
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
