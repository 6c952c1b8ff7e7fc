"""`ControllerNode`: a controller of one robot as a node of ROS 2, for any robot with scan, odom, tf and cmd_vel.

One loop: it waits for the next time, takes what has come, maps, hears the team, lets the controller act, and answers.
Every wait has a limit; the loop looks a few times in a second whether it is to end.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from covey.clock import Clock
from covey.errors import ControllerError, CoveyError, InvalidValueError
from covey.geometry.mounting import on_beams
from covey.geometry.se2 import Pose
from covey.mapping.occupancy.team_mates import Mates
from covey.mapping.slam.log import Laser
from covey.onboard.estimator import pose_then
from covey.onboard.motions import STILL, Twist
from covey.onboard.step import MapInput, Requests, ScanInput, SenseInput, StepInput, StepOutput, TeamUpdate
from covey.results.event_data import OdometryContradicted
from covey.ros import messages as m
from covey.ros.dds import Participant
from covey.ros.node_requests import NodeRequests
from covey.ros.node_senses import Senses
from covey.ros.node_setup import NodeSetup
from covey.ros.node_team import NodeTeam
from covey.ros.parameters import Parameters, known_of
from covey.ros.qos import CLOCK, COMMAND
from covey.ros.robot_node import namespace_of
from covey.ros.settings import STAMPED_SINCE
from covey.runtime.local.watchdog import Watchdog
from covey.runtime.remote.agent import RobotAgent, warm_up
from covey.sensors.lidar import LidarReading

LOG = logging.getLogger("covey")
_LOOK_S = 0.2  # how long it waits at once
_SILENT, _SILENT_S = 1.5, 0.25  # a sensor is silent after so many periods, and this time for the way
_LATE_S = 2.0  # how long a step waits for a reading that is due
_LIDAR_S = 2.0  # how long the start waits for a scan and its frame
_SAY_S = 5.0
_GONE_S = 2.0  # the run is over when nobody has sent a clock for so long
_STALE_NS = 1_000_000_000  # a robot whose odometry is older stands still
_FAREWELL_NS = 500_000_000
_CLOCK = "rosgraph_msgs/msg/Clock"


@dataclass(frozen=True)
class NodeSettings:
    """How a controller takes part in a graph of ROS 2.

    Attributes:
        namespace: of the robot's topics, such as ``scout0``; ``/``: none. None: the robot's name.
        stamped: it sends TwistStamped; None: as in the distribution's Nav2.
        prefixed: all robots share /tf and /tf_static.
        wall: the robot has no /clock: steps follow the time of this machine.
        direct: it has no simulated radio: the nodes of its team write to each other.
        patience_s: how long the start waits for the robot [s].
    """

    namespace: str | None = None
    stamped: bool | None = None
    prefixed: bool = False
    wall: bool = False
    direct: bool = False
    patience_s: float = 60.0

    def __post_init__(self) -> None:
        if not 0 < self.patience_s < 1e6:
            raise InvalidValueError(f"patience is {self.patience_s!r} s; it must be positive")


class ControllerNode:
    """A controller of one robot as a node of ROS 2.

    Args:
        participant: of this process.
        setup: what it knows from the start.
        settings: how it takes part.

    Attributes:
        name: of the robot.
        steps: number of steps that it has taken.
        ended: set it to end the node; why it ended.
        on_step: is called with the time [s], the input and the output of each decision.
    """

    def __init__(self, participant: Participant, setup: NodeSetup, settings: NodeSettings = NodeSettings()):
        self._setup, self._settings = setup, settings
        self._spec = setup.spawn.spec
        self.name, self.steps, self.ended = self._spec.name, 0, ""
        self.on_step: Callable[[float, StepInput, StepOutput], None] | None = None
        space = namespace_of(self.name) if settings.namespace is None else settings.namespace.strip("/")
        node = self._node = participant.node("controller", f"/{space}")
        self._types, distro = participant.types, participant.types.distro
        self._stamped = distro in STAMPED_SINCE if settings.stamped is None else settings.stamped
        self._twist_kind = f"geometry_msgs/msg/Twist{'Stamped' * self._stamped}"
        self._cmd_vel = node.writer("cmd_vel", self._twist_kind, COMMAND)
        self._ready = node.writer("ready", _CLOCK, COMMAND)
        self._senses = Senses(node, setup, settings.prefixed)
        self._requests = NodeRequests(node, self.name)
        self._team = NodeTeam(node, setup, settings.direct)
        self._parameters = Parameters(participant)
        known = known_of(self._spec.model, self._spec.program)
        self._parameters.offer(node, {"use_sim_time": not settings.wall, **known})
        self._clocks = node.reader("/clock", _CLOCK, CLOCK.best_effort())
        self._wait = participant.waiter(self._clocks)
        self._watchdog = Watchdog(setup.spawn.step_budget_s)
        self._agent: RobotAgent | None = None
        self._begin()

    def _begin(self) -> None:
        """Begin a run: forget everything before."""
        setup = self._setup
        self._senses.begin()
        self._requests.begin()
        self._team.begin()
        self._clock = Clock(setup.substep_s, setup.step_s)
        self._done_ns: int | None = None  # the time of its last step
        self._zero_ns = 0  # the time at which its clock is 0
        self._twist: Twist = STILL
        self._in_step, self._stale = True, False
        self._seen: list[list[tuple[float, Any]]] = [[] for _ in setup.sensors]
        self._newest: list[Any] = [None] * len(setup.sensors)
        self._heard_s: dict[str, float] = {}  # stamp of the newest reading of each sensor [s]
        self._were_silent: tuple[str, ...] = ()
        self._turns: list[tuple[float, float]] = []  # times [s] and turn rates of the gyro in this step
        self._mates: list[tuple[int, Any]] = []  # stamps and readings of the neighbours that came last
        self._odometry: Pose | None = None  # at the last step, in the frame odom
        self._fan: np.ndarray | None = None  # the angles of the rays that map
        self._received = TeamUpdate()
        if self._agent is not None:
            self._agent.close()
            self._agent = None

    # -- from the start to the end -------------------------------------------------------------------------------------

    def run(self) -> None:
        """Drive the robot until the clock ends, or `ended` is set.

        Raises:
            CoveyError: the robot was not heard.
            ControllerError: the controller failed.
        """
        try:
            warm_up(self._setup.spawn)
            self._await_robot()
            while not self.ended:
                now_ns = self._next()
                if now_ns is not None:
                    self._step(now_ns)
        finally:
            self._halt()

    def close(self) -> None:
        """End the controller and what watches it; the participant is closed by who made it."""
        if self._agent is not None:
            self._agent.close()
            self._agent = None
        self._watchdog.close()

    def _await_robot(self) -> None:
        """Wait until the robot has been heard."""
        begun = said = time.monotonic()
        lidar_until, clocked, patience_s = 0.0, self._settings.wall, self._settings.patience_s
        while not self.ended:
            self._wait(0.02 if clocked else _LOOK_S)
            self._parameters.serve()
            clocked = clocked or self._clocks.end.read(1) != []
            self._senses.poll(None)
            now = time.monotonic()
            missing = [] if clocked else ["/clock"]
            if self._senses.odom_ns is None:
                missing.append(self._senses.odom_topic)
            if not missing:
                unknown = self._senses.unknown()
                if not unknown:
                    return
                lidar_until = lidar_until or now + _LIDAR_S
                if now > lidar_until:
                    LOG.warning("%s: %s; its lidar is taken to be that of the model", self.name, unknown)
                    return
            elif now > begun + patience_s:
                hint = "; a robot without /clock needs --wall" if not clocked else ""
                raise CoveyError(
                    f"{self.name}: nothing came on {' and '.join(missing)} within {patience_s:g} s{hint}. Is the robot "
                    f"there, and on the same domain? Here: {self._node.participant}"
                )
            elif now > said + _SAY_S:
                said = now
                LOG.warning("%s: waiting for %s", self.name, " and ".join(missing))

    def _halt(self) -> None:
        """Stop the robot."""
        if self._done_ns is None:
            return
        try:
            self._send(self._done_ns, STILL)
            self._cmd_vel.await_readers(_FAREWELL_NS)
        except Exception as error:
            LOG.warning("%s: it could not be stopped: %s", self.name, error)

    # -- time ----------------------------------------------------------------------------------------------------------

    def _next(self) -> int | None:
        """Return the time of the next step [ns]; None: not yet, see `ended`."""
        return self._next_by_wall() if self._settings.wall else self._next_by_clock()

    def _next_by_wall(self) -> int | None:
        self._parameters.serve()
        period_ns = round(self._setup.step_s * 1e9)
        now_ns = time.time_ns()
        if self._done_ns is not None and now_ns < self._done_ns + period_ns:
            time.sleep(min(_LOOK_S, (self._done_ns + period_ns - now_ns) * 1e-9))
            return None
        self._senses.poll(now_ns)
        return now_ns

    def _next_by_clock(self) -> int | None:
        begun, late_since = time.monotonic(), 0.0
        while not self.ended:
            self._wait(_LOOK_S)
            self._parameters.serve()
            come = self._clocks.take()
            now = time.monotonic()
            if not come:
                if now > begun + _GONE_S and not self._clocks.matched:
                    self.ended = "the clock has ended"
                continue
            begun = now
            now_ns = _time_of(come[-1])
            if self._done_ns is not None:
                if now_ns == self._done_ns:  # the answer was lost
                    self._send(now_ns, self._twist)
                    continue
                if now_ns < self._done_ns - _STALE_NS or now_ns == 0:
                    LOG.warning("%s: time begins anew", self.name)
                    self._begin()
                elif now_ns < self._done_ns + 0.999e9 * self._setup.step_s:
                    continue
            self._senses.poll(now_ns)
            if self._senses.odom_ns is None:
                continue
            at_ns = self._newest_step(now_ns)
            if self._in_step and (at_ns is None or self._senses.lacks(at_ns)):  # it comes, or comes again
                late_since = late_since or now
                if now < late_since + _LATE_S:
                    continue
                self._senses.give_up(now_ns)
            at_ns = now_ns if at_ns is None else at_ns
            self._in_step = self._senses.odom_ns == at_ns
            return at_ns
        return None

    def _newest_step(self, now_ns: int) -> int | None:
        """Return the time of the newest odometry if it is one for the next step; a clock may tick in between."""
        at_ns, step_ns = self._senses.odom_ns, 0.999e9 * self._setup.step_s
        if at_ns is None or not now_ns - step_ns < at_ns <= now_ns:
            return None
        return at_ns if self._done_ns is None or at_ns >= self._done_ns + step_ns else None

    # -- a step --------------------------------------------------------------------------------------------------------

    def _step(self, now_ns: int) -> None:
        """Map, hear the team, let the controller act, and answer."""
        self._tick(now_ns)
        setup, agent = self._setup, self._software()
        home = self._spec.home
        scans, grounds = self._take_readings()
        pose, spread = self._localize(agent, scans, now_ns)
        self._map(agent, pose, spread, grounds if setup.grounds else scans)
        self._receive(self._team.hear(self._clock))
        asked: Requests | None = None
        self.steps += 1
        if self._clock.step % setup.every == setup.phase or not self._in_step:
            reckoned = tuple(home @ self._senses.odometry) if setup.dead_reckons else ()
            shown = StepInput(
                self._clock.time_s,
                pose,
                self._senses.touched(),
                tuple(self._newest),
                tuple(tuple(at for at, _ in come) for come in self._seen),
                tuple(tuple(reading for _, reading in come[:-1]) for come in self._seen),
                self._requests.tags(),
                None if self._received == TeamUpdate() else self._received,
                spread,
                self._requests.answers(),
                reckoned,
                silent=self._silent(),
            )
            self._seen = [[] for _ in setup.sensors]
            self._received = TeamUpdate()
            answer = agent.step(shown)
            self._twist, asked = answer.twist, answer.requests
            if asked is not None:
                self._requests.ask(asked)
            if self.on_step is not None:
                self.on_step(self._clock.time_s, shown, answer)
            if asked is not None and asked.failure is not None:
                raise ControllerError(f"{self.name} at {self._clock.time_s:g} s: {asked.failure.text}")
        self._team.write(asked, now_ns)
        self._watch_odometry(now_ns)
        self._done_ns = now_ns
        self._send(now_ns, STILL if self._stale else self._twist)

    def _software(self) -> RobotAgent:
        """Return the robot's software, made when its lidar is known."""
        if self._agent is None:
            spawn, lidar = self._setup.spawn, self._senses.fan()
            if lidar is None and self._senses.scans is not None:
                lidar = self._senses.scans.record
            if lidar is not None:
                self._fan = lidar.angles
                spawn = replace(spawn, laser=Laser(lidar.angles, lidar.range_m, tuple(lidar.mount.tolist())))
            if (own := spawn.localization) is not None:
                laser = None if own.laser is None else spawn.laser
                own = replace(own, laser=laser, start=np.array(self._spec.home @ self._senses.odometry))
                spawn = replace(spawn, localization=own)
            self._agent = RobotAgent(spawn, self._watchdog, self._clock.time_s)
            self._team.share(self._agent.belief, self._clock)
            heard = self._senses.sensors
            mapped = self._setup.grounds
            silent = (s for s in self._setup.sensors if s.name not in heard and s.name not in mapped)
            unread = [s.name for s in silent if "motion" not in s.feeds]
            if unread:
                LOG.warning("%s: the node does not read %s; its readings stay None", self.name, ", ".join(unread))
        return self._agent

    def _receive(self, news: TeamUpdate | None) -> None:
        """Keep what the team says for the next step in which the controller acts."""
        if news is not None:
            before = self._received
            frames = before.frames if news.frames is None else news.frames
            self._received = TeamUpdate((*before.messages, *news.messages), (*before.entries, *news.entries), frames)

    def _tick(self, now_ns: int) -> None:
        """Set the clock."""
        if self._settings.wall and self._done_ns is None:
            self._zero_ns = now_ns
        clock, at = self._clock, self._seconds(now_ns)
        clock.advance(round(at / clock.substep_s) - clock.now)
        if abs(clock.time_s - at) > 1e-6:
            clock.time_s = at

    def _seconds(self, ns: int) -> float:
        """Return a time in seconds; those of a simulation are exactly its own."""
        second, ns = self._clock.substep_s, ns - self._zero_ns
        substeps = round(ns / round(second * 1e9))
        return substeps * second if abs(ns - substeps * round(second * 1e9)) < 1000 else ns * 1e-9

    def _take_readings(self) -> tuple[list[tuple[int, ScanInput]], list[tuple[int, ScanInput]]]:
        """Take what the sensors have said; return times [ns] and scans of the first lidar, and those of the ground.

        They come oldest first. Of a lidar whose number of rays varies they are those of the nearest rays. Scans of
        another lidar on the same topic are left out.
        """
        scans: list[tuple[int, LidarReading]] = []
        grounds: list[tuple[int, ScanInput]] = []
        self._turns = []
        places = {record.name: k for k, record in enumerate(self._setup.sensors)}
        for sense in self._senses.all:
            name = sense.record.name
            taken = list(sense.new_readings())
            if sense in self._senses.grounds:
                grounds += [(at_ns, self._scan_input(at_ns, cloud)) for at_ns, cloud in taken]
                continue
            if taken and "mates" in sense.record.feeds:
                self._mates = taken
            for stamp_ns, reading in taken:
                if name in places:
                    self._seen[places[name]].append((self._seconds(stamp_ns), reading))
                    self._newest[places[name]] = reading
                    self._heard_s[name] = self._seconds(stamp_ns)
                if sense is self._senses.scans:
                    scans.append((stamp_ns, reading))
                if sense is self._senses.gyro:
                    self._turns.append((self._seconds(stamp_ns), reading.turn_rate))
        fans = [(at_ns, self._on_fan(scan)) for at_ns, scan in scans]
        return [(at_ns, self._scan_input(at_ns, scan.ranges)) for at_ns, scan in fans if scan is not None], grounds

    def _silent(self) -> tuple[str, ...]:
        """Return the sensors of which a sample is late; one that has never said anything is none of the robot's."""
        now = self._clock.time_s
        late = {
            one.name: _SILENT / one.rate_hz + getattr(one, "latency_s", 0.0) + _SILENT_S for one in self._setup.sensors
        }
        silent = tuple(name for name, late_s in late.items() if now - self._heard_s.get(name, now) > late_s)
        for name in sorted({*silent} ^ {*self._were_silent}):
            LOG.warning("%s: its sensor %s %s", self.name, name, "is silent" if name in silent else "is heard again")
        self._were_silent = silent
        return silent

    def _on_fan(self, scan: LidarReading) -> LidarReading | None:
        """Return a scan on the rays that map; None: it is of another lidar."""
        fan = self._fan
        if fan is None or len(scan.ranges) == len(fan):
            return None if fan is None else scan
        if min(len(fan), len(scan.ranges)) < 2 or abs(np.ptp(scan.angles) - np.ptp(fan)) > 2.0 * abs(fan[1] - fan[0]):
            return None
        return replace(scan, angles=fan, ranges=on_beams(fan, scan.angles, scan.ranges))

    def _scan_input(self, at_ns: int, measured: Any) -> ScanInput:
        """Return what a sensor has measured for the robot's software; odometry says how the robot has moved since."""
        since, mates = self._senses.moved_since, None
        if self._mates:
            then_ns, seen = min(self._mates, key=lambda one: abs(one[0] - at_ns))
            moved = None if then_ns == at_ns else np.array([since(at_ns) @ since(then_ns).inverse()])
            mates = Mates(np.array([len(seen)]), seen.ranges[None], seen.bearings[None], moved)
        moved = None if at_ns == self._senses.odom_ns else np.array(since(at_ns))
        return ScanInput(self._seconds(at_ns), measured, moved, mates)

    def _localize(
        self, agent: RobotAgent, scans: list[tuple[int, ScanInput]], now_ns: int
    ) -> tuple[Pose, tuple[float, ...]]:
        """Return the pose, and its covariance, as the robot hears them, unless it localizes itself."""
        senses = self._senses
        if agent.own is None:
            return senses.pose(now_ns, self._spec.home)
        at_s = self._seconds(now_ns if senses.odom_ns is None else senses.odom_ns)
        before, self._odometry = self._odometry, senses.odometry
        wheels = [] if before is None else [(at_s, np.array(before.inverse() @ senses.odometry))]
        newest = scans[-1][1] if scans and agent.own.reads_scans else None
        located = agent.localize(SenseInput(self._clock.step, self._clock.time_s, wheels, self._turns, newest))
        for one in located.contradicted:
            LOG.warning("%s: %s", self.name, OdometryContradicted(one.share, one.way_m).text)
        return Pose(*located.pose.tolist()), tuple(located.covariance.ravel().tolist())

    def _map(
        self, agent: RobotAgent, pose: Pose, spread: tuple[float, ...], scans: list[tuple[int, ScanInput]]
    ) -> None:
        """Add scans to the map, each at the estimated pose at its time."""
        own, step = agent.own, self._clock.step
        for stamp_ns, scan in scans if agent.belief is not None else ():
            is_newest = stamp_ns == scans[-1][0]
            if own is None:
                agent.map(self._told(scan, pose, spread))
            elif own.takes(is_newest):
                since = self._senses.moved_since
                looked = None if is_newest else np.array(since(stamp_ns) @ since(scans[-1][0]).inverse())
                agent.map(MapInput(step, scan, looked))

    def _told(self, scan: ScanInput, pose: Pose, spread: tuple[float, ...]) -> MapInput:
        """Return a scan for the map of a robot that hears where it is."""
        covariance = np.array(spread).reshape(3, 3) if spread else np.zeros((3, 3))
        at = pose_then(np.array([pose]), None if scan.since is None else scan.since[None])
        return MapInput(self._clock.step, scan, None, at[0], covariance, self._setup.is_white)

    def _watch_odometry(self, now_ns: int) -> None:
        """Let the robot stand still while its odometry is silent."""
        odom_ns = self._senses.odom_ns
        stale = odom_ns is None or now_ns - odom_ns > _STALE_NS
        if stale and not self._stale:
            LOG.warning("%s: its odometry is older than 1 s; it stands still until it comes again", self.name)
        self._stale = stale

    def _send(self, now_ns: int, twist: Twist) -> None:
        """Send the command of a time, and that it is complete."""
        stamp = divmod(now_ns, 1_000_000_000)
        vx, vy, omega = map(float, twist)
        values: dict[str, Any] = {"linear": {"x": vx, "y": vy}, "angular": {"z": omega}}
        if self._stamped:
            values = {"header": m.header(stamp, self._senses.base), "twist": values}
        self._cmd_vel.write(self._types.encode(self._twist_kind, values))
        self._ready.write(m.clock(stamp))


def _time_of(data: bytes) -> int:
    """Return the time of a rosgraph_msgs/Clock [ns]."""
    sec, nanosec = np.frombuffer(data, "<u4", 2, 4).tolist()
    return sec * 1_000_000_000 + nanosec
