"""The estimate of the memory of a run, beside the sizes of the arrays that it stands for."""

import numpy as np
import pytest

import covey
from covey.errors import InvalidValueError
from covey.mapping.elevation.kernels import EVIDENCE
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.occupancy.tiles import TILE
from covey.onboard.controller import Program
from covey.onboard.driving import Driving
from covey.onboard.navigation import route
from covey.onboard.navigation.route import ground
from covey.runtime import memory
from covey.runtime.memory import ALTITUDES, ROUTE, Crew, parts_of

WORLD = covey.World.empty(60, 60, resolution_m=0.2)
ALONE = {"shares": False, "own_frames": False, "processes": False, "timeout_s": 100.0}


def crew(count, program="nearest_frontier", start=(0.0, 0.0, 0.0), **mapping):
    robot = covey.robots.pioneer3dx()
    robot = robot.model_copy(update={"mapping": robot.mapping.model_copy(update=mapping)})
    return Crew(robot, np.tile(np.array(start), (count, 1)), None if program is None else Program(program))


def test_the_thousand_pioneers_that_the_kernel_killed_at_23_gb():
    """A cave of 387 m, maps of 0.2 m: 22.7 GB were in use when the run was killed, most of it for routes."""
    world = covey.World.empty(387, 387, resolution_m=1.0)
    found = parts_of(world, [crew(1000)], **ALONE | {"shares": True})
    assert 0.8 * sum(found.values()) <= 22.7e9 * 1.2
    assert sum(found.values()) >= 0.8 * 22.7e9
    assert max(found, key=lambda name: found[name]) == "their routes"


def test_a_robot_that_plans_routes_takes_the_bytes_of_its_arrays():
    beliefs = Beliefs.covering(WORLD.grid, ["a"], crew(1).robot.mapping)
    cells, cost = ground(beliefs.grid, (0.0, 0.0), 0.3, Driving(), np.empty((0, 2)))
    assert len(route._held[beliefs.grid]) == 1
    found = parts_of(WORLD, [crew(1)], **ALONE)
    assert found["their routes"] == cells.nbytes + cost.nbytes == ROUTE * beliefs.grid.cells.size


@pytest.mark.parametrize("program", ["random_ballistic_walk", "wander", "still", "consensus", None])
def test_robots_without_routes_take_none(program):
    assert parts_of(WORLD, [crew(10, program)], **ALONE)["their routes"] == 0


def test_maps_grow_with_robots_cells_sharing_and_unknown_starts():
    def maps(count=10, resolution_m=0.2, **options):
        of = crew(count, resolution_m=resolution_m, start=(20.0, 0.0, 0.0))
        return parts_of(WORLD, [of], **ALONE | {"timeout_s": 1.0} | options)["the maps of the robots"]

    assert maps(20) == 2 * maps(10)
    assert maps(resolution_m=0.1) == pytest.approx(4 * maps(), rel=0.1), "whole tiles"
    assert maps(shares=True) > maps()
    assert maps(own_frames=True) > 0.9 * (100 / 60) ** 2 * maps(), "50 m to the far wall, both ways"


def test_the_sizes_are_those_of_the_types():
    assert 2 * EVIDENCE.itemsize + 8 + 8 + 1 + 1 + 2 == ALTITUDES
    assert memory._TILE == TILE


def test_a_simulation_that_is_too_large_is_refused_before_it_is_made():
    group = covey.Group("r", covey.robots.pioneer3dx(), np.zeros((30_000, 3)), "nearest_frontier")
    with pytest.raises(InvalidValueError, match=r"a team of 30000 \(.* GB, their routes .* GB\) takes about"):
        covey.Simulation(WORLD, [group])
