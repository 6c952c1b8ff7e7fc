"""Which loops of a robot's graph agree with each other, and how wrong its steps are.

The robust kernel of a graph takes a loop for wrong that is far off where the steps lead. But steps are surer than they
are: the errors of successive matches are not independent, and drift adds up. So right loops, at the end of a long
corridor, look as wrong as wrong ones. What tells them apart is whether they agree with each other.

Two things follow here from the loops themselves. Loops that agree in pairs, over the ways between them, are right: the
largest such set, with a wide guess of the noise of steps. And with that set held, the noise of the steps is as large as
it must be for these loops to fit. What then still does not fit is wrong.

Of the methods for this, pairwise consistency was chosen over graduated non-convexity (Yang et al. 2020), max-mixtures
(Olson and Agarwal 2012) and switchable constraints, which all start from poses and find the minimum near them: with
wrong loops across the map, poses are folded, and with much drift each right loop starts as an outlier. Consistency in
pairs needs no poses.

References:
    J. G. Mangelson, D. Dominic, R. M. Eustice, R. Vasudevan: Pairwise consistent measurement set maximization for
    robust multi-robot map merging. ICRA 2018.
"""

from dataclasses import replace

import numpy as np

from covey.mapping.slam.consistency import NoisyTrack, largest_consistent, pair_distances
from covey.mapping.slam.pose_graph import Optimised, PoseGraph, along_relations, optimise

REASON = 16.27
"""A loop with a larger chi-squared does not fit: 0.999 of the distribution with three degrees of freedom."""
FAR = 20  # key frames between the ends of a loop that is decided upon
MOST_NOISE = 64.0
"""The covariances of steps are taken for so many times too small at most."""
NOISE = 8.0  # covariances of steps times this, to ask which loops agree
_MISFITS = 0.01  # share of loops that agree, and of steps, that may still not fit
_MANY = 1500  # loops among which sets are sought
_NODES = 300


def with_noise(graph: PoseGraph, is_loop: np.ndarray, times: float) -> PoseGraph:
    """Return a graph in which the covariances of all that is no loop, (m,) bool, are so many times as large."""
    if times == 1.0:
        return graph
    scale = np.where(is_loop, 1.0, 1.0 / times)
    return replace(graph, information=graph.information * scale[:, None, None])


def agreeing_loops(graph: PoseGraph, is_loop: np.ndarray) -> np.ndarray:
    """Return which relations are steps, short loops, or far loops of the largest set that agrees in pairs, (m,) bool.

    Args:
        graph: with steps from each pose to the next.
        is_loop: which of its relations may be wrong, (m,).
    """
    gaps = np.abs(graph.second - graph.first)
    far, found = np.flatnonzero(is_loop & (gaps > FAR)), np.ones(len(is_loop), bool)
    if len(far) < 2:
        return found
    far = far[np.linspace(0, len(far) - 1, min(len(far), _MANY)).astype(int)]
    steps = np.flatnonzero(~is_loop & (graph.second - graph.first == 1))
    steps = steps[np.argsort(graph.first[steps], kind="stable")]
    poses = along_relations(len(graph.poses), graph.first[steps], graph.second[steps], graph.motion[steps])
    track = NoisyTrack(poses, NOISE * np.linalg.inv(graph.information[steps]))
    covariance = np.linalg.inv(graph.information[far])
    distances = pair_distances(track, track, graph.first[far], graph.second[far], graph.motion[far], covariance)
    agrees, _ = largest_consistent(distances, 0.999, _NODES)
    found[far] = agrees
    return found


def solved(graph: PoseGraph, is_loop: np.ndarray, times: float) -> tuple[Optimised, np.ndarray, float]:
    """Return poses that hold the loops that agree, which relations these hold, (m,) bool, and the noise of the steps.

    Args:
        graph: the graph, with the covariances of the steps as they were found.
        is_loop: which of its relations may be wrong, (m,).
        times: at least so many times as large are the covariances of the steps.
    """
    holds = agreeing_loops(graph, is_loop)
    done = _solve(with_noise(graph, is_loop, times), holds, "given")
    plain = _solve(with_noise(graph, is_loop, times), holds, "linear")
    poses = plain.poses if plain.cost < done.cost else done.poses
    while True:
        noisy = with_noise(replace(graph, poses=poses), is_loop, times)
        done = _solve(noisy, holds, "given")
        poses = done.poses
        chi2 = chi2_of(noisy, poses)
        misfits = max((chi2[part] > REASON).mean() for part in (is_loop & holds, ~is_loop) if part.any())
        if times >= MOST_NOISE or misfits <= _MISFITS:
            break
        times *= 2.0
    for _ in range(5):  # what does not fit any more is out, what fits is in
        fits = ~is_loop | (chi2 <= REASON)
        if (fits == holds).all():
            break
        holds = fits
        done = _solve(replace(noisy, poses=done.poses), holds, "given")
        chi2 = chi2_of(noisy, done.poses)
    return done, holds & (~is_loop | (chi2 <= REASON)), times


def chi2_of(graph: PoseGraph, poses: np.ndarray) -> np.ndarray:
    """Return the chi-squared (m,) of each relation of a graph at poses."""
    return optimise(replace(graph, poses=poses), start="given", iterations=0).chi2


def _solve(graph: PoseGraph, holds: np.ndarray, start: str) -> Optimised:
    some = PoseGraph(
        graph.poses, graph.first[holds], graph.second[holds], graph.motion[holds], graph.information[holds]
    )
    return optimise(some, start=start)  # type: ignore[arg-type]
