import numpy as np
import pytest
from scipy import ndimage

from covey.errors import InvalidValueError
from covey.world.doors import Door
from covey.world.placement.targets import lay
from covey.world.records.damage import Damage
from covey.world.world import FREE, UNKNOWN, WALL, World

BODY, STARTS = 0.3, np.array([[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])
FIVE = [{"draw": "victim", "count": 2}, {"draw": "small_fire", "count": 2}, {"draw": "big_fire"}]
NOTHING = {"walls_gone": 0, "blocked": 0, "rubble": 0, "furniture": 0}


def parts(world, radius):
    labels, _ = ndimage.label(world.free & (world.clearance >= radius), np.ones((3, 3)))
    return labels


@pytest.mark.slow
def test_what_is_left_of_a_rescue_floor_is_in_one_piece_and_holds_targets_that_robots_can_see(all_can_be_seen):
    for seed in range(8):
        before = World.rescue(seed=seed)
        after = before.damaged(seed=seed)
        was, now = parts(before, BODY) > 0, parts(after, BODY)
        assert len(np.unique(now[was & (now > 0)])) == 1
        assert (now[tuple(after.grid.to_cells(STARTS[:, :2]).T)] > 0).all()
        all_can_be_seen(after, lay(FIVE, after, STARTS, np.full(2, 0.22), seed), 0.22)


@pytest.mark.parametrize("kind", ["office", "building", "rooms"])
def test_it_can_be_laid_over_other_worlds(kind):
    before = getattr(World, kind)(seed=3)
    after = before.damaged(seed=2, spare_m=[])
    was, now = parts(before, BODY) == 1, parts(after, BODY)
    assert len(np.unique(now[was & (now > 0)])) == 1
    assert ((before.grid.cells == WALL) & (after.grid.cells == FREE)).any()
    assert ((before.grid.cells == FREE) & (after.grid.cells == WALL)).any()
    kept = {door.name for door in after.doors}
    for door in before.doors:
        rows, columns = (
            slice(*sorted(pair)) for pair in after.grid.to_cells([(door.x0_m, door.y0_m), (door.x1_m, door.y1_m)]).T
        )
        same = (before.grid.cells[rows, columns] == after.grid.cells[rows, columns]).all()
        assert same or door.name not in kept


def ways_through(world):
    """Return the number of ways through the middle wall for a disc of 0.3 m."""
    column = world.grid.to_cells([(0.0, 0.0)])[0, 1]
    return ndimage.label(world.free[:, column] & (world.clearance[:, column] >= BODY))[1]


@pytest.mark.slow
def test_gaps_open_ways_and_rubble_closes_them():
    # Two rooms of 6 x 16 m, joined by two doors of 1.1 m in the wall between them.
    walls = [[[0, -8], [0, -7]], [[0, -5.8], [0, 5.8]], [[0, 7], [0, 8]]]
    world = World.polygons([[-6, -8], [6, -8], [6, 8], [-6, 8]], walls_m=walls, wall_m=0.1)
    doors = [Door(name, -0.05, y - 0.55, 0.05, y + 0.55) for name, y in (("south", -6.4), ("north", 6.4))]
    world = world.replace(doors=tuple(doors))
    assert ways_through(world) == 2
    for seed in range(3):
        assert ways_through(world.damaged(**NOTHING | {"blocked": 1}, seed=seed)) == 1
        # The second would part the rooms.
        assert ways_through(world.damaged(**NOTHING | {"blocked": 2}, seed=seed)) == 1
        change = {**NOTHING, "walls_gone": 1, "gap_m": (1.0, 1.0), "spare_m": ()}
        gap = world.damaged(**change, seed=seed)
        assert ways_through(gap) == 3
        rows, columns = np.nonzero(world.solid & gap.free)
        assert 0.7 <= (np.ptp(rows) + 1) * 0.05 <= 1.35
        assert (np.ptp(columns) + 1) * 0.05 <= 0.2
        assert not (world.free & gap.solid).any()


def test_the_plan_is_the_world_before_with_the_furniture_at_its_old_places():
    world = World.rescue(seed=4)
    after = world.damaged(seed=1, **{**NOTHING, "furniture": 3})
    assert after.plan is not None
    old, new = (np.count_nonzero(w.grid.cells != world.grid.cells) * 0.05**2 for w in (after.plan, after))
    assert 3 * 0.5 * 0.8 * 0.5 <= old <= 3 * 0.8 * 1.5 + 0.2
    assert 0 < new <= 3 * 0.8 * 1.5 + 0.2
    assert (after.plan.grid.cells != after.grid.cells).any()
    assert after.plan.plan is None
    np.testing.assert_array_equal(world.damaged(seed=1, **{**NOTHING, "rubble": 5}).plan.grid.cells, world.grid.cells)


@pytest.mark.slow
def test_spared_discs_are_as_before_and_nothing_leads_outside():
    world = World.rescue(seed=5)
    centres = world.grid.to_world(np.moveaxis(np.indices(world.grid.shape), 0, -1))
    for seed in range(3):
        after = world.damaged(seed=seed, spare_m=[(0.0, 0.0, 2.0), (3.0, 3.0, 1.5)])
        for x, y, radius in ((0.0, 0.0, 2.0), (3.0, 3.0, 1.5)):
            near = np.hypot(*np.moveaxis(centres - (x, y), -1, 0)) < radius
            np.testing.assert_array_equal(after.grid.cells[near], world.grid.cells[near])
        np.testing.assert_array_equal(after.grid.cells == UNKNOWN, world.grid.cells == UNKNOWN)
        outside = ndimage.binary_dilation(np.pad(world.grid.cells == UNKNOWN, 1, constant_values=True))[1:-1, 1:-1]
        assert not (outside & after.free & ~world.free).any()


@pytest.mark.slow
def test_the_seed_decides_and_more_rubble_moves_no_gap():
    world = World.rescue(seed=6)
    first, again, other = (world.damaged(seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.grid.cells, again.grid.cells)
    assert (first.grid.cells != other.grid.cells).any()
    more = world.damaged(seed=1, rubble=20)
    assert not (first.solid & more.free).any()
    assert (more.solid & first.free).any()
    own = Damage.model_validate({"seed": 1}).build(world, 77)
    np.testing.assert_array_equal(own.grid.cells, first.grid.cells)


def test_a_world_without_room_is_refused():
    with pytest.raises(InvalidValueError, match="body_m 3 m has room nowhere"):
        World.empty(4, 4).damaged(body_m=3)
