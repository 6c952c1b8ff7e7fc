"""How the evidence of several robots becomes one map: the published merge rules, and yours.

Every belief keeps the evidence of each robot apart (`covey.mapping.occupancy.belief`), so each rule uses the newest
evidence of each robot exactly once, whatever route it took.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from covey.errors import InvalidValueError
from covey.named import OfKind
from covey.registry import Registry

mergers: Registry[type["MergeRule"]] = Registry("merger", shelf="covey.mapping.exchange.merge_rules")
"""Merge rules by name; packages add theirs under the entry-point group ``covey.merger``."""

PLAIN, FILL, TABLE = 0, 1, 2
"""How kernels compute a rule, the first number of `MergeRule.table`: the evidence itself adds up; the first robot with
evidence counts; parts add up."""
LARGEST_PART = 1 << 16


class MergeRule(OfKind, ABC):
    """Base of the merge rules: each robot adds a part to each cell, and the sum of all robots gives its state.

    A cell is unknown where the sum is 0, occupied where it is at least ``occupied_from``, and free elsewhere.

    Attributes:
        occupied_from: the least sum of an occupied cell.
        fills: whether, instead of a sum, the part of the first robot that has one counts: the robot itself, then the
            others in the order of the team.
    """

    registry = mergers
    occupied_from: ClassVar[int] = 1
    fills: ClassVar[bool] = False

    @abstractmethod
    def parts(self, evidence: np.ndarray) -> np.ndarray:
        """Return what a robot adds to cells, integers up to 65536 either way; 0 where it has no evidence.

        Args:
            evidence: the robot's log-odds of occupancy in units of 0.05, int64 (...); 0: never seen.
        """

    def table(self) -> np.ndarray:
        """Return the rule for kernels, int64 (258,): how it is computed, ``occupied_from``, parts of -128 to 127.

        Raises:
            InvalidValueError: the parts are not as they must be.
        """
        evidence = np.arange(-128, 128)
        parts, name = np.asarray(self.parts(evidence)), type(self).__name__
        good = parts.shape == evidence.shape and parts.dtype.kind in "iub"
        if not good or parts[128] != 0 or (np.abs(parts.astype(np.int64)) > LARGEST_PART).any():
            raise InvalidValueError(
                f"{name}.parts gives {parts!r:.60}; return an integer up to {LARGEST_PART} either way for each cell, "
                "and 0 for evidence 0"
            )
        is_plain = self.occupied_from == 1 and np.array_equal(parts, evidence)
        way = FILL if self.fills else PLAIN if is_plain else TABLE
        return np.array([way, self.occupied_from, *parts.tolist()])


@mergers.register("probabilistic")
class Probabilistic(MergeRule):
    """The log-odds of all robots add up: the odds of independent maps multiply, with prior 1/2.

    References:
        W. Burgard, M. Moors, D. Fox, R. Simmons, S. Thrun: Collaborative multi-robot exploration. ICRA 2000, eq. 1 to 3
        (L = sum of (L_i - L_0) + L_0). Only the robots' own observations are independent; adding maps that were merged
        before would count observations twice.
    """

    def parts(self, evidence: np.ndarray) -> np.ndarray:
        """Return the evidence, see `MergeRule.parts`."""
        return evidence


@mergers.register("greedy_fill")
class GreedyFill(Probabilistic):
    """A robot's unknown cells are filled from the second map, then from the third, and so on.

    References:
        Z. Yan, L. Fabresse, J. Laval, N. Bouraqadi: Building a ROS-based testbed for realistic multi-robot simulation.
        Robotics 6(3), 2017; its package map_merging with ``map_fusion_method`` "greedy".
    """

    fills: ClassVar[bool] = True


@mergers.register("maximum")
class Maximum(MergeRule):
    """The largest value of each cell counts: occupied (100) before free (0) before unknown (-1).

    References:
        J. Hörner: Map-merging for multi-robot system. Bachelor's thesis, Charles University, 2016; its package
        multirobot_map_merge.
    """

    occupied_from: ClassVar[int] = LARGEST_PART  # more than all robots that find a cell free

    def parts(self, evidence: np.ndarray) -> np.ndarray:
        """Return more for an occupied cell than all robots together for a free one, see `MergeRule.parts`."""
        return np.where(evidence > 0, LARGEST_PART, (evidence < 0).astype(int))
