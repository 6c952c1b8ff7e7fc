"""`RecordedRobot`: a host in the simulation's process whose controllers share no memory with it, like remote ones.

It records the steps of one robot.
"""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from covey.mapping.exchange.apart import Changes
from covey.onboard.step import (
    Failed,
    GroupInput,
    GroupOutput,
    Located,
    MapInput,
    Requests,
    SenseInput,
    StepInput,
    StepOutput,
)
from covey.runtime.execution import Processes
from covey.runtime.hosting import Hosting
from covey.runtime.local.failures import failed_at_the_end
from covey.runtime.local.watchdog import Watchdog, failed
from covey.runtime.phases.sensing import SensorBank
from covey.runtime.remote.agent import GroupAgent, RobotAgent, answered_localize, answered_map
from covey.runtime.remote.host import MIRRORS, RemoteHost
from covey.runtime.remote.spawn_spec import GroupSpawn, RobotSpawn
from covey.runtime.replay.log import LogWriter
from covey.runtime.replay.plain import encode
from covey.runtime.transport.channel import Channel


class RecordedRobot:
    """Records the steps of one robot; pass its ``hosting`` to a `Simulation`.

    Args:
        robot: name of the robot.
        path: the file.
    """

    def __init__(self, robot: str, path: Path):
        self.robot, self.log = robot, LogWriter(path)

    @property
    def hosting(self) -> Hosting:
        """The argument ``hosting`` of a `Simulation`."""
        return MIRRORS, partial(RemoteHost, self.proxies)

    def proxies(self, record: Processes, channels: list[Channel]) -> "DirectProxies":
        """Return the proxies of a team."""
        return DirectProxies(self, record, channels)


class DirectProxies:
    """Proxies of controllers that are called directly."""

    def __init__(self, recorded: RecordedRobot, record: Processes, channels: list[Channel]):
        self.record, self.channels = record, {channel.name: channel for channel in channels}
        self._recorded, self._proxies = recorded, dict[str, DirectProxy]()
        self._watchdog: Watchdog | None = None

    def proxy(self, channel: Channel, banks: Sequence[SensorBank]) -> "DirectProxy":
        """Return the proxy of a channel."""
        self._proxies[channel.name] = DirectProxy(channel)
        return self._proxies[channel.name]

    def open(self, spawn_of: Callable[[Channel], RobotSpawn | GroupSpawn]) -> bool:
        """Start the software of all robots at the first call; return False, because there are no processes."""
        if self._watchdog is None:
            self._watchdog = Watchdog(next(iter(self.channels.values())).budget_s)
            for name, proxy in self._proxies.items():
                spawn = spawn_of(proxy.channel)
                if isinstance(spawn, GroupSpawn):
                    proxy.agent = GroupAgent(spawn, self._watchdog)
                    continue
                if name == self._recorded.robot:
                    proxy.log = self._recorded.log
                    proxy.log.begin(spawn)
                proxy.agent = RobotAgent(spawn, self._watchdog)
        return False

    def close(self) -> None:
        """End all controllers."""
        if self._watchdog is not None:
            for name, proxy in self._proxies.items():
                if proxy.agent is None:  # one before it could not begin
                    continue
                try:
                    proxy.agent.close()
                except KeyboardInterrupt:
                    raise
                except BaseException as error:
                    warnings.warn(failed_at_the_end(name, failed(error, self._watchdog).text), stacklevel=2)
            self._watchdog.close()


class DirectProxy:
    """A proxy to software that is called directly."""

    def __init__(self, channel: Channel):
        self.channel = channel
        self.agent: Any = None
        self.log: LogWriter | None = None

    def step(self, shown: StepInput, then: Callable[[StepOutput, float], Any]) -> bool:
        """Let a robot act."""
        return self._ask("step", self.agent.step, shown, then)

    def localize(self, sensed: SenseInput, then: Callable[[tuple[Located, Changes | None], float], Any]) -> bool:
        """Let a robot find out where it is."""
        return self._ask("sensed", partial(answered_localize, self.agent), sensed, then)

    def map(self, given: MapInput, then: Callable[[Changes | None, float], Any]) -> bool:
        """Let a robot map with a scan."""
        return self._ask("scan", partial(answered_map, self.agent), given, then)

    def step_groups(self, shown: Sequence[GroupInput], then: Callable[[GroupOutput, float], Any]) -> bool:
        """Let a controller of several robots act."""
        then(self.agent.step(shown), 0.0)
        return True

    def _ask(self, kind: str, call: Callable[[Any], Any], shown: Any, then: Callable[[Any, float], Any]) -> bool:
        before = encode(shown) if self.log is not None else None  # a controller may write into its input
        answer = call(shown)
        if self.log is not None:
            self.log.add(kind, before, repeatable(answer))
        then(answer, 0.0)
        return True


def repeatable(answer: Any) -> Any:
    """Return an answer without what no other process can repeat: an exception, and times by the wall."""
    match answer:
        case (Located() as located, changes):
            return located._replace(took_s=None), changes
        case StepOutput(requests=Requests(failure=Failed() as failure) as requests):
            return answer._replace(requests=requests._replace(failure=failure._replace(error=None)))
    return answer
