"""States of the cells of one tile, from own evidence and what is held of others, by every rule."""

import numpy as np
import pytest
from tests.references.mapping import RULES, merged

from covey.mapping.occupancy.tiles import TILE, TILE_CELLS, added, empty_store, show, state_of


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rule", RULES)
def test_states_are_those_that_the_rule_gives_for_the_evidence_as_it_is(rule, seed):
    rng, table = np.random.default_rng(seed), RULES[rule].table()
    # Robot 1 has published the second row and seen more since; the others' are what it holds of them.
    held = rng.choice([-40, -8, -1, 0, 0, 1, 17, 70], (4, TILE_CELLS)).astype(np.int8)
    own = np.where(rng.random(TILE_CELLS) < 0.5, held[1], rng.choice([-3, 5], TILE_CELLS)).astype(np.int8)
    joined = empty_store(4, RULES[rule], 70).joined[0]
    for evidence in held:
        for k in range(TILE_CELLS):
            if rule == "greedy_fill":
                joined[k] = joined[k] or evidence[k]
            else:
                joined[k] += added(evidence[k], table)
    expected = merged(rule, own, list(held[[0, 2, 3]]))
    got = [state_of(o, p, j, table) for o, p, j in zip(own, held[1], joined, strict=True)]
    np.testing.assert_array_equal(got, expected)
    occupancy = np.full((2 * TILE, 3 * TILE), -7, np.int8)
    arguments = own, held[1], joined
    assert show(*arguments, joined[:0], occupancy, TILE, 2 * TILE, table)
    np.testing.assert_array_equal(occupancy[TILE:, 2 * TILE :].ravel(), got)
    assert (occupancy[:TILE] == -7).all()
    assert (occupancy[:, : 2 * TILE] == -7).all()
    assert not show(*arguments, joined[:0], occupancy, TILE, 2 * TILE, table)  # nothing changes again
