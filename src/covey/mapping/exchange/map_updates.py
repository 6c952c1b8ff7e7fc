"""News: tiles of evidence on their way from one robot to others."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class News:
    """What one robot tells others of what it holds; made by `Beliefs.news`, taken by `Beliefs.take`.

    Attributes:
        giver: the robot that tells.
        items: int32 (k, 3): tile, robot that it comes from, and where the version lies, which never changes; of the
            ground a list of `covey.mapping.elevation.versions.TileVersion`.
        since, until: int64 (n,): all that robot o published after its publication since[o], up to until[o], is there.
            Who holds what came before then holds everything; anybody else can take the tiles as well.
        size_bytes: how long it is when encoded.
    """

    giver: int
    items: Any
    since: np.ndarray
    until: np.ndarray
    size_bytes: int
