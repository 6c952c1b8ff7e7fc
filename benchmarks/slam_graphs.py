"""Pose graphs that others published: the cost reached and the processor time, from reading nothing but the relations.

Costs are in three objectives: SE-Sync's, whose optimum is published (Rosen, Carlone, Bandeira, Leonard: SE-Sync. IJRR
38, 2019, table 1), g2o's, and that of `covey.mapping.slam.pose_graph` with the information of the file as it stands.
The files ``NAME.g2o.gz`` of a folder are read. With --outliers a share of wrong loops is added, anywhere on the map,
and the kernel of loops has to find them; city10000 takes minutes then, as such loops fill the factor.

    python benchmarks/slam_graphs.py FOLDER [--repeat 5] [--outliers 0.1]
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from covey.mapping.slam.g2o import read_g2o
from covey.mapping.slam.pose_graph import Optimised, PoseGraph, covariances, optimise

PUBLISHED = {"manhattan": 6432.0, "city10000": 638.6, "csail": 31.70, "intel": 52.35, "ais2klinik": 188.5}


def chordal(graph: PoseGraph) -> PoseGraph:
    """Return the graph with the information of SE-Sync's objective."""
    xy = np.linalg.inv(graph.information[:, :2, :2])
    information = np.zeros_like(graph.information)
    information[:, 0, 0] = information[:, 1, 1] = 2.0 / np.trace(xy, axis1=1, axis2=2)
    information[:, 2, 2] = 2.0 * graph.information[:, 2, 2]
    return replace(graph, information=information)


def as_it_stands(graph: PoseGraph) -> PoseGraph:
    """Return the graph with the information of its file for the numbers of the relations."""
    c, s, zero = np.cos(graph.motion[:, 2]), np.sin(graph.motion[:, 2]), np.zeros(len(graph.motion))
    back = np.array([[c, s, zero], [-s, c, zero], [zero, zero, zero + 1.0]]).transpose(2, 0, 1)
    information = back @ graph.information @ back.transpose(0, 2, 1)
    return replace(graph, information=0.5 * (information + information.transpose(0, 2, 1)))


def spoilt(graph: PoseGraph, share: float, seed: int = 3) -> tuple[PoseGraph, np.ndarray]:
    """Return the graph with wrong loops, a share of the right ones, at its end, and which relations are loops."""
    rng = np.random.default_rng(seed)
    loops = np.abs(graph.first - graph.second) > 1
    k, n = int(share * loops.sum()), len(graph.poses)
    first = rng.integers(0, n, k)
    second = (first + rng.integers(10, n - 10, k)) % n
    motion = rng.uniform(-3.0, 3.0, (k, 3))
    information = graph.information[loops][rng.integers(0, loops.sum(), k)]
    added = PoseGraph(
        graph.poses,
        np.append(graph.first, first),
        np.append(graph.second, second),
        np.vstack((graph.motion, motion)),
        np.concatenate((graph.information, information)),
    )
    return added, np.append(loops, np.ones(k, bool))


def timed(work, repeat: int):
    """Return what work returns, and its median processor time [ms]; the first call, which may compile, is not timed."""
    found, times = work(), []
    for _ in range(repeat):
        start = time.process_time()
        found = work()
        times.append(1e3 * (time.process_time() - start))
    return found, float(np.median(times))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--outliers", type=float, default=0.0)
    options = parser.parse_args()
    graphs = {path.name.removesuffix(".g2o.gz"): read_g2o(path) for path in sorted(options.folder.glob("*.g2o.gz"))}
    if options.outliers:
        refusing(graphs, options.outliers, options.repeat)
    else:
        optimising(graphs, options.repeat)


def optimising(graphs: dict[str, PoseGraph], repeat: int) -> None:
    """Print costs and times from the linear start."""
    print(
        "| graph | poses, relations | SE-Sync's | published | g2o's | as it stands | solved | ms | slice ms | 10 Σ ms |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, graph in graphs.items():
        sync = optimise(chordal(graph), chordal=True)
        full = optimise(as_it_stands(graph))
        found, ms = timed(lambda graph=graph: optimise(graph), repeat)
        _, slice_ms = timed(lambda g=graph, f=found: optimise(g, start=f, iterations=1), repeat)
        of = np.linspace(0, len(graph.poses) - 1, 10).astype(int)
        _, marginals_ms = timed(lambda g=graph, f=found, of=of: covariances(g, f.poses, of), repeat)
        print(
            f"| {name} | {len(graph.poses)}, {len(graph.first)} | {sync.cost:.6g} | {PUBLISHED.get(name, '-')} | "
            f"{found.cost:.6g} | {full.cost:.6g} | {found.iterations} | "
            f"{ms:.1f} | {slice_ms:.1f} | {marginals_ms:.1f} |"
        )


def refusing(graphs: dict[str, PoseGraph], share: float, repeat: int) -> None:
    """Print what the kernel makes of wrong loops."""
    print("| graph | loops | wrong added | wrong kept | right refused | farthest shift m | systems | ms |")
    print("|---|---|---|---|---|---|---|---|")
    for name, graph in graphs.items():
        right = optimise(graph)
        bad, loops = spoilt(graph, share)
        found, ms = timed(lambda bad=bad, loops=loops: optimise(bad, robust=11.0, robust_edges=loops), min(repeat, 1))
        m = len(graph.first)
        print(
            f"| {name} | {loops[:m].sum()} | {len(loops) - m} | {(found.weights[m:] > 0.1).sum()} | "
            f"{(found.weights[:m] < 0.1).sum()} | {farthest(found, right):.3f} | {found.iterations} | {ms:.0f} |"
        )


def farthest(one: Optimised, other: Optimised) -> float:
    """Return the largest distance between the same poses [m]."""
    return float(np.hypot(*(one.poses - other.poses)[:, :2].T).max())


if __name__ == "__main__":
    main()
