"""`covey ros import`: a bag of ROS becomes a run, a world or a log."""

from contextlib import nullcontext
from pathlib import Path
from typing import Literal

import numpy as np

from covey.cli.tables import print_metrics
from covey.errors import InvalidValueError, UnknownNameError
from covey.experiments.logs.odometry_noise import OdometryFit, fit_odometry, resampled
from covey.mapping.slam.log import Log, save_log
from covey.mapping.slam.plausible import check_log
from covey.mapping.slam.scores import save_relations, true_relations
from covey.results.folder import unwritable
from covey.results.metrics.headlines import of_interest
from covey.ros.bag_reading import Bag, BagRobot, read_bag_of_robots
from covey.ros.bag_run import Poses, run_of, track_of
from covey.scenario.folders import fresh_folder
from covey.viewer.exports.log import relations_beside

Kind = Literal["run", "map", "log"]


def import_command(
    path: Path,
    kind: Kind,
    out: Path | None,
    robot: str | None,
    poses: Poses | None,
    map_topic: str | None,
    *,
    force: bool,
    quiet: bool,
    unchecked: bool = False,
) -> None:
    """Write what a bag becomes, and print where it is."""
    for option, given, only in (("--poses", poses, "run"), ("--map", map_topic, "run map"), ("--robot", robot, "log")):
        if given is not None and kind not in only.split():
            raise InvalidValueError(f"{option} is for --to {only.replace(' ', ' and ')}")
    bag = read_bag_of_robots(path)
    if kind == "run":
        for one in bag.robots:
            if one.log is not None and not unchecked:
                check_log(one.log)
        with nullcontext(out) if out is not None else fresh_folder(bag.name) as folder:
            run = run_of(bag, folder, poses=poses, map_topic=map_topic, overwrite=force)
        if not quiet:
            print_metrics(of_interest(run))
            for one in bag.robots:
                for remark in () if one.log is None else one.log.remarks:
                    print(f"{one.name}  {remark}")
                _print_noise(one, poses)
        print(run.folder if quiet else f"\nrun folder  {run.folder}")
        return
    target = out or Path(f"{bag.name}.{'yaml' if kind == 'map' else 'npz'}")
    written = [target]
    try:
        if kind == "map":
            bag.world(map_topic).save(target)
        else:
            log = _log_in(bag, robot)
            if not unchecked:
                check_log(log)
            written += _write_log(log, target)
            for remark in () if quiet else log.remarks:
                print(remark)
    except OSError as error:
        raise unwritable(repr(str(target)), error) from error
    for file in written:
        print(f"{file}  {file.stat().st_size / 1e6:.2f} MB")


def _log_in(bag: Bag, robot: str | None) -> Log:
    """Return the log of a robot of a bag."""
    logs = {one.name: one.log for one in bag.robots if one.log is not None}
    if not logs:
        raise InvalidValueError(f"the bag {bag.name} has no robot with scans and odometry{bag.why and f': {bag.why}'}")
    if robot is None and len(logs) > 1:
        raise InvalidValueError(f"a log has one robot; choose it with --robot: {', '.join(logs)}")
    if robot is not None and robot not in logs:
        raise UnknownNameError("robot with scans in the bag", robot, logs)
    return logs[robot] if robot is not None else next(iter(logs.values()))


def _write_log(log: Log, path: Path) -> list[Path]:
    """Write a log, and known motions beside it if the bag has better poses; return the latter file."""
    with path.open("wb") as file:
        save_log(file, log)
    if log.reference is None or not np.isfinite(log.reference).all():
        return []
    relations = true_relations(log.reference)
    if not len(relations):  # it stood still
        return []
    save_relations(beside := relations_beside(path), relations)
    return [beside]


def _print_noise(robot: BagRobot, poses: Poses | None) -> None:
    try:
        track = track_of(robot, poses)
        if track is robot.odometry:
            raise InvalidValueError("nothing better is known")
        times = robot.odometry.times
        inside = (times >= track.times[0]) & (times <= track.times[-1])
        reference = resampled(track.times, track.values, times[inside])
        print(f"\n{robot.name}  {in_words(fit_odometry(times[inside], robot.odometry.values[inside], reference))}")
    except InvalidValueError as error:
        print(f"\n{robot.name}  noise of its odometry: {error}")


def in_words(fit: OdometryFit) -> str:
    """Return the noise of an odometry as lines of a robot model, with what the models leave out."""
    fitted = f"{fit.windows - fit.left_out} of {fit.windows} stretches"
    lines = [f"noise of its odometry at {fit.rate_hz:g} Hz, from {fitted}; for a sensor of a model:"]
    for noise in (fit.gmapping, fit.velocity):
        values = ", ".join(
            f"{name}: {list(value) if isinstance(value, tuple) else value}"
            for name, value in noise.model_dump().items()
        )
        lines.append(f"  {{kind: odometry, rate_hz: {fit.rate_hz:g}, noise: {{{values}}}}}")
    lines.append(
        f"  measured / true distance {fit.distance_scale:.4f}, turn {fit.turn_scale:.4f}; "
        f"noise of the better poses {fit.reference_m:.4f} m, {fit.reference_rad:.4f} rad"
    )
    return "\n".join(lines)
