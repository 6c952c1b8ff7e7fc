"""Growing a tree, branch by branch."""

import numpy as np
import pytest

from covey.controllers.exploration.rrt_frontier import grow_tree


def grown(tree, drawn, step, occupancy, root, anew, most):
    """Plain reference of `grow_tree`: the nodes and the frontier cells."""
    tree, found = [np.array(node) for node in tree], []
    for point in drawn:
        near = min(tree, key=lambda node: np.sum((node - point) ** 2))
        way = point - near
        way *= min(1.0, step / max(np.linalg.norm(way), 1e-9))
        shares = np.arange(1, int(5.0 * np.linalg.norm(way)) + 2) / (int(5.0 * np.linalg.norm(way)) + 1)
        cells = np.vstack((near, near + shares[:, None] * way)).astype(int)
        inside = ((cells >= 0) & (cells < occupancy.shape)).all(axis=1)
        states = np.where(inside, occupancy[tuple(np.clip(cells, 0, np.array(occupancy.shape) - 1).T)], 100)[1:]
        blocked = np.flatnonzero(states)
        if not len(blocked):
            tree += [near + way] if len(tree) < most else []
        elif states[blocked[0]] < 0:
            found.append(cells[blocked[0]].tolist())  # the one before it, since the first is where the branch begins
            tree = [np.array(root)] if anew else tree
    return np.array(tree), np.array(found).reshape(-1, 2)


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_tree_grows_as_its_plain_reference(seed, anew):
    rng = np.random.default_rng(seed)
    occupancy = np.kron(rng.choice([-1, 0, 100], (8, 9), p=[0.2, 0.65, 0.15]), np.ones((5, 5))).astype(np.int8)
    root = np.argwhere(occupancy == 0)[7] + 0.4
    drawn = rng.uniform(-2, 48, (300, 2))
    nodes, found = np.empty((90, 2)), np.empty((300, 2), np.int64)
    nodes[0] = root
    count, hits = grow_tree(nodes, 1, drawn, 6.03, occupancy, root, anew, found)
    tree, cells = grown([root], drawn, 6.03, occupancy, root, anew, 90)
    np.testing.assert_allclose(nodes[:count], tree, atol=1e-9)
    np.testing.assert_array_equal(found[:hits], cells)
    assert hits > 5
