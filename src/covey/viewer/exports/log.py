"""What one robot of a recorded run measured, as a log for ``covey slam``: its scans, and its estimates as odometry."""

from pathlib import Path

import numpy as np

from covey.errors import CoveyError, UnknownNameError
from covey.mapping.slam.log import Laser, Log, relative, save_log
from covey.mapping.slam.scores import save_relations, true_relations
from covey.results.run import Run


def write(run: Run, path: Path, robot: str | None = None) -> None:
    """Write the log of a robot, and beside it the true motions between its places, see `relations_beside`.

    Raises:
        CoveyError: see `log_of`.
    """
    log = log_of(run, robot)
    assert log.reference is not None
    relations = true_relations(log.reference)
    with path.open("wb") as file:
        save_log(file, log)
    beside = relations_beside(path)
    beside.unlink(missing_ok=True)
    if len(relations):
        save_relations(beside, relations)


def relations_beside(path: Path) -> Path:
    """Return the file of the relations for the file of a log; a robot that stood still has none.

    Examples:
        >>> relations_beside(Path("driven.npz")).name
        'driven_relations.csv'
    """
    return path.with_name(f"{path.name.partition('.npz')[0]}_relations.csv")


def log_of(run: Run, robot: str | None = None) -> Log:
    """Return the scans of a robot's first lidar; its estimates are the odometry, its true poses the reference.

    Args:
        run: a run with recorded scans. Its estimates are those of an odometry under ``localization: odometry``.
        robot: name of the robot; may be left out if the run has one.

    Raises:
        UnknownNameError: there is no such robot.
        CoveyError: the run recorded no scans of it, or has several robots and none is named.
    """
    if robot is None and len(run.names) > 1:
        raise CoveyError(f"a log has one robot; choose it with --robot: {', '.join(run.names)}")
    name = next(iter(run.names)) if robot is None else robot
    if name not in run.names:
        raise UnknownNameError("robot", name, run.names)
    recorded = run.scans or {}
    if name not in recorded:
        raise CoveyError(
            f"the run in {str(run.folder)!r} has no scans of {name}; run it with  record: {{scans_every_s: 0.1}}"
        )
    scans, row = next(iter(recorded[name].values())), list(run.names).index(name)
    at = np.searchsorted(run.pose_times, scans.times - 1e-6)
    held = np.flatnonzero((at < len(run.pose_times)) & (scans.times > 0.0))
    held = held[np.abs(run.pose_times[at[held]] - scans.times[held]) < 1e-6]
    truth, odometry = run.poses[at[held], row], run.estimates[at[held], row]
    mount = np.median(relative(truth, scans.poses[held]), axis=0)
    laser = Laser(scans.angles, scans.range_m, tuple(mount.round(9).tolist()))
    rows = np.arange(len(held))
    return Log(
        f"{run.folder.name}-{name}", laser, scans.ranges[held], odometry, scans.times[held], odometry, rows, truth
    )
