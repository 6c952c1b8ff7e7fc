"""A recorded log cut into robots of a team: how well the relations between them come out, and what it costs.

Row by row, each robot takes its part of the log as its own, from a start pose that the others do not know; updates are
exchanged every 50 scans. Scored are the relations checked by hand (Kümmerle et al., Autonomous Robots 27, 2009) whose
ends are on different robots. A relation between robots counts as wrong when it contradicts the trajectory of one robot
that had the whole log, by more than 0.5 m or 10 degrees.

    python benchmarks/slam_team.py FOLDER [--logs intel,fr079,mit_csail] [--robots 3] [--every 50] [--turned]
"""

import argparse
import hashlib
import time
from pathlib import Path

import numpy as np

from covey.geometry.se2 import wrap_angle
from covey.mapping.slam.graph_slam import GraphSlam
from covey.mapping.slam.log import Log, load_log, relative
from covey.mapping.slam.scores import Relations, displacement_errors, load_relations
from covey.mapping.slam.team import TeamMember

STARTS = np.array([[0.0, 0.0, 0.0], [3.0, -7.0, 2.1], [-40.0, 12.0, -2.6], [5.0, 5.0, 1.2]])


def drive(log: Log, robots: int, every: int, starts: np.ndarray) -> tuple[list[TeamMember], dict]:
    """Return the members after the whole log, and counts."""
    cuts = np.linspace(0, len(log), robots + 1).round().astype(int)
    members = [TeamMember(r, GraphSlam(log.laser, start=starts[r % len(starts)])) for r in range(robots)]
    motion = np.vstack((np.zeros(3), relative(log.odometry[:-1], log.odometry[1:])))
    slowest, joined, worked = 0.0, None, 0.0
    for step in range(int(np.diff(cuts).max())):
        for r, member in enumerate(members):
            row = cuts[r] + step
            if row < cuts[r + 1]:
                member.slam.add(motion[row] if step else np.zeros(3), log.ranges[row])
                begin = time.process_time()
                member.work()
                worked += time.process_time() - begin
                slowest = max(slowest, time.process_time() - begin)
        if step % every == every - 1:
            exchange(members)
        if joined is None and all(members[0].frame_of(r) is not None for r in range(robots)):
            joined = step
    for _ in range(3):
        exchange(members)
        for member in members:
            begin = time.process_time()
            member.slam.settle()
            member.settle()
            worked += time.process_time() - begin
    return members, {"slowest": slowest, "joined": joined, "cuts": cuts, "worked": worked}


def exchange(members: list[TeamMember]) -> None:
    """Let each member send each other what it lacks."""
    for a in members:
        for b in members:
            if a is not b:
                b.add_update(a.update_for(b.clock))


def rows_of(members: list[TeamMember], viewer: TeamMember) -> np.ndarray:
    """Return the poses of all scans, in the order of the log, as one member knows them; nan of robots not joined."""
    parts = []
    for member in members:
        known = viewer.frame_of(member.number) is not None
        nowhere = np.full((len(member.slam.frames), 3), np.nan)
        parts.append(member.slam.trajectory(poses=viewer.trajectory(member.number) if known else nowhere))
    return np.vstack(parts)


def rows_of_frames(member: TeamMember) -> np.ndarray:
    """Return the scan of each key frame: the first ones near places that are 1 km apart from each other."""
    far = np.zeros((len(member.slam.frames), 3))
    far[:, 0] = 1e3 * np.arange(len(far))
    frames = np.round(member.slam.trajectory(poses=far)[:, 0] / 1e3)
    return np.flatnonzero(np.diff(frames, prepend=-1))


def between_robots(log: Log, relations: Relations, cuts: np.ndarray) -> Relations:
    """Return the relations whose ends are on different robots."""
    row = np.clip(np.searchsorted(log.rows, np.arange(len(log.stream)), side="right") - 1, 0, None)
    robot = np.searchsorted(cuts, row, side="right")
    return relations[robot[relations.first] != robot[relations.second]]


def wrong(viewer: TeamMember, members: list[TeamMember], whole: np.ndarray, cuts: np.ndarray) -> tuple[int, int]:
    """Return how many relations between robots were accepted wrongly, and how many accepted."""
    bad, rows = 0, [rows_of_frames(member) for member in members]
    for x in viewer.accepted:
        i, j = (cuts[r] + rows[r][k] for r, k in ((x.a, x.first), (x.b, x.second)))
        off = relative(whole[i], whole[j]) - x.motion
        bad += bool(np.hypot(off[0], off[1]) > 0.5 or abs(wrap_angle(off[2])) > np.radians(10.0))
    return bad, len(viewer.accepted)


def main() -> None:
    """Print a line for each log."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--logs", default="intel,fr079,mit_csail")
    parser.add_argument("--robots", type=int, default=3)
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--turned", action="store_true", help="each robot begins elsewhere and turned in its own frame")
    options = parser.parse_args()
    for name in options.logs.split(","):
        log = load_log(options.folder / f"{name}.npz")
        relations = load_relations(options.folder / f"{name}_relations.csv")
        alone = GraphSlam(log.laser)
        begin = time.process_time()
        for row in range(len(log)):
            alone.add(relative(log.odometry[max(row - 1, 0)], log.odometry[row]), log.ranges[row])
        alone.settle()
        single = time.process_time() - begin
        begin = time.process_time()
        members, counts = drive(log, options.robots, options.every, STARTS if options.turned else 0.0 * STARTS)
        spent = time.process_time() - begin
        scored = between_robots(log, relations, counts["cuts"])
        one = displacement_errors(log.along_stream(alone.trajectory()), scored)
        print(f"{name}: {options.robots} robots; one robot with the whole log {one}, {single:.0f} s")
        for viewer in members:
            missing = [r for r in range(options.robots) if viewer.frame_of(r) is None]
            poses = rows_of(members, viewer)
            along = log.along_stream(poses)
            known = scored[np.isfinite(along[scored.first, 0] + along[scored.second, 0])]
            if not len(known):
                print(f"  robot {viewer.number}: not joined with {missing}")
                continue
            bad, many = wrong(viewer, members, alone.trajectory(), counts["cuts"])
            print(
                f"  robot {viewer.number}: {displacement_errors(along, known)} of {len(scored)}; not joined {missing}; "
                f"relations accepted {many}, wrong {bad}; sha {hashlib.sha256(poses.tobytes()).hexdigest()[:12]}"
            )
        sent = sum(member.bytes_sent for member in members)
        frames = sum(len(member.slam.frames) for member in members)
        print(
            f"  {spent:.0f} s, of it the team's work {counts['worked']:.0f} s, slowest piece while driving "
            f"{1e3 * counts['slowest']:.0f} ms; all joined after scan {counts['joined']} of "
            f"{len(log) // options.robots}; sent {sent / 1e3:.0f} kB, {sent / (options.robots - 1) / frames:.0f} bytes "
            "per key frame and receiver",
            flush=True,
        )


if __name__ == "__main__":
    main()
