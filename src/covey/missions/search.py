"""What the cameras of a team could have read: the searched faces and cells, in every run with tag cameras."""

import math
from typing import Any, NamedTuple

import numpy as np

from covey.geometry.se2 import Pose
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
        self.sightings: list[Sighting] = []
        self._sighted: set[tuple[int, int, bool]] = set()

    def measure(self, time_s: float, pose: np.ndarray, able: np.ndarray) -> list[tuple[int, str]]:
        """Take in the views and the readings of this step."""
        step = self._context.clock.step
        self.sightings = []
        for bank in self._banks:
            camera, members = bank.record, bank.members
            for sample in bank.samples:
                view, poses = sample.readings.truth, sample.pose[members]
                incidence = math.radians(camera.incidence_deg)
                self.faces.mark(members, poses, view, camera.angles, camera.mount, incidence, camera.range_m, step)
                if self.cells is not None:
                    self.cells.mark(members, poses, view, camera.angles, camera.mount, step)
                for i in np.flatnonzero(sample.readings.count).tolist():
                    self._sight(int(members[i]), Pose(*poses[i].tolist()), sample.readings.row(i), camera)
        return []

    def _sight(self, robot: int, pose: Pose, reading: Any, camera: TagCamera) -> None:
        """Record the markers that a robot has not read before."""
        targets, places = self._context.place.targets, reading.places(pose)
        for k, identity in enumerate(reading.identities.tolist()):
            row = targets.row(identity)
            away = math.inf if row < 0 else math.dist(places[k], targets.positions[row])
            noise = camera.sigma_m + camera.sigma_per_m * float(reading.ranges[k])
            is_true = away < max(TRUE_WITHIN_M, 5.0 * noise)
            if (robot, identity, is_true) not in self._sighted:
                self._sighted.add((robot, identity, is_true))
                x, y, _ = places[k].tolist()
                self.sightings.append(Sighting(robot, identity, str(reading.kinds[k]), (x, y), is_true))

    @property
    def values(self) -> dict[str, Any]:
        """The searched shares, of each robot and of the team."""
        none = np.full(len(self._context.state.pose), np.nan)
        return {
            "searched_share": self.faces.share_each,
            "searched_share_union": self.faces.share_union,
            "searched_cells_share": none if self.cells is None else self.cells.share_each,
            "searched_cells_share_union": math.nan if self.cells is None else self.cells.share_union,
        }


def cameras(context: MissionContext) -> list[Any]:
    """Return the banks of tag cameras."""
    return [bank for bank in context.banks if bank.record.kind == "tag_camera"]
