"""How the evidence of several robots becomes one map: the published merge rules, as plain functions.

Every belief keeps the evidence of each robot apart (`covey.mapping.occupancy.belief`), so each rule uses the newest
evidence of each robot exactly once, whatever route it took.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

Rule = Literal["probabilistic", "greedy_fill", "maximum"]
RULES: tuple[Rule, ...] = ("probabilistic", "greedy_fill", "maximum")
"""The names of the rules; kernels use the index of a rule."""


def merged(rule: Rule, own: np.ndarray, others: Sequence[np.ndarray]) -> np.ndarray:
    """Return the map from a robot's own evidence and that of others, by one of the published rules.

    Args:
        rule: a name of `RULES`.
        own: int (...), log-odds of occupancy in any unit; 0 = never seen.
        others: the same of each other robot, in the order of the team.

    Returns:
        int8 (...): -1 unknown, 0 free, 100 occupied.

    Examples:
        >>> own, other = np.array([-2, 0, 0, 9]), np.array([5, 5, -3, -3])
        >>> merged("probabilistic", own, [other]).tolist()
        [100, 100, 0, 100]
        >>> merged("greedy_fill", own, [other]).tolist()
        [0, 100, 0, 100]
        >>> merged("maximum", own, [other]).tolist()
        [100, 100, 0, 100]
    """
    rules = {"probabilistic": probabilistic, "greedy_fill": greedy_fill, "maximum": maximum}
    return rules[rule]([own, *others])


def probabilistic(evidence: Sequence[np.ndarray]) -> np.ndarray:
    """Return the map of the summed log-odds: the odds of independent maps multiply, with prior 1/2.

    References:
        W. Burgard, M. Moors, D. Fox, R. Simmons, S. Thrun: Collaborative multi-robot exploration. ICRA 2000, eq. 1 to 3
        (L = sum of (L_i - L_0) + L_0). Only the robots' own observations are independent; adding maps that were merged
        before would count observations twice.
    """
    total = np.sum(np.asarray(evidence, np.int64), axis=0)
    return np.select([total > 0, total < 0], [100, 0], -1).astype(np.int8)


def greedy_fill(evidence: Sequence[np.ndarray]) -> np.ndarray:
    """Return the first map with its unknown cells filled from the second map, then from the third, and so on.

    References:
        Z. Yan, L. Fabresse, J. Laval, N. Bouraqadi: Building a ROS-based testbed for realistic multi-robot simulation.
        Robotics 6(3), 2017; its package map_merging with ``map_fusion_method`` "greedy".
    """
    out = np.full(np.shape(evidence[0]), -1, np.int8)
    for one in evidence:
        out = np.where(out == -1, probabilistic([one]), out)
    return out


def maximum(evidence: Sequence[np.ndarray]) -> np.ndarray:
    """Return the largest value of each cell: occupied (100) before free (0) before unknown (-1).

    References:
        J. Hörner: Map-merging for multi-robot system. Bachelor's thesis, Charles University, 2016; its package
        multirobot_map_merge.
    """
    return np.max([probabilistic([one]) for one in evidence], axis=0)
