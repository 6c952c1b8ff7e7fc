import math

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.geometry.beams import crossed_cells
from covey.geometry.grid import Grid
from covey.geometry.se2 import Pose
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.records import Mapping

RIGHT = (0.0, 0.0, 0.0)


def one(size=(6.4, 6.4), **mapping):
    return Beliefs(["scout"], size, (0.0, 0.0), Mapping(resolution_m=0.2, **mapping))[0]


def see(belief, distance, step=0, pose=(1.1, 1.1, 0.0), angle=0.0, range_m=10.0):
    return belief.update(pose, np.array([distance]), np.array([angle]), RIGHT, range_m, step)


def test_a_beam_frees_its_way_and_hits_the_wall_it_ends_on():
    belief = one()
    see(belief, 0.9)  # from cell 5 to a wall whose face is at x = 2.0, the edge of cell 10
    assert belief.occupancy()[5, 5:10].tolist() == [0] * 5
    assert belief.occupancy()[5, 10] == 100
    assert (belief.occupancy() >= 0).sum() == 6


@pytest.mark.parametrize(("face", "cell"), [(2.09, 10), (2.11, 11)])
def test_a_cell_is_wall_when_wall_fills_more_than_half_of_it(face, cell):
    belief = one()
    see(belief, face - 1.1)
    assert np.flatnonzero(belief.occupancy()[5] == 100).tolist() == [cell]
    assert np.flatnonzero(belief.occupancy()[5] == 0).tolist() == list(range(5, cell))


def test_evidence_is_octomaps():
    belief = one()
    see(belief, 0.9)
    assert belief.probability()[5, 10] == pytest.approx(1 / (1 + math.exp(-0.85)))
    assert belief.probability()[5, 7] == pytest.approx(1 / (1 + math.exp(0.4)))
    assert belief.probability()[0, 0] == 0.5
    for step in range(10):
        see(belief, 0.9, step)
    assert belief.probability()[5, 10] == pytest.approx(1 / (1 + math.exp(-3.5)))
    assert belief.probability()[5, 7] == pytest.approx(1 / (1 + math.exp(2.0)))


def test_a_false_hit_is_cleared_by_later_misses():
    belief = one()
    for step in range(20):
        see(belief, 0.5, step)  # another robot stands there
    blocked = np.flatnonzero(belief.occupancy()[5] == 100)
    for step in range(9):  # 3.5 / 0.4 = 8.75
        assert belief.occupancy()[5, blocked[0]] == 100
        see(belief, 3.0, step)
    assert belief.occupancy()[5, blocked[0]] == 0


@pytest.mark.parametrize("reading", [math.nan, 0.0, -1.0])
def test_no_measurement_changes_nothing(reading):
    belief = one()
    see(belief, reading)
    assert (belief.occupancy() == -1).all()
    assert belief.version == 0


def test_no_return_frees_up_to_the_range_or_the_bound():
    assert see_free(one(), math.inf, 2.0) == list(range(5, 16))
    assert see_free(one(max_free_m=1.0), math.inf, 2.0) == list(range(5, 11))


def test_a_return_beyond_the_believed_range_only_clears_the_way():
    belief = one(max_range_m=1.0)
    assert see_free(belief, 1.8, 2.0) == list(range(5, 11))
    assert not belief.occupied.any()


def see_free(belief, distance, range_m):
    see(belief, distance, range_m=range_m)
    return np.flatnonzero(belief.occupancy()[5] == 0).tolist()


def test_hit_wins_over_free_within_a_scan_and_each_cell_counts_once():
    belief = one()
    angles = np.radians(np.linspace(-3, 3, 30))
    belief.update((1.1, 1.1, 0.0), np.full(30, 1.0), angles, RIGHT, 10.0, 0)
    assert set(np.unique(belief.log_odds).tolist()) == {-8, 0, 17}


def test_last_seen_is_the_step_of_the_last_beam():
    belief = one()
    see(belief, 0.9, step=0)
    see(belief, 0.4, step=7)
    assert belief.last_seen[5, 5] == 7
    assert belief.last_seen[5, 10] == 0
    assert belief.last_seen[0, 0] == -1


def test_scans_of_a_robot_that_hardly_moved_are_skipped():
    belief = one(min_motion_m=0.5, min_turn_deg=10.0)
    assert see(belief, 1.0, pose=(1.1, 1.1, 0.0))
    assert not see(belief, 1.0, pose=(1.5, 1.1, 0.0))
    assert see(belief, 1.0, pose=(1.5, 1.1, math.radians(11)))
    assert see(belief, 1.0, pose=(2.01, 1.1, math.radians(11)))


def test_a_scan_is_what_the_plain_reference_says():
    rng = np.random.default_rng(3)
    team = Beliefs(["a", "b"], (6.0, 9.0), (-2.0, -3.0), Mapping(resolution_m=0.1))
    expected = np.zeros(team.grid.shape, int)
    angles, mount = np.sort(rng.uniform(-3, 3, 40)), (0.1, -0.05, 0.3)
    for step in range(12):
        pose = np.array([rng.uniform(-1, 3), rng.uniform(-2, 5), rng.uniform(-3, 3)])
        ranges = np.where(rng.random(40) < 0.2, np.inf, rng.uniform(0.05, 4.0, 40))
        team.update(np.array([1]), pose[None], ranges[None], angles, mount, 4.0, step)
        expected = plain_update(expected, team.grid, Pose(*pose) @ Pose(*mount), ranges, angles, 4.0)
    np.testing.assert_array_equal(team[1].log_odds, expected)
    np.testing.assert_array_equal(team[1].occupancy(), np.select([expected > 0, expected < 0], [100, 0], -1))
    assert not team[0].log_odds.any()


def plain_update(evidence, grid, sensor, ranges, angles, range_m):
    free, hits = set(), set()
    u, v = (sensor.x - grid.origin[0]) / grid.resolution, (sensor.y - grid.origin[1]) / grid.resolution
    x, y = ranges * np.cos(angles), ranges * np.sin(angles)  # returns in the frame of the sensor
    for i, (r, angle) in enumerate(zip(ranges, angles + sensor.heading, strict=True)):
        reach = range_m / grid.resolution
        if not math.isinf(r):
            surfaces = []  # for each neighbour with a return: angle of the line through both from the beam, 0 to pi
            for j in (i - 1, i + 1):
                if 0 < i < len(ranges) - 1 and math.isfinite(ranges[j]):
                    surfaces.append((math.atan2(y[j] - y[i], x[j] - x[i]) - angles[i]) % math.pi)
            wider = min(surfaces, key=lambda turn: abs(turn - math.pi / 2), default=math.pi / 2)
            sides = {turn < math.pi / 2 for turn in surfaces}
            normal = angle + (wider - math.pi / 2 if len(surfaces) == 2 and len(sides) == 1 else 0.0)
            half = 0.5 * (abs(math.cos(normal)) + abs(math.sin(normal)))
            reach = max(r / grid.resolution - (half + 0.01) / max(math.sin(wider), 1 / 20), 0.0)
            end_u = u + r / grid.resolution * math.cos(angle) + (half - 0.01) * math.cos(normal)
            end_v = v + r / grid.resolution * math.sin(angle) + (half - 0.01) * math.sin(normal)
            hits.add((math.floor(end_v), math.floor(end_u)))
        free |= crossed_cells(u, v, u + reach * math.cos(angle), v + reach * math.sin(angle))
    evidence = evidence.copy()
    for cells, delta, sign in ((free - hits, -8, -1), (hits, 17, 1)):
        for r, c in cells:
            if 0 <= r < grid.shape[0] and 0 <= c < grid.shape[1]:
                evidence[r, c] = min(max(evidence[r, c] + delta, -40), 70) or sign
    return evidence


def test_a_wall_that_beams_graze_is_never_taken_for_free():
    # The wall begins at y = 1.1, in the middle of the cells from 1.0 to 1.2 m: until they end on it, beams run through
    # the free half of these cells. One beam in eight ends in a given cell of them 10 m ahead, the others cross it.
    belief = one(size=(32.0, 6.4))
    angles = np.radians(np.linspace(-95, 95, 180))
    with np.errstate(divide="ignore"):
        distance = np.where(angles > 0, 1.0 / np.sin(angles), np.inf)
    grid = belief.grid
    for step in range(60):
        x = 1.0 + 0.12 * step
        ranges = np.where((distance < 25) & (x + distance * np.cos(angles) < 24), distance, np.inf)
        belief.update((x, 0.1, 0.0), ranges, angles, (0, 0, 0), 25.0, step)
    row, column = grid.to_cells((5.0, 1.1))
    wall = belief.occupancy()[row, column : grid.to_cells((20.0, 1.1))[1]]
    assert not (wall == 0).any()
    assert (wall == 100).mean() > 0.9


def test_the_version_moves_only_with_the_states_and_names_the_tiles():
    belief = one(size=(12.8, 6.4))
    see(belief, math.inf, range_m=4.0)
    first = belief.version
    see(belief, math.inf, step=1, range_m=4.0)  # more certain, same states
    assert belief.version == first == 1
    unknown = belief.unknown
    assert belief.unknown is unknown
    see(belief, math.inf, step=2, range_m=7.0)  # on into the second tile
    assert belief.version == 2
    assert belief._beliefs.tile_changed[0].tolist() == [2, 2]
    assert belief.unknown.sum() < unknown.sum()
    assert (belief.unknown.sum() + belief.free.sum() + belief.occupied.sum()) == 32 * 64


def test_known_share_is_over_the_mask():
    belief = one()
    see(belief, 0.9)
    mask = np.zeros(belief.grid.shape, bool)
    mask[5, :12] = True
    assert belief.known_share(mask) == 6 / 12
    assert math.isnan(belief.known_share(np.zeros_like(mask)))


def test_a_belief_covers_a_turned_world():
    world = Grid(np.zeros((40, 100), np.uint8), 0.1, (5.0, -3.0, 0.8))
    team = Beliefs.covering(world, ["a"], Mapping(resolution_m=0.2), margin_m=1.0)
    corners = world.to_world(np.array([(-0.5, -0.5), (-0.5, 99.5), (39.5, -0.5), (39.5, 99.5)]))
    for dx, dy in [(0.99, 0.99), (-0.99, -0.99)]:
        assert team.grid.inside(team.grid.to_cells(corners + np.array([dx, dy]))).all()


def test_bad_sizes_are_refused():
    with pytest.raises(InvalidValueError, match="two positive lengths"):
        Beliefs(["a"], (0.0, 3.0))
    with pytest.raises(InvalidValueError, match="1 to 32767 can"):
        Beliefs([str(i) for i in range(32768)], (3.0, 3.0))
    with pytest.raises(ValueError, match="use a multiple"):
        Mapping(hit_log_odds=0.87)


def test_a_map_that_is_too_fine_is_refused_before_it_takes_memory():
    with pytest.raises(
        InvalidValueError, match=r"of 11488 x 11488 cells is too large, at most 40,000,000 .*resolution_m"
    ):
        Beliefs(["scout"], (80.2, 80.2), (0.0, 0.0), Mapping(resolution_m=0.007))
