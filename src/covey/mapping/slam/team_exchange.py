"""The news of a team of robots that map together, for an exchange that asks and answers by clocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from covey.mapping.slam.team import TeamMember


@dataclass(frozen=True, eq=False)
class NewsUpdate:
    """An update as it is transmitted; made by `TeamNews.update_since`, taken by `TeamNews.merge_updates`."""

    data: bytes

    @property
    def size_bytes(self) -> int:
        """Its size [bytes]."""
        return len(self.data)


class TeamNews:
    """The news of the members of a team; indices are their numbers.

    It answers the same calls as `covey.mapping.occupancy.belief.Beliefs`, so one exchange carries both.

    Attributes:
        clock: int64 (n, n), row i: how many items of each robot member i holds.
    """

    def __init__(self, members: Sequence["TeamMember"]):
        self.members = list(members)
        self.clock = np.zeros((len(self.members), len(self.members)), np.int64)

    def publish(self, robots: np.ndarray) -> None:
        """Count what members have found themselves since the last time."""
        for robot in robots.tolist():
            self.clock[robot, robot] = self.members[robot].clock[robot]

    def update_since(self, giver: int, since: np.ndarray) -> NewsUpdate:
        """Return what a member holds that others with this clock, int64 (n,), lack."""
        return NewsUpdate(self.members[giver].update_for(dict(enumerate(since.tolist()))))

    def merge_updates(self, received: np.ndarray, updates: Sequence[NewsUpdate]) -> None:
        """Let members take the updates that they received, bool (n, m)."""
        for robot, update in np.argwhere(received).tolist():
            self.members[robot].add_update(updates[update].data)
            for other, held in self.members[robot].clock.items():
                if other != robot:
                    self.clock[robot, other] = held
