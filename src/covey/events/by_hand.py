"""By hand: robots that somebody carries or drives, and areas without radio."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from covey.events.port import Port
from covey.events.records import DriveEvent, JamEvent, PlaceEvent, RoundArea
from covey.events.sending import twist_along, way_to
from covey.geometry.se2 import Pose
from covey.lazy import shapely
from covey.results.event_data import Driven, Jammed, Placed
from covey.world.standing import nearest_free, obstacle

_KEPT_AHEAD_M = 0.2
"""Free space that a robot keeps before another one when it is sent to a place [m]."""
_PATIENCE = 10
"""Number of steps after which it looks for a way around the other one."""


@dataclass(frozen=True)
class Lasting:
    """An event that lasts, and the step at which it ends; None: it does not end by itself."""

    event: Any
    until: int | None


@dataclass
class Sent:
    """A robot on its way to a place.

    Attributes:
        path, segment: the corners of the way [m], and where the robot is on it.
        version: version of the world that it is for.
        is_there: whether it has arrived.
        waited: number of steps in which another robot was in its way.
    """

    path: np.ndarray
    segment: int
    version: int
    is_there: bool = False
    waited: int = 0


class ByHand:
    """What somebody does to robots and their radio by hand.

    Args:
        port: access to the simulation.
        record_event: records an event.
        revive: lets a robot be there again that has vanished.

    Attributes:
        jams: the present jams, by their names.
    """

    def __init__(self, port: Port, record_event: Callable[..., None], revive: Callable[[int], None]):
        self._port, self._record_event, self._revive = port, record_event, revive
        self._driven: dict[int, Lasting] = {}
        self._sent: dict[int, Sent] = {}
        self.jams: dict[str, Lasting] = {}

    @property
    def lasts(self) -> bool:
        """Whether a robot is driven or an area is jammed."""
        return bool(self._driven or self.jams)

    def lapse(self) -> None:
        """End driving by hand and jams whose time is over."""
        step = self._port.clock.step
        for robot in [i for i, one in self._driven.items() if one.until is not None and step >= one.until]:
            self._let_go(robot)
            self._record_event("drive_over", self._port.names[robot], place=self._port.state.pose[robot, :2])
        for name in [name for name, one in self.jams.items() if one.until is not None and step >= one.until]:
            self.end_jam(name)

    def carry_to(self, event: PlaceEvent) -> Any:
        """Carry a robot to a pose, or bring it back if it has vanished.

        Refused if its body cannot stand there, see `covey.world.standing`.
        """
        robot, (x, y, heading) = self._port.names.index(event.place), event.pose
        pose, state = Pose(x, y, math.radians(heading)), self._port.state
        before = Pose(*state.pose[robot].tolist())
        other, why = self._obstacle(robot, pose)
        if why:
            self._record_event("refused", event.place, other, (x, y), why)
            return None
        if state.vanished[robot]:
            self._revive(robot)
        self._port.carry(robot, pose)
        was = [round(before.x, 4), round(before.y, 4), round(math.degrees(before.heading), 2)]
        self._record_event("placed", event.place, place=(x, y), says=Placed(was))
        return event.plain()

    def drive(self, event: DriveEvent) -> Any:
        """Drive a robot by hand, send it to a place, or let it go on by itself."""
        robot = self._port.names.index(event.drive)
        if event.twist is None and event.to is None:
            if not self._let_go(robot):
                return None
            self._record_event("drive_over", event.drive, place=self._port.state.pose[robot, :2])
        elif self._port.state.halted[robot] or self._port.state.vanished[robot]:
            self._record_event(
                "refused", event.drive, place=self._port.state.pose[robot, :2], says="it cannot move any more"
            )
            return None
        elif event.to is not None:
            way = self._way(robot, event.to)
            if way is None:
                self._record_event("refused", event.drive, place=event.to, says="no way leads there")
                return None
            self._driven[robot], self._sent[robot] = Lasting(event, None), way
            says = Driven(goal_m=event.to, is_there=False)
            self._record_event("driven", event.drive, place=self._port.state.pose[robot, :2], says=says)
        elif event.twist is not None:
            self._sent.pop(robot, None)
            self._driven[robot] = Lasting(event, self._until(event.for_s))
            says = Driven(twist=event.twist)
            self._record_event("driven", event.drive, place=self._port.state.pose[robot, :2], says=says)
        return event.plain()

    def jam(self, event: JamEvent) -> Any:
        """Jam the radio in an area; refused if its name is in use."""
        name, area = event.name, event.jam
        middle = area.centre_m if isinstance(area, RoundArea) else np.mean(area.polygon_m, axis=0)
        if name in self.jams:
            self._record_event("refused", other=name, says="this name is already in use")
            return None
        self.jams[name] = Lasting(event, self._until(event.for_s))
        self._record_event("jam", other=name, place=middle, says=Jammed(**area.model_dump(mode="json")))
        return event.plain()

    def end_jam(self, name: str) -> None:
        """End a jam."""
        del self.jams[name]
        self._record_event("jam_over", other=name)

    def driven(self, commands: np.ndarray) -> np.ndarray:
        """Return the body twists (n, 3) that result from commands (n, 3) and driving by hand."""
        if self._driven:
            commands = commands.copy()
            for robot, lasting in self._driven.items():
                to = lasting.event.to
                speed, turn = lasting.event.twist if to is None else self._go_on(robot, to)
                commands[robot] = speed, 0.0, turn
        return commands

    def _let_go(self, robot: int) -> bool:
        """Let a robot follow its controller again; return whether it did not."""
        self._sent.pop(robot, None)
        return self._driven.pop(robot, None) is not None

    def _way(self, robot: int, to: tuple[float, float]) -> Sent | None:
        """Return the way of a robot to a place in the present world; None: there is none."""
        port = self._port
        start, radius = port.state.pose[robot, :2], float(port.model.radius[robot])
        others = np.column_stack((port.state.pose[:, :2], port.model.radius))
        others = others[~port.state.vanished & (np.arange(len(others)) != robot)]
        at = port.world, start, np.array(to), radius
        path = way_to(*at, others)
        if path is None:
            path = way_to(*at, others[:0])
        return None if path is None else Sent(path, 0, port.world.version)

    def _go_on(self, robot: int, to: tuple[float, float]) -> tuple[float, float]:
        """Return the twist of a robot that goes to a place; it waits for other robots, and where no way is open."""
        port, sent = self._port, self._sent[robot]
        if sent.version != port.world.version or sent.waited >= _PATIENCE:
            sent.version, sent.waited = port.world.version, 0
            if (anew := self._way(robot, to)) is not None:
                sent.path, sent.segment = anew.path, 0
        fast, turning = float(port.model.max_speed[robot]), float(port.model.max_turn[robot])
        pose = port.state.pose[robot]
        speed, turn, sent.segment, is_there = twist_along(sent.path, sent.segment, pose, fast, turning)
        if is_there and not sent.is_there:
            self._record_event("driven", port.names[robot], place=pose[:2], says=Driven(goal_m=to, is_there=True))
        sent.is_there = is_there
        waits = speed > 0.0 and self._in_the_way(robot)
        sent.waited += waits
        return (0.0 if waits else speed), turn

    def _in_the_way(self, robot: int) -> bool:
        """Return whether another robot is close ahead of a robot."""
        port = self._port
        x, y, heading = port.state.pose[robot].tolist()
        apart = port.state.pose[:, :2] - (x, y)
        ahead = apart @ (math.cos(heading), math.sin(heading))
        beside = np.abs(apart @ (-math.sin(heading), math.cos(heading)))
        room = port.model.radius + port.model.radius[robot]
        near = (ahead > 0.0) & (ahead < room + _KEPT_AHEAD_M) & (beside < room) & ~port.state.vanished
        near[robot] = False
        return bool(near.any())

    def jammed(self, pose: np.ndarray) -> np.ndarray:
        """Return which poses (n, 3) lie where no radio works, bool (n,)."""
        inside = np.zeros(len(pose), bool)
        for lasting in self.jams.values():
            area = lasting.event.jam
            if isinstance(area, RoundArea):
                inside |= np.hypot(pose[:, 0] - area.centre_m[0], pose[:, 1] - area.centre_m[1]) <= area.radius_m
            else:
                from covey.world.editing.shapes import polygon

                inside |= shapely.contains_xy(polygon(area.polygon_m), pose[:, 0], pose[:, 1])
        return inside

    def _until(self, for_s: float | None) -> int | None:
        clock = self._port.clock
        return None if for_s is None else clock.step + math.ceil(for_s / clock.step_s - 1e-9)

    def _obstacle(self, robot: int, pose: Pose) -> tuple[str, str]:
        """Return what keeps a robot from standing at a pose, and why; empty if it can."""
        port, stand = self._port, ~self._port.state.vanished
        stand[robot] = False
        others = np.column_stack((port.state.pose[:, :2], port.model.radius))[stand]
        body = pose.x, pose.y, float(port.model.radius[robot])
        other, why = obstacle(
            port.world, *body, others, [name for name, on in zip(port.names, stand, strict=True) if on]
        )
        return other, f"{why}; {nearest_free(port.world, *body, others)}" if why else ""
