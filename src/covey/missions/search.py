"""What the cameras of a team could have read: the searched faces and cells, in every run with tag cameras."""

import math
from typing import Any, NamedTuple

import numpy as np

from covey.geometry.constant import constant
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
        self._sighted: set[int] = set()  # robot, identity and truth of sightings

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
        row, column = np.nonzero(readings.identities >= 0)
        targets, identities = self._context.place.targets, readings.identities[row, column]
        body = readings.positions[row, column]
        c, s = np.cos(poses[row, 2]), np.sin(poses[row, 2])
        x, y = poses[row, 0] + c * body[:, 0] - s * body[:, 1], poses[row, 1] + s * body[:, 0] + c * body[:, 1]
        at, places = targets.rows(identities), np.column_stack((x, y, body[:, 2]))
        away = np.full(len(at), np.inf)
        away[at >= 0] = np.linalg.norm(places[at >= 0] - targets.positions[at[at >= 0]], axis=1)
        noise = camera.sigma_m + camera.sigma_per_m * readings.ranges[row, column]
        is_true = away < np.maximum(TRUE_WITHIN_M, 5.0 * noise)
        robots = members[row]
        codes = ((robots << 32) + identities) * 2 + is_true
        for k, code in enumerate(codes.tolist()):
            if code not in self._sighted:
                self._sighted.add(code)
                kind = str(readings.kinds[row[k], column[k]])
                place = float(x[k]), float(y[k])
                self.sightings.append(Sighting(int(robots[k]), int(identities[k]), kind, place, bool(is_true[k])))

    @property
    def values(self) -> dict[str, Any]:
        """The searched shares, of each robot and of the team."""
        return {
            "searched_share": self.faces.share_each,
            "searched_share_union": self.faces.share_union,
            "searched_cells_share": self._none if self.cells is None else self.cells.share_each,
            "searched_cells_share_union": math.nan if self.cells is None else self.cells.share_union,
        }


def cameras(context: MissionContext) -> list[Any]:
    """Return the banks of tag cameras."""
    return [bank for bank in context.banks if bank.record.kind == "tag_camera"]
