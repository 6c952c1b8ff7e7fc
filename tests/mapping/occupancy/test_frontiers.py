import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from covey.errors import InvalidValueError, UnknownNameError
from covey.mapping.occupancy.frontiers import DEFINITIONS, find_frontiers, frontier_mask

SIGNS = {"?": -1, ".": 0, "#": 100}


def drawn(*lines):
    """A map as one sees it: the first line is the northernmost row."""
    return np.array([[SIGNS[sign] for sign in line] for line in reversed(lines)], np.int8)


def cells(occupancy, definition, **options):
    return {tuple(cell) for cell in find_frontiers(occupancy, definition, **options).cells.tolist()}


ROOM = drawn(
    "######??",
    "#....???",
    "#.....??",
    "#....#??",
    "######??",
)


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ("explore", {(3, 4), (2, 5)}),  # free beside unknown
        ("m_explore", {(3, 5), (2, 6)}),  # unknown beside free: the other bank
        ("rescue", set()),  # both touch a wall: (3, 4) to the north, (2, 5) to the south
        ("maes", {(2, 5)}),  # (3, 4) has one unknown neighbour; (2, 5) has five
    ],
)
def test_the_four_definitions_differ_in_a_room_with_an_opening(definition, expected):
    assert cells(ROOM, definition) == expected


def test_rescue_keeps_what_stands_clear_of_walls():
    field = drawn("???", "...", "...", "#..")
    assert cells(field, "explore") == {(2, 0), (2, 1), (2, 2)}
    assert cells(field, "rescue") == {(2, 0), (2, 1), (2, 2)}
    assert cells(drawn("???", "...", "#.."), "rescue") == {(1, 1), (1, 2)}


def test_maes_counts_diagonals_and_explore_does_not():
    field = drawn("?.?", "...", "...")
    assert cells(field, "maes") == {(1, 1), (2, 1)}
    assert (1, 1) not in cells(field, "explore")


def test_the_edge_of_the_grid_is_no_frontier():
    for definition in DEFINITIONS:
        assert not cells(np.zeros((5, 11), np.int8), definition)
        assert not cells(np.full((5, 11), -1, np.int8), definition)


def test_clusters_touch_at_corners_and_come_in_storage_order():
    field = drawn(
        "??????????",
        "..????????",
        "##..##....",
        "####......",
    )
    frontiers = find_frontiers(field, "explore")
    assert [frontiers.of(i).tolist() for i in range(2)] == [
        [[1, 2], [1, 3], [2, 0], [2, 1]],
        [[1, 6], [1, 7], [1, 8], [1, 9]],
    ]
    assert frontiers.sizes.tolist() == [4, 4]
    assert frontiers.label.tolist() == [0] * 4 + [1] * 4
    assert frontiers.centroids.tolist() == [[1.5, 1.5], [1.0, 7.5]]
    assert frontiers.nearest.tolist() == [[1, 2], [1, 7]]


def test_small_clusters_are_left_out():
    field = drawn("?#????", ".#...#", "######")
    assert find_frontiers(field, "explore").sizes.tolist() == [1, 3]
    assert find_frontiers(field, "explore", min_cells=3).cells.tolist() == [[1, 2], [1, 3], [1, 4]]
    assert len(find_frontiers(field, "explore", min_cells=4)) == 0


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 20), st.integers(1, 40), st.integers(0, 10**6), st.sampled_from(sorted(DEFINITIONS)))
def test_cells_and_clusters_are_those_of_the_plain_reference(rows, columns, seed, definition):
    rng = np.random.default_rng(seed)
    occupancy = rng.choice(np.array([-1, 0, 100], np.int8), (rows, columns), p=rng.dirichlet([1, 1, 1]))
    mask = frontier_mask(occupancy, definition)
    labels, count = ndimage.label(mask, np.ones((3, 3)))
    found = find_frontiers(occupancy, definition)
    assert len(found) == count
    expected = sorted(np.argwhere(labels == k).tolist() for k in range(1, count + 1))
    assert [found.of(k).tolist() for k in range(count)] == expected
    for k in range(count):
        part = np.array(expected[k])
        np.testing.assert_allclose(found.centroids[k], part.mean(axis=0))
        distance = np.linalg.norm(part - part.mean(axis=0), axis=1)
        assert np.linalg.norm(found.nearest[k] - part.mean(axis=0)) == pytest.approx(distance.min())


def test_wrong_input_is_named():
    with pytest.raises(UnknownNameError, match="did you mean 'm_explore'"):
        find_frontiers(ROOM, "m-explore")
    with pytest.raises(InvalidValueError, match="give int8"):
        find_frontiers(ROOM.astype(int))
