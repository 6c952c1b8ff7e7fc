"""`Robot`: the handle that a controller gets, and the boundary of what it may know.

Its only field is a `covey.onboard.state.OnboardState`, which holds what the robot itself knows; the truth cannot be
reached.
"""

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np

from covey.comms.blackboard import BlackboardView
from covey.comms.message import Message
from covey.comms.tags import TagReading
from covey.errors import InvalidValueError, UnknownAttributeError, UnknownNameError, printable
from covey.geometry import Pose
from covey.mapping.occupancy.frontiers import Frontiers, find_frontiers
from covey.onboard.motions import (
    DURATION,
    STILL,
    Drive,
    Follow,
    Goto,
    Manoeuvre,
    Motion,
    Receive,
    ReportAnswer,
    Rest,
    Sleep,
    Twist,
    Until,
    above_zero,
    finite_twist,
    number,
)
from covey.onboard.permissions import denied_by
from covey.onboard.reachable import reachable
from covey.onboard.searched import Searched
from covey.onboard.state import Call, History, OnboardState, by_name
from covey.onboard.travel_cost import cheapest_cell, travel, travel_from
from covey.plain import again, copied
from covey.planning.waypoints import Waypoints
from covey.robots.computer import WORKS
from covey.robots.model import RobotModel
from covey.robots.sample import Sample


def _whole(value: Any) -> int | None:
    """Return a whole number of 64 bits as a plain one; None for anything else."""
    try:
        whole = int(value)
        return whole if whole == value and not isinstance(value, bool) and -(2**63) <= whole < 2**63 else None
    except (TypeError, ValueError, OverflowError):
        return None


def _call() -> Call:
    """Return from where the method of the handle that is running was called."""
    name, frame = "", sys._getframe(1)
    while frame.f_code.co_filename == _FILE and frame.f_back is not None:
        name, frame = frame.f_code.co_name, frame.f_back
    return Call(frame.f_code, frame.f_lineno, name)


_FILE = _call.__code__.co_filename


def _is_amount(amount: float) -> bool:
    return 0.0 <= amount <= 1e9


def _of(path: str) -> Any:
    """Return a property of the handle: a value of its state."""
    return property(attrgetter(f"_state.{path}"))


class Robot:
    """One robot, as its controller sees it.

    Attributes:
        name: ``scout0``, ``scout1``, …
        model: its body, limits and sensors.
        home: its start pose.
        pose: its estimated pose (x, y [m], heading [rad]) in the world frame, or in the frame of its start if it does
            not know the world frame.
        time: simulated time [s].
        readings: the newest reading of each sensor by the sensor's name; also as attributes (``robot.proximity``).
        map: its belief, or None if it does not map.
        collided: True if its body touched something during the last step.
        random: its own NumPy generator, from the scenario's seed.
        text: its last note.
        team: names of all robots of the team; the identities in a neighbours reading are indices into it.
        blackboard: the blackboard of the team, a dict; others can read an entry from the next step on.
        tags: the environment tags in reach, nearest first.
        corrections: how SLAM has moved its poses of the past since its last step; each float64 (k, 5): from and until
            when [s], and the motion x, y [m], heading [rad] in its frame that moves its poses of that time. What a
            controller keeps of past poses can follow them.
        searched: what it believes that cameras have searched of its map, see `covey.onboard.searched.Searched`; None
            if it has no map of cells, or no tag camera that its controller reads.
        waypoints: the graph to patrol in a patrolling mission; None otherwise.
    """

    name: str = _of("name")
    model: RobotModel = _of("model")
    home: Pose = _of("home")
    pose: Pose = _of("shown.pose")
    time: float = _of("shown.time_s")
    map: Any = _of("map")
    collided: bool = _of("shown.collided")
    random: np.random.Generator = _of("random")
    text: str = _of("text")
    team: Sequence[str] = _of("team")
    blackboard: BlackboardView = _of("blackboard")
    corrections: tuple[np.ndarray, ...] = _of("corrections")
    searched: Searched | None = _of("searched")
    waypoints: Waypoints | None = _of("waypoints")
    finished: bool = _of("finished")
    history: History = _of("history")

    def __init__(self, state: OnboardState):
        self._state = state

    def __repr__(self) -> str:
        x, y, _ = self._state.shown.pose
        return f"<Robot {self.name} at ({x:.2f}, {y:.2f}), {self.status}>"

    def __getattr__(self, name: str) -> Any:
        if name == "board":
            raise AttributeError("robot.board is now robot.blackboard")
        if name == "_state":
            raise AttributeError(name)
        sensors = by_name(self._state.places, self._state.shown.readings)
        if name in sensors:
            return sensors[name]
        text = f"its sensors with a reading so far: {', '.join(sensors) or 'none'}"
        raise UnknownAttributeError(name, (*dir(type(self)), *vars(self), *sensors), text)

    # -- knowledge --------------------------------------------------------------------------------------------------

    @property
    def pose_covariance(self) -> np.ndarray:
        """The covariance of ``pose``: of x, y [m] and heading [rad], float64 (3, 3); NaN where it is not known."""
        covariance = self._state.shown.covariance
        return np.array(covariance if len(covariance) else [math.nan] * 9).reshape(3, 3)

    @property
    def odometry_pose(self) -> Pose | None:
        """Its pose by dead reckoning from its start: it drifts, but never jumps; ``pose`` does when SLAM corrects it.

        It is its pose in the odom frame of ROS REP 105. None if its localization uses no odometry.
        """
        odometry = self._state.shown.odometry
        return Pose(*odometry) if odometry else None

    @property
    def readings(self) -> dict[str, Any]:
        """The newest reading of each sensor by the sensor's name."""
        return by_name(self._state.places, self._state.shown.readings)

    @property
    def silent(self) -> tuple[str, ...]:
        """Names of its sensors that are silent: a sample was due and did not come, and none has since.

        A sensor that drops out stops giving samples, as a driver does that stops publishing. ``readings`` then hold
        nothing of it (rays of NaN, no marker), and ``samples`` are none. So what no sample shows has not been seen.
        """
        return tuple(self._state.shown.silent)

    @property
    def blind(self) -> bool:
        """Whether all sensors that show what is ahead are silent: those of its map; without a map, its lidars.

        ``goto``, ``follow`` and ``forward`` of a blind robot stand and go on when it sees again; ``drive`` does not.
        """
        return self._state.is_blind

    def samples(self, sensor: str) -> list[Sample]:
        """Return all readings of a sensor since the controller's last step, oldest first.

        For example, a sensor of 25 Hz gives two or three readings in a step of 0.1 s; ``readings`` holds the newest. A
        slow sensor often gives none.

        Raises:
            UnknownNameError: the robot has no such sensor.
        """
        shown = self._state.shown
        place = self._state.places.get(sensor, len(shown.times_s))
        if place >= len(shown.times_s):
            carried = [s.name for s in self.model.sensors]
            if sensor not in carried:
                raise UnknownNameError("sensor", sensor, carried)
            return []
        return list(map(Sample, shown.times_s[place], shown.come(place)))

    @property
    def status(self) -> str:
        """Its activity: idle, driving, turning, going, following, resting, or done."""
        return self._state.status

    @property
    def twist(self) -> Twist:
        """The last commanded twist: vx, vy [m/s], omega [rad/s] in the body frame."""
        return self._state.command

    def frontiers(self, definition: str = "explore", min_cells: int = 1) -> Frontiers:
        """Return the frontiers of its own map, by one of the published definitions (`find_frontiers`)."""
        occupancy = self._state.belief.occupancy()
        self.charge_work("frontiers", occupancy.size / 1e6)
        return find_frontiers(occupancy, definition, min_cells)

    def travel_cost(self) -> np.ndarray:
        """Return the cost of driving from here to each cell of its own map, in metres of open floor.

        float32 (rows, columns); inf where no path is known. Cells near walls cost more, see `Driving`.
        """
        where = self._state.driven_on
        field, grid = travel(*where, self._state.navigator.jams), where[0]
        if field is None:
            return np.full(grid.shape, np.inf)
        self.charge_search(field.work)
        return field.cost * grid.resolution

    def reachable(self) -> np.ndarray:
        """Return the cells of its own map that it can drive to, bool (rows, columns): where `travel_cost` is finite."""
        cells = reachable(*self._state.driven_on, self._state.navigator.jams)
        self.charge_work("search", np.count_nonzero(cells) / 1e6)
        return cells

    def travel_from(self, starts: Any, cells: np.ndarray) -> np.ndarray:
        """Estimate the cost for robots like this one to drive from each start to each cell, in metres of open floor.

        Args:
            starts: x, y [m], shape (n, 2), for example the reported positions of team mates.
            cells: rows and columns in its own map, int (k, 2).

        Returns:
            float64 (n, k); inf where no path is known.
        """
        state, points = self._state, np.asarray(starts, float).reshape(-1, 2)
        costs, work = travel_from(*state.driven_on, points, np.asarray(cells), state.navigator.jams)
        self.charge_search(work)
        return costs

    def nearest(self, cells: np.ndarray) -> tuple[float, float] | None:
        """Return the centre (x, y [m]) of the cell that is cheapest to drive to.

        Args:
            cells: rows and columns in its own map, int (k, 2).

        Returns:
            None if no path to any of them is known.
        """
        if not len(cells):
            return None
        where = self._state.driven_on
        cell, work = cheapest_cell(*where, cells, self._state.navigator.jams)
        self.charge_search(work)
        if cell is None:
            return None
        x, y = where[0].to_world(cell).tolist()
        return x, y

    @property
    def tags(self) -> list[TagReading]:
        """The environment tags in reach, nearest first; their contents are copies."""
        tags = self._state.shown.tags
        own = [again(tag.content) for tag in tags]
        return [t if c is t.content else replace(t, content=c) for t, c in zip(tags, own, strict=True)]

    def messages(self, kind: str | None = None) -> list[Message]:
        """Return the new messages of a kind (None: all), oldest first; each message is returned once."""
        return self._state.mailbox.pop(kind)

    def frame_of(self, robot: str) -> Pose | None:
        """Return the pose, in this robot's frame, of the frame in which another robot gives positions.

        (0, 0, 0) if the robots know all start poses. With ``share_maps: {start_poses: unknown}`` it is None until their
        maps have been aligned; then ``robot.frame_of(sender) @ place`` converts a place from a message.
        """
        return self._state.frame_of(robot)

    # -- actions ----------------------------------------------------------------------------------------------------

    def drive(self, v: float, omega: float = 0.0, *, vy: float = 0.0, for_s: float = math.inf, until: Until = None):
        """Set the body twist [m/s, rad/s] until the next command; if awaited, it ends after ``for_s`` [s]."""
        command = finite_twist((v, vy, omega))
        if command is None:
            raise InvalidValueError(f"drive({v!r}, {omega!r}): speeds must be finite numbers")
        if abs(omega) > math.tau and abs(omega) > 2 * self.model.max_turn_rad_s and float(omega).is_integer():
            most = f"a turn rate is in rad/s, and this robot's is at most {self.model.max_turn_rad_s:g}"
            text = f"drive({v:g}, {omega:g}): {most}; if this is in degrees, write math.radians({omega:g})"
            self._state.warn(_call(), "degrees", text)
        return self._state.begin(Drive(command, self.time + number("drive(…, for_s=", for_s, DURATION), until), _call())

    def torque(self, left_n_m: float, right_n_m: float, *, for_s: float = math.inf, until: Until = None) -> Motion:
        """Set the torques of the left and right side [N m], like `drive`; for a chassis with ``control: torque``."""
        return self.drive(left_n_m, vy=right_n_m, for_s=for_s, until=until)

    def stop(self) -> Motion:
        """Stand still; if awaited, this takes one step."""
        return self._state.begin(Drive(STILL, self.time, None), _call())

    def rest(self) -> Motion:
        """Stand still with nothing left to do, until the next command; when all robots rest, the run may end."""
        motion = self._state.motion
        return motion if isinstance(motion, Rest) else self._state.begin(Rest(), _call())

    def goto(self, goal: Any, heading: float | None = None, *, tolerance_m: float = 0.1, until: Until = None) -> Motion:
        """Go to a point (x, y [m]) or pose of the world frame, around walls and robots.

        The outcome is reached, cancelled (``until`` became true), unreachable or stuck.
        """
        try:
            x, y = float(goal[0]), float(goal[1])
        except (TypeError, ValueError, LookupError):
            x = y = math.nan
        if not math.isfinite(x + y):
            raise InvalidValueError(f"goto({goal!r}): a goal is two finite numbers, x and y in metres")
        if heading is None and len(goal) == 3:
            heading = goal[2]
        if heading is not None:
            heading = number("goto(…, heading=", heading, "a heading is a finite number of radians", math.isfinite)
        current = self._state.motion
        if (
            isinstance(current, Goto)
            and current.outcome is None
            and (current.goal, current.heading) == ((x, y), heading)
        ):
            current.until = until
            return current  # a reactive controller may repeat itself every step
        tolerance_m = above_zero("goto(…, tolerance_m=", tolerance_m)
        return self._state.begin(Goto((x, y), heading, tolerance_m, until), _call())

    def jammed(self, at: Any = None) -> None:
        """Remember that it does not get through, such as at a gap that its map shows too wide.

        From now on it drives another way, if there is one, and the costs of ways count the detour.

        Args:
            at: the place, x, y [m]; None: just ahead of it on its route.
        """
        self._state.navigator.jammed(*self.pose[:2], None if at is None else (float(at[0]), float(at[1])))

    def follow(self, path: Iterable[Any], *, tolerance_m: float = 0.3, until: Until = None) -> Motion:
        """Go through points (x, y [m]) one after another."""
        tolerance_m = above_zero("follow(…, tolerance_m=", tolerance_m)
        return self._state.begin(Follow([(float(p[0]), float(p[1])) for p in path], tolerance_m, until), _call())

    def forward(self, distance_m: float, *, until: Until = None) -> Motion:
        """Go straight ahead (negative: back) by a distance [m].

        The robot stops before walls and robots; the outcome is stuck if it cannot continue.
        """
        distance_m = number("forward(", distance_m, "a distance is a number of metres")
        return self._state.begin(Manoeuvre("forward", distance_m, until), _call())

    def turn(self, angle: float, *, until: Until = None) -> Motion:
        """Turn on the spot by an angle [rad], counter-clockwise positive, any number of turns."""
        angle = number("turn(", angle, "an angle is a number of radians")
        if abs(angle) > math.tau and angle.is_integer():
            text = f"turn({angle:g}): an angle is in radians; if this is in degrees, write math.radians({angle:g})"
            self._state.warn(_call(), "degrees", text)
        return self._state.begin(Manoeuvre("turn", angle, until), _call())

    def sleep(self, seconds: float, *, until: Until = None) -> Sleep:
        """Wait for simulated seconds; the last twist stays in force. At least one step passes."""
        self._state.check_wait()
        sleep = Sleep(self.time + number("sleep(", seconds, DURATION), until)
        self._state.wait = sleep, _call()
        return sleep

    def send(
        self,
        payload: Any,
        to: str | None = None,
        *,
        kind: str = "",
        ttl_s: float | None = None,
        radio: str | None = None,
    ) -> None:
        """Send plain data to one robot, or to all robots in reach; it arrives in the next step at the earliest.

        Args:
            payload: numbers, text, bytes, arrays, poses, dataclasses, and containers of these; copied at once.
            to: name of a robot; None: broadcast.
            kind: topic; `messages` and `receive` select by it.
            ttl_s: the message is dropped if it has not arrived after this time [s].
            radio: name of the radio; None: the first.
        """
        self._state.mailbox.send(payload, to, kind, ttl_s, radio)

    def receive(self, kind: str | None = None, *, timeout_s: float = math.inf) -> Receive:
        """Wait for a message of a kind (None: any); the await returns the message, or None after ``timeout_s``."""
        self._state.check_wait()
        wait = Receive(kind, self.time + number("receive(…, timeout_s=", timeout_s, DURATION))
        self._state.wait = wait, _call()
        return wait

    def report(self, identity: int, position: Any, *, timeout_s: float = math.inf) -> ReportAnswer:
        """Report to the referee of the mission that a target is at a place; if awaited, returns the answer.

        The report is sent at once, awaited or not. The answer comes in the next step at the earliest: ``accepted``, or
        ``unknown identity``, ``too far`` (from its true place), ``twice``, ``over`` (too late), ``too many`` (of this
        robot in the last minute; it was not judged), ``no referee`` (the mission takes no reports), or ``no answer`` if
        none has come after ``timeout_s``. It is also the ``outcome`` of the returned object, None before.

        Args:
            identity: number of the target.
            position: x, y, or x, y, height [m] in the world frame; of a `Pose`, x and y.
            timeout_s: time to wait for the answer [s].

        Raises:
            InvalidValueError: the identity is no whole number, or the position not two or three finite numbers.
        """
        marker = _whole(identity)
        if marker is None:
            hint = "an identity is a whole number, that of the marker which a camera has read"
            raise InvalidValueError(f"report({identity!r:.60}, {position!r:.60}): {hint}")
        try:
            place = tuple(map(float, position[:2] if isinstance(position, Pose) else position))
        except (TypeError, ValueError):
            place = ()
        if len(place) not in (2, 3) or not all(map(math.isfinite, place)):
            hint = "a position is x, y, or x, y, height in metres"
            raise InvalidValueError(f"report({identity!r}, {position!r:.60}): {hint}")
        wait_s = number("report(…, timeout_s=", timeout_s, DURATION)
        x, y, height = place if len(place) == 3 else (*place, math.nan)
        state = self._state
        state.reported += 1
        state.asked["reports"].append((state.reported, marker, x, y, height))
        state.reports[state.reported] = waiting = ReportAnswer(self.time + wait_s)
        return waiting

    def leave_tag(self, content: Any, *, lifetime_s: float = math.inf) -> None:
        """Leave a tag with plain data where the robot stands; it disappears after its lifetime [s]."""
        self._state.asked["tags"].append((copied(content)[0], float(lifetime_s)))

    def dig(self, from_m: Any, to_m: Any, volume_m3: float) -> Sleep:
        """Move ground from one place to another, both within reach; if awaited, it lasts the time of a load.

        The ground changes at the beginning of the next step. The places are taken relative to the robot, so a robot
        with a wrong pose estimate digs elsewhere. The volume is conserved.

        Args:
            from_m, to_m: x, y in the frame of ``pose`` [m].
            volume_m3: volume to move [m3].

        Raises:
            InvalidValueError: the robot has no digger, a place is out of reach, the volume is too large, or the robot
                is still moving a load.
        """
        digger = self.model.digger
        if digger is None:
            raise InvalidValueError(f"{self.name} has no digger; give its robot `digger: {{reach_m: 1}}`")
        if not 0 < volume_m3 <= digger.most_m3:
            most = f"a load must be more than 0 and at most most_m3, {digger.most_m3:g} m3"
            raise InvalidValueError(f"{self.name} cannot move {volume_m3!r} m3; {most}")
        until_s = self._state.digs_until
        if self.time < until_s - 1e-9:
            raise InvalidValueError(f"{self.name} is moving a load until {until_s:g} s; await robot.dig(…)")
        back, places = self.pose.inverse(), list[float]()
        for name, place in (("from_m", from_m), ("to_m", to_m)):
            x, y = back @ (float(place[0]), float(place[1]))
            if not math.hypot(x, y) <= digger.reach_m + 1e-9:
                far = f"{math.hypot(x, y):.2f} m from {self.name}, which reaches {digger.reach_m:g} m"
                raise InvalidValueError(f"{name} is {tuple(place)}, {far}; drive nearer, or give it a larger reach_m")
            places += (x, y)
        self._state.asked["digs"].append((places[0], places[1], places[2], places[3], float(volume_m3)))
        self._state.digs_until = self.time + digger.load_s
        return Sleep(self.time + digger.load_s)

    def request_maps(self) -> None:
        """Ask the robots that hear this one for the parts of the map that it lacks; they arrive some steps later."""
        _ = self._state.belief  # it must have one
        self._state.asked["maps"].append("request")

    def share_map(self) -> None:
        """Announce new parts of the map to the robots that hear this one; those that lack them ask and get them."""
        _ = self._state.belief  # it must have one
        self._state.asked["maps"].append("share")

    def share_searched(self) -> None:
        """Tell the robots that hear this one where its camera and those of others have looked, and take in their news.

        Call it from time to time, such as once a second: a call sends only what those that were heard lack.

        Raises:
            InvalidValueError: the robot has no map of cells, or no tag camera that its controller reads.
        """
        if self.searched is None:
            raise InvalidValueError(f"{self.name} searches nothing; give its robot a tag_camera, a lidar and `mapping`")
        self.searched.share_views(self.time)

    def charge_work(self, kind: str, amount: float = 1.0) -> None:
        """Charge work of the controller's own code to the robot's computer, if it has one.

        Work of the handle (frontiers, paths, driving to goals) is charged automatically; see also `charge_search`.

        Args:
            kind: one of `covey.robots.computer.WORKS`.
            amount: number of units.

        Raises:
            UnknownNameError: there is no such kind of work.
            InvalidValueError: the amount is no number from 0 to 1e9.
        """
        if kind not in WORKS:
            raise UnknownNameError("kind of work", kind, WORKS)
        amount = number(f"charge_work({kind!r}, ", amount, "an amount is a number from 0 to 1e9", _is_amount)
        if self._state.work is not None:
            self._state.work.add(kind, amount)

    def charge_search(self, entries: int) -> None:
        """Charge a search of the controller's own code to the robot's computer, if it has one.

        Args:
            entries: number of entries of its queue, such as ``astar(…).work``.

        Raises:
            InvalidValueError: it is no number from 0 to 1e9.
        """
        self._state.charge_search(int(number("charge_search(", entries, "give a number from 0 to 1e9", _is_amount)))

    def note(self, text: str) -> None:
        """Write a note for the event log and the pictures; repeating the last note has no effect."""
        note = printable(str(text))
        if note != self.text:
            self._state.text = note
            self._state.asked["notes"].append(note)

    def finish(self) -> None:
        """Declare the task done: the robot stands still from now on."""
        self._state.finished = True

    # -- what it may do ----------------------------------------------------------------------------------------------

    def declared(self, controller: str, sees: tuple[str, ...]) -> "Robot":
        """Return a handle of the same robot that permits only what a controller declares that it reads.

        What this handle does not permit, that one does not permit either.

        Args:
            controller: name of the controller, for errors.
            sees: words of `covey.onboard.permissions.WORDS` and names of sensors.

        Raises:
            InvalidValueError: there is no such word.
        """
        sensors = tuple(s.name for s in self.model.sensors)
        return _declaring(type(self), controller, sees, sensors)(self._state)


@cache
def _declaring(base: type[Robot], controller: str, sees: tuple[str, ...], sensors: tuple[str, ...]) -> type[Robot]:
    """Return the class of the handle of a controller that declares what it reads; see `Robot.declared`."""
    denied = denied_by(controller, sees, sensors)

    class Declared(base):
        def samples(self, sensor: str) -> list[Sample]:
            return super().samples(sensor) if sensor not in denied else getattr(self, sensor)

        def __getattr__(self, name: str) -> Any:
            if name not in denied:
                return super().__getattr__(name)
            raise AttributeError(
                f"controller {controller!r} declares sees={sees} and asked for {name!r}; "
                f"declare it: @covey.controller(..., sees=({denied[name]!r}, ...))"
            )

    def refuse(_: Robot) -> None:
        raise AttributeError  # so that `__getattr__` is called

    for name in denied:
        if hasattr(base, name):
            setattr(Declared, name, property(refuse))
    return Declared
