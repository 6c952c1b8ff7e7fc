"""`Stop`: when a run ends."""

from typing import Any, Literal

import numpy as np
from pydantic import Field

from covey.records import Record
from covey.results.snapshot import Snapshot


class Stop(Record):
    """The run ends when one of these conditions holds; without a goal it also ends when every controller is done."""

    explored: float | None = Field(
        default=None, gt=0, le=1, description="Goal: this share of what can be explored is explored (0 to 1)."
    )
    covered: float | None = Field(
        default=None, gt=0, le=1, description="Goal: this share of what a body can cover is covered (0 to 1)."
    )
    of: Literal["union", "any_robot", "all_robots", "one_map", "all_maps"] = Field(
        default="union",
        description="Whose explored share counts. union: of the team together; any_robot: of any one robot; "
        "all_robots: of each robot; one_map: of the team together, once the map of one robot holds it too; "
        "all_maps: of the team together, once the map of each robot holds it too.",
    )
    done: bool = Field(default=False, description="Goal: every controller has finished.")
    timeout_s: float = Field(default=2000.0, gt=0, description="The run ends without success at this time [s].")

    @property
    def goal(self) -> dict[str, Any]:
        """The goal of the run, for the manifest."""
        of = {"explored_share": self.explored, "of": self.of, "timeout_s": self.timeout_s}
        return of if self.covered is None else of | {"covered_share": self.covered}

    def reached(self, snapshot: Snapshot | None, all_done: bool) -> bool:
        """Return whether the goal is reached: a share or, without one, that all controllers are done.

        ``snapshot`` may be None if the goal is no share.
        """
        if self.covered is not None and snapshot is not None and snapshot.mission["covered_share"] >= self.covered:
            return True
        if self.explored is None or snapshot is None:
            return all_done and (self.covered is None or self.done)
        return self.share(snapshot) >= self.explored or (self.done and all_done)

    def share(self, snapshot: Snapshot) -> float:
        """Return the explored share that counts; for a robot without a map, the share that its beams have crossed."""
        union, each, known = (
            snapshot.mission[name] for name in ("explored_share_union", "explored_share", "known_share")
        )
        if self.of == "union":
            return float(union)
        if self.of in ("one_map", "all_maps"):
            maps = np.where(np.isnan(known), each, known)
            return float(min(union, maps.max() if self.of == "one_map" else maps.min()))
        return float((np.max if self.of == "any_robot" else np.min)(each))
