"""SLAM of a team: robots exchange what they saw, find relations between their maps, and join what agrees in one graph.

Each robot has a `TeamMember` around its `GraphSlam`. A round of an exchange between two robots, over any link:

    update = here.update_for(there.clock)  # bytes, what the other lacks, also of third robots
    there.add_update(update)
    here.work()  # one bounded piece of work: compare two places, judge relations, or solve the graph once

Frames of the robots need not be related at first. Relations between robots are found by comparing places: at all
headings as long as nothing is known, near the expected place afterwards. Two robots are joined when relations from
several places agree in pairs. The set that agrees is found again over all relations whenever new ones come, so a wrong
join is taken back when more relations contradict it. No robot is special: each computes the same from the same items;
only the frame in which the graph is solved is that of the lowest number.

References:
    J. G. Mangelson, D. Dominic, R. M. Eustice, R. Vasudevan: Pairwise consistent measurement set maximization for
    robust multi-robot map merging. ICRA 2018. P.-Y. Lajoie, B. Ramtoula, Y. Chang, L. Carlone, G. Beltrame: DOOR-SLAM.
    RA-L 5, 2020 (rejection before robots are joined).
"""

from collections.abc import Mapping

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose, inverse
from covey.mapping.slam.graph_slam import Edge, GraphSlam
from covey.mapping.slam.log import relative
from covey.mapping.slam.one_pose import between, composed
from covey.mapping.slam.team_joint import Joint
from covey.mapping.slam.team_news import (
    Here,
    Relation,
    Trail,
    frame_item,
    loop_item,
    met,
    read_update,
    relation_item,
    withdrawn_item,
    write_update,
)
from covey.mapping.slam.team_search import PlaceSearch
from covey.mapping.slam.team_settings import TeamSettings


class TeamMember:
    """SLAM of one robot of a team.

    Args:
        number: number of the robot, from 0; each robot has its own.
        slam: its SLAM.
        settings: see `TeamSettings`; all robots should have the same.
        common_frame: whether all start poses are in one frame; else the frames of the robots are not related.

    Attributes:
        bytes_sent: length of all updates made so far.
        joint: which robots are joined, and where they were.
    """

    def __init__(self, number: int, slam: GraphSlam, settings: TeamSettings | None = None, common_frame: bool = False):
        if not 0 <= number < 2**16:
            raise InvalidValueError(f"the number of a robot is 0 to 65535, not {number}")
        self.number, self.slam = number, slam
        self.bytes_sent = 0
        self._trails: dict[int, Trail] = {number: Trail()}
        self.joint = Joint(self._trails, settings or TeamSettings(), common_frame)
        self._search = PlaceSearch(number, self.joint, slam.settings)
        self._gathered: tuple[list[Edge], int] = [], 0  # the edges of the SLAM that are items

    # News

    @property
    def clock(self) -> dict[int, int]:
        """For each robot, how many of its items are held here."""
        self._gather()
        return {robot: len(trail.items) for robot, trail in sorted(self._trails.items())}

    def update_for(self, clock: Mapping[int, int]) -> bytes:
        """Return all that somebody with this clock lacks."""
        self._gather()
        update = write_update(self._trails, clock)
        self.bytes_sent += len(update)
        return update

    def add_update(self, update: bytes) -> int:
        """Take what is new of an update; return the number of new items. Parts that begin too late are left out.

        Raises:
            InvalidValueError: it is no update, is cut or damaged, or comes from a robot with the same number; nothing
                is taken then.
        """
        clock, news = read_update(update)
        self._gather()
        mine = len(self._trails[self.number].items)
        if clock.get(self.number, 0) > mine:
            raise InvalidValueError(
                f"an update holds {clock[self.number]} items of robot {self.number}, which has made {mine}: "
                "two robots have one number, or this one began anew"
            )
        changed: dict[int, Trail] = {}
        for robot, (begin, items) in news.items():
            held = self._trails.get(robot)
            known = 0 if held is None else len(held.items)
            if begin <= known < begin + len(items):
                changed[robot] = Trail() if held is None else held.copy()
                for item in items[known - begin :]:
                    changed[robot].add(item, robot)
        many = 0
        for robot, trail in sorted(changed.items()):
            before = self._trails.get(robot) or Trail()
            many += len(trail.items) - len(before.items)
            self._trails[robot] = trail
            self.joint.grow(robot, len(before.turned), len(before.found))
        return many

    def _gather(self) -> None:
        """Make items of what the SLAM did since the last time."""
        slam, trail = self.slam, self._trails[self.number]
        edges, many = self._gathered
        if slam.edges is edges and len(edges) == many and bool(trail.frames) == bool(slam.frames):
            return
        turned = len(trail.turned)
        if slam.frames and not trail.frames:
            trail.add(frame_item(slam.frames[0], slam.poses[0], np.eye(3)), self.number)
        new = edges[many:] if slam.edges is edges else slam.edges
        for edge in [edge for edge in new if edge.is_step and edge.first >= len(trail.steps)]:
            trail.add(frame_item(slam.frames[edge.second], edge.motion, edge.information), self.number)
        loops = {(edge.first, edge.second): edge for edge in new if not edge.is_step}
        if slam.edges is not edges:
            for ends in [ends for ends in trail.loops if ends not in loops]:
                trail.add(withdrawn_item(trail.loops[ends]), self.number)
        for ends in [ends for ends in loops if ends not in trail.loops]:
            trail.add(loop_item(loops[ends]), self.number)
        self._gathered = slam.edges, len(slam.edges)
        self.joint.grow(self.number, turned, len(trail.found))
        if slam.frames and self.joint.common_frame and self.joint.is_alone(self.number):
            self.joint.alone[self.number] = slam.poses  # with its loops

    # What is known

    def frame_of(self, robot: int) -> np.ndarray | None:
        """Return the pose (3,) of a robot's map frame in the map frame of this one; None: they are not joined."""
        if not self._is_joined(robot):
            return None
        return compose(self._here(self.joint.joined[robot][0]), inverse(self._trails[robot].start))

    def trajectory(self, robot: int) -> np.ndarray:
        """Return the poses (n, 3) of the key frames of a robot in the map frame of this one, by all that is known.

        Raises:
            InvalidValueError: the robot is not joined with this one.
        """
        if not self._is_joined(robot):
            raise InvalidValueError(f"robot {robot} is not joined with robot {self.number}")
        first, start = self.joint.joined[self.number][0], self._trails[self.number].start
        return compose(compose(start, inverse(first)), self.joint.joined[robot])

    def _here(self, pose: np.ndarray) -> np.ndarray:
        """Return a pose (3,) of the graph in the map frame of this robot."""
        return composed(self._trails[self.number].start, between(self.joint.joined[self.number][0], pose))

    def _is_joined(self, robot: int) -> bool:
        self._gather()
        return self.joint.are_joined(robot, self.number)

    @property
    def poses(self) -> np.ndarray:
        """Poses (n, 3) of the key frames of this robot by all that is known; those of its SLAM while it is alone."""
        self._gather()
        if not self.slam.frames or self.joint.is_alone(self.number):
            return self.slam.poses
        return self.trajectory(self.number)

    def pose_of(self, robot: int) -> np.ndarray | None:
        """Return the pose (3,) of a robot in the map frame of this one: of another, at its newest key frame held."""
        if not self._is_joined(robot):
            return None
        newest = self._here(self.joint.joined[robot][-1])
        return compose(newest, self.here.since) if robot == self.number else newest

    @property
    def here(self) -> Here:
        """Where this robot is, as others need it to report an `encounter`."""
        if not self.slam.frames:
            raise InvalidValueError(f"robot {self.number} has no scan yet, so it is nowhere")
        return Here(len(self.slam.frames) - 1, relative(self.slam.poses[-1], self.slam.pose))

    @property
    def newest(self) -> np.ndarray:
        """Pose (3,) of the newest key frame, the last of `poses`."""
        self._gather()
        if self.joint.is_alone(self.number):
            return self.slam.poses[-1]
        return self._here(self.joint.joined[self.number][-1])

    @property
    def accepted(self) -> list[Relation]:
        """Relations that agree, of the robots that are joined."""
        return self.joint.accepted

    @property
    def revision(self) -> int:
        """Grows whenever `trajectory` may have changed for the past."""
        return self.joint.revision

    # Relations and work

    def encounter(self, other: int, motion: np.ndarray, information: np.ndarray, there: Here) -> None:
        """Note that this robot sees another one now.

        Args:
            other: number of the other.
            motion: its pose (3,) in the frame of this one, as seen.
            information: inverse (3, 3) of the covariance of ``motion``.
            there: where the other says that it is.
        """
        self.note(met(self.number, self.here, other, there, motion, information))

    def note(self, relation: Relation) -> None:
        """Keep a relation that this robot found, and look for others that would agree."""
        self._gather()
        self._keep([relation])
        self._search.confirm(relation)

    def _keep(self, relations: list[Relation]) -> None:
        trail = self._trails[self.number]
        found = len(trail.found)
        for relation in relations:
            trail.add(relation_item(relation), self.number)
        self.joint.grow(self.number, len(trail.turned), found)

    def work(self, at_once: bool = False) -> bool:
        """Do one bounded piece of work; return whether there was any.

        Relations are judged, and poses solved, when a quarter is new; with ``at_once`` whenever anything is.
        """
        self._gather()
        if self.joint.judge(at_once) or self.joint.solve(at_once):
            return True
        found = self._search.compare()
        if found is None:
            found = self._search.anywhere()
            for relation in found or ():
                self._search.confirm(relation)
        if found:
            self._keep(found)
        return found is not None

    def settle(self) -> None:
        """Do all work that there is."""
        while self.work() or self.work(at_once=True):
            pass
