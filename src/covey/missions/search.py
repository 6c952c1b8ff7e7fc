"""What the cameras of a team could have read: the searched faces and cells, in every run with tag cameras."""

import math
from typing import Any, NamedTuple

import numpy as np

from covey.geometry.constant import constant
from covey.kernel import kernel
from covey.missions.protocol import MissionContext, Tracker
from covey.sensors.tag_camera import TagCamera
from covey.world.editing.changing import with_doors_open
from covey.world.visibility.explorable import explorable
from covey.world.visibility.explored import ExploredTruth
from covey.world.visibility.searched import SearchedFaces, readable

TRUE_WITHIN_M = 0.5
"""A marker is read truly if it stands within this distance of its target, and within five standard deviations."""


class Sighting(NamedTuple):
    """The first time that a robot reads a marker, or that it reads it where it is not.

    Attributes:
        robot: its index.
        identity, kind: as in `covey.sensors.tag_camera.TagCameraReading`.
        place: x, y [m] of the reading in the world frame, from the robot's true pose.
        is_true: whether the target stands there.
    """

    robot: int
    identity: int
    kind: str
    place: tuple[float, float]
    is_true: bool


class SearchTracker(Tracker):
    """Tracks the faces of walls and the free cells that some tag camera could have read: in view, sharp, in reach.

    The denominators are those that some camera can read from a place that its robot can reach, at the start and with
    all doors open.

    Attributes:
        faces: the searched faces.
        cells: the searched cells; None if no cell can be seen.
        sightings: of this step.
    """

    columns = ("searched_share_union", "searched_cells_share_union")
    robot_columns = ("searched_share", "searched_cells_share")

    def __init__(self, context: MissionContext):
        self._context = context
        self._banks = cameras(context)
        self._views = [
            (bank, camera, camera.angles, camera.mount, math.radians(camera.incidence_deg))
            for bank, camera in ((bank, bank.record) for bank in self._banks)
        ]
        world, n = with_doors_open(context.world), len(context.state.pose)
        members = [bank.members for bank in self._banks]
        ranges = np.repeat([bank.record.range_m for bank in self._banks], list(map(len, members)))
        robots = np.concatenate(members)
        starts, radii = context.state.pose[robots], context.model.radius[robots]
        parts = [
            readable(world, starts[robots_of], radii[robots_of], record.range_m, math.radians(record.incidence_deg))
            for record, robots_of in ((bank.record, np.isin(robots, bank.members)) for bank in self._banks)
        ]
        self.faces = SearchedFaces(world, np.unique(np.concatenate(parts), axis=0), n)
        mask = explorable(world, starts, radii, ranges)
        self.cells = ExploredTruth(world.grid.with_cells(mask), n, solid=world.solid) if mask.any() else None
        self._none = constant(np.full(n, np.nan))
        self.sightings: list[Sighting] = []
        self._sighted: set[tuple[int, int, bool]] = set()  # robot, identity and truth of sightings

    def measure(self, time_s: float, pose: np.ndarray, able: np.ndarray) -> list[tuple[int, str]]:
        """Take in the views and the readings of this step."""
        step = self._context.clock.step
        self.sightings = []
        for bank, camera, angles, mount, incidence in self._views:
            members = bank.members
            for sample in bank.samples:
                view, poses = sample.readings.truth, sample.pose[members]
                self.faces.mark(members, poses, view, angles, mount, incidence, camera.range_m, step)
                if self.cells is not None:
                    self.cells.mark(members, poses, view, angles, mount, step)
                self._sight(members, poses, sample.readings, camera)
        return []

    def _sight(self, members: np.ndarray, poses: np.ndarray, readings: Any, camera: TagCamera) -> None:
        """Record the markers that robots have not read before."""
        if not any(readings.count.tolist()):
            return
        targets = self._context.place.targets
        noise = camera.sigma_m, camera.sigma_per_m
        shown = readings.identities, readings.positions, readings.ranges, poses
        at, places, is_true = located(int(readings.count.sum()), *shown, *targets.by_identity, *noise)
        for k, (row, column) in enumerate(at.tolist()):
            seen = robot, identity, true = int(members[row]), int(readings.identities[row, column]), bool(is_true[k])
            if seen not in self._sighted:
                self._sighted.add(seen)
                x, y = places[k].tolist()
                self.sightings.append(Sighting(robot, identity, str(readings.kinds[row, column]), (x, y), true))

    @property
    def values(self) -> dict[str, Any]:
        """The searched shares, of each robot and of the team."""
        each, union = self.faces.shares
        cells_each, cells_union = (self._none, math.nan) if self.cells is None else self.cells.shares
        return {
            "searched_share": each,
            "searched_share_union": union,
            "searched_cells_share": cells_each,
            "searched_cells_share_union": cells_union,
        }


@kernel
def located(count, identities, positions, ranges, poses, order, ascending, targets, sigma_m, sigma_per_m):
    """Find the readings of some cameras in the world frame, and whether their targets are there.

    Args:
        count: number of readings n.
        identities, positions, ranges: see `covey.sensors.tag_camera.TagCameraReadings`; (m, k), (m, k, 3), (m, k).
        poses: true poses of the bodies, float64 (m, 3).
        order, ascending, targets: see `covey.world.targets.Targets.by_identity`.
        sigma_m, sigma_per_m: noise of the camera [m], and per metre of the range.

    Returns:
        their row and column, int64 (n, 2); x, y, float64 (n, 2) [m]; and whether the target stands there, bool (n,).
    """
    at, places, is_true, n = np.empty((count, 2), np.int64), np.empty((count, 2)), np.zeros(count, np.bool_), 0
    for row in range(identities.shape[0]):
        c, s = math.cos(poses[row, 2]), math.sin(poses[row, 2])
        for column in range(identities.shape[1]):
            if identities[row, column] < 0:
                continue
            ahead, left, up = positions[row, column, 0], positions[row, column, 1], positions[row, column, 2]
            at[n, 0], at[n, 1] = row, column
            x, y = poses[row, 0] + c * ahead - s * left, poses[row, 1] + s * ahead + c * left
            places[n, 0], places[n, 1] = x, y
            k = np.searchsorted(ascending, identities[row, column])
            if k < order.size and ascending[k] == identities[row, column]:
                i = order[k]
                away = math.sqrt((x - targets[i, 0]) ** 2 + (y - targets[i, 1]) ** 2 + (up - targets[i, 2]) ** 2)
                noise = sigma_m + sigma_per_m * ranges[row, column]
                is_true[n] = away < max(TRUE_WITHIN_M, 5.0 * noise)
            n += 1
    return at, places, is_true


def cameras(context: MissionContext) -> list[Any]:
    """Return the banks of tag cameras."""
    return context.feeding("targets")
