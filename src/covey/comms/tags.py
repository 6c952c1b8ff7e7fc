"""Environment tags: data that robots leave at a place, and that others read nearby."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from covey.geometry.raycast import line_of_sight
from covey.records import Record


class Tags(Record):
    """Tags that robots leave in the environment."""

    range_m: float = Field(default=2.0, gt=0, description="Distance within which a robot reads a tag [m].")
    blocked_by_walls: bool = Field(default=True, description="Whether a wall between a robot and a tag hides the tag.")


@dataclass(frozen=True, slots=True, eq=False)
class TagReading:
    """A tag in reach.

    Attributes:
        distance_m: distance from the robot [m].
        bearing: direction in the body frame [rad], 0 straight ahead.
        content: its data.
        owner: name of the robot that left it.
        age_s: its age [s].
    """

    distance_m: float
    bearing: float
    content: Any
    owner: str
    age_s: float


@dataclass(frozen=True, slots=True, eq=False)
class Tag:
    """A tag at a true position [m], left at ``time_s`` [s], removed at ``end_s``."""

    x: float
    y: float
    content: Any
    owner: str
    time_s: float
    end_s: float


class TagField:
    """All tags of a run.

    Attributes:
        tags: the present tags, oldest first.
    """

    def __init__(self, record: Tags):
        self.record = record
        self.tags: list[Tag] = []
        self._xy = np.empty((0, 2))

    def leave(self, tag: Tag) -> None:
        """Add a tag."""
        self.tags.append(tag)
        self._xy = np.array([(t.x, t.y) for t in self.tags])

    def expire(self, time_s: float) -> None:
        """Remove the tags whose lifetime is over."""
        left = [t for t in self.tags if t.end_s > time_s]
        if len(left) < len(self.tags):
            self.tags = left
            self._xy = np.array([(t.x, t.y) for t in left]).reshape(-1, 2)

    def read(self, pose: np.ndarray, time_s: float, skip: np.ndarray, frame: np.ndarray) -> list[TagReading]:
        """Return the tags in reach of a true pose, nearest first; ``skip`` and ``frame``: those of the walls."""
        if not self.tags:
            return []
        offset = self._xy - pose[:2]
        distance = np.hypot(offset[:, 0], offset[:, 1])
        near = np.flatnonzero(distance <= self.record.range_m)
        near = near[np.argsort(distance[near], kind="stable")]
        (x, y, heading), found = pose.tolist(), []
        for k, away, (dx, dy) in zip(near.tolist(), distance[near].tolist(), offset[near].tolist(), strict=True):
            tag = self.tags[k]
            if self.record.blocked_by_walls and not line_of_sight(skip, frame, x, y, tag.x, tag.y):
                continue
            bearing = (math.atan2(dy, dx) - heading + math.pi) % (2.0 * math.pi) - math.pi
            found.append(TagReading(away, bearing, tag.content, tag.owner, time_s - tag.time_s))
        return found
