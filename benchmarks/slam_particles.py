"""How exact and how fast the Rao-Blackwellised filter is on recorded logs, scored by their relations.

Prints one line a seed and the mean and deviation over the seeds: the error of the relative displacements (Kuemmerle et
al. 2009) of the best particle's trajectory at the end and of the poses as they were given online; processed scans per
second of CPU time; memory of all maps. Settings are the defaults, with 0.5 m and 0.25
rad between processed scans, and a score that falls off at 0.1 m from a wall, not at 0.22 m.

    python benchmarks/slam_particles.py FOLDER [--logs intel fr079] [--seeds 5] [--rows N] [--set kernel_cells=2]

FOLDER holds NAME.npz and NAME_relations.csv.
"""

import argparse
import resource
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from covey.mapping.slam.log import Log, load_log, relative
from covey.mapping.slam.particle_settings import ParticleSettings
from covey.mapping.slam.particles import ParticleSlam
from covey.mapping.slam.scores import Relations, displacement_errors, load_relations
from covey.random import stream_key

SETTINGS = {"linear_update_m": 0.5, "angular_update_rad": 0.25, "score_sigma_m2": 0.01}


def measure(log: Log, relations: Relations, settings: ParticleSettings, seed: int) -> list[float]:
    """Print the line of one seed; return its errors [m, deg, m, deg] and its processed scans per second."""
    slam = ParticleSlam(log.laser, settings, stream_key(seed, "particles"))
    motions = np.vstack((np.zeros(3), relative(log.odometry[:-1], log.odometry[1:])))
    online, begin = np.empty((len(log), 3)), time.process_time()
    for row, (motion, ranges) in enumerate(zip(motions, log.ranges, strict=True)):
        online[row] = slam.update(motion, ranges)[0]
    rate = slam.processed / (time.process_time() - begin)
    smooth, given = (displacement_errors(log.along_stream(poses), relations) for poses in (slam.trajectory(), online))
    print(f"{log.name:10s} {seed:4d}  {smooth}  online {given}", end="  ")
    print(f"{rate:5.1f}/s of {slam.processed}  {slam.maps.nbytes / 1e6:4.0f} MB", flush=True)
    degrees = [np.degrees(errors.rotation.mean) for errors in (smooth, given)]
    return [smooth.translation.mean, degrees[0], given.translation.mean, degrees[1], rate]


def cut(log: Log, relations: Relations, rows: int) -> tuple[Log, Relations]:
    """Return the first rows of a log and the relations among them."""
    last = log.rows[rows - 1]
    short = replace(
        log,
        ranges=log.ranges[:rows],
        odometry=log.odometry[:rows],
        times=log.times[:rows],
        stream=log.stream[: last + 1],
        rows=log.rows[:rows],
        stream_times=None,
        reference=None,
    )
    return short, relations[(relations.first <= last) & (relations.second <= last)]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--logs", nargs="+", default=["intel", "fr079"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=0, help="only the first rows of each log")
    parser.add_argument("--set", nargs="+", default=[], help="settings, such as kernel_cells=2")
    options = parser.parse_args()
    changes = {name: float(value) for name, _, value in (given.partition("=") for given in options.set)}
    changes = {name: int(value) if value.is_integer() else value for name, value in changes.items()}
    settings = ParticleSettings(**SETTINGS | changes)
    warm = load_log(options.folder / f"{options.logs[0]}.npz")
    slam = ParticleSlam(warm.laser, ParticleSettings(particles=1, linear_update_m=0.0), stream_key(0, "compile"))
    for ranges in warm.ranges[:2]:
        slam.update(np.zeros(3), ranges)
    for name in options.logs:
        log, relations = (
            load_log(options.folder / f"{name}.npz"),
            load_relations(options.folder / f"{name}_relations.csv"),
        )
        if options.rows:
            log, relations = cut(log, relations, min(options.rows, len(log)))
        found = np.array([measure(log, relations, settings, seed) for seed in range(options.seeds)])
        mean, deviation = found.mean(axis=0), found.std(axis=0)
        texts = [f"{m:.4f} ± {d:.4f}" for m, d in zip(mean, deviation, strict=True)]
        print(
            f"{name}: {texts[0]} m, {texts[1]} deg; online {texts[2]} m, {texts[3]} deg; {texts[4]} processed scans/s"
        )
    print(f"memory of the process at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")


if __name__ == "__main__":
    main()
