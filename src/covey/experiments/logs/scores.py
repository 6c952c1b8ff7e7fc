"""What is measured of SLAM over a log, as plain data."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose, inverse
from covey.mapping.slam.following import Followed
from covey.mapping.slam.graph_slam import GraphSlam
from covey.mapping.slam.log import Log
from covey.mapping.slam.scores import Errors, PoseErrors, Relations, absolute_errors, displacement_errors
from covey.mapping.slam.trust import REASON, chi2_of


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores of a trajectory.

    Attributes:
        plain: what goes into ``scores.json``.
        along: by name the scans (k,) and the errors [m] there (k,), for a picture.
        remarks: what a reader has to know of the log.
    """

    plain: dict[str, Any]
    along: dict[str, tuple[np.ndarray, np.ndarray]]
    remarks: list[str]


def scores_of(log: Log, found: Followed, relations: Relations | None) -> Scored:
    """Return the scores of SLAM over a log.

    Raises:
        InvalidValueError: a relation names a pose that the log lacks.
    """
    seconds, loops = found.seconds[found.known :], None if found.slam is None else found.slam.loops
    steps = np.hypot(*np.diff(found.poses[:, :2], axis=0).T)
    steps[np.array(log.begins[1:], int) - 1] = 0.0  # to another session
    plain: dict[str, Any] = {
        "log": log.name,
        "scans": len(log),
        "path_m": float(steps.sum()),
        "key_frames": len(found.key_rows),
        "loops_accepted": 0 if loops is None else len(loops.accepted),
        "loops_refused": 0 if loops is None else len(loops.refused),
        "scans_per_s": len(seconds) / (float(seconds.sum()) + found.settling_s),
        "p50_ms": 1e3 * float(np.percentile(seconds, 50)),
        "p99_ms": 1e3 * float(np.percentile(seconds, 99)),
        "settling_s": found.settling_s,
    }
    along, remarks = {}, list(_remarks(log))
    if found.slam is not None:
        plain |= trust_in(found.slam)
        if len(log.begins) > 1:
            plain["sessions"] = list(log.begins)
        remarks += list(_doubts(plain))
    if relations is not None:
        last = int(max(relations.first.max(), relations.second.max()))
        if last >= len(log.stream):
            raise InvalidValueError(
                f"the relations name row {last} of a log with rows 0 to {len(log.stream) - 1}: they belong to another"
            )
        errors = displacement_errors(log.along_stream(found.poses), relations)
        of_odometry = displacement_errors(log.stream, relations)
        plain["relations"] = {"used": len(relations), "left_out": relations.left_out, **_plain(errors)}
        plain["relations_of_odometry"] = _plain(of_odometry)
        at = np.searchsorted(log.rows, relations.second, side="right") - 1
        along["relations, at their later scan"] = np.maximum(at, 0), errors.translation.each
        if relations.left_out:
            remarks.append(f"{relations.left_out} relations have no scan, and do not count.")
    if log.reference is not None:
        known = np.flatnonzero(np.isfinite(log.reference).all(axis=1))
        errors = absolute_errors(found.poses[known], log.reference[known])
        plain["reference"] = {"poses": len(known), "ate_m": errors.translation.rms, **_plain(errors)}
        along["reference, after alignment"] = known, errors.translation.each
    return Scored(plain, along, remarks)


def trust_in(slam: GraphSlam) -> dict[str, Any]:
    """Return what the graph of a log says of itself: loops, steps, motions that were not believed, and pieces."""
    rows, pieces = np.array(slam.key_rows), slam.pieces
    ends = np.append(rows[pieces.begins[1:]], slam.scans)
    found: dict[str, Any] = {
        "noise_of_steps": slam.noise,
        "loops_taken_back": [rows[list(pair)].tolist() for pair in (slam.loops.taken_back if slam.loops else ())],
        "jumps": [
            {
                "scan": bridge.scan,
                "odometry": bridge.motion.tolist(),
                "scans_say": None if bridge.found is None else bridge.found.tolist(),
            }
            for bridge in pieces.bridges
        ],
        "pieces": [
            {"first_scan": int(rows[begin]), "last_scan": int(end) - 1, "joined": joined}
            for begin, end, joined in zip(pieces.begins, ends, pieces.joined, strict=True)
        ],
        "bent_steps": [],
        "worst_loop_chi2": None,
    }
    if slam.edges:
        graph = slam.graph()
        chi2, is_loop = chi2_of(graph, slam.poses), np.array([edge.is_loop for edge in slam.edges])
        bent = np.flatnonzero(~is_loop & (chi2 > REASON) & (graph.second - graph.first == 1))
        found["bent_steps"] = rows[graph.second[bent]].tolist()
        if is_loop.any():
            found["worst_loop_chi2"] = float(chi2[is_loop].max())
    return found


def loops_as_csv(slam: GraphSlam) -> str:
    """Return the loops of a log as CSV: scans, residual in the result, chi-squared, and whether each was kept."""
    lines = ["first_scan,second_scan,residual_m,residual_deg,chi2,kept\n"]
    rows = slam.key_rows
    loops = [k for k, edge in enumerate(slam.edges) if edge.is_loop]
    if loops:
        chi2 = chi2_of(slam.graph(), slam.poses)
        for k in loops:
            edge = slam.edges[k]
            off = compose(inverse(edge.motion), compose(inverse(slam.poses[edge.first]), slam.poses[edge.second]))
            turn = np.degrees(abs((off[2] + np.pi) % (2.0 * np.pi) - np.pi))
            numbers = f"{np.hypot(off[0], off[1]):.4f},{turn:.3f},{chi2[k]:.3f}"
            lines.append(f"{rows[edge.first]},{rows[edge.second]},{numbers},1\n")
    for first, second in slam.loops.taken_back if slam.loops else ():
        lines.append(f"{rows[first]},{rows[second]},,,,0\n")
    return "".join(lines)


def _doubts(plain: dict[str, Any]):
    """Yield what a reader should not trust, in words."""
    for jump in plain["jumps"]:
        x, y, turn = jump["odometry"]
        said = f"The odometry moves by {np.hypot(x, y):.2f} m and {np.degrees(turn):.0f}° before scan {jump['scan']}"
        if jump["scans_say"] is not None:
            x, y, turn = jump["scans_say"]
            yield f"{said}; the scans say {np.hypot(x, y):.2f} m and {np.degrees(turn):.0f}°, which counts."
        else:
            yield f"{said}, and the scans fit nothing seen before: it was carried, and a new piece of the map begins."
    for piece in plain["pieces"]:
        if not piece["joined"]:
            scans = f"{piece['first_scan']} to {piece['last_scan']}"
            yield f"The piece of scans {scans} is not joined with what was before: no place was recognised."
    if taken := plain["loops_taken_back"]:
        some = ", ".join(f"{a} and {b}" for a, b in taken[:3])
        yield f"{len(taken)} loops contradict the others and were taken back, such as those of scans {some}."
    if bent := plain["bent_steps"]:
        some = ", ".join(map(str, bent[:5]))
        yield f"{len(bent)} steps are bent beyond what matching says, at scans {some}: look at the map there."


def headlines(plain: dict[str, Any]) -> dict[str, tuple[Any, str]]:
    """Return the main scores with their meanings, for a table."""
    usual = {
        "scans": "scans of the log",
        "path_m": "length of the way",
        "key_frames": "scans that were kept",
        "loops_accepted": "places that closed a loop",
        "loops_refused": "compared, and did not",
        "scans_per_s": "of processor time, on this machine",
        "p50_ms": "half of the scans took at most this",
        "p99_ms": "99 % took at most this",
    }
    found = {name: (plain[name], meaning) for name, meaning in usual.items()}
    if "pieces" in plain:
        apart = sum(not piece["joined"] for piece in plain["pieces"])
        found["loops_taken_back"] = len(plain["loops_taken_back"]), "they contradict the others"
        found["jumps"] = len(plain["jumps"]), "motions of the odometry that no robot drives"
        found["pieces_apart"] = apart, "of the map, whose place is not known"
    if plain.get("explained") is not None:
        found["explained"] = f"{100.0 * plain['explained']:.1f} %", "of the returns end at a wall of the map"
    for part, of in (
        ("relations", "error of known motions"),
        ("relations_of_odometry", "the same, of the odometry"),
    ):
        if part in plain:
            one = plain[part]
            number = f", {one['used']} of them" if "used" in one else ""
            found[f"{part}, m"] = f"{one['translation_m']:.4f} ± {one['translation_sd_m']:.4f}", f"{of}{number}"
            found[f"{part}, deg"] = f"{one['rotation_deg']:.3f} ± {one['rotation_sd_deg']:.3f}", of
    if "reference" in plain:
        found["ate_m"] = plain["reference"]["ate_m"], "distance from the reference, rms"
    return found


def from_start(log: Log) -> np.ndarray:
    """Return the odometry (N, 3) in the frame of its first pose, as estimates are."""
    return compose(inverse(log.odometry[0]), log.odometry)


def _plain(errors: PoseErrors) -> dict[str, float]:
    turn = Errors(np.degrees(errors.rotation.each))
    return {
        "translation_m": errors.translation.mean,
        "translation_sd_m": errors.translation.deviation,
        "translation_m2": errors.translation.mean_square,
        "rotation_deg": turn.mean,
        "rotation_sd_deg": turn.deviation,
        "rotation_deg2": turn.mean_square,
    }


def _remarks(log: Log):
    """Yield what is odd about a log."""
    yield from log.remarks
    if len(log.begins) > 1:
        yield f"The scans are of {len(log.begins)} sessions, which begin with scans {', '.join(map(str, log.begins))}."
    parts = (log.times[begin:end] for begin, end in itertools.pairwise((*log.begins, len(log))))
    back = np.concatenate([np.diff(times[np.isfinite(times)]) for times in parts])
    if (back < 0.0).any():
        times = int((back < 0.0).sum())
        yield f"Stamps step back {times} times, by up to {-back.min():.3g} s. The order of the log counts."
    if lost := int((~np.isfinite(log.times)).sum()):
        yield f"{lost} scans have no stamp."
    if bad := int((np.isnan(log.ranges) & log.is_beam()).sum()):
        yield f"{bad} ranges are no numbers, and count as no return."
    if empty := int((~log.laser.returns(log.ranges).any(axis=1)).sum()):
        yield f"{empty} scans have no return; the odometry bridges them."
