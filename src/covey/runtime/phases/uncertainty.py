"""Uncertainty: what robots that estimate their poses hold of their errors, for the table ``localization.parquet``."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from covey.results.recorder import Recorder
from covey.runtime.phases.localization_and_mapping import LocalizationAndMapping

EVERY_S = 1.0
_BLOCK = 4096  # rows that are written at a time
_ENTRIES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
COVARIANCE = ("xx_m2", "xy_m2", "xh_m", "yy_m2", "yh_m", "hh_rad2")
SCHEMA = pa.schema(
    [("step", pa.int64()), ("time_s", pa.float64()), ("robot", pa.string())]
    + [(name, pa.float64()) for name in COVARIANCE]
    + [("revision", pa.int64())]
)


class Uncertainty:
    """Samples the covariances and the revisions of the estimates.

    Attributes:
        due: False if nothing is ever sampled, because all robots know their true poses.
    """

    def __init__(self, localization: LocalizationAndMapping, names: Sequence[str], recorder: Recorder):
        self._of, self._recorder = localization, recorder
        self._names = [names[i] for i in localization.estimating.tolist()]
        self._blocks: list[tuple[int, float, np.ndarray, np.ndarray]] = []
        self._every = max(1, round(EVERY_S / localization.clock.step_s))
        self.due = len(localization.estimating) > 0

    def observe(self) -> None:
        """Sample at the end of a step, if one is due."""
        clock, robots = self._of.clock, self._of.estimating
        if clock.step % self._every:
            return
        entries = self._of.covariance[robots][:, *zip(*_ENTRIES, strict=True)]
        self._blocks.append((clock.step, clock.time_s, entries, self._of.revision[robots]))
        if len(self._blocks) * len(robots) >= _BLOCK:
            self.write()

    def write(self) -> None:
        """Write what has been sampled."""
        if not self._blocks:
            return
        steps, times, entries, revisions = zip(*self._blocks, strict=True)
        n = len(self._names)
        columns: dict[str, Any] = {"step": np.repeat(steps, n), "time_s": np.repeat(times, n)}
        columns |= {"robot": self._names * len(steps), "revision": np.concatenate(revisions)}
        columns |= dict(zip(COVARIANCE, np.ascontiguousarray(np.concatenate(entries).T), strict=True))
        self._recorder.add("localization", SCHEMA, columns)
        self._blocks = []
