"""Environment tags: data that robots leave at a place, and that others read nearby."""

import math
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from pydantic import Field

from covey.geometry.raycast import line_of_sight
from covey.records import Record

_ROOM = 64
"""Tags for which a field has room at first; the room doubles when they are more."""


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
        self._xy = np.empty((_ROOM, 2))  # of the tags, then room for more
        self._first_end_s = math.inf

    def leave(self, tag: Tag) -> None:
        """Add a tag."""
        count = len(self.tags)
        if count == len(self._xy):
            self._xy = np.concatenate((self._xy, np.empty_like(self._xy)))
        self._xy[count] = tag.x, tag.y
        self.tags.append(tag)
        self._first_end_s = min(self._first_end_s, tag.end_s)

    def expire(self, time_s: float) -> None:
        """Remove the tags whose lifetime is over."""
        if self._first_end_s > time_s:
            return
        stays = [tag.end_s > time_s for tag in self.tags]
        left = self._xy[: len(stays)][stays]
        self.tags = list(compress(self.tags, stays))
        self._xy[: len(left)] = left
        self._first_end_s = min((tag.end_s for tag in self.tags), default=math.inf)

    def read(self, pose: np.ndarray, time_s: float, skip: np.ndarray, frame: np.ndarray) -> list[TagReading]:
        """Return the tags in reach of a true pose, nearest first; ``skip`` and ``frame``: those of the walls."""
        if not self.tags:
            return []
        offset = self._xy[: len(self.tags)] - pose[:2]
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
