"""The terrain team: orders obeyed in the plane and on a landscape, and what it says when it cannot."""

import numpy as np
import pytest

import covey
from covey.controllers import controllers
from covey.controllers.terrain.terrain_looking import Margin
from covey.mapping.records import ElevationMapping
from covey.missions import Formation
from covey.onboard.controller import Program
from covey.scenario.load import parse_scenario
from covey.sensors import Wedge
from covey.world.ground import Ground

START = [(-12.0 + 2 * (i % 3), -2.0 + 2 * (i // 3), 0.0) for i in range(6)]
OUTLINE = [(-15, -6), (15, -6), (15, 6), (-15, 6)]
WALL = [(-1, -3), (1, -3), (1, 6), (-1, 6)]


def team(order, *, obstacles=(WALL,), count=6, timeout_s=120.0, program=None, **options):
    """Return a simulation of discs that see all around in a room, and are to form up."""
    world = covey.World.polygons(OUTLINE, obstacles_m=list(obstacles), resolution_m=0.1)
    group = covey.Group(
        "r", covey.robots.disc(), START[:count], Program(controllers.get("terrain_team"), program or {})
    )
    options = {"share_maps": 1.0, "mission": Formation(**order), "stop": covey.Stop(timeout_s=timeout_s)} | options
    return covey.Simulation(world, [group], seed=1, **options)


def heads(sim):
    return np.degrees(np.angle(np.exp(1j * sim.state.pose[:, 2])))


@pytest.mark.slow
@pytest.mark.parametrize(("over", "count"), [("blackboard", 6), ("radio", 3)])
def test_a_team_forms_up_behind_a_wall_and_again_as_it_is_told(over, count):
    order = {"objective_m": (9.0, 0.0), "formation": "hexagon", "facing_deg": 90.0}
    rank = {"objective_m": (8.0, -2.0), "formation": "rank", "spacing_m": 1.5, "facing_deg": -90.0}
    sim = team(order, count=count, program={"over": over}, events=[{"at_s": 60, "order": rank}])
    met_s = None
    while not sim.done:
        sim.step()
        assert not sim.deciding.failures
        if met_s is None and sim.tracker.values["orders_met"] == 1:
            met_s = sim.time
        if met_s is not None and sim.time == pytest.approx(59.9):
            assert heads(sim) == pytest.approx(np.full(count, 90.0), abs=8.0)
    run = sim.close()
    assert run.status == "reached"
    assert met_s is not None
    assert met_s < 60
    assert run.metrics["orders_met"] == 2
    assert run.metrics["robots_arrived"] == count
    assert run.metrics["formation_error_m"] < 0.3
    assert heads(sim) == pytest.approx(np.full(count, -90.0), abs=8.0)
    assert run.metrics["collisions"] == 0
    assert {sim.robot(n).text for n in sim.names} == {"arrived"}


def test_an_objective_behind_closed_walls_is_found_to_be_enclosed():
    closed = [(-1, -6), (1, -6), (1, 6), (-1, 6)]
    sim = team({"objective_m": (9.0, 0.0)}, obstacles=[closed], count=3)
    run = sim.run()
    assert run.status == "exhausted"
    assert run.metrics["robots_arrived"] == 0
    assert {sim.robot(n).text for n in sim.names} == {"enclosed: no drivable ground leads further"}
    assert run.metrics["explored_share"] > 0.95  # it has looked everywhere before it says so


def test_a_place_in_a_wall_is_taken_beside_it_and_a_formation_in_a_wall_is_enclosed():
    sim = team({"objective_m": (-3.0, 3.0), "formation": "rank", "facing_deg": 90.0, "spacing_m": 2.0}, count=3)
    sim.run()  # places at x = -1 (at the wall), -3 and -5
    assert {sim.robot(n).text for n in sim.names} == {"arrived"}
    assert sorted(sim.state.pose[:, 0])[:2] == pytest.approx([-5, -3], abs=0.4)
    assert -2.2 < max(sim.state.pose[:, 0]) < -1.3
    block = [(-1, -6), (9, -6), (9, 6), (-1, 6)]
    sim = team({"objective_m": (4.0, 0.0), "spacing_m": 1.0}, obstacles=[block], count=2)
    sim.run()
    assert all("enclosed" in sim.robot(n).text for n in sim.names)


@pytest.mark.parametrize(("within_m", "count"), [(1.0, 3), (0.3, 2)])
def test_as_many_robots_say_that_they_have_arrived_as_the_metric_counts(within_m, count):
    order = {"objective_m": (-3.0, 3.0), "formation": "rank", "facing_deg": 90.0, "within_m": within_m}
    sim = team(order, count=3)
    run = sim.run()  # places at x = -1 (at the wall, where nobody can stand), -3 and -5
    texts = [sim.robot(n).text for n in sim.names]
    assert texts.count("arrived") == run.metrics["robots_arrived"] == count
    assert all("from its place (-1.0, 3.0)" in text for text in texts if text != "arrived")


@pytest.mark.slow
def test_the_places_of_a_lost_robot_are_not_dealt_out_again_but_the_others_stand_in_the_formation():
    fault = {"at_s": 3, "robot": "r1", "kind": "dies"}
    sim = team({"objective_m": (9.0, 0.0)}, count=4, faults=[fault])
    run = sim.run()
    assert run.metrics["robots_arrived"] == 3
    assert run.metrics["orders_met"] == 1
    alive = sim.state.pose[[0, 2, 3], :2]
    assert np.hypot(*(alive - (9.0, 0.0)).T) == pytest.approx(np.full(3, 2.0), abs=0.5)  # on the hexagon, still


def test_robots_wait_for_an_order_and_obey_the_one_that_is_called_for():
    sim = team({"objective_m": (0.0, 0.0)}, count=2, mission=None)
    for _ in range(20):
        sim.step()
    assert not sim.done
    assert sim.robot("r0").text == "waits for an order"
    assert sim.state.pose[:, :2] == pytest.approx(np.array(START)[:2, :2])
    sim.order((-9.0, 3.0), "rank", spacing_m=2.0)
    run = sim.run()
    assert run.status == "reached"
    assert sorted(sim.state.pose[:, 1]) == pytest.approx([2.0, 4.0], abs=0.4)


@pytest.mark.slow
def test_robots_keep_their_distance_as_bearing_disallow_wants_it():
    # Two teams of one formation change sides: 6 robots that all have to pass each other.
    sim = team(
        {"objective_m": (-10.0, -1.0)}, obstacles=[], events=[{"at_s": 30, "order": {"objective_m": (0.0, 0.0)}}]
    )
    run = sim.run()
    assert run.metrics["orders_met"] == 2
    assert run.metrics["min_separation_m"] > 0.6
    assert run.metrics["collisions"] == 0


GROUND = """
world: {generate: flat, size_m: [60, 60]}
physics: planar
robots:
- name: r
  count: 3
  robot: {base: disc, sensors: [{kind: wedge}], mapping: {kind: elevation}, max_speed_m_s: 1.0}
  controller: terrain_team
  start: [[-2, 0, 0], [0, 0, 0], [2, 0, 0]]
share_maps: {every_s: 0.5}
mission: {formation: {objective_m: [15, 0], mode: MODE}}
EVENTS
stop: {timeout_s: 200}
"""


def on_ground(mode="leap_of_faith", events=""):
    return parse_scenario(GROUND.replace("MODE", mode).replace("EVENTS", events)).build()


@pytest.mark.slow
def test_who_looks_before_it_leaps_turns_to_its_way_before_it_drives():
    back = "events: [{at_s: 42, order: {objective_m: [0, 0], formation: rank, facing_deg: 90, mode: MODE}}]"
    looked = {}
    for mode in ("leap_of_faith", "look_before_leap"):
        run = on_ground(mode, back.replace("MODE", mode)).run()
        assert run.status == "reached"
        assert run.metrics["orders_met"] == 2
        notes = run.events.filter(run.events["kind"] == "note")
        looked[mode] = notes.filter(notes["text"].str.contains("before it leaps") & (notes["time_s"] > 42))
    # The way back was mapped long ago, and lies behind the robots.
    assert len(looked["leap_of_faith"]) == 0
    assert set(looked["look_before_leap"]["robot"]) == {"r0", "r1", "r2"}


@pytest.mark.slow
def test_a_wall_of_earth_across_the_way_is_gone_around_and_a_ring_encloses():
    bank = "events: [{at_s: 12, bank: {from: [8, -8], to: [8, 8], width_m: 3, height_m: 2}}]"
    sim = on_ground(events=bank)
    run = sim.run()
    assert run.status == "reached"
    around = np.abs(run.poses[:, :, 1]).max(axis=0)
    assert (around > 6).all()  # nobody has driven through it
    banks = [f"{{at_s: 12, bank: {{from: [{a}], to: [{b}], width_m: 3, height_m: 2}}}}" for a, b in RING]
    sim = on_ground(events=f"events: [{', '.join(banks)}]")
    sim.run()
    assert sim.status == "exhausted"
    assert all("enclosed" in sim.robot(n).text for n in sim.names)
    assert (np.abs(sim.state.pose[:, :2]) < 8).all()


RING = [("8, -8", "8, 8"), ("-8, -8", "-8, 8"), ("-8, 8", "8, 8"), ("-8, -8", "8, -8")]


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"clearance_m": 0.0}, "clearance_m"),
        ({"law": "square"}, "inverse, linear"),
        ({"d_inner_m": 3.0}, "d_outer_m"),
        ({"over": "shouting"}, "blackboard"),
        ({"speed": 2.0}, "speed"),
    ],
)
def test_senseless_parameters_are_named(parameters, word):
    with pytest.raises(covey.CoveyError, match=word):
        controllers.get("terrain_team")(**parameters)


CRATER = """
world: {generate: hills, size_m: [60, 60], seed: 1, height_m: 2, wavelength_m: 40}
robots:
- {name: r, count: 2, robot: skid_steer, controller: terrain_team, start: [[-10, 0, 0], [-8, 0, 0]]}
share_maps: {every_s: 0.5}
mission: {formation: {objective_m: [12, 0], formation: rank}}
events: [{at_s: 9, crater: {centre_m: [3, 0], depth_m: 3, radius_m: 5}}]
stop: {timeout_s: 200}
"""


@pytest.mark.slow
def test_skid_steer_robots_go_around_a_crater_that_is_dug_across_their_way():
    pytest.importorskip("mujoco")
    run = parse_scenario(CRATER).build().run()
    assert run.status == "reached"
    assert run.metrics["robots_arrived"] == 2
    from_centre = np.hypot(run.poses[:, :, 0] - 3.0, run.poses[:, :, 1])
    # Its slope, 2 d r / R^2, is steeper than 0.4 from r = 1.7 m on: nobody has been inside.
    assert from_centre.min() > 4.0
    assert np.abs(run.poses[:, :, 1]).max(axis=0).min() > 4.0


def test_a_vertex_at_the_limit_stays_drivable_and_one_clearly_beyond_it_does_not():
    sim, margin = on_ground(), Margin()
    robot, beliefs = sim.robot("r0"), sim.localization.teams[0].beliefs
    altitude = np.zeros(sim.world.ground.altitude.shape)

    def drivable():
        beliefs.know(np.array([0]), altitude)
        cells = robot.map.occupancy().copy()
        before = cells == 0
        margin.apply(robot, cells)
        return before, cells == 0

    altitude[40, 40] = 0.42  # never known to be drivable: the limit is 0.4
    before, after = drivable()
    assert not before[40, 40]
    assert not after[40, 40]
    altitude[10, 10], altitude[20, 20] = 0.42, 0.5
    before, after = drivable()
    assert not before[[10, 20], [10, 20]].any()
    assert after[[10, 20], [10, 20]].tolist() == [True, False]
    altitude[20, 20] = 0.42  # it has been beyond; the limit counts again
    assert not drivable()[1][20, 20]
    sim.close()


def in_a_corridor(timeout_s, events=()):
    """Return a team in a corridor between banks, closed in the west: one robot maps its way east, the others wait.

    They wait back to back, from 11 s on, at x = -20 and -16; each has last seen the ground between them when it looked
    around at first.
    """
    altitude = np.zeros((17, 61))
    altitude[:6], altitude[11:], altitude[:, :6] = 2.0, 2.0, 2.0
    model = covey.robots.disc().model_copy(
        update={"sensors": (Wedge(),), "mapping": ElevationMapping(), "max_speed_m_s": 1.0}
    )
    poses = [(-18.0, 0.0, 0.0), (-16.0, 0.0, 0.0), (-14.0, 0.0, 0.0)]
    group = covey.Group("r", model, poses, Program(controllers.get("terrain_team")))
    return covey.Simulation(
        Ground.of(altitude).world(), [group], seed=1, share_maps=1.0, events=events,
        mission=Formation(objective_m=(26.0, 0.0), formation="rank", facing_deg=0.0), stop=covey.Stop(timeout_s=timeout_s),
    )  # fmt: skip


def test_who_waits_looks_again_at_ground_that_it_has_not_seen_for_long():
    mound = {"centre_m": (-18.0, 0.0), "height_m": 0.8, "radius_m": 1.5}
    run = in_a_corridor(50.0, [{"at_s": 20, "mound": mound}]).run()
    noticed = run.events.filter(run.events["kind"] == "change_noticed")
    assert set(noticed["robot"]) == {"r0", "r1", "r2"}
    assert 30 < noticed["time_s"][0] < 50  # ground is old after 30 s
    waits = run.events.filter((run.events["robot"] == "r0") & (run.events["kind"] == "note"))["text"].to_list()
    assert "waits: others map all edges" in waits


def test_who_has_looked_again_stands_still():
    sim, turned = in_a_corridor(40.0), 0
    team = [onboard._runner for onboard in sim.deciding.host.onboard.values()]
    while not sim.done:
        sim.step()
        for runner, (*_, turn) in zip(team, sim.commands, strict=True):
            controller = runner._call.__self__
            if controller.goal.kind == "waiting":
                assert (turn != 0.0) == (controller.turning.left != 0.0), f"at {sim.time} s"
                turned += turn != 0.0
    sim.close()
    assert turned > 20


@pytest.mark.slow
def test_the_demo_at_a_small_size_shows_its_point():
    pytest.importorskip("mujoco")
    small = {
        "world.size_m": [49, 49],
        "world.height_m": 2,
        "robots.rover.count": 2,
        "robots.rover.start": [[-2, -1, 0], [0, -1, 0]],
        "mission.formation.objective_m": [12, 0],
        "events": [
            {"at_s": 35, "crater": {"centre_m": [6, 0], "depth_m": 2, "radius_m": 2.5}},
            {"at_s": 36, "order": {"objective_m": [-2, 0], "formation": "rank", "facing_deg": 180}},
        ],
        "stop.timeout_s": 150,
    }
    sim = covey.load_scenario("terrain_team", small).build()
    run = sim.run()
    assert run.status == "reached"
    assert run.metrics["changes_noticed_share"] == 1.0  # the crater is dug on ground that both have mapped
    assert run.metrics["orders_met"] == run.metrics["robots_arrived"] == 2
    assert [sim.robot(name).text for name in sim.names] == ["arrived", "arrived"]
    assert run.metrics["robots_lost"] == 0
