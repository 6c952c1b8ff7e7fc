"""The estimate of the memory of a run, beside the sizes of the arrays that it stands for."""

import math
from dataclasses import replace

import numpy as np
import pytest

import covey
from covey.controllers.exploration.market import Reached
from covey.errors import InvalidValueError
from covey.geometry import Grid
from covey.mapping.elevation.kernels import EVIDENCE
from covey.mapping.known_map import KnownMap
from covey.mapping.localization import TruePose
from covey.mapping.localizer import Extent
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.occupancy.tiles import TILE
from covey.mapping.particle_localizer import Particles
from covey.mapping.slam.known_map_settings import KnownMapSettings
from covey.mapping.slam.likelihood_field import LikelihoodField
from covey.mapping.slam.local_map import local_map
from covey.mapping.slam.log import Laser
from covey.mapping.slam.particle_maps import TILE as PARTICLE_TILE
from covey.mapping.slam.particle_maps import bytes_of
from covey.mapping.slam.particle_settings import ParticleSettings
from covey.mapping.slam.particles import ParticleSlam
from covey.mapping.slam.surfaces import Cloud
from covey.mapping.slam_localizer import CODE, Slam
from covey.onboard.controller import Program
from covey.onboard.driving import Driving
from covey.onboard.navigation import route
from covey.onboard.navigation.route import MOST_HELD, ground
from covey.random import stream_key
from covey.runtime import memory
from covey.runtime.memory import ALTITUDES, ROUTE, Crew, parts_of

WORLD = covey.World.empty(60, 60, resolution_m=0.2)
ALONE = {"sharing": None, "processes": False, "timeout_s": 100.0}
UNKNOWN = covey.ShareMaps(start_poses="unknown", align_every_s=10.0)


def crew(count, program="nearest_frontier", start=(0.0, 0.0, 0.0), **mapping):
    robot = covey.robots.pioneer3dx()
    robot = robot.model_copy(update={"mapping": robot.mapping.model_copy(update=mapping)})
    return Crew(robot, np.tile(np.array(start), (count, 1)), None if program is None else Program(program))


def test_the_thousand_pioneers_that_the_kernel_killed_at_23_gb():
    """A cave of 387 m, maps of 0.2 m: 22.7 GB were in use when the run was killed, most of it for routes.

    These are bounded in one process since then; processes of controllers have theirs each.
    """
    world = covey.World.empty(387, 387, resolution_m=1.0)
    sharing = {"sharing": covey.ShareMaps()}
    together, apart = (parts_of(world, [crew(1000)], **ALONE | sharing | {"processes": p}) for p in (False, True))
    assert together["their routes"] == pytest.approx(MOST_HELD, rel=0.05)
    assert sum(together.values()) < 10e9
    assert 0.8 * 22.7e9 < sum(together.values()) - together["their routes"] + apart["their routes"] < 1.2 * 22.7e9


def test_a_robot_that_plans_routes_takes_the_bytes_of_its_arrays():
    beliefs = Beliefs.covering(WORLD.grid, ["a"], crew(1).robot.mapping)
    cells, cost = ground(beliefs.grid, (0.0, 0.0), 0.3, Driving(), np.empty((0, 2)))
    assert len(route._held[beliefs.grid]) == 1
    found = parts_of(WORLD, [crew(1)], **ALONE)
    assert found["their routes"] == cells.nbytes + cost.nbytes == ROUTE * beliefs.grid.cells.size


def test_a_trader_takes_the_bytes_of_the_costs_that_it_keeps():
    cells = Beliefs.covering(WORLD.grid, ["a"], crew(1).robot.mapping).grid.shape
    kept = Reached(np.ones(cells, np.float32))  # all of them at most
    with_it, without = (
        parts_of(WORLD, [crew(1, of)], **ALONE)["their routes"] for of in ("market", "nearest_frontier")
    )
    assert with_it - without == kept.cost.nbytes + kept._there.nbytes


@pytest.mark.parametrize("program", ["random_ballistic_walk", "wander", "still", "consensus", None])
def test_robots_without_routes_take_none(program):
    assert parts_of(WORLD, [crew(10, program)], **ALONE)["their routes"] == 0


def test_maps_grow_with_robots_cells_sharing_and_unknown_starts():
    def maps(count=10, resolution_m=0.2, **options):
        of = crew(count, resolution_m=resolution_m, start=(20.0, 0.0, 0.0))
        return parts_of(WORLD, [of], **ALONE | {"timeout_s": 1.0} | options)["the maps of the robots"]

    assert maps(20) == 2 * maps(10)
    assert maps(resolution_m=0.1) == pytest.approx((608 / 320) ** 2 * maps(), rel=0.1), "19 and 10 whole tiles a side"
    assert maps(sharing=covey.ShareMaps()) > maps()
    assert maps(sharing=UNKNOWN) > 0.9 * (100 / 60) ** 2 * maps(), "50 m to the far wall, both ways"


def test_what_robots_explored_counts_in_the_rows_that_they_may_see():
    def truth(count, timeout_s):
        return parts_of(WORLD, [crew(count, None)], **ALONE | {"timeout_s": timeout_s})["the world"]

    cells, alone = WORLD.grid.cells.size, truth(0, 1.0)
    robot, tall = covey.robots.pioneer3dx(), WORLD.grid.size_m[1]
    sees, drives = (2 * robot.sensors[0].range_m + robot.max_speed_m_s) / tall, robot.max_speed_m_s / tall
    assert sees < 0.9
    some = memory.EXPLORED_CELL * sees + memory.COVERED_CELL * drives
    assert truth(10, 1.0) - alone == pytest.approx(10 * cells * some)
    assert truth(1, 1e6) - alone == pytest.approx(cells * 9 / 32)
    blind = Crew(robot.model_copy(update={"sensors": ()}), np.zeros((10, 3)), None)
    found = parts_of(WORLD, [blind], **ALONE | {"timeout_s": 1e6})["the world"]
    assert found - alone == pytest.approx(10 * cells * memory.COVERED_CELL)


def test_the_sizes_are_those_of_the_types():
    assert 2 * EVIDENCE.itemsize + 8 + 8 + 1 + 1 + 2 == ALTITUDES
    assert memory._TILE == TILE


def test_a_simulation_that_is_too_large_is_refused_before_it_is_made():
    group = covey.Group("r", covey.robots.pioneer3dx(), np.zeros((30_000, 3)), "nearest_frontier")
    with pytest.raises(
        InvalidValueError, match=r"a team of 30000 \(the robots .* GB, the maps of the robots .* GB\) takes about"
    ):
        covey.Simulation(WORLD, [group])


LASER = Laser(np.linspace(-math.pi, math.pi, 180, endpoint=False), 20.0)


def test_particles_take_the_bytes_of_their_tiles():
    """A scan of a round room of 10 m: each of five particles has tiles of 1.6 m over it."""
    slam = ParticleSlam(LASER, ParticleSettings(particles=5), stream_key(0, "x"))
    slam.update(np.zeros(3), np.full(180, 10.0))
    store = slam.maps.store
    tile = sum(part[0].nbytes for part in (store.hits, store.visits, store.means, store.full))
    assert bytes_of(PARTICLE_TILE**2) == tile
    used = int((store.references > 0).sum()) * tile
    estimate = Particles(filter={"particles": 5}).memory(Extent(1, 180, 10.0, 0.0, 1e6, 0))
    assert estimate == pytest.approx(used, rel=0.2)
    assert Particles(filter={"particles": 5}).memory(Extent(3, 180, 10.0, 0.0, 1e6, 0)) == 3 * estimate


def test_a_known_map_takes_the_bytes_of_its_field_once_for_all_robots():
    cells = np.zeros((400, 600), np.int8)
    cells[0] = 100
    grid = Grid(cells, 0.2, (0.0, 0.0, 0.0))
    field = LikelihoodField(cells, grid, KnownMapSettings(), 10.0)
    bytes_taken = field.distance.nbytes + field.free.nbytes
    assert KnownMap().memory(Extent(7, 180, 5.0, 0.0, 1e3, cells.size)) == pytest.approx(bytes_taken, rel=0.1)


def test_slam_takes_the_bytes_of_a_local_map_for_each_robot():
    some = np.zeros((1, 2))
    place = local_map(Cloud(some, some, some), (0.0, 0.0), 16.0, 0.05, 0.08)
    bytes_taken = place.levels.nbytes + place.nearest.nbytes
    extent = Extent(4, 0, 5.0, 0.0, 1e3, 0)
    assert Slam().memory(extent) == pytest.approx(CODE + 4 * bytes_taken, rel=0.02)
    assert Slam().memory(extent._replace(beams=180, way_m=300.0)) > Slam().memory(extent) + 4 * 1000 * 180 * 48


def test_what_a_robot_sees_is_measured_in_the_world():
    """In the middle of a hall of 60 m a robot that maps up to 25 m sees a disc; in a room of 10 m it sees the room."""
    halls = [covey.World.empty(side, side, resolution_m=0.2) for side in (60, 10)]
    disc, room = (memory._extent(crew(3, max_range_m=25.0), hall, 3, 1.0).sight_m for hall in halls)
    assert disc == pytest.approx(25.0)
    assert room == pytest.approx(10.0 / math.sqrt(math.pi), rel=0.03)


def test_localization_counts():
    robot = covey.robots.pioneer3dx()
    truth, particles = (
        parts_of(WORLD, [Crew(robot, np.zeros((2, 3)), None, how)], **ALONE) for how in (TruePose(), Particles())
    )
    assert truth["their localization"] == 0.0
    assert particles["their localization"] > 1e9, "30 particles at 5 cm, in a hall that each sees all of"


def test_evidence_of_others_is_held_once_robots_search_for_their_frames_and_slam_does_not_search():
    def maps(localization, timeout_s):
        few = replace(crew(5), localization=localization)
        return parts_of(WORLD, [few], **ALONE | {"sharing": UNKNOWN, "timeout_s": timeout_s})["the maps of the robots"]

    cells = memory._cells(WORLD.grid, crew(1).start, crew(1).robot.mapping.resolution_m, True)
    assert maps(TruePose(), 10.1) - maps(TruePose(), 10.0) == pytest.approx(5 * 4 * memory.HEARD * cells, rel=0.01)
    assert maps(Slam(), 10.1) == pytest.approx(maps(TruePose(), 10.0), rel=0.01)
    assert maps(Slam(team=None), 10.1) == maps(TruePose(), 10.1)


def test_robots_that_do_slam_as_a_team_hold_no_evidence_to_search_in():
    robots = covey.Group("r", covey.robots.pioneer3dx(), [(-2, 0, 0), (2, 1, 2)], "still", localization=Slam())
    sharing = covey.ShareMaps(every_s=0.2, align_every_s=0.5, start_poses="unknown")
    sim = covey.Simulation(covey.World.empty(8, 6), [robots], seed=1, share_maps=sharing, radio=50.0)
    while sim.time < 1.15:
        sim.step()
    (aligning,) = sim.map_exchange.aligning
    assert not any(robot.heard for robot in aligning._robots)
    assert Slam().finds_mates
    sim.close()


@pytest.mark.slow
def test_a_robot_that_does_not_know_the_starts_holds_the_evidence_of_each_other():
    """It looks for the others' frames after 1 s, and keeps what it has compared."""
    robots = covey.Group("r", covey.robots.disc(), [(-2, 0, 0), (0, 0, 1), (2, 1, 2)], "still")
    sharing = covey.ShareMaps(every_s=0.2, align_every_s=1.0, start_poses="unknown")
    sim = covey.Simulation(covey.World.empty(8, 6), [robots], seed=1, share_maps=sharing, radio=50.0)
    while sim.time < 1.15:
        sim.step()
    aligning = sim.map_exchange.aligning[0]
    cells = aligning.maps.grid.cells.size
    for name, robot in zip(sim.names, aligning._robots, strict=True):
        others = [heard.evidence.cells.nbytes for origin, heard in robot.heard.items() if origin != name]
        assert others == [memory.HEARD * cells] * 2
    sim.close()
