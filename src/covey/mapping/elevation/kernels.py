"""Kernels of the belief about the ground: measurements of vertices become evidence, evidence becomes altitudes.

One robot's evidence about one vertex is a normal distribution of its altitude, the steps at which it last saw it and
last found it changed, and the kind of knowledge; see `EVIDENCE`.

References:
    De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. Deakin University, 2007
    (Kalman fusion per vertex, the test for a change by four more measurements, drops and obstacles).
"""

import math
from typing import NamedTuple

import numpy as np

from covey.kernel import kernel
from covey.mapping.elevation.kinds import DROP, MEASURED, UNKNOWN
from covey.mapping.elevation.slopes import shifted, slopes_around, steps_off
from covey.mapping.occupancy.tiles import TILE

EVIDENCE = np.dtype([("mean", "f8"), ("variance", "f8"), ("seen", "i4"), ("changed", "i4"), ("mark", "u1")], align=True)
"""Evidence about a vertex: mean [m] and variance [m^2] of its altitude, the steps at which it was last seen and last
found changed (1 is the first step of a run, 0 never), and the kind of knowledge."""

INTERVAL = 1.96
"""Half the 95 % interval, in standard deviations."""
SINGLE = 2.576
"""Half the 99 % interval, for a measurement that cannot be repeated at once: as rarely wrong as two tests of 95 %."""
SURE = 4.0
"""A vertex counts as changed, not just badly measured, from this many standard deviations on."""
HALF = 0.5 + 1e-9
"""A vertex half-way between two of a coarser belief counts for the upper one, whatever the numbers are rounded to."""
TESTS = ("none", "innovation", "paper")
"""The tests for a change; kernels take an index into this tuple."""


class TeamElevation(NamedTuple):
    """The beliefs of n robots about a lattice of vertices.

    Attributes:
        own: `EVIDENCE` (n, rows, columns), each robot's own.
        rest: `EVIDENCE`, fused from the other robots; ``changed`` is the last change that any of them found.
        mean, variance: float64 (n, rows, columns), [m], [m^2], fused from both; mark: uint8.
        occupancy: int8 (n, rows, columns): -1 unknown, 0 drivable, 100 not.
        turned: int64 (n, tiles), the version at which a vertex of a tile last changed in one of these.
        version: int64 (n,), grows with each such change.
        dirty: uint8 (n, tiles), where own evidence is newer than the published.
        resets: uint16 (n, rows, columns), how often a robot found a vertex changed.
        measured: int64 (n,), number of measurements used.
        ends: int64 (2,), rows and columns of existing vertices; the padding is 100 and does not affect them.
    """

    own: np.ndarray
    rest: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    mark: np.ndarray
    occupancy: np.ndarray
    turned: np.ndarray
    version: np.ndarray
    dirty: np.ndarray
    resets: np.ndarray
    measured: np.ndarray
    ends: np.ndarray


@kernel
def _fused(mean, variance, other, other_variance):
    """Return mean and variance of two independent normal distributions of one altitude (a Kalman update)."""
    gain = variance / (variance + other_variance)
    return mean + gain * (other - mean), variance - gain * variance


@kernel
def later(seen, mark, mean, other_seen, other_mark, other_mean):
    """Return whether the second of two marks counts: the later one, else an obstacle, else the lower; symmetric."""
    if seen != other_seen:
        return other_seen > seen
    if mark != other_mark:
        return other_mark > mark
    return other_mean < mean


@kernel
def join(team, i, a, b):
    """Update the belief about one vertex of one robot from its own evidence and that of the others."""
    own, rest = team.own[i, a, b], team.rest[i, a, b]
    mine = own.mark != UNKNOWN and own.seen >= rest.changed
    mean, variance, mark = rest.mean, rest.variance, rest.mark
    if mine and (mark == UNKNOWN or (own.mark == MEASURED and mark != MEASURED)):
        mean, variance, mark = own.mean, own.variance, own.mark
    elif mine and own.mark == MEASURED:
        mean, variance = _fused(own.mean, own.variance, mean, variance)
    elif mine and mark != MEASURED and later(rest.seen, mark, mean, own.seen, own.mark, own.mean):
        mean, variance, mark = own.mean, own.variance, own.mark
    team.mean[i, a, b], team.variance[i, a, b], team.mark[i, a, b] = mean, variance, mark


@kernel
def _begin(own, value, variance, mark):
    own.mean, own.variance, own.mark = value, variance, mark


@kernel
def measure(team, i, a, b, value, again, variance, shape, step, test):
    """Take in a measurement of a vertex.

    Args:
        team: `TeamElevation`. i, a, b: robot, row, column.
        value: measured altitude [m]. again: mean of four more measurements, NaN if there are none [m].
        variance: variance of one measurement [m^2].
        shape: the part of it that all such measurements share [m^2]; the variance never falls below it.
        step: the current step, from 1 on.
        test: position in `TESTS`.
    """
    own, rest = team.own[i, a, b], team.rest[i, a, b]
    if own.seen < rest.changed or own.mark != MEASURED:
        own.mark = UNKNOWN
    team.measured[i] += 1
    own.seen = step
    if team.mark[i, a, b] == MEASURED and test > 0:
        mean, known = team.mean[i, a, b], team.variance[i, a, b]
        noise = variance if test == 1 else 0.0
        single, off = math.isnan(again), value - mean
        if single or off * off > INTERVAL * INTERVAL * (known + noise):
            if not single:
                value, variance = 0.2 * value + 0.8 * again, 0.2 * variance
                off, noise = value - mean, 0.2 * noise
            limit = SURE if test == 1 else (SINGLE if single else INTERVAL)
            if off * off > limit * limit * (known + noise):
                own.mark, rest.mark, own.changed = UNKNOWN, UNKNOWN, step
                team.resets[i, a, b] += 1
    if own.mark != MEASURED:
        _begin(own, value, variance, MEASURED)
    elif own.variance > shape:
        own.mean, own.variance = _fused(own.mean, own.variance, value, variance)
        own.variance = max(own.variance, shape)
    join(team, i, a, b)


@kernel
def bound(team, i, a, b, edge, mark, drop, variance, limit, step):
    """Record that a vertex lies below (DROP) or above (OBSTACLE) the altitude ``edge`` [m]; return whether it is new.

    A vertex already known to do so stays as it is. An unknown vertex gets a guess: for a drop, the altitude of the
    nearest measured vertex less ``drop`` [m]; for an obstacle, the edge. A vertex that was measured on the other side
    of the edge, by more than ``limit`` [m], has changed.
    """
    own, rest = team.own[i, a, b], team.rest[i, a, b]
    held, spread = team.mark[i, a, b], SURE * math.sqrt(team.variance[i, a, b]) + limit
    if held == MEASURED:
        mean = team.mean[i, a, b]
        if (mean - spread <= edge) if mark == DROP else (mean + spread >= edge):
            return False
    elif held == mark:
        return False
    value = edge
    if mark == DROP:
        near = _nearest(team, i, a, b)
        value = (edge if math.isnan(near) else near) - drop
    if held != UNKNOWN:
        rest.mark, own.changed = UNKNOWN, step
        team.resets[i, a, b] += held == MEASURED
    own.seen = step
    _begin(own, value, variance, mark)
    join(team, i, a, b)
    return True


@kernel
def _nearest(team, i, a, b):
    """Return the altitude [m] of the measured vertex nearest to a vertex; NaN if none is within 16."""
    rows, columns = team.mark.shape[1], team.mark.shape[2]
    best, found, reach = math.inf, math.nan, 1
    while reach <= 16 and reach * reach <= best:
        for p in range(max(a - reach, 0), min(a + reach + 1, rows)):
            side = abs(p - a) == reach
            for q in range(max(b - reach, 0), min(b + reach + 1, columns)):
                if (side or abs(q - b) == reach) and team.mark[i, p, q] == MEASURED:
                    away = (p - a) * (p - a) + (q - b) * (q - b)
                    if away < best:
                        best, found = float(away), team.mean[i, p, q]
        reach += 1
    return found


@kernel
def hide(team, i, a, b, edge, drop, spread, variance, limit, step):
    """Record that a vertex lies below ``edge`` [m], hidden by the ground in front; return whether it is new.

    A vertex that was measured higher has changed, and is now unknown. A vertex never seen, and more than ``limit`` [m]
    below a measured neighbour, is a drop of ``drop`` [m] with the variance ``spread`` [m^2]: wherever it ends, no robot
    can drive there from here. Other arguments as for `measure`.
    """
    own, rest = team.own[i, a, b], team.rest[i, a, b]
    held = team.mark[i, a, b]
    if held == MEASURED and team.mean[i, a, b] - SURE * math.sqrt(team.variance[i, a, b] + variance) > edge:
        own.mark = rest.mark = UNKNOWN
        own.changed = step
        team.resets[i, a, b] += 1
        join(team, i, a, b)
        return True
    if held != UNKNOWN:
        return False
    for p in range(max(a - 1, 0), min(a + 2, team.ends[0])):
        for q in range(max(b - 1, 0), min(b + 2, team.ends[1])):
            if team.mark[i, p, q] == MEASURED and team.mean[i, p, q] - edge > limit:
                own.seen = step
                _begin(own, team.mean[i, p, q] - drop, spread, DROP)
                join(team, i, a, b)
                return True
    return False


@kernel
def judge(team, i, top, bottom, left, right, limit):
    """Update which vertices of a box, its sides included, and right around it are drivable.

    A vertex is not drivable if its altitude differs by more than ``limit`` [m] from that of a known one of its eight
    neighbours, or if it is a drop or an obstacle.
    """
    rows, columns = team.ends[0], team.ends[1]
    turned = False
    mark, mean, states = team.mark[i], team.mean[i], team.occupancy[i]
    for a in range(max(top - 1, 0), min(bottom + 2, rows)):
        for b in range(max(left - 1, 0), min(right + 2, columns)):
            state = -1 if mark[a, b] == UNKNOWN else 0 if mark[a, b] == MEASURED else 100
            if state == 0:
                for p in range(max(a - 1, 0), min(a + 2, rows)):
                    for q in range(max(b - 1, 0), min(b + 2, columns)):
                        if mark[p, q] != UNKNOWN and abs(mean[p, q] - mean[a, b]) > limit:
                            state = 100
            if state != states[a, b]:
                states[a, b] = state
                team.turned[i, a // TILE * (team.mark.shape[2] // TILE) + b // TILE] = team.version[i] + 1
                turned = True
    team.version[i] += turned


@kernel
def put_vertices(team, i, rows, columns, evidence, resets, limit):
    """Replace a robot's own evidence at some vertices, int64 (k,) each, and update its map.

    Args:
        evidence: the fields of `EVIDENCE`, (k,) each. resets: uint16 (k,), see `TeamElevation`.
        limit: steepest drivable step [m].
    """
    mean, variance, seen, changed, mark = evidence
    top, bottom, left, right = team.mark.shape[1], -1, team.mark.shape[2], -1
    for k in range(rows.size):
        a, b = rows[k], columns[k]
        own, rest = team.own[i, a, b], team.rest[i, a, b]
        if changed[k] != own.changed:  # whoever finds a change forgets what others have told
            rest.mark = UNKNOWN
        own.mean, own.variance, own.seen, own.changed, own.mark = mean[k], variance[k], seen[k], changed[k], mark[k]
        team.resets[i, a, b] = resets[k]
        join(team, i, a, b)
        top, bottom, left, right = min(top, a), max(bottom, a), min(left, b), max(right, b)
    if bottom >= 0:
        judge(team, i, top, bottom, left, right, limit)


@kernel
def see_window(team, robots, picked, poses, errors, kind, altitude, again, window, own_frame, model, step):
    """Take in readings of wedges, one of each of some robots.

    A vertex has its place relative to the estimated pose. It counts for the nearest vertex of the belief, so an error
    of the pose does nothing or moves it by whole spacings.

    Args:
        robots: int64 (m,), rows of the team. picked: int64 (m,), rows of the readings. poses: (m, 3), as estimated.
        errors: covariances of these, (m, 3, 3), and whether errors of two readings are independent, uint8 (m,).
        kind, altitude, again, window: see `covey.sensors.wedge.WedgeReadings`.
        own_frame: lattice of the beliefs, (3,): x, y of vertex [0, 0], spacing.
        model: float64 (5,): variance of a measurement, depth [m] and variance of a drop, steepest step [m], test.
        step: the current step, from 1 on.
    """
    rows, columns = team.mark.shape[1], team.mark.shape[2]
    variance, drop, drop_variance, limit, test = model[0], model[1], model[2], model[3], int(model[4])
    covariances, white = errors
    spacing, slopes = own_frame[2], np.zeros(5)
    for m in range(robots.shape[0]):
        i, r = robots[m], picked[m]
        c, s = math.cos(poses[m, 2]), math.sin(poses[m, 2])
        top, bottom, left, right = rows, -1, columns, -1
        for last in range(2):
            for p in range(kind.shape[1]):
                for q in range(kind.shape[2]):
                    what = kind[r, p, q]
                    if what == 0 or (what == 1) == (last == 1):
                        continue
                    ahead = window[r, 0, 0] + p * window[r, 1, 0] + q * window[r, 2, 0]
                    aside = window[r, 0, 1] + p * window[r, 1, 1] + q * window[r, 2, 1]
                    x, y = poses[m, 0] + c * ahead - s * aside, poses[m, 1] + s * ahead + c * aside
                    a = math.floor((y - own_frame[1]) / own_frame[2] + HALF)
                    b = math.floor((x - own_frame[0]) / own_frame[2] + HALF)
                    if a < 0 or a >= rows or b < 0 or b >= columns:
                        continue
                    if what == 1:
                        moved, shared = 0.0, 0.0
                        _, xx, yy = shifted(covariances[m], x - poses[m, 0], y - poses[m, 1], slopes)
                        by_x, by_y = steps_off(xx, spacing), steps_off(yy, spacing)
                        if by_x + by_y > 0.0:
                            slopes_around(team.mark[i], team.mean[i], team.variance[i], a, b, spacing, slopes)
                            steep_x, steep_y = slopes[0] ** 2 + slopes[4], slopes[1] ** 2 + slopes[4]
                            moved = spacing * spacing * (by_x * steep_x + by_y * steep_y)
                            shared = 0.0 if white[m] else moved
                        one, more = altitude[r, p, q], again[r, p, q]
                        measure(team, i, a, b, one, more, variance + moved, shared, step, test)
                    elif what == 4:
                        if not hide(team, i, a, b, altitude[r, p, q], drop, drop_variance, variance, limit, step):
                            continue
                    elif not bound(team, i, a, b, altitude[r, p, q], what, drop, drop_variance, limit, step):
                        continue
                    team.dirty[i, a // TILE * (columns // TILE) + b // TILE] = 1
                    top, bottom, left, right = min(top, a), max(bottom, a), min(left, b), max(right, b)
        if bottom >= 0:
            judge(team, i, top, bottom, left, right, limit)


@kernel
def join_tile(team, i, tile, first, parts, limit):
    """Update some rows of a tile of a robot's map after it took versions of others.

    Args:
        first: first row of the tile to update.
        parts: `EVIDENCE` (k, rows, 32), the held evidence of each other robot from there on, in the order of the team.
        limit: steepest drivable step [m].
    """
    per_row = team.mark.shape[2] // TILE
    top, left = tile // per_row * TILE + first, tile % per_row * TILE
    for p in range(parts.shape[1]):
        for q in range(TILE):
            known, changed = UNKNOWN, 0
            for k in range(parts.shape[0]):
                known |= parts[k, p, q].mark
                changed = max(changed, parts[k, p, q].changed)
            own, rest = team.own[i, top + p, left + q], team.rest[i, top + p, left + q]
            if known == UNKNOWN and rest.mark == UNKNOWN and changed == rest.changed:
                continue
            rest.changed, rest.mark, rest.seen = changed, UNKNOWN, 0
            changed = max(changed, own.changed)
            for k in range(parts.shape[0]):
                part = parts[k, p, q]
                if part.mark == UNKNOWN or part.seen < changed:
                    continue
                mean, variance, mark, seen = part.mean, part.variance, part.mark, part.seen
                if rest.mark == MEASURED and mark == MEASURED:
                    rest.mean, rest.variance = _fused(rest.mean, rest.variance, mean, variance)
                    rest.seen = max(rest.seen, seen)
                elif mark == MEASURED or (
                    rest.mark != MEASURED
                    and (rest.mark == UNKNOWN or later(rest.seen, rest.mark, rest.mean, seen, mark, mean))
                ):
                    rest.mean, rest.variance, rest.mark, rest.seen = mean, variance, mark, seen
            join(team, i, top + p, left + q)
    judge(team, i, top, top + parts.shape[1] - 1, left, left + TILE - 1, limit)


@kernel
def join_own(team, i, limit):
    """Update a robot's map after its own evidence was changed from outside."""
    rows, columns = team.mark.shape[1], team.mark.shape[2]
    for a in range(rows):
        for b in range(columns):
            join(team, i, a, b)
    judge(team, i, 0, rows - 1, 0, columns - 1, limit)
