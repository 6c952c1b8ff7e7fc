"""`Targets`: the people and fires that a team searches for, as arrays. They are part of the truth."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from covey.errors import InvalidValueError

UNKNOWN_KIND = "unknown"
"""The kind of an identity that no target has."""


@dataclass(frozen=True, eq=False)
class Targets:
    """The t targets of a world. They never change.

    Raises:
        InvalidValueError: an array has another shape or other values than those below, or an identity comes twice.

    Attributes:
        kinds: kind of each, such as ``victim``, ``small_fire`` and ``big_fire``.
        identities: int64 (t,), different whole numbers from 0 on, such as those of markers.
        positions: float64 (t, 3), x, y [m] in the world frame, height [m] above the floor.
        normals: float64 (t, 2), unit vectors in the world frame out of the side that it shows; 0, 0: it shows all.
        sizes: float64 (t,), width and height [m].
    """

    kinds: tuple[str, ...] = ()
    identities: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    positions: np.ndarray = field(default_factory=lambda: np.empty((0, 3)))
    normals: np.ndarray = field(default_factory=lambda: np.empty((0, 2)))
    sizes: np.ndarray = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        t = len(self.kinds)
        shapes = {"identities": (t,), "positions": (t, 3), "normals": (t, 2), "sizes": (t,)}
        for name, shape in shapes.items():
            given = np.asarray(getattr(self, name))
            needed = f"{t} kinds need finite numbers of the shape {shape}"
            if given.shape != shape or given.dtype.kind not in "iuf" or not np.isfinite(given).all():
                raise InvalidValueError(f"the {name} of targets are {given.dtype} of the shape {given.shape}; {needed}")
            if name == "identities" and (given != given.astype(np.int64)).any() | (given < 0).any():
                raise InvalidValueError(f"identities are whole numbers from 0 on; given: {given.tolist()!s:.80}")
            array = given.astype(np.int64 if name == "identities" else np.float64)  # a copy
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        twice = [identity for identity, times in Counter(self.identities.tolist()).items() if times > 1]
        if twice:
            raise InvalidValueError(f"the identity {twice[0]} is given to two targets; each needs its own")

    def __len__(self) -> int:
        return len(self.identities)

    def __repr__(self) -> str:
        return f"<Targets: {', '.join(f'{n} {kind}' for kind, n in Counter(self.kinds).items()) or 'none'}>"

    def row(self, identity: int) -> int:
        """Return the row of the target with an identity; -1 if there is none."""
        return int(self.rows(np.array([identity]))[0])

    def rows(self, identities: np.ndarray) -> np.ndarray:
        """Return the rows of the targets with some identities, int64 of their shape; -1 if there is none."""
        order, ascending = self._sorted
        if not len(order):
            return np.full(identities.shape, -1)
        at = np.minimum(np.searchsorted(ascending, identities), len(order) - 1)
        return np.where(ascending[at] == identities, order[at], -1)

    @cached_property
    def _sorted(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.identities)
        return order, self.identities[order]

    @property
    def by_identity(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows in the order of their identities, these identities, both int64 (t,), and the positions (t, 3)."""
        return *self._sorted, self.positions

    @cached_property
    def kind_of(self) -> np.ndarray:
        """The kind of each row, str (t + 1,); that of row -1 is `UNKNOWN_KIND`."""
        return np.array([*self.kinds, UNKNOWN_KIND])

    def plain(self) -> list[dict[str, object]]:
        """Return one mapping per target, for the manifest of a run; ``side_deg`` is None if it shows all sides."""
        angles = np.degrees(np.arctan2(self.normals[:, 1], self.normals[:, 0]))
        return [
            {
                "kind": kind,
                "identity": int(self.identities[i]),
                "position_m": np.round(self.positions[i], 4).tolist(),
                "side_deg": round(float(angles[i]), 4) if any(self.normals[i]) else None,
                "size_m": float(self.sizes[i]),
            }
            for i, kind in enumerate(self.kinds)
        ]


NO_TARGETS = Targets()
