"""Scoring: the measurements of the missions on the truth, and the contacts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from covey.geometry.grid import Grid
from covey.geometry.polygons import contains
from covey.mapping.alignment.unknown_starts import union_apart
from covey.mapping.occupancy.belief import Beliefs
from covey.missions import Coverage, Exploration, Mission, MissionContext, Tracker
from covey.missions.search import SearchTracker, cameras
from covey.physics.protocol import ROBOT_CONTACT, Contacts
from covey.results.event_data import Data
from covey.results.maps import SHARES, Maps
from covey.world.world import OPEN


def count_contacts(contacts: Contacts, with_robots: np.ndarray, with_walls: np.ndarray) -> None:
    """Add new contacts to the numbers of each robot, int64 (n,); one between robots counts for both."""
    between = contacts.kind == ROBOT_CONTACT
    np.add.at(with_robots, contacts.robot[between], 1)
    np.add.at(with_robots, contacts.other[between], 1)
    np.add.at(with_walls, contacts.robot[~between], 1)


class Scoring:
    """The true achievements of a team.

    Attributes:
        exploration, coverage: trackers of the explored and the covered area, in every run.
        search: tracker of what tag cameras could have read; None without such cameras.
        tracker: the tracker of the run's mission; it may be one of these.
        trackers: all of them; ``measuring``: those that measure something in this run.
        constant: the measurements that stay the same in this run, by column.
        columns, robot_columns: columns that the mission adds to those of every run.
        energy_j: energy used since the start [J], float64 (n,): idle power x time + energy per metre x distance.
        idle_power_w, drive_energy_j_m: these two, float64 (n,).
        collisions_robot, collisions_wall: number of contacts, int64 (n,); contacts between robots count for both.

    References:
        Energy: the linear form of Y. Mei, Y.-H. Lu, Y. C. Hu, C. S. G. Lee: A case study of mobile robot's energy
        consumption and conservation techniques. ICAR 2005.
    """

    def __init__(self, context: MissionContext, mission: Mission):
        n, model = len(context.state.pose), context.model
        self.world, self.state, self.clock, self.localization = (
            context.place,
            context.state,
            context.clock,
            context.maps,
        )
        self.exploration, self.coverage = Exploration().begin(context), Coverage().begin(context)
        always: dict[Any, Tracker] = {Exploration: self.exploration, Coverage: self.coverage}
        self.tracker: Tracker = always.get(type(mission)) or mission.begin(context)
        self.search = SearchTracker(context) if cameras(context) else None
        own = [] if type(mission) in always else [self.tracker]
        own += [] if self.search is None else [self.search]
        self.trackers = [*always.values(), *own]
        others = (tracker for tracker in self.trackers if tracker is not self.coverage)
        self._wanting = [tracker for tracker in others if type(tracker).wanted is not Tracker.wanted]
        self.columns = tuple(name for tracker in own for name in tracker.columns)
        self.robot_columns = tuple(name for tracker in own for name in tracker.robot_columns)
        self.collisions_robot, self.collisions_wall = np.zeros(n, np.int64), np.zeros(n, np.int64)
        robots = [model.models[k] for k in model.model_id]
        self.idle_power_w = np.array([r.idle_power_w for r in robots])
        self.drive_energy_j_m = np.array([r.drive_energy_j_m for r in robots])
        self._inside = np.ones(n, bool)
        self.energy_j, self._able = np.zeros(n), np.ones(n, bool)
        explores = self.exploration.cells is not None and context.maps is not None and bool(context.maps.teams)
        self._shares_left, self._union_at = list(SHARES if explores else ()), dict[int, Grid]()
        self.measuring = [tracker for tracker in self.trackers if tracker.measures]
        still = [tracker.values for tracker in self.trackers if not tracker.measures]
        self.constant: dict[str, Any] = {name: value for values in still for name, value in values.items()}

    def wanted(self, substeps: int) -> np.ndarray:
        """Return the substeps of a step after which a mission needs the poses, uint8 (substeps,)."""
        wanted = self.coverage.wanted(substeps)
        for tracker in self._wanting:
            wanted = wanted | tracker.wanted(substeps)
        return wanted

    def score(self) -> list[tuple[int, str | Data]]:
        """Measure the achievements of this step, and return the events; see `Tracker.measure`."""
        now, state = self.clock.time_s, self.state
        np.logical_not(state.halted, out=self._able)
        events: list[tuple[int, str | Data]] = []
        for tracker in self.measuring:
            events += tracker.measure(now, state.pose, self._able)
        self._keep_union()
        return events

    def _keep_union(self) -> None:
        """Keep the union of the maps if the team has now explored the next of `SHARES`."""
        explored = self.exploration.cells
        if not self._shares_left or explored is None or explored.share_union < self._shares_left[0] / 100:
            return
        union = self.union()
        assert union is not None
        while self._shares_left and explored.share_union >= self._shares_left[0] / 100:
            self._union_at[self._shares_left.pop(0)] = union

    @property
    def values(self) -> dict[str, Any]:
        """The measurements of all missions by column."""
        values = self.constant.copy()
        for tracker in self.measuring:
            values |= tracker.values
        return values

    def count(self, contacts: Contacts) -> None:
        """Count the new contacts."""
        count_contacts(contacts, self.collisions_robot, self.collisions_wall)

    def leaving(self, pose: np.ndarray) -> Sequence[int]:
        """Return the robots whose centre has left an open world since the last step."""
        if self.world.border != "open":
            return ()
        if self.world.polygon is not None:
            inside = contains(self.world.polygon, pose[:, :2])
        else:
            cells = self.world.grid.to_cells(pose[:, :2])
            inside = self.world.grid.inside(cells)
            rows, columns = np.where(inside[:, None], cells, 0).T
            inside &= self.world.grid.cells[rows, columns] != OPEN
        left, self._inside = np.flatnonzero(self._inside & ~inside), inside
        return left.tolist()

    def maps(self, changed: np.ndarray) -> Maps:
        """Return the explored area and the beliefs at the end, for the run folder; ``changed`` as in `Maps`."""
        places = [
            self.localization.map_in_world(i) if i in self.localization.belief_of else None
            for i in range(len(self.state.pose))
        ]
        robots = [None if place is None else place.with_cells(place.cells) for place in places]  # views
        mask, explored, covered = self.exploration.mask, self.exploration.cells, self.coverage.cells
        never = np.full(mask.shape, -1, np.int32)
        return Maps(
            truth=self.world.grid,
            explorable=mask,
            first_explored=never if explored is None else explored.first_step,
            last_explored=never if explored is None else explored.last_step,
            last_covered=covered.last_step,
            coverable=covered.goal,
            explored_by=np.zeros(mask.shape, np.int32) if explored is None else explored.seen_by,
            covered_by=covered.passed_by,
            union=self.union(),
            union_at=self._union_at,
            robots=robots,
            changed=changed,
            faces=None if self.search is None else self.search.faces.table,
            first_searched=None if self.search is None or self.search.cells is None else self.search.cells.first_step,
        )

    def union(self) -> Grid | None:
        """Return the map of all evidence of the robots that map with the first robot's grid; None without maps."""
        if not self.localization.teams:
            return None
        team = self.localization.teams[0]
        if self.localization.frames is None:
            return team.beliefs.grid.with_cells(team.beliefs.union())
        places = [self.localization.map_in_world(i) for i in team.members.tolist()]
        assert isinstance(team.beliefs, Beliefs)
        return union_apart([p.with_cells(team.beliefs[k].own) for k, p in enumerate(places)], self.world.grid)
