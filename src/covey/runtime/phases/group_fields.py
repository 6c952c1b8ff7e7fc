"""The fields of a group's view: what a controller of several robots sees, copied from the simulation when it acts."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from covey.comms.network import Network
from covey.onboard.group_view import Later
from covey.robots.team import TeamState
from covey.runtime.phases.localization_and_mapping import LocalizationAndMapping
from covey.runtime.phases.sensing import Sensing, SensorBank

_FULL = ("pose", "velocity", "pose_covariance", "collided", "links")


def readers_of(
    sees: Sequence[str],
    members: range,
    others: np.ndarray,
    sensing: Sensing,
    localization: LocalizationAndMapping,
    network: Network | None,
    collided: np.ndarray,
    goals: np.ndarray | None = None,
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the names of all that a controller of a group sees, and functions that return it; None: nothing yet.

    Args:
        sees: what it declared; with ``full``, it sees everything.
        members: team indices of the robots of the group.
        others: team indices of the robots of all other groups, int64 (m,) or (worlds, m).
        sensing, localization, network: what is read; without a network, nobody has links.
        collided: which robots have touched something, bool (n,), changed in place.
        goals: where each robot is to drive [m], float64 (n, 2); None: nowhere.
    """
    part, known, full = slice(members.start, members.stop), localization, "full" in sees
    of_others = partial(_others, known.pose, others)
    motion: dict[str, Callable[[], Any]] = {
        "pose": partial(_read_only, known.pose[part]),
        "position": partial(_read_only, known.pose[part, :2]),
        "heading": partial(_read_only, known.pose[part, 2]),
        "velocity": partial(_velocity, known.state, part),
        "pose_covariance": partial(_read_only, known.covariance[part]),
        "collided": partial(_read_only, collided[part]),
        "others": (lambda: Later(of_others)) if full else of_others,
    }
    if goals is not None:
        motion["goals"] = partial(_read_only, goals[part])
    if network is not None:
        links = partial(_links, sensing, network, known.state, part)
        motion["links"] = (lambda: Later(links)) if full else links
    banks = {bank.record.name: bank for bank in sensing.banks if members[0] in bank.row_of}
    of_several = [*(["others"] if others.size else []), *(["goals"] if goals is not None else [])]
    for name in (*_FULL, *of_several, *banks) if full else sees:
        if name in banks:
            yield name, partial(_newest_of, banks[name], rows_of(banks[name], members))
        elif name in motion:
            yield name, motion[name]
    if full:
        yield "true_pose", partial(_read_only, known.state.pose[part])


def rows_of(bank: SensorBank, members: range) -> slice:
    """Return the rows of a bank that belong to the robots of a group; they are consecutive."""
    first = bank.row_of[members[0]]
    return slice(first, first + len(members))


def _others(pose: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the estimated poses of the robots with these indices, of all, (n, 3); read-only."""
    found = pose[others]
    found.setflags(write=False)
    return found


def _links(sensing: Sensing, network: Network, state: TeamState, part: slice) -> np.ndarray:
    """Return which robots of a group hear each other now, over the first radio, bool (k, k)."""
    return network.links(sensing.world, state.pose, state.radio_alive & ~state.halted)[part, part]


def _velocity(state: TeamState, part: slice) -> np.ndarray:
    """Return the true velocities vx, vy [m/s] of robots in the world frame, shape (n, 2), read-only."""
    (vx, vy, _), heading = state.twist[part].T, state.pose[part, 2]
    c, s, velocity = np.cos(heading), np.sin(heading), np.empty((len(heading), 2))
    velocity[:, 0], velocity[:, 1] = c * vx - s * vy, s * vx + c * vy
    velocity.flags.writeable = False
    return velocity


def _newest_of(bank: SensorBank, rows: slice) -> Any:
    """Return the newest readings of some robots; None if there are none yet."""
    return None if bank.readings is None else bank.readings.of(rows)


def _read_only(values: np.ndarray) -> np.ndarray:
    """Return a read-only copy."""
    values = values.copy()
    values.setflags(write=False)
    return values
