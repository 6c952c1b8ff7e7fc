"""What is measured of SLAM over a log, as plain data."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose, inverse
from covey.mapping.slam.following import Followed
from covey.mapping.slam.log import Log
from covey.mapping.slam.scores import Errors, PoseErrors, Relations, absolute_errors, displacement_errors


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
    seconds, loops = found.seconds, None if found.slam is None else found.slam.loops
    steps = np.hypot(*np.diff(found.poses[:, :2], axis=0).T)
    plain: dict[str, Any] = {
        "log": log.name,
        "scans": len(log),
        "path_m": float(steps.sum()),
        "key_frames": len(found.key_rows),
        "loops_accepted": 0 if loops is None else len(loops.accepted),
        "loops_refused": 0 if loops is None else len(loops.refused),
        "scans_per_s": len(log) / (float(seconds.sum()) + found.settling_s),
        "p50_ms": 1e3 * float(np.percentile(seconds, 50)),
        "p99_ms": 1e3 * float(np.percentile(seconds, 99)),
        "settling_s": found.settling_s,
    }
    along, remarks = {}, list(_remarks(log))
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
    back = np.diff(log.times[np.isfinite(log.times)])
    if (back < 0.0).any():
        times = int((back < 0.0).sum())
        yield f"Stamps step back {times} times, by up to {-back.min():.3g} s. The order of the log counts."
    if lost := int((~np.isfinite(log.times)).sum()):
        yield f"{lost} scans have no stamp."
    if bad := int((np.isnan(log.ranges) & log.is_beam()).sum()):
        yield f"{bad} ranges are no numbers, and count as no return."
    if empty := int((~log.laser.returns(log.ranges).any(axis=1)).sum()):
        yield f"{empty} scans have no return; the odometry bridges them."
