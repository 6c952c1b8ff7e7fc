"""Link models: each against its formula, the rays against a plain walk, all of them reciprocal."""

import math

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError
from tests.references.comms import bad_states_reference, through_reference

from covey.comms.links import (
    Disc,
    GilbertElliott,
    LineOfSight,
    LogDistance,
    Materials,
    MultiWall,
    WallLength,
)
from covey.comms.links.chain import bad_states
from covey.comms.links.geometry import Pairs
from covey.comms.links.rays import TILE, near_pairs, rectangles_of, sides_of
from covey.comms.propagation import Propagation
from covey.comms.radio import Radio
from covey.comms.traffic import CAUSES
from covey.geometry.grid import Grid
from covey.geometry.raycast import line_of_sight
from covey.random import generator, stream_key
from covey.world.state import WorldState
from covey.world.world import World


def walls(*columns, size=20, material=None):
    """A room of 20 m x 20 m in cells of 0.5 m, with walls one cell thick at these columns."""
    cells = np.zeros((2 * size, 2 * size), np.uint8)
    made_of = np.zeros_like(cells)
    for k, column in enumerate(columns):
        cells[:, column] = 1
        made_of[:, column] = k if material else 0
    world = World(Grid(cells, 0.5))
    return world.replace(materials=made_of, material_names=tuple(material)) if material else world


def messy(seed=1, size=40, share=0.25):
    rng = generator(seed, "messy")
    cells = (rng.random((size, size)) < share).astype(np.uint8)
    made_of = rng.integers(0, 3, (size, size)).astype(np.uint8)
    return World(Grid(cells, 0.3, (-2.0, 1.0, 0.4)), materials=made_of, material_names=("brick", "wood", "metal"))


def pair(world, start, end):
    return Pairs.of(world, np.array([start, end], float), np.array([0]), np.array([1]))


def links(world, start, end, *models, **options):
    return Propagation(Radio(links=models, **options), 1, "test").links(pair(world, start, end))


def test_near_pairs_are_all_pairs_within_reach():
    xy = generator(1, "xy").uniform(-20, 20, (60, 2))
    for reach in (0.0, 3.0, 15.0, math.inf):
        a, b, apart = near_pairs(xy[:, 0].copy(), xy[:, 1].copy(), np.argsort(xy[:, 0]), reach)
        distance = np.hypot(*(xy[:, None] - xy[None]).transpose(2, 0, 1))
        wanted = {(i, j) for i in range(60) for j in range(i + 1, 60) if distance[i, j] <= reach}
        assert set(zip(a.tolist(), b.tolist(), strict=True)) == wanted
        np.testing.assert_allclose(apart, distance[a, b])


def test_what_rays_go_through_is_what_a_plain_walk_finds():
    world, rng = messy(), generator(2, "ends")
    xy = rng.uniform(-6, 14, (36, 2))  # some outside the array
    a, b = np.triu_indices(36, 1)
    pairs = Pairs.of(world, xy, a, b)
    metres, each = {"brick": 1.0, "wood": 2.0, "metal": 4.0}, {"brick": 0.1, "wood": 0.2, "metal": 0.7}
    cost = pairs.wall_loss(metres, each, (0.0, 0.0), np.full(len(a), np.inf))
    wanted = [
        through_reference(
            world.solid, world.materials, world.grid.frame, xy[i], xy[j], [1.0, 2.0, 4.0], [0.1, 0.2, 0.7]
        )
        for i, j in zip(a, b, strict=True)
    ]
    np.testing.assert_allclose(cost, wanted, atol=1e-7)
    plain = [
        through_reference(world.solid, None, world.grid.frame, xy[i], xy[j], [1.0], [0.0])
        for i, j in zip(a, b, strict=True)
    ]
    np.testing.assert_allclose(pairs.through_m(), plain, atol=1e-7)
    limited = pairs.through_m(1.0)
    np.testing.assert_array_equal(np.isinf(limited), np.array(plain) > 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(1, 1), (6, 6), (30, 2), (2, 30)])
def test_many_rays_at_once_meet_what_one_meets(shape, seed):
    rng = generator(seed, "rocks")
    side = 60 * (1 + 2 * (seed % 2))  # one tile, or some
    solid = np.kron(rng.random((side // shape[0], side // shape[1])) < 0.15, np.ones(shape)).astype(np.uint8)
    world, uv = World(Grid(solid, 1.0), "rocks"), rng.uniform(-4.0, side + 4.0, (51, 2))
    uv[::3] = np.round(uv[::3])  # corners
    uv[1::3, seed % 2] = np.round(uv[1::3, seed % 2])
    uv = uv[np.argsort(uv[:, 0], kind="stable")] if seed < 2 else uv  # so that many pairs share a robot, or few
    a, b = np.triu_indices(51, 1)
    pairs, args = Pairs.of(world, uv, a, b), (world.solid, None, world.grid.frame)
    length = np.array([through_reference(*args, uv[i], uv[j], [1.0], [0.0]) for i, j in zip(a, b, strict=True)])
    np.testing.assert_allclose(pairs.through_m(), length, atol=1e-9)
    np.testing.assert_allclose(pairs.through_m(3.3), np.where(length > 3.3, np.inf, length), atol=1e-9)
    np.testing.assert_array_equal(pairs.in_sight, length < 1e-9)
    slanted = (np.arange(51) % 3 == 2)[np.stack((a, b))].all(0) if seed >= 2 else np.zeros(len(a), bool)
    for k in np.flatnonzero(slanted):  # a ray through a corner may count the wall there
        start, end = uv[a[k]], uv[b[k]]
        assert pairs.walls()[k] == through_reference(*args, start, end, [0.0], [1.0])
        assert pairs.in_sight[k] == line_of_sight(world.skip, world.grid.frame, *start, *end)


@pytest.mark.parametrize("shape", [(1, 1), (70, 150), (200, 64)])
def test_rectangles_are_the_walls_and_sides_lead_into_them(shape):
    made_of = np.kron(generator(1, "walls").integers(0, 3, shape), np.ones((2, 1))).astype(np.uint8)
    made_of, air, across = made_of[: shape[0]], 2, -(-shape[1] // TILE)
    tiles = np.ones(-(-shape[0] // TILE) * across, bool)
    nothing = np.zeros(1, np.int64)
    rectangles, begins = rectangles_of(made_of, air, tiles, np.empty((0, 5), np.int32), nothing)
    covered = np.full(shape, air)
    tile = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    for k, (left, right, low, high, what) in enumerate(rectangles):
        assert (covered[low:high, left:right] == air).all()  # none twice
        covered[low:high, left:right] = what
        assert {low // TILE * across + left // TILE, (high - 1) // TILE * across + (right - 1) // TILE} == {tile[k]}
    np.testing.assert_array_equal(covered, made_of)
    around = np.pad(made_of, 1, constant_values=air)
    sides, begins = sides_of(made_of, air, tiles, np.empty((0, 6), np.int32), nothing)
    tile = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    for kind, (step_row, step_column) in enumerate(((0, -1), (-1, 0), (1, 0))):
        beside = around[1 + step_row :, 1 + step_column :][: shape[0], : shape[1]]
        found = np.full(shape, air)
        for k in np.flatnonzero(sides[:, 5] == kind):
            left, right, low, high, what, _ = sides[k]
            row = low - (kind == 2)
            found[row : max(high, row + 1), left : max(right, left + 1)] = what
            assert tile[k] == row // TILE * across + left // TILE
        np.testing.assert_array_equal(found, np.where(made_of != beside, made_of, air))


def test_a_wall_is_as_long_as_it_is_thick():
    world = walls(10, 12, 13)
    assert pair(world, (1.0, 5.0), (19.0, 5.0)).through_m() == pytest.approx(1.5)
    assert pair(world, (1.0, 5.0), (19.0, 5.0)).walls() == 2  # columns 12 and 13 are one wall
    assert pair(world, (1.0, 1.0), (19.0, 19.0)).through_m() == pytest.approx(1.5 * math.sqrt(2))


def test_disc_and_line_of_sight():
    world = walls(10)
    for (x, y), radius, heard, why in [
        ((4.0, 5.0), 3.0, 1.0, ""),
        ((4.1, 5.0), 3.0, 0.0, "out_of_range"),
        ((6.0, 5.0), 9.0, 0.0, "walls"),
    ]:
        found = links(world, (1.0, 5.0), (x, y), LineOfSight(), Disc(range_m=radius))
        assert (found.probability[0], CAUSES[found.cause[0]]) == (heard, why)


def test_wall_length_takes_any_function_of_distance_and_wall():
    world = walls(10)
    for model, wanted in [
        (WallLength(max_m=0.5), 1.0),
        (WallLength(max_m=0.49), 0.0),
        (WallLength(function=lambda distance, through: distance < 30.0 and through < 0.6), 1.0),
        (WallLength(function=lambda distance, through: 0.25 if through > 0.0 else 1.0), 0.25),
        (WallLength(function=lambda distance, through: np.exp(-through)), math.exp(-0.5)),
    ]:
        assert links(world, (1.0, 5.0), (19.0, 5.0), model).probability[0] == pytest.approx(wanted)
    with pytest.raises(ValueError, match="outside 0 … 1"):
        links(world, (1.0, 5.0), (19.0, 5.0), WallLength(function=lambda distance, through: 2.0))


def test_materials_take_the_table_of_maes():
    world = walls(10, 20, material=("brick", "wood"))
    found = links(world, (1.0, 5.0), (19.0, 5.0), Materials(), tx_power_dbm=15.0)
    assert found.power_dbm == pytest.approx(15.0 - 4.0 * (0.5 * 5.5 + 0.5 * 6.7))
    thick = links(walls(10, material=("metal",)), (1.0, 5.0), (19.0, 5.0), Materials(attenuation_db={"metal": 100.0}))
    assert CAUSES[thick.cause[0]] == "walls"


def test_multi_wall_adds_distance_and_walls():
    world = walls(10, 20, material=("brick", "granite"))
    found = links(world, (1.0, 5.0), (11.0, 5.0), MultiWall(), tx_power_dbm=20.0)
    assert found.power_dbm == pytest.approx(20.0 - (40.0 + 20.0 * math.log10(10.0) + 7.0 + 6.9))


def test_the_losses_of_power_models_add_up():
    world = walls(10)
    quiet = LogDistance(sigma_db=0.0, exponent=2.0)
    found = links(world, (1.0, 5.0), (11.0, 5.0), quiet, Materials(), tx_power_dbm=15.0, sensitivity_dbm=-200.0)
    assert found.power_dbm == pytest.approx(15.0 - 60.0 - 0.5 * 60.0)


def test_the_check_of_gz_sim_holds():
    """27 dBm over 50 m: -55.5 dBm, 34 dB above the noise, no bit error; 20 dBm over 500 m: -87.5 dBm, mostly lost."""
    world = World.empty(1000, 2, resolution_m=1.0)
    gz = Radio.model_validate("gz")
    near = Propagation(gz, 1, "t").links(pair(world, (0, 0), (50, 0)))
    assert near.power_dbm == pytest.approx(27 - (40 + 25 * math.log10(50)), abs=1e-9)
    assert gz.decoded(near.power_dbm, np.array([1000.0])) == pytest.approx(1.0)
    subt = Radio.model_validate({"preset": "subt"})
    far = Propagation(subt, 1, "t").links(pair(world, (-250, 0), (250, 0)))
    assert far.power_dbm == pytest.approx(-87.47, abs=0.01)
    assert subt.decoded(far.power_dbm, np.array([100.0])) < 1e-5


def test_packets_are_decoded_by_their_bits():
    radio = Radio(receiver="qpsk", noise_dbm=-90.0)
    snr = 10.0**0.6
    wrong = math.erfc(math.sqrt(snr))
    got = radio.decoded(np.full(2, -84.0), np.array([10.0, 100.0]))
    assert got == pytest.approx([(1 - wrong) ** 80, (1 - wrong) ** 800])


@pytest.mark.parametrize(
    "model",
    [Disc(range_m=8), LineOfSight(), WallLength(max_m=1.0), Materials(), MultiWall(), LogDistance(same_within_m=2.0)],
)
def test_links_are_the_same_in_both_directions(model):
    world = messy()
    xy = generator(3, "xy").uniform(-1, 8, (30, 2))
    air = Propagation(Radio(links=(model,), range_m=30.0), 5, "t")
    a, b = np.triu_indices(30, 1)
    there = air.links(Pairs.of(world, xy, a, b))
    back = air.links(Pairs.of(world, xy[::-1].copy(), 29 - b, 29 - a))
    np.testing.assert_allclose(there.probability, back.probability)
    if there.power_dbm is not None:
        np.testing.assert_allclose(there.power_dbm, back.power_dbm)


def test_shadowing_stays_with_the_place():
    world = World.empty(60, 60, resolution_m=1.0)
    xy = generator(3, "xy").uniform(-25, 25, (100, 2))
    model = LogDistance(sigma_db=8.0, exponent=2.0, same_within_m=5.0)
    air = Propagation(Radio(links=(model,), sensitivity_dbm=-200.0), 5, "t")
    a, b = np.triu_indices(100, 1)
    first = air.links(Pairs.of(world, xy, a, b))
    inside = np.floor(xy / 5.0) * 5.0 + 2.5  # the same squares, other places in them
    second = air.links(Pairs.of(world, inside, a, b))
    loss = 15.0 - first.power_dbm - (40.0 + 20.0 * np.log10(np.maximum(first.distance_m, 1.0)))
    other = 15.0 - second.power_dbm - (40.0 + 20.0 * np.log10(np.maximum(second.distance_m, 1.0)))
    np.testing.assert_allclose(loss, other, atol=1e-9)
    assert loss.std() == pytest.approx(8.0, rel=0.05)
    assert loss.mean() == pytest.approx(0.0, abs=0.5)


@pytest.mark.parametrize(("to_bad", "to_good"), [(0.05, 0.3), (0.4, 0.9), (0.0, 0.5)])
def test_the_state_of_a_link_is_that_of_a_chain_walked_step_by_step(to_bad, to_good):
    key = stream_key(4, "chain")
    slots = np.arange(40)
    got = bad_states(key, np.full(40, 7), slots, to_bad, to_good)
    assert got.tolist() == bad_states_reference(key, 7, 40, to_bad, to_good)


def test_a_burst_is_as_long_as_the_chain_says():
    bad = bad_states(stream_key(4, "chain"), np.full(200_000, 3), np.arange(200_000), 0.05, 0.3)
    ends = np.count_nonzero(bad[:-1] & ~bad[1:])
    assert bad.mean() == pytest.approx(GilbertElliott().stationary_loss, rel=0.02)  # 1/7
    assert bad.sum() / ends == pytest.approx(1.0 / 0.3, rel=0.02)


RADIO = TypeAdapter(Radio)


def test_files_name_link_models(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from covey.comms.links import LinkModel\n"
        "import numpy as np\n"
        "class Half(LinkModel):\n"
        "    share: float = 0.5\n"
        "    def probability(self, pairs):\n"
        "        return np.full(len(pairs), self.share)\n"
        "def near(distance, through):\n"
        "    return distance < 10\n"
    )
    record = RADIO.validate_python(
        {"links": ["line_of_sight", {"disc": {"range_m": 20}}, {"./mine.py:Half": {"share": 0.25}}, "./mine.py:near"]},
        context={"folder": tmp_path},
    )
    assert [type(m).__name__ for m in record.links] == ["LineOfSight", "Disc", "Half", "WallLength"]
    found = Propagation(record, 1, "t").links(pair(walls(), (1, 1), (5, 1)))
    assert found.probability == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("links", "message"),
    [
        (["disk"], "unknown link 'disk', did you mean 'disc'?"),
        ([{"disc": {"range": 3}}], "unknown key 'range', did you mean 'range_m'?"),
        ([{"disc": {"range_m": -3}}], "be greater than or equal to 0"),
        ([3], "must be one name"),
        ([{"wall_length": {"function": "x"}}], "must be a function, or ./mine.py:name"),
        (["./nothing.py:Half"], "no file 'nothing.py'"),
    ],
)
def test_bad_link_models_say_what_is_wrong(links, message):
    with pytest.raises(ValidationError) as caught:
        RADIO.validate_python({"links": links})
    assert message in str(caught.value)


def test_after_many_edits_rays_go_through_what_is_there():
    rng, names = generator(4, "edits"), ("brick", "wood")
    cells, made_of = (rng.random((150, 90)) < 0.05).astype(np.uint8), rng.integers(0, 2, (150, 90)).astype(np.uint8)
    world = WorldState(World(Grid(cells, 0.1), materials=made_of, material_names=names))
    xy = rng.uniform((0.0, 0.0), (9.0, 15.0), (40, 2))
    a, b = np.triu_indices(40, 1)
    for k in range(12):
        for _ in range(0 if k == 5 else (1, 1, 70)[k % 3]):  # 70: more than are known one by one
            high, wide = rng.integers(1, 12, 2)
            row, column = rng.integers(0, 150 - high), rng.integers(0, 90 - wide)
            solid, made = rng.random((high, wide)) < 0.4, rng.integers(0, 3, (high, wide)).astype(np.uint8)
            world.edit(row, column, solid.astype(np.uint8), made % len(names) if k % 2 else None)
        if k == 5:  # no edit, but air is another material
            names = ("brick", "wood", "metal")
            world.allow_materials(names)
        anew = World(Grid(world.grid.cells.copy(), 0.1), materials=world.materials.copy(), material_names=names)
        old, new = Pairs.of(world, xy, a, b), Pairs.of(anew, xy, a, b)
        costs = {"brick": 1.0, "wood": 2.0}, {"brick": 0.5, "metal": 0.1}, (0.0, 0.0), np.full(len(a), np.inf)
        np.testing.assert_array_equal(old.wall_loss(*costs), new.wall_loss(*costs))
        if k % 4:  # sides are asked for now and then
            np.testing.assert_array_equal(old.walls(), new.walls())
        np.testing.assert_array_equal(old.in_sight, new.in_sight)
