"""The parts of a terrain team alone: its places, turns on the spot, and the ground that it plans on."""

import math
from types import SimpleNamespace

import numpy as np

from covey.controllers.terrain.terrain_formation import FormationPlaces
from covey.controllers.terrain.terrain_ground import DrivableGround, edges_of
from covey.controllers.terrain.terrain_turning import Turning
from covey.geometry import Grid, Pose


def test_who_is_nearest_gets_a_place_and_who_is_lost_leaves_a_gap():
    order = SimpleNamespace(slots=lambda count: np.array([[2.0 * k, 0.0] for k in range(count)]))
    formation = FormationPlaces()
    team = {"a": (4.1, 1.0), "b": (0.1, 1.0), "c": (2.1, 1.0)}
    assert formation.is_due(team, -math.inf)
    formation.deal(order, team, 5.0)
    assert formation.places == {"a": (4.0, 0.0), "b": (0.0, 0.0), "c": (2.0, 0.0)}
    assert not formation.is_due(team, 14.9)
    assert formation.is_due(team, 15.1)  # blocked by a mate, ten seconds after
    assert (formation.leads("a"), formation.leads("b")) == (True, False)
    del team["c"]
    formation.deal(order, team, 20.0)
    assert formation.places == {"a": (4.0, 0.0), "b": (0.0, 0.0)}


def robot(cells, x=2.0, y=2.0, heading=0.0):
    drives = []
    return SimpleNamespace(
        pose=Pose(x, y, heading),
        map=SimpleNamespace(grid=Grid(cells, 0.25)),
        time=0.0,
        model=SimpleNamespace(max_turn_rad_s=2.0),
        drive=lambda v, w: drives.append((v, w)),
        drives=drives,
    )


def test_a_turn_ends_after_its_angle_also_across_half_a_turn():
    turning, one = Turning(), robot(np.zeros((16, 16), np.int8), heading=3.0)
    turning.left, turning._heading = 0.5, 3.0
    assert not turning.step(one)
    assert one.drives == [(0.0, 1.0)]
    one.pose = Pose(2.0, 2.0, 3.3 - math.tau)
    assert not turning.step(one)
    assert math.isclose(turning.left, 0.2)
    one.pose = Pose(2.0, 2.0, 3.6 - math.tau)
    assert turning.step(one)


class Plain(DrivableGround):
    """Ground without the margin, which asks a belief."""

    def __init__(self):
        super().__init__(0.5)
        self._margin = SimpleNamespace(apply=lambda robot, cells: None)


def test_what_held_a_robot_is_bad_ground_for_a_while_and_a_mate_is_driven_around():
    cells = np.zeros((40, 40), np.int8)
    one, ground = robot(cells), Plain()
    straight = ground.ways(one).plan((2.0, 2.0), (8.0, 2.0))
    assert np.allclose(straight[:, 1], 2.0, atol=0.13)
    around = ground.ways(one, [(5.0, 2.0)]).plan((2.0, 2.0), (8.0, 2.0))
    assert np.abs(around[:, 1] - 2.0).max() > 0.4
    assert ground.ways(one).state(5.0, 2.0) == ground.ways(one).state(2.0, 2.0)
    ground.avoid(5.0, 2.0, 10.0)
    assert ground.ways(one).grid.cells[8, 20] == 100
    one.time = 10.1
    assert ground.ways(one).grid.cells[8, 20] == 0
    assert not cells.any()  # the map itself is left alone


def test_edges_are_where_drivable_ground_meets_what_is_not_mapped():
    cells = np.full((24, 24), -1, np.int8)
    cells[4:12, 4:12] = 0
    cells[4:12, 11] = 100
    points = edges_of(Plain().ways(robot(cells)), (2.0, 2.0))
    assert len(points) > 10
    assert points[:, 0].max() < 11 * 0.25
    assert set(np.round(points.min(axis=0) / 0.25 - 0.5).tolist()) == {4.0}
