"""`Proxy`: carries the records of a step to one robot, or to a controller of several robots, and the answers back."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from covey.mapping.exchange.apart import Changes
from covey.onboard.step import GroupInput, GroupOutput, Located, MapInput, SenseInput, StepInput, StepOutput
from covey.runtime.phases.sensing import SensorBank
from covey.runtime.transport import codec
from covey.runtime.transport.channel import Channel
from covey.runtime.transport.codec import SimulatorEnd
from covey.runtime.transport.transport import DECIDE, LOCALIZE, MAP, Parts, TransportError


class Proxy(Protocol):
    """Carries records there and back.

    Each method returns whether the other end is there; ``then`` is called with the answer and its processor time [s].
    """

    channel: Channel

    def step(self, shown: StepInput, then: Callable[[StepOutput, float], Any]) -> bool:
        """Let a robot act."""
        ...

    def localize(self, sensed: SenseInput, then: Callable[[tuple[Located, Changes | None], float], Any]) -> bool:
        """Let a robot find out where it is."""
        ...

    def map(self, given: MapInput, then: Callable[[Changes | None, float], Any]) -> bool:
        """Let a robot map with a scan."""
        ...

    def step_groups(self, shown: Sequence[GroupInput], then: Callable[[GroupOutput, float], Any]) -> bool:
        """Let a controller of several robots act."""
        ...


class TransportProxy:
    """The proxy to a process: records become letters."""

    def __init__(self, channel: Channel, banks: Sequence[SensorBank]):
        self.channel, self._end = channel, SimulatorEnd({bank.record.name: bank for bank in banks})

    def step(self, shown: StepInput, then: Callable[[StepOutput, float], Any]) -> bool:
        """Let a robot act."""
        letter = self._end.encode(shown)
        return self.channel.ask(DECIDE, letter, lambda parts, cpu_s: then(_read(self._end.decode, parts), cpu_s))

    def localize(self, sensed: SenseInput, then: Callable[[tuple[Located, Changes | None], float], Any]) -> bool:
        """Let a robot find out where it is."""
        letter = codec.encoded_sensed(sensed)
        return self.channel.ask(LOCALIZE, letter, lambda parts, cpu_s: then(_read(codec.decoded_located, parts), cpu_s))

    def map(self, given: MapInput, then: Callable[[Changes | None, float], Any]) -> bool:
        """Let a robot map with a scan."""
        letter = codec.encoded_scan(given)
        return self.channel.ask(MAP, letter, lambda parts, cpu_s: then(_read(codec.decoded_changes, parts), cpu_s))

    def step_groups(self, shown: Sequence[GroupInput], then: Callable[[GroupOutput, float], Any]) -> bool:
        """Let a controller of several robots act."""
        letter = codec.encoded_groups(shown)
        return self.channel.ask(DECIDE, letter, lambda parts, cpu_s: then(_read(codec.decoded_twists, parts), cpu_s))


def _read(decode: Callable[[Parts], Any], parts: Parts) -> Any:
    """Return what the parts of a letter hold.

    Raises:
        TransportError: they are not what an answer is made of.
    """
    try:
        return decode(parts)
    except Exception as error:
        raise TransportError(f"an answer cannot be read: {type(error).__name__}: {error}") from error
