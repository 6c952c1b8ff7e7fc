"""Graphs of a team: who sees whom.

A graph is a rule. It gives the matrix of neighbours for the present positions: bool (n, n), row i: the robots that
robot i sees, never itself.

Examples:
    >>> proximity(1.5)([[0, 0], [1, 0], [3, 0]]).astype(int).tolist()
    [[0, 1, 0], [1, 0, 0], [0, 0, 0]]

References:
    M. Mesbahi, M. Egerstedt: Graph theoretic methods in multiagent networks. Princeton University Press, 2010.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from covey.errors import InvalidValueError, UnknownNameError, did_you_mean
from covey.lazy import spatial


@dataclass(frozen=True)
class Graph:
    """A rule that says who sees whom, by `proximity`, `k_nearest`, `delaunay`, `complete`, `fixed`, `ring` or `radio`.

    Attributes:
        name: name of the rule.
        rule: the function of positions, float64 (n, 2) [m], and links, bool (n, n) or None, that gives bool (n, n).
        parameters: its parameters.
    """

    name: str
    rule: Callable[..., np.ndarray] = field(compare=False, repr=False)
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, position: Any, links: np.ndarray | None = None) -> np.ndarray:
        """Return who sees whom, bool (n, n); row i: the robots that robot i sees.

        Args:
            position: positions [m], shape (n, 2).
            links: row i: the robots that robot i hears, bool (n, n); only `radio` needs it.

        Raises:
            InvalidValueError: an edge names a robot that the team does not have, or `radio` has no links.
        """
        return self.rule(np.asarray(position, float).reshape(-1, 2), links, **self.parameters)


def proximity(range_m: float) -> Graph:
    """Return the graph of robots that are at most ``range_m`` [m] apart.

    Raises:
        InvalidValueError: the range is not a number above 0.
    """
    return Graph("proximity", _proximity, {"range_m": _above_0("proximity", "range_m", range_m)})


def k_nearest(k: int) -> Graph:
    """Return the graph in which each robot sees its ``k`` nearest; it is directed. Of equal distances the first counts.

    Raises:
        InvalidValueError: ``k`` is not a whole number above 0.
    """
    if _above_0("k_nearest", "k", k) != int(k):
        raise InvalidValueError(f"k_nearest: k is {k!r}; give a whole number of robots")
    return Graph("k_nearest", _k_nearest, {"k": int(k)})


def delaunay() -> Graph:
    """Return the graph of the Delaunay triangulation: robots whose Voronoi cells share an edge in the whole plane.

    Robots on one line see the ones before and behind. Robots at the same place see each other, and the same others.
    """
    return Graph("delaunay", _delaunay)


def complete() -> Graph:
    """Return the graph in which every robot sees every other."""
    return Graph("complete", _complete)


def ring(directed: bool = False) -> Graph:
    """Return the graph in which robot i sees i + 1 and, if it is not directed, i - 1; the last one sees the first."""
    return Graph("ring", _ring, {"directed": bool(directed)})


def fixed(edges: Sequence[Sequence[int]], directed: bool = False) -> Graph:
    """Return the graph with these edges.

    Args:
        edges: pairs (i, j) of indices: i sees j, and j sees i unless it is directed.
        directed: whether edges count in the given direction only.

    Raises:
        InvalidValueError: an edge is not a pair of two different indices from 0 on.
    """
    pairs = [tuple(edge) for edge in edges]
    for pair in pairs:
        if len(pair) != 2 or any(isinstance(i, bool) or i != int(i) or i < 0 for i in pair) or pair[0] == pair[1]:
            raise InvalidValueError(f"fixed: edge {pair!r}; give two different indices of robots, such as (0, 1)")
    whole = tuple((int(i), int(j)) for i, j in pairs)
    return Graph("fixed", _fixed, {"edges": whole, "directed": bool(directed)})


def radio() -> Graph:
    """Return the graph of the simulated links: robot i sees the robots that it hears now."""
    return Graph("radio", _radio)


SHELF: dict[str, Callable[..., Graph]] = {
    "proximity": proximity,
    "k_nearest": k_nearest,
    "delaunay": delaunay,
    "complete": complete,
    "ring": ring,
    "fixed": fixed,
    "radio": radio,
}
"""The graphs by the name that a file gives them."""


def check_graph(graph: Any) -> None:
    """Check that something can be a graph: a `Graph`, or a function of positions and links.

    Raises:
        InvalidValueError: it cannot.
    """
    forgotten = getattr(graph, "__module__", "") == __name__ and not isinstance(graph, Graph)
    if forgotten or not callable(graph):
        given = f"covey.graphs.{getattr(graph, '__name__', '')} itself" if forgotten else f"{graph!r:.60}"
        raise InvalidValueError(f"graph is {given}; give one of covey.graphs, such as covey.graphs.k_nearest(3)")


def graph_of(value: Any) -> Graph:
    """Return the graph that a value of a file names: ``delaunay``, ``{proximity: 2}``, ``{proximity: {range_m: 2}}``.

    Raises:
        InvalidValueError: it names none, or a parameter is wrong.
        UnknownNameError: there is no such graph.
    """
    if isinstance(value, Graph):
        return value
    if isinstance(value, str):
        value = {value: {}}
    if not isinstance(value, Mapping) or len(value) != 1:
        raise InvalidValueError(f"graph is {value!r:.60}; write a name, or {{proximity: {{range_m: 2}}}}")
    name, given = next(iter(value.items()))
    if name not in SHELF:
        raise UnknownNameError("graph", str(name), SHELF)
    make = SHELF[name] if isinstance(given, Mapping) else partial(SHELF[name], given)
    try:
        return make(**given) if isinstance(given, Mapping) else make()
    except TypeError:
        known = list(SHELF[name].__annotations__)[:-1]
        wrong = next((k for k in given if k not in known), "") if isinstance(given, Mapping) else ""
        hint = f"it has no parameter {wrong!r}{did_you_mean(wrong, known)}" if wrong else f"give {', '.join(known)}"
        raise InvalidValueError(f"graph {name!r}: {hint if known else 'it has no parameters'}") from None


def laplacian(neighbours: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the Laplacian L = D - A of a graph, float64 (n, n): the rows sum up to 0.

    Args:
        neighbours: row i: the robots that robot i sees, bool (n, n).
        weights: of the edges, (n, n); None: all 1.

    Examples:
        >>> laplacian(fixed([(0, 1), (1, 2)])([[0, 0]] * 3)).tolist()
        [[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]]
    """
    adjacency = neighbours.astype(float) if weights is None else np.where(neighbours, weights, 0.0)
    return np.diag(adjacency.sum(axis=1)) - adjacency


def eigenvalues(neighbours: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of the Laplacian of an undirected graph, rising, float64 (n,).

    The first is 0. The second is the algebraic connectivity: above 0 if and only if the graph is connected.

    References:
        M. Fiedler: Algebraic connectivity of graphs. Czechoslovak Mathematical Journal 23(2):298-305, 1973.
    """
    return np.linalg.eigvalsh(laplacian(neighbours))


def _above_0(name: str, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 < value < np.inf:
        raise InvalidValueError(f"{name}: {key} is {value!r}; give a number above 0")
    return float(value)


def _squared(position: np.ndarray) -> np.ndarray:
    offset = position[:, None] - position[None]
    return (offset**2).sum(axis=2)


def _proximity(position: np.ndarray, _: Any, range_m: float) -> np.ndarray:
    near = _squared(position) <= range_m * range_m
    np.fill_diagonal(near, False)
    return near


def _k_nearest(position: np.ndarray, _: Any, k: int) -> np.ndarray:
    n = len(position)
    squared = _squared(position)
    np.fill_diagonal(squared, np.inf)
    first = np.argsort(squared, axis=1, kind="stable")[:, : min(k, n - 1)]
    near = np.zeros((n, n), bool)
    np.put_along_axis(near, first, True, axis=1)
    return near


def _delaunay(position: np.ndarray, _: Any) -> np.ndarray:
    n = len(position)
    places, place_of = np.unique(position, axis=0, return_inverse=True)
    place_of, m = place_of.ravel(), len(places)
    near = np.eye(m, dtype=bool)
    centred = places - places.mean(axis=0)
    _, spread, axes = np.linalg.svd(centred, full_matrices=False) if m > 2 else (None, np.zeros(2), None)
    if m < 3 or spread[1] <= 1e-9 * spread[0]:
        order = np.argsort(centred @ axes[0]) if axes is not None else np.arange(m)
        near[order[:-1], order[1:]] = near[order[1:], order[:-1]] = True
    else:
        triangles = spatial.Delaunay(places).simplices
        for a, b in ((0, 1), (1, 2), (2, 0)):
            near[triangles[:, a], triangles[:, b]] = near[triangles[:, b], triangles[:, a]] = True
    near = near[np.ix_(place_of, place_of)]
    near[np.arange(n), np.arange(n)] = False
    return near


def _complete(position: np.ndarray, _: Any) -> np.ndarray:
    return ~np.eye(len(position), dtype=bool)


def _ring(position: np.ndarray, _: Any, directed: bool) -> np.ndarray:
    n = len(position)
    near = np.roll(np.eye(n, dtype=bool), 1, axis=1) if n > 1 else np.zeros((n, n), bool)
    return near if directed else near | near.T


def _fixed(position: np.ndarray, _: Any, edges: tuple[tuple[int, int], ...], directed: bool) -> np.ndarray:
    n = len(position)
    near = np.zeros((n, n), bool)
    if edges:
        i, j = np.array(edges).T
        if max(i.max(), j.max()) >= n:
            worst = next(edge for edge in edges if max(edge) >= n)
            raise InvalidValueError(f"graph fixed: edge {worst}, but the team has {n} robots; they count from 0")
        near[i, j] = True
    return near if directed else near | near.T


def _radio(position: np.ndarray, links: np.ndarray | None) -> np.ndarray:
    if links is None:
        raise InvalidValueError("graph radio: there are no links here; use it with team.neighbours, in a simulation")
    return np.asarray(links, bool)
