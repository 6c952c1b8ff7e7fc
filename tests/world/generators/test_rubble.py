import numpy as np
import pytest
from scipy import ndimage

from covey.errors import InvalidValueError
from covey.world.generators.rubble import _in_one_piece, _left
from covey.world.world import World

SIZE, RESOLUTION, PASSAGE, BLOCK = 8.0, 0.2, 1.0, 1.5
SMALL: dict = {"size_m": (SIZE, SIZE), "resolution_m": RESOLUTION, "passage_m": PASSAGE, "block_m": (0.5, BLOCK)}

DENSITIES = np.linspace(0.05, 0.2, 200)


@pytest.fixture(scope="module")
def fields():
    return [World.rubble(**SMALL, density=DENSITIES[seed], seed=seed) for seed in range(200)]


def test_200_fields_are_covered_as_declared(fields):
    # The last block goes over it: at the most a hexagon around a circle of the largest width. Gaps are filled, too.
    hexagon = BLOCK**2 * 3**0.5 / 2
    covered = np.array([1 - world.free_area_m2 / SIZE**2 for world in fields])
    assert (covered >= DENSITIES - 1e-9).all()
    over = covered - DENSITIES - hexagon / SIZE**2
    assert over.max() < 0.02
    assert (over > 0).mean() < 0.05


def test_200_fields_are_in_one_piece_for_a_disc_of_the_passage(fields):
    for world in fields:
        assert ndimage.label(world.free)[1] == 1
        labels, _ = ndimage.label(world.clearance >= PASSAGE / 2)
        wide = world.clearance >= PASSAGE / 2 + 1.25 * RESOLUTION
        assert len(np.unique(labels[wide])) == 1


def test_nothing_lies_where_the_density_is_zero():
    assert World.rubble(**SMALL, density=0.0).free_area_m2 == pytest.approx(SIZE**2)


def test_the_seed_decides_and_materials_do_not():
    first, again, other = (World.rubble(**SMALL, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.grid.cells, again.grid.cells)
    assert (first.grid.cells != other.grid.cells).any()
    mixed = World.rubble(**SMALL, seed=1, material="random")
    np.testing.assert_array_equal(first.grid.cells, mixed.grid.cells)
    assert mixed.materials is not None
    inside = mixed.solid.copy()
    inside[[0, -1]] = inside[:, [0, -1]] = False
    assert len(np.unique(mixed.materials[inside])) >= 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"density": 0.9, "passage_m": 4.0}, "density is 0.9, but blocks cover only 0.[0-9]+ of the field"),
        ({"density": 1.0}, "density is 1.0"),
        ({"block_m": (2.0, 1.0)}, "block_m is"),
        ({"passage_m": 20.0}, "passage_m is 20"),
        ({"passage_m": 7.9}, "too narrow"),
        ({"size_m": (1e5, 1e5)}, "at most"),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    with pytest.raises(InvalidValueError, match=message):
        World.rubble(**{**SMALL, **options})


def test_more_blocks_than_can_be_thrown_in_time_are_refused_before_the_first():
    # A block between 0.5 and 2 m wide covers about 1 m2: 80 000 of them for a tenth of 65535 x 12 m.
    with pytest.raises(InvalidValueError, match=r"8\.\d+e\+04 blocks; at most 40000 are allowed: use larger ones"):
        World.rubble(size_m=(65535, 12), density=0.1)


def test_a_field_that_would_take_too_many_throws_is_refused_for_that(monkeypatch):
    monkeypatch.setattr("covey.world.generators.rubble._LOOKED", 100_000)  # what 66 throws take at the most
    with pytest.raises(InvalidValueError, match=r"after the largest number of attempts .* use a smaller size_m"):
        World.rubble(size_m=(100, 100), density=0.2, resolution_m=1.0)


@pytest.mark.parametrize("seed", range(20))
def test_what_a_block_leaves_for_discs_agrees_with_scipy(seed):
    random = np.random.default_rng(seed)
    shape = tuple(random.integers(1, 30, 2))
    passable, filled = (random.random(shape) < share for share in (0.8, random.choice((0.01, 0.2))))
    filled.flat[random.integers(filled.size)] = True  # a distance transform needs something to be far from
    reach = random.uniform(0.05, 0.9)
    left = passable & (ndimage.distance_transform_edt(~filled, 0.1) > reach)
    np.testing.assert_array_equal(_left(passable, filled, 0.1, reach), left)
    for mask in (left, passable, filled):
        assert _in_one_piece(mask) == (ndimage.label(mask)[1] == 1)
