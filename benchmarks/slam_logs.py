"""Graph SLAM on recorded logs: errors of relations that were checked by hand, speed and memory.

The errors are those of R. Kümmerle et al.: On measuring the accuracy of SLAM algorithms. Autonomous Robots 27, 2009:
mean ± deviation. *Online* are the poses that each scan was answered with, *settled* those of the whole log at its end.
Each log is run with loops and without, in a process of its own; times are processor times after a first piece of the
log, which compiles. Memory is the peak of the process, and what of it came after the log was read and the code was
compiled. *Matching* is the search and the refinement of one scan of 180 beams, without making local maps.

With --noise, each log is run at several values of `noise_m`, which is a guess: how much the result depends on it.

With --pictures, maps of all other logs of the folder are drawn, which nobody has measured: look whether they are
straight and closed.

    python benchmarks/slam_logs.py [FOLDER] [--logs intel fr079 mit_csail] [--noise] [--pictures OUT]
"""

import argparse
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from covey.geometry.se2 import compose
from covey.mapping.slam.graph_slam import GraphSettings, GraphSlam
from covey.mapping.slam.log import Laser, Log, load_log, relative
from covey.mapping.slam.matching import refine, search, start_for
from covey.mapping.slam.pose_graph import covariances, optimise
from covey.mapping.slam.scores import PoseErrors, displacement_errors, load_relations
from covey.mapping.slam.surfaces import normals_of

FOLDER = Path(__file__).parents[2] / "shared" / "data" / "slam"
MEASURED = ("intel", "fr079", "mit_csail")
NOISE_M = (0.02, 0.025, 0.03, 0.035, 0.04, 0.05, 0.06, 0.08)
COMPILED = 10  # key frames that are run before anything is measured


def motions(log: Log) -> np.ndarray:
    """Return the odometry's motion before each scan, (N, 3)."""
    return np.vstack((np.zeros(3), relative(log.odometry[:-1], log.odometry[1:])))


def drive(log: Log, settings: GraphSettings) -> tuple[GraphSlam, np.ndarray, np.ndarray, float]:
    """Return the settled result, the poses online (N, 3), processor times of each scan [s] (N,) and of settling."""
    slam, online, times = GraphSlam(log.laser, settings), np.empty((len(log), 3)), np.empty(len(log))
    for k, motion in enumerate(motions(log)):
        start = time.process_time()
        online[k] = slam.add(motion, log.ranges[k])
        times[k] = time.process_time() - start
    start = time.process_time()
    slam.settle()
    return slam, online, times, time.process_time() - start


def peak_mb() -> float:
    """Return the peak memory of this process [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def compiled(log: Log, settings: GraphSettings) -> None:
    """Run the beginning of a log, so that all code is compiled."""
    slam = GraphSlam(log.laser, settings)
    for motion, scan in zip(motions(log), log.ranges, strict=True):
        slam.add(motion, scan)
        if len(slam.frames) == COMPILED:
            break
    if slam.loops:
        slam.loops.compare(0, len(slam.frames) - 1)
        graph = slam.graph()
        covariances(graph, optimise(graph, start="given", robust=10.0).poses, [1])


def measure(folder: Path, name: str, loops: bool) -> str:
    """Return a row of the table."""
    log, relations = load_log(folder / f"{name}.npz"), load_relations(folder / f"{name}_relations.csv")
    settings = GraphSettings() if loops else GraphSettings(loops=None)
    compiled(log, settings)
    before = peak_mb()
    slam, online, times, settling = drive(log, settings)
    after = peak_mb()
    errors = [displacement_errors(log.along_stream(poses), relations) for poses in (online, slam.trajectory())]
    p50, p99, most = 1e3 * np.quantile(times, (0.5, 0.99, 1.0))
    found = f"{len(slam.loops.accepted)} / {len(slam.loops.refused)}" if slam.loops else "-"
    return (
        f"| {name} | {'graph' if loops else 'matching'} | {in_words(errors[0])} | {in_words(errors[1])} | "
        f"{len(log) / (times.sum() + settling):.0f} | {p50:.1f} / {p99:.1f} / {most:.1f} | {len(slam.frames)} | "
        f"{found} | {after:.0f}, {after - before:.0f} |"
    )


def in_words(errors: PoseErrors) -> str:
    """Return both errors, metres and degrees."""
    turn = np.degrees(errors.rotation.each)
    return f"{errors.translation:.3f} m, {turn.mean():.2f} ± {turn.std():.2f}°"


def among_settings(folder: Path, name: str, noise_m: list[float]) -> str:
    """Return a row: median, worst and deviation of the errors when all settles, among values of `noise_m`."""
    log, relations = load_log(folder / f"{name}.npz"), load_relations(folder / f"{name}_relations.csv")
    found = []
    for noise in noise_m:
        slam, _, _, _ = drive(log, GraphSettings(noise_m=noise))
        errors = displacement_errors(log.along_stream(slam.trajectory()), relations)
        found.append((errors.translation.mean, np.degrees(errors.rotation.mean)))
    way, turn = np.array(found).T
    return (
        f"| {name} | {np.median(way):.4f} / {way.max():.4f} ± {way.std():.4f} m | "
        f"{np.median(turn):.3f} / {turn.max():.3f} ± {turn.std():.3f}° | {' '.join(f'{one:.4f}' for one in way)} |"
    )


def matching(folder: Path, name: str, scans: int = 600) -> str:
    """Return a row: how many scans of 180 beams are matched with a local map in a second."""
    log = load_log(folder / f"{name}.npz")
    every = max(1, len(log.laser.angles) // 180)
    laser = Laser(log.laser.angles[::every], log.laser.range_max, log.laser.mount)
    settings = GraphSettings(loops=None)
    slam, spent = GraphSlam(laser, settings), []
    for motion, scan in zip(motions(log)[:scans], log.ranges[:scans, ::every], strict=True):
        if slam.frames:
            guess = compose(slam.pose, motion)
            points = laser.points(np.where(scan < settings.range_m, scan, np.inf))
            normals = np.empty_like(points)
            normals_of(points, np.array(laser.mount[:2]), 0.5, normals)
            place = slam.around(
                np.arange(max(0, len(slam.frames) - settings.local_key_frames), len(slam.frames)), guess
            )
            start = time.process_time()
            best, score = search(place, points, guess, 0.3, 0.05, 0.02, 0.1, 0.05)
            begin = start_for(place, points, guess, best, score)
            refine(place, points, normals, begin, settings.noise_m, np.eye(3), guess)
            spent.append(time.process_time() - start)
        slam.add(motion, scan)
    return f"| {name} | {laser.angles.size} | {1.0 / np.mean(spent[10:]):.0f} |"


def picture(folder: Path, name: str, out: Path) -> str:
    """Draw the map of a log with the way of the robot; return what was found."""
    from matplotlib.figure import Figure

    log = load_log(folder / f"{name}.npz")
    slam, _, times, settling = drive(log, GraphSettings())
    points = slam.seen_by(np.arange(len(slam.frames)), slam.poses).points
    figure = Figure(figsize=(12, 12), dpi=110, layout="tight")
    axes = figure.add_subplot(aspect="equal")
    axes.plot(*log.odometry[:, :2].T, color="0.8", linewidth=0.5, label="odometry")
    axes.scatter(*points.T, s=0.3, color="black", linewidths=0)
    axes.plot(*slam.poses[:, :2].T, color="tab:blue", linewidth=0.7, label="key frames")
    for edge in slam.edges:
        if edge.is_loop:
            axes.plot(*slam.poses[[edge.first, edge.second], :2].T, color="tab:red", linewidth=0.5)
    lowest, highest = np.quantile(points, (0.001, 0.999), axis=0)
    axes.set_xlim(lowest[0] - 2.0, highest[0] + 2.0)
    axes.set_ylim(lowest[1] - 2.0, highest[1] + 2.0)
    axes.legend(loc="upper right")
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / f"{name}.png")
    assert slam.loops is not None
    return (
        f"| {name} | {len(log)} | {len(slam.frames)} | {len(slam.loops.accepted)} / {len(slam.loops.refused)} | "
        f"{len(log) / (times.sum() + settling):.0f} |"
    )


def apart(work, *arguments) -> str:
    """Return what a function returns in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--logs", nargs="*", default=MEASURED)
    parser.add_argument("--noise", type=float, nargs="*", metavar="M")
    parser.add_argument("--pictures", type=Path, metavar="OUT")
    options = parser.parse_args()
    print(
        "| log | method | online | settled | scans/s | ms p50 / p99 / max | key frames | loops +/- | MB, of it SLAM |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name in options.logs:
        for loops in (True, False):
            print(apart(measure, options.folder, name, loops), flush=True)
    print("\n| log | beams | matching scans/s |\n|---|---|---|")
    for name in options.logs:
        print(apart(matching, options.folder, name), flush=True)
    if options.noise is not None:
        values = options.noise or list(NOISE_M)
        print(f"\nWith noise_m = {values}:\n\n| log | median / worst, deviation | rotation | each |\n|---|---|---|---|")
        for name in options.logs:
            print(apart(among_settings, options.folder, name, values), flush=True)
    if options.pictures:
        print("\n| log | scans | key frames | loops +/- | scans/s |\n|---|---|---|---|---|")
        for path in sorted(options.folder.glob("*.npz")):
            if path.stem.startswith(("keyframes_", "coreslam_")):
                print(apart(picture, options.folder, path.stem, options.pictures), flush=True)


if __name__ == "__main__":
    main()
