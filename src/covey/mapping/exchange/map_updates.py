"""Map updates: tiles of evidence sent from one robot to others."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class MapUpdate:
    """An update from one robot to others; made by `Beliefs.update_since`, merged by `Beliefs.merge_updates`.

    Attributes:
        giver: the sending robot.
        items: int32 (k, 3): tile, robot of origin, and index of the immutable version; for a ground, a list of
            `covey.mapping.elevation.versions.TileVersion`.
        since, until: int64 (n,): it holds all that robot o published after its publication since[o], up to until[o]. A
            robot that holds everything before then is complete; other robots can use the tiles, too.
        size_bytes: encoded size.
    """

    giver: int
    items: Any
    since: np.ndarray
    until: np.ndarray
    size_bytes: int
