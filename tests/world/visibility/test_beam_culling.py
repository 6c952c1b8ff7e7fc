"""The sieve never leaves out a beam that crosses a cell where something is left to explore."""

import math
import tracemalloc

import numpy as np
import pytest
from tests.references.geometry import cast_ray_reference

from covey.geometry.beams import crossed_cells
from covey.geometry.grid import Grid
from covey.geometry.raycast import skip_field
from covey.geometry.se2 import Pose
from covey.world.visibility.beam_culling import block_bits, closed_bits, fan, update_closed
from covey.world.visibility.explored import ExploredTruth


def test_the_bits_of_a_line_of_blocks_are_in_words_that_overlap():
    blocks = np.random.default_rng(3).random((5, 70)) < 0.5
    bits = block_bits(blocks, True)
    by_row, by_column = bits[: 5 * 3].reshape(5, 3), bits[5 * 3 :].reshape(70, 1)
    for row, column in np.ndindex(5, 70):
        for lines, line, bit in ((by_row, row, column), (by_column, column, row)):
            for word in {bit >> 5, max((bit >> 5) - 1, 0)}:
                if bit - 32 * word < 64:
                    assert (lines[line, word] >> (bit - 32 * word)) & 1 == blocks[row, column]


def test_blocks_are_closed_where_walls_fill_them_or_the_array_ends():
    solid = np.zeros((6, 9), bool)
    solid[0:4, 4:8] = True
    solid[4:, :3] = True
    closed = closed_bits(solid)[:2]
    assert [[int(row >> k) & 1 for k in range(4)] for row in closed] == [[0, 1, 0, 1], [0, 0, 0, 1]]


def test_blocks_that_open_or_close_change_their_own_bits_alone():
    draw = np.random.default_rng(3)
    for shape in ((7, 9), (150, 3), (5, 290), (270, 300)):
        solid = draw.random(shape) < 0.97
        closed = closed_bits(solid)
        for _ in range(40):
            (row0, row1), (column0, column1) = (np.sort(draw.choice(side + 1, 2, replace=False)) for side in shape)
            solid[row0:row1, column0:column1] = draw.random() < 0.7
            update_closed(closed, solid, row0, row1, column0, column1)
            assert np.array_equal(closed, closed_bits(solid))


@pytest.mark.parametrize("shape", [(3, 20_000), (20_000, 3)])
def test_a_long_narrow_world_takes_memory_in_proportion_to_its_cells(shape):
    free = np.ones(shape, bool)
    tracemalloc.start()
    ExploredTruth(Grid(free, 1.0), 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * free.size  # a bit for each pair of blocks along the long side would be 780


def test_beams_of_a_cone_keep_together_and_none_is_lost():
    angles = np.radians(np.linspace(-95.0, 95.0, 180))
    beams = fan(angles)
    assert beams.first[0] == 0
    assert beams.first[-1] == 180
    spread = np.arccos(np.clip((beams.edges[:, :2] * beams.edges[:, 2:]).sum(axis=1), -1.0, 1.0))
    assert (spread <= math.radians(10.0) + 1e-9).all()
    assert len(beams.edges) < 25


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("known", [True, False])
def test_beams_explore_every_cell_that_they_cross(seed, known):
    rng = np.random.default_rng(seed)
    solid = np.kron(rng.random((9, 13)) < 0.35, np.ones((7, 6))).astype(bool)
    left = (rng.random((16, 20)) < 0.03).repeat(4, axis=0).repeat(4, axis=1)[: solid.shape[0], : solid.shape[1]]
    grid, mount = Grid(solid.astype(np.uint8), 0.25, (1.0, -2.0, 0.3)), (0.1, -0.2, 0.4)
    angles, reach = -math.pi + np.arange(90) * math.radians(4.0), 9.0
    free = np.argwhere(~solid)
    truth = ExploredTruth(grid.with_cells(~solid), 6, 99, solid)
    truth.mark(np.arange(6), np.zeros((6, 3)), np.zeros((6, 90)), angles, mount, 98)  # all beams are marked, once
    robot, cell = np.nonzero(np.tile(~left.reshape(-1), (6, 1)))
    truth.mark_cells(robot, cell, 98)
    for k in range(6):
        sensor = Pose(*grid.to_world(free[rng.integers(0, len(free))] + rng.uniform(-0.5, 0.5, 2)), rng.uniform(-3, 3))
        body = sensor @ Pose(*mount).inverse()
        ranges = [cast_ray_reference(solid, grid.frame, sensor.x, sensor.y, a + sensor.heading, reach) for a in angles]
        if known:
            truth.mark([k], np.array([body]), np.array([ranges]), angles, mount, 99)
        else:
            truth.cast_and_mark([k], np.array([body]), skip_field(solid), reach, angles, mount, 99)
        crossed = np.zeros(solid.shape, bool)
        in_grid = Pose(*grid.origin).inverse() @ sensor
        u, v = in_grid.x / 0.25, in_grid.y / 0.25
        for r, a in zip(np.array(ranges) / 0.25, angles + in_grid.heading, strict=True):
            for cell in crossed_cells(u, v, u + r * math.cos(a), v + r * math.sin(a)):
                if r > 0 and 0 <= cell[0] < solid.shape[0] and 0 <= cell[1] < solid.shape[1]:
                    crossed[cell] = True
        np.testing.assert_array_equal(truth.explored(k), ~solid & (crossed | ~left))


def test_beams_that_nobody_else_reads_explore_the_same():
    rng = np.random.default_rng(5)
    solid = np.kron(rng.random((12, 12)) < 0.3, np.ones((5, 5))).astype(bool)
    grid, skip = Grid(~solid, 0.2), skip_field(solid)
    known, cast = (ExploredTruth(grid, 2, 7, solid) for _ in range(2))
    angles, mount = -math.pi + np.arange(60) * math.radians(6.0), (0.0, 0.0, 0.0)
    free = np.argwhere(~solid)
    for step in range(40):
        place = grid.to_world(free[rng.integers(0, len(free), 2)] + rng.uniform(-0.4, 0.4, (2, 2)))
        poses, robots = np.column_stack((place, rng.uniform(-3, 3, 2))), np.arange(2)
        ranges = np.array(
            [[cast_ray_reference(solid, grid.frame, x, y, a + h, 5.0) for a in angles] for x, y, h in poses.tolist()]
        )
        known.mark(robots, poses, ranges, angles, mount, step)
        cast.cast_and_mark(robots, poses, skip, 5.0, angles, mount, step)
        np.testing.assert_array_equal(cast.share_each, known.share_each)
    np.testing.assert_array_equal(cast.first_step, known.first_step)


def test_a_cone_reaches_as_far_as_the_beam_in_its_middle():
    goal = np.zeros((44, 90), bool)
    goal[20:24, 80] = True
    truth = ExploredTruth(Grid(goal, 0.25), 1)
    angles = np.radians([-4.5, 0.0, 4.5])
    for step in range(2):  # in the first, all beams are marked
        truth.mark([0], np.array([[0.125, 5.4, 0.0]]), np.full((1, 3), 19.9 * step), angles, (0, 0, 0), step)
    assert truth.share_union == 0.25
