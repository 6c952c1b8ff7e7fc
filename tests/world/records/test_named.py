"""The named worlds: five floors for rescue with five targets each."""

import math

import numpy as np
import pytest

from covey.scenario.build import set_up
from covey.scenario.load import parse_scenario
from covey.testing import check_world
from covey.world.records.named import NamedWorld
from covey.world.world import WALL

NAMES = [f"rescue_{i}" for i in range(1, 6)]
TEXT = (
    "seed: {}\nworld: {{named: {}}}\n{}robots: [{{robot: turtlebot3_waffle, count: 2, start: [[0, 1, 0], [0, -1, 0]]}}]"
)


@pytest.mark.parametrize("name", NAMES)
def test_each_has_five_targets_on_faces_that_the_robots_can_see(name):
    ready = set_up(parse_scenario(TEXT.format(0, name, "")))
    assert ready.world.name == name
    assert ready.world.wall_height_m == 2.5
    targets = ready.targets
    assert targets.identities.tolist() == [0, 1, 2, 3, 4]
    assert sorted(targets.kinds) == ["big_fire", "small_fire", "small_fire", "small_fire", "victim"]
    behind = ready.world.grid.to_cells(targets.positions[:, :2] - 0.1 * targets.normals)
    before = ready.world.grid.to_cells(targets.positions[:, :2] + 0.1 * targets.normals)
    assert (ready.world.grid.cells[tuple(behind.T)] == WALL).all()
    assert ready.world.free[tuple(before.T)].all()
    for i in range(5):
        for j in range(i):
            assert math.dist(targets.positions[i], targets.positions[j]) > 2.0
        assert math.hypot(*targets.positions[i, :2]) > 3.5


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_their_targets_survive_all_damage(name):
    places = set_up(parse_scenario(TEXT.format(0, name, ""))).targets.positions
    for seed in (NAMES.index(name), 7):
        ready = set_up(parse_scenario(TEXT.format(seed, name, "damage: {rubble: 20}\n")))
        np.testing.assert_array_equal(ready.targets.positions, places)


def test_targets_of_a_scenario_replace_those_of_the_world():
    ready = set_up(parse_scenario(TEXT.format(0, "rescue_1", "targets: [{draw: victim, count: 3}]\n")))
    assert ready.targets.kinds == ("victim",) * 3


def test_the_five_are_different_and_do_not_go_by_the_seed():
    records = [NamedWorld.model_validate({"named": name}) for name in NAMES]
    for record in records:
        check_world(record)
    cells = {record.build(None, seed).grid.cells.tobytes() for record in records for seed in (1, 2)}  # type: ignore
    assert len(cells) == 5
