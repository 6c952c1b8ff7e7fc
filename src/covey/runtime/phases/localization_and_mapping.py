"""Localization and mapping: each robot's pose estimate, and the belief that its lidar fills at that estimate."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from covey.clock import Clock
from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.geometry.se2 import Pose, compose, inverse
from covey.mapping.dead_reckoning import turned
from covey.mapping.elevation.belief import ElevationBelief, Elevations
from covey.mapping.elevation.slopes import PoseUncertainty
from covey.mapping.exchange.merge_rules import MergeRule, Probabilistic
from covey.mapping.localization import TrueLocalizer, TruePose
from covey.mapping.localizer import Localizer, Scan, Sensed
from covey.mapping.map_of_scans import map_of
from covey.mapping.occupancy.belief import Belief, Beliefs
from covey.mapping.occupancy.known import as_plan, check_same_place, occupancy_on
from covey.mapping.records import ElevationMapping
from covey.mapping.slam.contradictions import Contradiction
from covey.mapping.slam_localizer import SlamLocalizer
from covey.onboard.estimator import MappedScans, pose_then
from covey.onboard.group import Group
from covey.onboard.self_localization import OwnLocalization
from covey.onboard.step import Located, MapInput, ScanInput, SenseInput
from covey.robots.team import TeamState
from covey.runtime.phases.computing import Computing
from covey.runtime.phases.localized_group import LocalizedGroup, plan_of
from covey.runtime.phases.scan_inputs import ScanInputs
from covey.runtime.phases.sensing import BankSample, Sensing, SensorBank
from covey.world.world import FREE, UNKNOWN, WALL

SOLID = (WALL, UNKNOWN)
_ROBOTS_OF_MAPS = 256
"""Of several worlds, whose maps are kept together."""


Kinds = Mapping[type[Beliefs] | type[Elevations], Any]
"""Classes that take the place of those of beliefs."""


class RemoteRobots(Protocol):
    """The robots whose software runs elsewhere, and maps there."""

    def localize(self, sensed: Mapping[int, SenseInput]) -> None:
        """Let robots, by team index, find out where they are; see `LocalizationAndMapping.set_estimate`."""
        ...

    def map(self, given: Mapping[int, MapInput], poses: Mapping[int, np.ndarray]) -> None:
        """Let robots map, each with a scan from a pose (3,), in the frame of its map."""
        ...


@dataclass(frozen=True)
class MappedTeam:
    """The robots that map with equal grids and can merge their maps.

    Attributes:
        members: team indices, shape (m,); belief k is that of robot ``members[k]``.
        beliefs: their beliefs.
    """

    members: np.ndarray
    beliefs: Beliefs | Elevations


class LocalizationAndMapping:
    """The estimates and beliefs of a team.

    Attributes:
        pose: estimated poses, shape (n, 3).
        covariance: of the estimates, in the world frame, shape (n, 3, 3); NaN: not known.
        revision: counts the loop closures of each robot's localizer, shape (n,).
        estimating: the robots that do not simply know their true poses, by team index.
        teams: the robots that map, by equal mapping records.
        belief_of: the belief of each robot that maps, by team index.
        odometry: poses by dead reckoning from the true start, shape (n, 3); NaN where localization uses no odometry.
        odometry_spread: covariances of these poses, shape (n, 3, 3); None: nobody has asked for them.
        carried: the estimates at the end of the last step, shape (n, 3).
        contradicted: robots whose scans contradict their odometry, as long as nobody has told it.
        jumps: offset of the estimate of a robot whose localization has jumped, in the world frame.
        frames: poses of the robots' frames, shape (n, 3): their start poses; None: the world frame.
        following: the robots that are told how their past poses move, by team index.
        moved: what they have not been told yet, see `StepInput.moved`.
        reach_m: returns within this distance of a team mate's centre are on the mate [m].
    """

    def __init__(
        self,
        groups: list[Group],
        state: TeamState,
        sensing: Sensing,
        clock: Clock,
        grid: Grid,
        plan: Grid,
        seed: int,
        rule: MergeRule = Probabilistic(),
        own_frames: bool = False,
        kinds: Kinds = MappingProxyType({}),
    ):
        self.state, self.clock, self._sensing = state, clock, sensing
        self._inputs = ScanInputs(sensing, state, clock)
        self.reach_m = self._inputs.reach_m
        self.pose = state.pose.copy()
        self.covariance = np.zeros((len(self.pose), 3, 3))
        self.revision = np.zeros(len(self.pose), np.int64)
        self.carried = self.pose.copy()
        self.odometry = np.full_like(self.pose, np.nan)
        self.odometry_spread: np.ndarray | None = None
        self.jumps: Mapping[int, Pose] = {}
        self._begun = False  # whether the first step is over
        self.contradicted: list[tuple[int, Contradiction]] = []
        self.following: set[int] = set()
        self.moved: dict[int, list[tuple[int, np.ndarray]]] = {}
        self.frames = state.pose.copy() if own_frames else None
        self._localizers: list[LocalizedGroup] = []
        self._took_s: list[float] = []  # see `scan_ms`
        first = 0
        mapping: dict = {}
        worlds = max(1, _ROBOTS_OF_MAPS * int(state.world_id.max(initial=0) + 1) // max(len(state.pose), 1))
        for group in groups:
            members = np.arange(first, first + len(group.start))
            self._localizers.append(LocalizedGroup.of(group, members, sensing, grid, plan, seed))
            if _maps(group, members, sensing):
                for robot, name in zip(members.tolist(), group.names, strict=True):
                    kept = group.robot.mapping, int(state.world_id[robot]) // worlds
                    mapping.setdefault(kept, []).append((robot, name))
            first += len(members)
        true = [group for group in self._localizers if isinstance(group.estimator.localizer, TrueLocalizer)]
        self._true = [(self.pose[group.part], state.pose[group.part]) for group in true]  # views
        self._estimating = [group for group in self._localizers if group not in true]
        self._localizing_apart: list[LocalizedGroup] = []
        estimating = [not isinstance(group.localization, TruePose) for group in groups for _ in group.start]
        self.estimating = np.flatnonzero(estimating)
        self._white = np.array([group.localization.white for group in groups for _ in group.start])
        self.teams = [
            MappedTeam(
                np.array([i for i, _ in robots]),
                self._beliefs(kinds, [i for i, _ in robots], [name for _, name in robots], grid, record, rule),
            )
            for (record, _), robots in mapping.items()
        ]
        self.belief_of: dict[int, Belief | ElevationBelief] = {
            int(robot): team.beliefs[k] for team in self.teams for k, robot in enumerate(team.members)
        }
        self._seers = {
            robot: (group.estimator, k)
            for group in self._localizers
            for k, robot in enumerate(group.members.tolist())
            if group.estimator.movers
        }
        self._apart: RemoteRobots | None = None
        self._mapping_apart: frozenset[int] = frozenset()
        self._alone: frozenset[int] = frozenset()  # robots that localize themselves elsewhere
        self._takes_of: dict[int, str] = {}  # with which of its scans each of them maps
        self._know(groups, grid, plan)
        self._go_on(groups)
        for bank in sensing.banks:
            for team in self.teams:
                self._stand(bank, team)
        for team in self.teams:
            if isinstance(team.beliefs, Beliefs):
                self._keep_scans(team.members.tolist(), team.beliefs)
        self.pasts: dict[int, MappedScans] = {
            int(group.members[k]): past for group in self._localizers for k, past in group.estimator.pasts.items()
        }
        scans = [_scans_of(sensing, bank, team) for bank in sensing.banks for team in self.teams]
        self._scans = [scan for scan in scans if len(scan[2])]

    def begin_anew(self, robots: np.ndarray) -> None:
        """Let some robots, bool (n,), forget their maps: new runs of their worlds begin."""
        for team in self.teams:
            assert isinstance(team.beliefs, Beliefs)
            team.beliefs.forget(np.flatnonzero(robots[team.members]))

    def _beliefs(
        self, kinds: Kinds, members: list[int], names: list[str], world: Grid, record: Any, rule: MergeRule
    ) -> Beliefs | Elevations:
        """Return empty beliefs that hold the world, from every start if the robots do not know their start poses."""
        if isinstance(record, ElevationMapping):
            return self._elevations(kinds.get(Elevations, Elevations), names, record)
        kind = kinds.get(Beliefs, Beliefs)
        if self.frames is None:
            return kind.covering(world, names, record, rule=rule)
        rows, columns = world.shape
        corners = world.to_world(np.array([(r, c) for r in (0, rows) for c in (0, columns)]) - 0.5)
        at = np.column_stack((corners, np.zeros(4)))
        reach = float(np.abs(compose(inverse(self.frames[members])[:, None], at)[..., :2]).max())
        return kind(names, (2.0 * reach, 2.0 * reach), (-reach, -reach), record, rule)

    def _elevations(self, kind: type[Elevations], names: list[str], record: ElevationMapping) -> Elevations:
        ground = self._sensing.world.ground
        if ground is None:
            raise InvalidValueError(
                f"{names[0]} maps the ground, but the world has none; give it a `height_map`, generate a ground, or "
                "use robots with a lidar and a mapping of kind occupancy"
            )
        if self.frames is not None:
            raise InvalidValueError(
                f"{names[0]} maps the ground without knowing where the others started; only maps of kind occupancy can "
                "be aligned: set share_maps: {start_poses: known}"
            )
        return kind.covering(ground, names, record)

    def in_own_frames(self, robots: Any, pose: np.ndarray) -> np.ndarray:
        """Convert poses in the world frame, shape (m, 3), to the frames of some robots (a slice or indices)."""
        return pose if self.frames is None else compose(inverse(self.frames[robots]), pose)

    def twists(self, robots: Any, velocities: np.ndarray) -> np.ndarray:
        """Return velocities of some robots in the world frame, (m, 2) [m/s], as twists of their bodies, (m, 3)."""
        heading = self.pose[robots, 2]
        c, s, (vx, vy) = np.cos(heading), np.sin(heading), velocities.T
        return np.column_stack((c * vx + s * vy, c * vy - s * vx, np.zeros(len(heading))))

    def covariances(self, robots: range) -> list[list[float]]:
        """Return the covariances of some robots in their frames, nine numbers each, row by row."""
        part = slice(robots.start, robots.stop)
        shown = self.covariance[part]
        return (shown if self.frames is None else turned(shown, self.frames[part, 2])).reshape(-1, 9).tolist()

    @property
    def scan_ms(self) -> dict[str, float] | None:
        """Median and 99th percentile of the processor time of the localizer for a scan [ms]; None without scans."""
        if not self._took_s:
            return None
        p50, p99 = np.percentile(self._took_s, [50, 99])
        return {"p50": 1e3 * float(p50), "p99": 1e3 * float(p99)}

    def map_in_world(self, robot: int) -> Grid:
        """Return the map of a robot at its true place: a grid in the world frame with the cells of the map."""
        belief = self.belief_of[robot]
        if self.frames is None:
            return belief.grid
        origin = Pose(*self.frames[robot].tolist()) @ Pose(*belief.grid.origin)
        return Grid(belief.occupancy(), belief.grid.resolution, origin)

    def _know(self, groups: list[Group], world: Grid, plan: Grid) -> None:
        """Give a map to the robots that start with one; ``world`` and ``plan``: cells as in `World.grid`."""
        informed = [group.known_map for group in groups for _ in group.start]
        for team in self.teams:
            for which in dict.fromkeys(informed):
                known = np.array([k for k, i in enumerate(team.members) if informed[i] == which])
                if which is False or not len(known):
                    continue
                if isinstance(team.beliefs, Elevations):
                    team.beliefs.know_ground(known, self._sensing.world.ground)
                    continue
                given = world if which is True else plan_of(which, plan)
                check_same_place(given, world, str(which))
                solid, free = (given.with_cells(np.isin(given.cells, kind)) for kind in (SOLID, FREE))
                occupancy = occupancy_on(team.beliefs.grid, solid, free)
                team.beliefs.know(known, occupancy if which is True else as_plan(occupancy))

    def _go_on(self, groups: list[Group]) -> None:
        """Give robots that know where they start on the map of an earlier drive that map, as an old plan."""
        for group, localized in zip(groups, self._localizers, strict=True):
            robots, of = localized.members, localized.estimator.localizer
            if not isinstance(of, SlamLocalizer) or of.known is None or of.record.start != "known":
                continue
            for team in self.teams:
                mine = np.flatnonzero(np.isin(team.members, robots))
                if not isinstance(team.beliefs, Beliefs) or self.frames is not None or group.known_map is not False:
                    continue
                log, poses = of.known
                seen = map_of(
                    log, poses, team.beliefs.grid.resolution, team.beliefs.mapping.max_range_m or log.laser.range_max
                )
                solid, free = seen.with_cells(seen.cells > 50), seen.with_cells(seen.cells == 0)
                team.beliefs.know(mine, as_plan(occupancy_on(team.beliefs.grid, solid, free)))

    def _stand(self, bank: SensorBank, team: MappedTeam) -> None:
        """Let robots know the ground below them that their mapping sensor cannot see from there."""
        _, _, robots, _, members = _scans_of(self._sensing, bank, team)
        ground, places = self._sensing.world.ground, self.pose[members, :2]
        if not len(robots) or ground is None or not isinstance(team.beliefs, Elevations):
            return
        reach = max(blind_m(bank.record), float(self._sensing.model.radius[members].max()))
        team.beliefs.stand(robots, places, ground.altitude_at(places), reach)

    def begin_at(self, state: TeamState) -> None:
        """Take over start poses that have changed before the first step."""
        self.pose[:] = self.carried[:] = state.pose
        for bank in self._sensing.banks:
            for team in self.teams:
                self._stand(bank, team)

    @property
    def localizers(self) -> list[tuple[np.ndarray, Localizer]]:
        """The team indices of each group, and its localizer."""
        return [(group.members, group.estimator.localizer) for group in self._localizers]

    def localize(self) -> None:
        """Update every estimate from the sensors."""
        for pose, true in self._true:
            pose[:] = true
        if not self._begun and self.frames is None:  # they know where the others start
            for robot, (estimator, k) in self._seers.items():
                estimator.movers[k].expect(np.delete(self.state.pose[:, :2], robot, axis=0), self.clock.time_s)
        self._begun = True
        for group in self._localizing_apart:
            assert self._apart is not None
            self._apart.localize(group.sensed(self.clock, self._newest_scans(group), self.jumps))
        for group in self._estimating:
            part = group.part
            second = self.clock.substep_s
            motions, variances = group.estimator.motions(group.wheels(second), group.gyro(second))
            scan, scan_s = self._scan(group)
            true = self.state.pose[part].copy()
            sensed = Sensed(self.clock.step, true, motions, scan, self.clock.time_s, variances)
            if group.odometry is not None:
                noise = None if self.odometry_spread is None else group.odometry.record.noise_model
                self.odometry[part] = group.estimator.reckon(true, motions, variances, noise)
                if self.odometry_spread is not None:
                    self.odometry_spread[part] = group.estimator.odometry_spread
            estimate = group.estimator.update(self.pose[part], sensed, scan_s)
            if group.estimator.took_s is not None:
                self._took_s.append(group.estimator.took_s)
            self.pose[part], self.covariance[part], self.revision[part] = estimate
            self.contradicted += [(int(group.members[k]), one) for k, one in group.estimator.contradicted()]
        self._correct()
        for robot, jump in self.jumps.items():
            if robot not in self._alone:
                self.pose[robot] = jump @ self.pose[robot]

    def attach(self, apart: RemoteRobots, robots: Iterable[int]) -> None:
        """Let robots whose software runs elsewhere localize themselves and map there, each as far as it does so alone.

        Robots that are told where they are, or that do SLAM as a team, are localized here.
        """
        self._apart, self._mapping_apart = apart, frozenset(robots) & self.belief_of.keys()
        here = {int(robot) for group in self._localizers if not group.is_alone for robot in group.members}
        self._alone = alone = frozenset(robots) - here
        self._localizing_apart = [group for group in self._estimating if alone.issuperset(group.members.tolist())]
        self._estimating = [group for group in self._estimating if group not in self._localizing_apart]
        for robot in alone:
            self.pasts.pop(robot, None)
            self._seers.pop(robot, None)

    def own(self, robot: int) -> OwnLocalization | None:
        """Return how a robot finds out by itself where it is, before the first step; None: it is told."""
        group = next(group for group in self._localizers if robot in group.members)
        if not group.is_alone:
            return None
        mates = np.delete(self.state.pose[:, :2], robot, axis=0)
        frame = None if self.frames is None else self.frames[robot]
        mates, start = mates if frame is None else mates[:0], self.state.pose[robot].copy()
        radius_m, noise = group.mates_m, None if group.odometry is None else group.odometry.record.noise_model
        gyro = None if group.imu is None else group.imu.record.gyro
        return OwnLocalization(
            group.record, group.estimator.laser, noise, gyro, group.plans, radius_m, mates, start, frame
        )

    def set_estimate(self, robot: int, located: Located) -> None:
        """Take where a robot has found that it is."""
        self._takes_of[robot] = located.takes
        self.pose[robot], self.covariance[robot], self.revision[robot] = located[:3]
        self.odometry[robot] = located.odometry
        if self.odometry_spread is not None:
            self.odometry_spread[robot] = located.odometry_spread
        self.contradicted += [(robot, one) for one in located.contradicted]
        if located.took_s is not None:
            self._took_s.append(located.took_s)

    def odometry_poses(self, robots: range) -> Iterable[Sequence[float]]:
        """Return the poses of the robots of a group by dead reckoning, in their frames; empty if there are none."""
        part = slice(robots.start, robots.stop)
        if np.isnan(self.odometry[robots.start, 0]):
            return repeat(())
        return map(tuple, self.in_own_frames(part, self.odometry[part]).tolist())

    def _keep_scans(self, members: list[int], beliefs: Beliefs) -> None:
        """Let the maps of some robots, by their order in a team, follow corrections."""
        for group in self._localizers:
            for k, robot in enumerate(group.members.tolist()):
                if robot in members:
                    group.estimator.keep_scans(k, beliefs, members.index(robot))

    def _correct(self) -> None:
        """Let the maps follow the poses of the past that localizers have corrected."""
        for robot, past in self.pasts.items():
            moved = past.follow(
                int(self.revision[robot]), lambda poses, i=robot: self.in_own_frames(np.full(len(poses), i), poses)
            )
            if moved is not None and robot in self.following:
                self.moved.setdefault(robot, []).append(moved)

    def _newest_scans(self, group: LocalizedGroup) -> dict[int, ScanInput]:
        """Return the newest scans of the robots of a group, by team index, if any has come since the last step."""
        bank = group.lidar
        if bank is None or not bank.samples:
            return {}
        return self._inputs.of(bank, bank.samples[-1], group.lidar_rows, group.members)

    def _scan(self, group: LocalizedGroup) -> tuple[Scan | None, float]:
        """Return the newest scan for a localizer, if one has arrived since the last step, and when it was taken [s]."""
        bank, laser = group.lidar, group.estimator.laser
        if bank is None or laser is None or not bank.samples:
            return None, math.nan
        sample, members = bank.samples[-1], group.members
        since = self._inputs.since(sample, members)
        since = np.zeros((len(members), 3)) if since is None else since
        ranges = self._inputs.without_mates(bank, sample, group.lidar_rows, members)
        return Scan(ranges, laser, since), sample.substep * self.clock.substep_s

    def map(self, computing: Computing, resting: np.ndarray | None = None) -> None:
        """Add each robot's new scans to its belief, each at the estimated pose at its time.

        A robot whose computer is busy loses the scan.

        Args:
            computing: the robots' computers.
            resting: robots that map no more, bool (n,), as the runs of their worlds are over.
        """
        for bank, team, robots, rows, members in self._scans:
            if resting is not None and (on := ~resting[members]).sum() < len(members):
                robots, rows, members = robots[on], rows[on], members[on]
            for sample in bank.samples if len(members) else ():
                self._map(bank, sample, team.beliefs, robots, rows, members, computing)

    def _map(
        self,
        bank: SensorBank,
        sample: BankSample,
        beliefs: Any,
        robots: Any,
        rows: Any,
        members: Any,
        computing: Computing,
    ) -> None:
        """Add one sample of a bank to beliefs; older samples reached the computer at their own times."""
        pose = self.in_own_frames(members, pose_then(self.pose[members], self._inputs.since(sample, members)))
        since_s = 0.0 if sample is bank.newest else (self.clock.now - sample.substep) * self.clock.substep_s
        since_s = min(since_s, self.clock.step_s)
        if type(beliefs) is Beliefs and not (self.pasts or computing.machines):
            self._taking(bank, sample, beliefs, robots, rows, members, pose)(slice(None))  # it skips what did not move
            return
        wanted = beliefs.moved(robots, pose)
        if self.pasts or self._alone:
            wanted &= np.array([self._takes(int(i), sample is bank.samples[-1]) for i in members], bool)
        used = computing.takes_scans(members, wanted, since_s)
        if used.any():
            picked = robots[used], rows[used], members[used], pose[used]
            computing.map(members[used], self._taking(bank, sample, beliefs, *picked), since_s)

    def _taking(
        self, bank: SensorBank, sample: BankSample, beliefs: Any, robots: Any, rows: Any, members: Any, pose: Any
    ) -> Callable[[slice], Any]:
        """Return a function that adds the readings of the robots that a slice selects, at these poses (m, 3)."""
        apart = self._mapping_apart
        if not apart or apart.isdisjoint(members.tolist()):
            return self._taking_here(bank, sample, beliefs, robots, rows, members, pose)
        there = np.array([i in apart for i in members.tolist()])
        here = self._taking_here(bank, sample, beliefs, *(of[~there] for of in (robots, rows, members, pose)))

        def take(_: slice) -> None:
            if not there.all():
                here(slice(None))
            self._map_apart(bank, sample, rows[there], members[there], pose[there])

        return take

    def _taking_here(
        self, bank: SensorBank, sample: BankSample, beliefs: Any, robots: Any, rows: Any, members: Any, pose: Any
    ) -> Callable[[slice], Any]:
        """Do as `_taking`, for robots that map here."""
        scan, step = sample.readings, self.clock.step
        if isinstance(beliefs, Elevations):
            errors = self.covariance[members], self._white[members]
            return lambda k: scan.into(
                beliefs, robots[k], rows[k], pose[k], step, PoseUncertainty(errors[0][k], errors[1][k])
            )
        ranges = self._inputs.without_mates(bank, sample, rows, members)
        for k, robot in enumerate(members.tolist() if self._seers else ()):
            self._hide(bank, sample, robot, ranges[k])
        for i, at, of in zip(members.tolist(), pose, ranges, strict=True) if self.pasts else ():
            if past := self.pasts.get(i):
                past.add(at, of, sample.substep * self.clock.substep_s, self.clock.time_s)
        return lambda k: beliefs.update(robots[k], pose[k], ranges[k], scan.angles, scan.mount, scan.range_m, step)

    def _map_apart(
        self, bank: SensorBank, sample: BankSample, rows: np.ndarray, members: np.ndarray, pose: np.ndarray
    ) -> None:
        """Let robots whose software runs elsewhere map with a sample, each at its pose (m, 3) then."""
        assert self._apart is not None
        step, taken_s, given = self.clock.step, sample.substep * self.clock.substep_s, dict[int, MapInput]()
        is_scan = isinstance(self.belief_of[int(members[0])], Belief)
        scans = self._inputs.of(bank, sample, rows, members) if is_scan else {}
        ranges = self._inputs.without_mates(bank, sample, rows, members) if is_scan else None
        since = self._inputs.since(sample, members)
        for k, robot in enumerate(members.tolist()):
            if robot in self._alone and is_scan:
                is_known = sample is bank.samples[-1] and "scan" in self._group_of(robot).record.needs
                looked = self._inputs.looked(bank, sample, robot)
                given[robot] = MapInput(step, None if is_known else scans[robot], looked)
                continue
            if ranges is not None:
                self._hide(bank, sample, robot, ranges[k])
                if past := self.pasts.get(robot):
                    past.add(pose[k], ranges[k], taken_s, self.clock.time_s)
                given[robot] = MapInput(step, ScanInput(taken_s, ranges[k]), pose=pose[k])
                continue
            readings = sample.readings.of(slice(rows[k], rows[k] + 1))
            if robot in self._alone:
                given[robot] = MapInput(step, ScanInput(taken_s, readings, None if since is None else since[k]))
                continue
            told = pose[k], self.covariance[robot], bool(self._white[robot])
            given[robot] = MapInput(step, ScanInput(taken_s, readings), None, *told)
        self._apart.map(given, dict(zip(members.tolist(), pose, strict=True)))

    def _group_of(self, robot: int) -> LocalizedGroup:
        return next(group for group in self._localizers if robot in group.members)

    def _takes(self, robot: int, is_newest: bool) -> bool:
        """Return whether a robot maps with a scan: with each, or with those that make its map follow corrections."""
        if robot in self._alone:
            takes = self._takes_of.get(robot, "none")
            return takes == "each" or (is_newest and takes == "newest")
        past = self.pasts.get(robot)
        return past is None or past.takes(is_newest, self.clock.time_s)

    def _hide(self, bank: SensorBank, sample: BankSample, robot: int, ranges: np.ndarray) -> None:
        """Hide the mates in a scan (rays,) that a robot has found in its newest one, if it looks for them."""
        if robot in self._seers and self._sensing.is_first(bank, "scan", robot):
            estimator, k = self._seers[robot]
            estimator.hide(k, ranges, self._inputs.looked(bank, sample, robot))


def _maps(group: Group, members: np.ndarray, sensing: Sensing) -> bool:
    """Return whether the robots of a group map: whether they have a mapping and a sensor for it."""
    mapping = group.robot.mapping
    return mapping is not None and sensing.first_of(members, mapping.uses) is not None


def _scans_of(
    sensing: Sensing, bank: SensorBank, team: MappedTeam
) -> tuple[SensorBank, MappedTeam, np.ndarray, np.ndarray, np.ndarray]:
    """Return the beliefs of a team that a bank feeds: beliefs, rows of the readings, and team indices."""
    uses = team.beliefs.mapping.uses
    robots = np.array(
        [
            k
            for k, i in enumerate(team.members.tolist())
            if uses in bank.record.feeds and i in bank.row_of and (uses != "scan" or sensing.is_first(bank, uses, i))
        ]
    )
    members = team.members[robots] if len(robots) else np.empty(0, np.int64)
    return bank, team, robots.astype(np.int64), np.array([bank.row_of[int(i)] for i in members], np.int64), members


def blind_m(sensor: Any) -> float:
    """Return the radius in which a robot that turns on the spot cannot see level ground with a sensor [m]."""
    range_m, height_m, _, lowest = sensor.view
    if not -0.5 * math.pi < lowest < 0.0:
        return 0.0
    return min(math.hypot(sensor.mount_x_m, sensor.mount_y_m) + height_m / math.tan(-lowest), range_m)
