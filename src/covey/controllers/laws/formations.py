"""Formations by displacements, by distances, and by bearings; and when a shape is rigid."""

import math
from typing import Any

import numpy as np

from covey.controllers.laws.consensus import consensus_velocity
from covey.controllers.laws.look_ahead import commands_of, points_of
from covey.errors import InvalidValueError
from covey.onboard.controller import controller
from covey.planning.graphs import complete
from covey.robots.parameters import Gain, GraphField, LookAhead, Metres, Points


def displacement_velocity(
    position: np.ndarray, neighbours: np.ndarray, shape: np.ndarray, gain: float = 1.0
) -> np.ndarray:
    """Return the velocities of the formation by displacements, consensus of x - shape, float64 (n, 2) [m/s].

    On a connected undirected graph the team takes the shape, with the centroid of the starts, at the rates of
    `consensus_velocity`: k times the eigenvalues of the Laplacian. Robots must agree on the direction of north.

    Args:
        position: points [m], (n, 2).
        neighbours: who sees whom, bool (n, n).
        shape: places in the formation [m], (n, 2); only their differences count.
        gain: k [1/s].

    References:
        R. Olfati-Saber, J. A. Fax, R. M. Murray: Consensus and cooperation in networked multi-agent systems.
        Proceedings of the IEEE 95(1):215-233, 2007.
    """
    return consensus_velocity(position - shape, neighbours, gain)


def distance_velocity(position: np.ndarray, neighbours: np.ndarray, shape: np.ndarray, gain: float = 1.0) -> np.ndarray:
    """Return the velocities of the formation by distances, float64 (n, 2) [m/s].

    u_i = -k sum_j (|x_i - x_j|^2 - d_ij^2) (x_i - x_j), the gradient of a potential; d_ij are the distances in the
    shape. If the shape is infinitesimally rigid (`rigid`), robots that start near it take it, anywhere and turned
    anyhow, and the errors |x_i - x_j|^2 - d_ij^2 fall at rates 2 k times the positive eigenvalues of R R', with R the
    `rigidity_matrix`. From far away they can get stuck in another shape, such as one on a line. Needs no common north.

    Args:
        position: points [m], (n, 2).
        neighbours: who sees whom, bool (n, n), undirected.
        shape: places that have the wanted distances [m], (n, 2).
        gain: k [1/(m2 s)].

    References:
        L. Krick, M. E. Broucke, B. A. Francis: Stabilisation of infinitesimally rigid formations of multi-robot
        networks. International Journal of Control 82(3):423-439, 2009.
    """
    offset, wanted = position[:, None] - position[None], shape[:, None] - shape[None]
    error = np.where(neighbours, (offset**2).sum(axis=2) - (wanted**2).sum(axis=2), 0.0)
    return -gain * np.einsum("ij,ijk->ik", error, offset)


def bearing_velocity(position: np.ndarray, neighbours: np.ndarray, shape: np.ndarray, gain: float = 1.0) -> np.ndarray:
    """Return the velocities of the formation by bearings alone, float64 (n, 2) [m/s].

    u_i = -k sum_j (I - g_ij g_ij') g*_ij; g_ij is the unit vector from robot i to j in the world frame, g*_ij that in
    the shape. Centroid and scale, the mean squared distance from the centroid, stay as they are at the start. If the
    shape is infinitesimally bearing rigid (`bearing_rigid`), the bearings tend to those of the shape from nearly
    everywhere, as long as no robots collide. Near the shape the rates are k times the eigenvalues of the bearing
    Laplacian with weights 1/|x_i - x_j|. Robots must agree on the direction of north.

    Args:
        position: points [m], (n, 2), neighbours at different places.
        neighbours: who sees whom, bool (n, n), undirected.
        shape: places that have the wanted bearings [m], (n, 2).
        gain: k [m/s].

    References:
        S. Zhao, D. Zelazo: Bearing rigidity and almost global bearing-only formation stabilization. IEEE Transactions
        on Automatic Control 61(5):1255-1268, 2016.
    """
    bearing, wanted = _bearings(position), _bearings(shape)
    along = (bearing * wanted).sum(axis=2)
    return -gain * np.where(neighbours[..., None], wanted - along[..., None] * bearing, 0.0).sum(axis=1)


def rigidity_matrix(position: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """Return the rigidity matrix R, float64 (m, 2 n) [m]: the change of |x_i - x_j|^2 / 2 of each edge i < j.

    References:
        B. D. O. Anderson, C. Yu, B. Fidan, J. M. Hendrickx: Rigid graph control architectures for autonomous
        formations. IEEE Control Systems Magazine 28(6):48-63, 2008.
    """
    return _by_edge(position, neighbours, lambda offset: offset[None])


def bearing_rigidity_matrix(position: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """Return the bearing rigidity matrix, float64 (2 m, 2 n) [1/m]: the change of the bearing of each edge i < j.

    References:
        S. Zhao, D. Zelazo: Bearing rigidity and almost global bearing-only formation stabilization. IEEE Transactions
        on Automatic Control 61(5):1255-1268, 2016.
    """

    def change(offset: np.ndarray) -> np.ndarray:
        far = math.hypot(*offset)
        return (np.eye(2) - np.outer(offset, offset) / far**2) / far

    return _by_edge(position, neighbours, change)


def rigid(position: np.ndarray, neighbours: np.ndarray) -> bool:
    """Return whether the distances of the edges fix a shape up to moves and turns: the rank of R is 2 n - 3.

    Examples:
        >>> from covey.planning.graphs import complete, ring
        >>> square = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
        >>> rigid(square, complete()(square)), rigid(square, ring()(square))
        (True, False)
    """
    return int(np.linalg.matrix_rank(rigidity_matrix(position, neighbours))) == 2 * len(position) - 3


def bearing_rigid(position: np.ndarray, neighbours: np.ndarray) -> bool:
    """Return whether the bearings of the edges fix a shape up to moves and scale: the rank of the matrix is 2 n - 3."""
    return int(np.linalg.matrix_rank(bearing_rigidity_matrix(position, neighbours))) == 2 * len(position) - 3


def regular_polygon(count: int, radius_m: float) -> np.ndarray:
    """Return the corners of a regular polygon around the origin, float64 (count, 2) [m], the first one to the east."""
    angle = 2.0 * math.pi * np.arange(count) / count
    return radius_m * np.column_stack((np.cos(angle), np.sin(angle)))


def _bearings(position: np.ndarray) -> np.ndarray:
    """Return the unit vectors from i to j, float64 (n, n, 2); zero where they are at one place."""
    offset = position[None] - position[:, None]
    far = np.hypot(offset[..., 0], offset[..., 1])[..., None]
    return np.divide(offset, far, out=np.zeros_like(offset), where=far > 0.0)


def _by_edge(position: np.ndarray, neighbours: np.ndarray, change: Any) -> np.ndarray:
    edges = np.argwhere(np.triu(neighbours | neighbours.T, 1))
    rows = []
    for i, j in edges:
        part = np.atleast_2d(change(position[i] - position[j]))
        row = np.zeros((len(part), len(position), 2))
        row[:, i], row[:, j] = part, -part
        rows.append(row.reshape(len(part), -1))
    return np.concatenate(rows) if rows else np.zeros((0, 2 * len(position)))


def _shape(team: Any, shape_m: Any, radius_m: float) -> np.ndarray:
    if not shape_m:
        return regular_polygon(team.count, radius_m)
    if len(shape_m) != team.count:
        raise InvalidValueError(f"shape_m has {len(shape_m)} places for {team.count} robots; give one for each")
    return np.array(shape_m, float)


@controller("formation_displacement", scope="group", sees=("pose", "links"), missions=())
def formation_displacement(
    team: Any,
    *,
    shape_m: Points = (),
    radius_m: Metres = 1.0,
    graph: GraphField = complete(),
    gain: Gain = 1.0,
    look_ahead_m: LookAhead = 0.1,
) -> Any:
    """Take a shape, given by displacements in the world frame, see `displacement_velocity`.

    Args:
        team: a group.
        shape_m: places in the formation [m]; empty: the corners of a regular polygon.
        radius_m: radius of that polygon [m].
        graph: who sees whom.
        gain: k [1/s].
        look_ahead_m: distance of the points ahead of robots with wheels [m].

    References:
        R. Olfati-Saber, J. A. Fax, R. M. Murray: Consensus and cooperation in networked multi-agent systems.
        Proceedings of the IEEE 95(1):215-233, 2007.
    """
    points, shape = points_of(team, look_ahead_m), _shape(team, shape_m, radius_m)
    return commands_of(team, displacement_velocity(points, team.neighbours(graph), shape, gain), look_ahead_m)


@controller("formation_distance", scope="group", sees=("pose", "links"), missions=())
def formation_distance(
    team: Any,
    *,
    shape_m: Points = (),
    radius_m: Metres = 1.0,
    graph: GraphField = complete(),
    gain: Gain = 0.2,
    look_ahead_m: LookAhead = 0.1,
) -> Any:
    """Take the distances of a shape, see `distance_velocity`.

    Args:
        team: a group.
        shape_m: places that have the wanted distances [m]; empty: the corners of a regular polygon.
        radius_m: radius of that polygon [m].
        graph: who sees whom.
        gain: k [1/(m2 s)].
        look_ahead_m: distance of the points ahead of robots with wheels [m].

    References:
        L. Krick, M. E. Broucke, B. A. Francis: Stabilisation of infinitesimally rigid formations of multi-robot
        networks. International Journal of Control 82(3):423-439, 2009.
    """
    points, shape = points_of(team, look_ahead_m), _shape(team, shape_m, radius_m)
    return commands_of(team, distance_velocity(points, team.neighbours(graph), shape, gain), look_ahead_m)


@controller("formation_bearing", scope="group", sees=("pose", "links"), missions=())
def formation_bearing(
    team: Any,
    *,
    shape_m: Points = (),
    radius_m: Metres = 1.0,
    graph: GraphField = complete(),
    gain: Gain = 0.5,
    look_ahead_m: LookAhead = 0.1,
) -> Any:
    """Take the bearings of a shape; place and size stay as at the start, see `bearing_velocity`.

    Args:
        team: a group.
        shape_m: places that have the wanted bearings [m]; empty: the corners of a regular polygon.
        radius_m: radius of that polygon [m].
        graph: who sees whom.
        gain: k [m/s].
        look_ahead_m: distance of the points ahead of robots with wheels [m].

    References:
        S. Zhao, D. Zelazo: Bearing rigidity and almost global bearing-only formation stabilization. IEEE Transactions
        on Automatic Control 61(5):1255-1268, 2016.
    """
    points, shape = points_of(team, look_ahead_m), _shape(team, shape_m, radius_m)
    return commands_of(team, bearing_velocity(points, team.neighbours(graph), shape, gain), look_ahead_m)
