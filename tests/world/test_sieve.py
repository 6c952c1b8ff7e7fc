"""The sieve never leaves out a beam that crosses a cell where something is left to explore."""

import math

import numpy as np
import pytest

from covey.geometry.beams import crossed_cells
from covey.geometry.grid import Grid
from covey.geometry.raycast import cast_ray_reference
from covey.world.explored import ExploredTruth
from covey.world.sieve import BLOCK, block_bits, closed_bits, fan, sieve


def test_the_bits_of_a_line_of_blocks_are_in_words_that_overlap():
    blocks = np.random.default_rng(3).random((5, 70)) < 0.5
    bits = block_bits(blocks, True)
    assert bits.shape == (2, 70, 3)
    for row, column in np.ndindex(5, 70):
        for side, line, bit in ((0, row, column), (1, column, row)):
            for word in {bit >> 5, max((bit >> 5) - 1, 0)}:
                if bit - 32 * word < 64:
                    assert (bits[side, line, word] >> (bit - 32 * word)) & 1 == blocks[row, column]


def test_blocks_are_closed_where_walls_fill_them_or_the_array_ends():
    solid = np.zeros((6, 9), bool)
    solid[0:4, 4:8] = True
    solid[4:, :3] = True
    closed = closed_bits(solid, (2, 4))[0, :2, 0]
    assert [[int(row >> k) & 1 for k in range(4)] for row in closed] == [[0, 1, 0, 1], [0, 0, 0, 1]]


def test_beams_of_a_cone_keep_together_and_none_is_lost():
    angles = np.radians(np.linspace(-95.0, 95.0, 180))
    beams = fan(angles)
    assert beams.first[0] == 0
    assert beams.first[-1] == 180
    spread = np.arccos(np.clip((beams.edges[:, :2] * beams.edges[:, 2:]).sum(axis=1), -1.0, 1.0))
    assert (spread <= math.radians(10.0) + 1e-9).all()
    assert len(beams.edges) < 25


@pytest.mark.parametrize("seed", range(12))
def test_no_beam_that_finds_something_is_left_out(seed):
    rng = np.random.default_rng(seed)
    solid = np.kron(rng.random((9, 13)) < 0.35, np.ones((7, 6))).astype(bool)
    left = (rng.random((16, 20)) < 0.03).repeat(4, axis=0).repeat(4, axis=1)[: solid.shape[0], : solid.shape[1]]
    grid = Grid(solid.astype(np.uint8), 0.25, (1.0, -2.0, 0.3))
    shape = (-(-solid.shape[0] // BLOCK), -(-solid.shape[1] // BLOCK))
    padded = np.zeros((shape[0] * BLOCK, shape[1] * BLOCK), bool)
    padded[: solid.shape[0], : solid.shape[1]] = left
    blocks = padded.reshape(shape[0], BLOCK, shape[1], BLOCK).any(axis=(1, 3))
    angles, reach = -math.pi + np.arange(90) * math.radians(4.0), 9.0
    free = np.argwhere(~solid)
    cells = free[rng.integers(0, len(free), 6)] + rng.uniform(-0.5, 0.5, (6, 2))
    poses = np.column_stack((grid.to_world(cells), rng.uniform(-3, 3, 6)))
    ranges = np.array(
        [[cast_ray_reference(solid, grid.frame, x, y, a + h, reach) for a in angles] for x, y, h in poses.tolist()]
    )
    wanted = {}
    for known in (np.zeros((0, 0)), ranges):
        wanted[known.size > 0] = out = np.ones((6, 90), np.uint8)
        opened, closed = block_bits(blocks[None], False), closed_bits(solid, shape)
        place = np.zeros(3), 0, grid.frame, np.array(shape)
        sieve(np.zeros(6, np.int64), poses, known, reach, fan(angles), *place, opened, closed, np.array([9]), 10, out)
    for k, (x, y, h) in enumerate(poses.tolist()):
        c, s = math.cos(-0.3), math.sin(-0.3)
        u, v = (c * (x - 1.0) - s * (y + 2.0)) / 0.25, (s * (x - 1.0) + c * (y + 2.0)) / 0.25
        for i, angle in enumerate(angles + h - 0.3):
            length = ranges[k, i] / 0.25
            crossed = crossed_cells(u, v, u + length * math.cos(angle), v + length * math.sin(angle))
            if any(0 <= r < left.shape[0] and 0 <= c < left.shape[1] and left[r, c] for r, c in crossed):
                assert wanted[False][k, i]
                assert wanted[True][k, i]
    assert wanted[True].mean() < 0.8


def test_beams_that_nobody_else_reads_explore_the_same():
    rng = np.random.default_rng(5)
    solid = np.kron(rng.random((12, 12)) < 0.3, np.ones((5, 5))).astype(bool)
    grid = Grid(~solid, 0.2)
    whole, sieved = (ExploredTruth(grid, 2, 7, solid) for _ in range(2))
    angles, mount = -math.pi + np.arange(60) * math.radians(6.0), (0.0, 0.0, 0.0)
    free = np.argwhere(~solid)
    for step in range(40):
        place = grid.to_world(free[rng.integers(0, len(free), 2)] + rng.uniform(-0.4, 0.4, (2, 2)))
        poses, robots = np.column_stack((place, rng.uniform(-3, 3, 2))), np.arange(2)
        ranges = np.array(
            [[cast_ray_reference(solid, grid.frame, x, y, a + h, 5.0) for a in angles] for x, y, h in poses.tolist()]
        )
        whole.mark(robots, poses, ranges, angles, mount, step)
        wanted = sieved.wanted(robots, poses, 5.0, angles, mount, step)
        sieved.mark(robots, poses, np.where(wanted > 0, ranges, np.nan), angles, mount, step, wanted)
        np.testing.assert_array_equal(sieved.share_each, whole.share_each)
    np.testing.assert_array_equal(sieved.first_step, whole.first_step)
