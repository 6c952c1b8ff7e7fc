"""Robots carried and driven by hand, areas without radio, and changes that are taken back."""

import math
import re

import numpy as np
import pytest

import covey
from covey.errors import InvalidValueError, PlacementError, ScenarioError
from covey.events.inputs import recorded_inputs
from covey.experiments.repeating import Repeated
from covey.geometry.se2 import compose, inverse
from covey.mapping.localization import DeadReckoning
from covey.onboard.group import Group
from covey.random import generator
from covey.robots.catalogue import pioneer3dx
from covey.runtime.simulation import Simulation
from covey.runtime.stop import Stop
from covey.scenario.load import parse_scenario
from covey.world.placement.placing import place
from covey.world.world import World


async def stand(robot):
    await robot.sleep(1000.0)


async def ahead(robot):
    await robot.drive(0.5, for_s=1000.0)


async def talk(robot):
    while True:
        robot.send("hello")
        await robot.sleep(0.2)


def rooms():
    """Two rooms of 4 x 4 m with a wall between them."""
    return World.polygons([[0, 0], [8, 0], [8, 4], [0, 4]], walls_m=[[[4, 0], [4, 4]]], wall_m=0.2, resolution_m=0.1)


def simulation(*starts, controller=stand, world=None, **options):
    group = Group(
        "scout",
        pioneer3dx(),
        starts or ((1.0, 2.0, 0.0),),
        controller,
        **({"localization": options.pop("localization")} if "localization" in options else {}),
    )
    return Simulation(world or rooms(), [group], stop=Stop(timeout_s=1000), **options)


def steps(sim, count):
    for _ in range(count):
        sim.step()


def events_of(run):
    return [row for row in run.events.select("kind", "robot", "other", "text").rows() if row[0] != "input"]


# -- place ---------------------------------------------------------------------------------------------------------


def test_a_robot_stands_where_it_is_put_and_goes_on_from_there():
    sim = simulation(controller=ahead)
    steps(sim, 10)
    driven, (was_x, was_y, was) = sim.state.distance_m[0], sim.state.pose[0].tolist()
    sim.do({"place": "scout0", "pose": [6.0, 1.0, 90.0]})
    steps(sim, 1)
    x, y, heading = sim.state.pose[0]
    assert (x, heading) == (pytest.approx(6.0), pytest.approx(math.pi / 2))
    assert 1.0 <= y < 1.06
    assert sim.state.distance_m[0] - driven < 0.06, "being carried is not driving"
    steps(sim, 20)
    assert sim.state.pose[0, 1] > 1.7
    (placed,) = sim.close().events_of("placed")
    assert placed["robot"] == "scout0"
    assert placed["data"]["before"] == pytest.approx([was_x, was_y, math.degrees(was)], abs=1e-2)


def test_the_lidar_looks_from_the_new_place_at_once():
    sim = simulation()
    steps(sim, 3)
    sim.do({"place": "scout0", "pose": [6.0, 2.0, 0.0]})
    steps(sim, 1)
    scan = next(b for b in sim.sensing.banks if b.record.kind == "lidar").readings
    ahead_m = scan.ranges[0, np.argmin(np.abs(scan.angles))]
    assert ahead_m == pytest.approx(8.0 - 6.0 - scan.mount[0], abs=0.15)


@pytest.mark.parametrize(
    ("pose", "why"),
    [
        ((4.0, 2.0, 0.0), "this is inside a wall; the nearest free place is ("),
        ((1.0, 3.3, 0.0), "it overlaps scout1 at (1, 3) by "),
    ],
)
def test_who_is_put_into_a_wall_or_onto_a_robot_stays(pose, why):
    sim = simulation((1.0, 1.0, 0.0), (1.0, 3.0, 0.0))
    sim.do({"place": "scout0", "pose": pose})
    steps(sim, 1)
    assert sim.state.pose[0].tolist() == [1.0, 1.0, 0.0]
    (refused,) = events_of(sim.close())
    assert refused[:2] == ("refused", "scout0")
    assert refused[3].startswith(why)


def test_a_robot_can_be_put_where_one_can_start_and_is_told_the_same():
    """One rule of where a body can stand; the place that is named instead is one."""
    world, radius, taken = rooms(), pioneer3dx().outer_radius_m, np.array([[1.0, 3.0, pioneer3dx().outer_radius_m]])
    sim, seen = simulation((6.0, 2.0, 0.0), (1.0, 3.0, 0.0)), list[str]()
    sim.observers.append(lambda snapshot: seen.extend(e.text for e in snapshot.events if e.kind == "refused"))
    for x, y in ((0.2, 2.0), (3.7, 2.0), (1.0, 2.5)):
        with pytest.raises(PlacementError) as told:
            place([(x, y, 0.0)], world, [radius], generator(0, "start"), taken, ["scout0"])
        sim.do({"place": "scout0", "pose": [x, y, 0.0]})
        steps(sim, 1)
        refused = seen.pop()
        x, y = map(float, re.findall(r"nearest free place is \((.+), (.+)\)", refused)[0])
        assert str(told.value).endswith(f"({x:.2f}, {y:.2f})")
        assert len(place([(x, y, 0.0)], world, [radius], generator(0, "start"), taken)) == 1


def test_a_robot_by_a_wall_is_not_in_it():
    """The middle wall begins at 3.9 m; a pioneer reaches less than 0.3 m from its middle."""
    sim = simulation((1.0, 2.0, 0.0))
    sim.do({"place": "scout0", "pose": [3.55, 2.0, 0.0]})
    steps(sim, 1)
    assert sim.state.pose[0, 0] == 3.55


def test_dead_reckoning_notices_nothing_of_being_carried():
    sim = simulation(controller=ahead, localization=DeadReckoning())
    steps(sim, 10)
    sim.do({"place": "scout0", "pose": [6.0, 1.0, 90.0]})
    before, carried_at = sim.localization.carried[0].copy(), (6.0, 1.0, math.pi / 2)
    steps(sim, 10)
    truly = compose(inverse(np.array([carried_at])), sim.state.pose[:1])[0]
    estimated = compose(inverse(before[None]), sim.localization.carried[:1])[0]
    assert estimated[:2] == pytest.approx(truly[:2], abs=0.03)
    assert estimated[0] == pytest.approx(0.5, abs=0.05)


def test_before_the_start_the_robot_knows_its_new_place():
    sim = simulation(controller=ahead, localization=DeadReckoning())
    sim.do({"place": "scout0", "pose": [6.0, 1.0, 90.0]})
    steps(sim, 10)
    assert sim.localization.carried[0] == pytest.approx(sim.state.pose[0], abs=0.03)


# -- drive ---------------------------------------------------------------------------------------------------------


def test_a_robot_driven_by_hand_goes_on_by_itself_when_the_time_is_over():
    """1 s at 0.3 m/s backwards, then 1 s at its own 0.5 m/s; without limits of acceleration."""
    sim = covey.Simulation(covey.World.empty(10, 10), controller=ahead, events=[])
    start = sim.state.pose[0].copy()
    sim.do({"drive": "robot0", "twist": [-0.3, 0.0], "for_s": 1.0})
    steps(sim, 10)
    assert compose(inverse(start), sim.state.pose[0])[0] == pytest.approx(-0.3, abs=0.01)
    steps(sim, 10)
    assert compose(inverse(start), sim.state.pose[0])[0] == pytest.approx(0.2, abs=0.01)
    run = sim.close()
    assert [row[0] for row in events_of(run)] == ["driven", "drive_over"]
    assert run.events.filter(run.events["kind"] == "drive_over")["step"].to_list() == [11]


def test_a_turn_by_hand_and_its_end():
    sim = covey.Simulation(covey.World.empty(10, 10), controller=stand)
    start = sim.state.pose[0, 2]
    sim.do({"drive": "robot0", "twist": [0.0, 0.5]})
    steps(sim, 20)
    sim.do({"drive": "robot0"})
    steps(sim, 10)
    assert sim.state.pose[0, 2] - start == pytest.approx(1.0, abs=0.01)
    assert sim.commands[0].tolist() == [0.0, 0.0, 0.0], "the commands recorded are the controller's"


def test_a_dead_robot_cannot_be_driven():
    sim = simulation((1.0, 2.0, 0.0), (3.0, 3.0, 0.0))
    sim.fault("dies", "scout0")
    steps(sim, 1)
    sim.do({"drive": "scout0", "twist": [0.5, 0.0]})
    steps(sim, 5)
    assert sim.state.pose[0].tolist() == [1.0, 2.0, 0.0]
    assert [row[0] for row in events_of(sim.close())] == ["fault", "refused"]


# -- jam -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "area", [{"centre_m": [1.0, 2.0], "radius_m": 1.0}, {"polygon_m": [[0, 0], [2, 0], [2, 4], [0, 4]]}]
)
def test_no_word_leaves_or_reaches_a_jammed_area_while_it_lasts(area):
    sim = simulation((1.0, 2.0, 0.0), (6.0, 2.0, 0.0), controller=talk, radio=20.0)
    steps(sim, 20)
    sim.do({"jam": area, "for_s": 2.0})
    steps(sim, 20)
    steps(sim, 20)
    run = sim.close()
    kinds = [row[0] for row in events_of(run)]
    assert (kinds.count("jam"), kinds.count("jam_over")) == (1, 1)
    total = run.traffic.sort("step").unique("robot", keep="last")
    assert total["messages_sent"].sum() == 60, "two robots for 6 s, a message each 0.2 s"
    assert 36 <= total["messages_received"].sum() <= 42, "for 4 of 6 s; the last may be on their way"


def test_a_jam_ends_by_its_name():
    sim = simulation()
    sim.do({"jam": {"centre_m": [1, 2], "radius_m": 1}, "name": "j"})
    steps(sim, 1)
    assert sim.inputs.jammed(sim.state.pose).tolist() == [True]
    sim.do({"remove": "j"})
    steps(sim, 1)
    assert sim.inputs.jammed(sim.state.pose).tolist() == [False]


# -- restore -------------------------------------------------------------------------------------------------------


def test_torn_down_walls_stand_again_and_only_they():
    sim = simulation()
    before = sim.world.grid.cells.copy()
    sim.do({"remove": {"polygon_m": [[3, 1], [5, 1], [5, 3], [3, 3]]}, "name": "gap"})
    steps(sim, 1)
    assert (sim.world.grid.cells != before).sum() == pytest.approx(2 * 20, abs=6)  # 0.2 m x 2 m in cells of 0.1 m
    sim.do({"restore": "gap"})
    steps(sim, 1)
    assert np.array_equal(sim.world.grid.cells, before)
    sim.do({"restore": "gap"})
    steps(sim, 1)
    assert events_of(sim.close())[-1][::3] == ("refused", "nothing with this name can be restored")


def test_a_wall_does_not_come_back_onto_a_robot():
    sim = simulation()
    sim.do({"remove": {"polygon_m": [[3, 1], [5, 1], [5, 3], [3, 3]]}, "name": "gap"})
    steps(sim, 1)
    sim.do({"place": "scout0", "pose": [4, 2, 0]})
    steps(sim, 1)
    open_cells = sim.world.grid.cells.copy()
    sim.do({"restore": "gap"})
    steps(sim, 1)
    assert np.array_equal(sim.world.grid.cells, open_cells)
    assert events_of(sim.close())[-1][3] == "a robot stands there"


def test_removed_walls_and_obstacles_come_back_by_their_names():
    sim = simulation()
    sim.add_wall([6, 1], [6, 3], "w", material="brick")
    sim.add_obstacle([[7, 1], [7, 3]], "cart", radius_m=0.2)
    steps(sim, 5)
    before = sim.world.grid.cells.copy()
    for key in ("remove", "restore"):
        sim.do({key: "w"})
        sim.do({key: "cart"})
        steps(sim, 1)
    there = sim.world.grid.cells
    assert np.array_equal(there[:, :65], before[:, :65])
    assert there[:, 66:76].any(), "the cart"
    names = sim.world_state.material_names
    row, column = sim.world.grid.to_cells((6.0, 2.0))
    assert names[sim.world_state.materials[row, column]] == "brick"


@pytest.mark.parametrize(
    "change",
    [
        {"crater": {"centre_m": [0, 0], "depth_m": 1, "radius_m": 3}},
        {"bank": {"from": [-3, 0], "to": [3, 1], "width_m": 2, "height_m": 0.5}},
        {"altitude": {"box_m": [-2, -2, 2, 2], "to_m": 1.5}},
    ],
)
def test_a_change_of_the_ground_is_taken_back_and_later_ones_stay(change):
    sim = parse_scenario(HILLS).build()
    before = sim.world_state.ground.altitude.copy()
    sim.do({**change, "name": "c"})
    steps(sim, 1)
    assert np.abs(sim.world_state.ground.altitude - before).max() > 0.4
    sim.do({"shift": {"box_m": [0, 0, 3, 3], "by_m": 0.25}})
    steps(sim, 1)
    sim.do({"restore": "c"})
    steps(sim, 1)
    rest = sim.world_state.ground.altitude - before
    assert set(np.round(rest.ravel(), 9)) == {0.0, 0.25}
    sim.close()


HILLS = """
world: {generate: hills, size_m: [20, 20], height_m: 2, seed: 3}
robots: [{robot: {base: disc, sensors: []}, count: 2, start: {together: {around: [-7, -7]}}, controller: wander}]
physics: planar
stop: {timeout_s: 3}
"""


# -- words, files, repetition --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "why"),
    [
        ({"place": "scout9", "pose": [1, 1, 0]}, "unknown robot 'scout9'"),
        ({"place": "scout0", "pose": [99, 1, 0]}, "lies outside the world, x "),
        ({"drive": "scuot0", "twist": [1, 0]}, "did you mean 'scout0'?"),
        ({"drive": "scout0", "for_s": 3}, "for_s needs a twist"),
        ({"jam": {"centre_m": [1, 1]}}, "radius_m"),
        ({"jam": {"polygon_m": [[90, 90], [91, 90], [91, 91]]}}, "the area lies outside the world"),
    ],
)
def test_calls_that_make_no_sense_are_refused_with_words(event, why):
    sim = simulation()
    with pytest.raises(InvalidValueError) as error:
        sim.do(event)
    sim.close()
    assert why in str(error.value)


DECLARED = """
world: {workspace_m: [[0, 0], [10, 0], [10, 6], [0, 6]], walls_m: [[[5, 0], [5, 6]]], resolution_m: 0.1}
robots: [{name: scout, robot: pioneer3dx, count: 2, start: {together: {around: [2, 3]}}, controller: minpos}]
radio: {range_m: 30}
share_maps: {every_s: 1}
stop: {timeout_s: 6}
events:
  - {at_s: 1, remove: {polygon_m: [[4, 2], [6, 2], [6, 4], [4, 4]]}, name: gap}
  - {at_s: 2, place: scout1, pose: [8, 3, 180]}
  - {at_s: 2, jam: {centre_m: [8, 3], radius_m: 1.5}, for_s: 2}
  - {at_step: 30, drive: scout0, twist: [0.2, 0.5], for_s: 1}
  - {at_s: 5, restore: gap}
"""


def test_declared_and_called_events_give_the_same_run_and_repeat(tmp_path):
    declared = parse_scenario(DECLARED).build(tmp_path / "declared").run()
    kinds = {row[0] for row in events_of(declared)}
    assert {"wall_removed", "placed", "jam", "jam_over", "driven", "drive_over", "wall_added"} <= kinds
    scenario = parse_scenario(DECLARED)
    calls = {}
    for event in scenario.events:
        step = event.at_step if event.at_step is not None else round(event.at_s / 0.1)
        calls.setdefault(step, []).append(event.plain())

    def before_step(sim):
        for event in calls.get(sim.clock.step, ()):
            sim.do(event)

    alone = parse_scenario(DECLARED.split("events:")[0])
    called = alone.build(tmp_path / "called").run(before_step=before_step)
    again = parse_scenario(DECLARED.split("events:")[0]).build(tmp_path / "again")
    assert len(recorded_inputs(called)) == 5
    again = again.run(before_step=Repeated(called))
    for table in ("measurements.parquet", "team.parquet", "radio.parquet", "maps.npz"):
        first = (tmp_path / "declared" / table).read_bytes()
        assert (tmp_path / "called" / table).read_bytes() == first, table
        assert (tmp_path / "again" / table).read_bytes() == first, table
    assert (tmp_path / "again" / "events.parquet").read_bytes() == (tmp_path / "called" / "events.parquet").read_bytes()


@pytest.mark.parametrize(
    ("line", "why"),
    [("{restore: gpa}", "no event removes anything"), ("{place: scout7, pose: [1, 1, 0]}", "unknown robot 'scout7'")],
)
def test_scenarios_with_unknown_names_are_refused(line, why):
    text = DECLARED.replace("{at_s: 5, restore: gap}", line)
    with pytest.raises(ScenarioError) as error:
        parse_scenario(text).build()
    assert why in str(error.value)


ROVERS = """
world: {generate: hills, size_m: [30, 30], height_m: 2, seed: 3}
robots: [{name: rover, robot: skid_steer, count: 2, start: {together: {around: [0, 0], gap_m: 1}}, controller: minpos}]
stop: {timeout_s: 3}
events:
  - {at_s: 1, place: rover0, pose: [8, 6, 90]}
  - {at_s: 1.5, drive: rover0, twist: [0.5, 0], for_s: 1}
"""


def test_a_rover_stands_on_the_ground_where_it_is_put_and_drives_from_there(tmp_path):
    pytest.importorskip("mujoco", reason="MuJoCo, of the extra covey[terrain], is not installed")
    sim = parse_scenario(ROVERS).build(tmp_path / "first")
    steps(sim, 11)
    x, y, heading = sim.state.pose[0]
    assert (x, y, heading) == pytest.approx((8.0, 6.0, math.pi / 2), abs=0.15)
    altitude = float(sim.altitude_at((x, y)))
    assert sim.state.altitude_roll_pitch[0, 0] == pytest.approx(altitude, abs=0.1)
    steps(sim, 3)
    before = sim.state.pose[0].copy()
    steps(sim, 11)
    assert 0.3 < sim.state.pose[0, 1] - before[1] < 0.8, "1 s at 0.5 m/s, over hills"
    run = sim.close()
    assert run.metrics["distance_by_robot_m"]["rover0"] < 6.0, "being carried over 10 m is not driving"
    again = parse_scenario(ROVERS).build(tmp_path / "again")
    steps(again, 25)
    again.close()
    first = (tmp_path / "first" / "measurements.parquet").read_bytes()
    assert (tmp_path / "again" / "measurements.parquet").read_bytes() == first
