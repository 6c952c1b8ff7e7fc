"""What a robot's computer does to the robot: late commands, lost scans, want of memory."""

import hashlib
import time
from collections import Counter

import numpy as np
import pytest

import covey
from covey.controllers.coverage import coverage_loop, partitioned_coverage, ssb_driving
from covey.errors import InvalidValueError, UnknownNameError
from covey.mapping.localization import Noise, TruePose
from covey.mapping.records import Mapping
from covey.onboard.handle import Robot
from covey.robots.catalogue import disc
from covey.robots.computer import Computer, Cost, Costs
from covey.runtime.phases.computing import Computing
from covey.runtime.stop import Stop
from covey.scenario.load import load_scenario, parse_scenario
from covey.sensors.lidar import Lidar

FREE = {name: Cost(seconds=0.0) for name in ("scan_match", "map_update", "frontiers", "search", "view", "control")}
"""Nothing costs anything; a test says what does."""


def simulate(controller, computer, *, localization=None, mapping=None, compute="modelled", until_s=None, **costs):
    """Return the closed run of one disc in an empty room, and its simulation."""
    lidar = (Lidar(rays=20, range_m=8, rate_hz=10),)
    body = disc().model_copy(update={"sensors": lidar, "mapping": mapping, "computer": computer})
    group = covey.Group("robot", body, [(-4.0, 0.0, 0.0)], controller, localization or TruePose())
    world = covey.World.empty(10, 4)
    execution = covey.Execution(compute=compute, costs=Costs(**(FREE | {"base_mib": 100.0, "cell_bytes": 0.0} | costs)))
    sim = covey.Simulation(world, [group], execution=execution, stop=Stop(timeout_s=20))
    return sim.run(until_s=until_s), sim


async def think_and_drive(robot):
    robot.charge_work("view", 1.0)
    await robot.drive(0.5, until=lambda robot: robot.pose.x > -3.0)
    robot.stop()


@pytest.mark.parametrize(
    ("computer", "delay_s"),
    [
        (Computer(cpus=1, speed=1.0), 1.0),
        (Computer(cpus=1, speed=0.5), 2.0),
        (Computer(cpus=4, speed=0.5), 0.8),  # of 1 s, 0.8 in parallel: (0.2 + 0.8 / 4) / 0.5
        (Computer(cpus=1, speed=25.0), 0.0),  # 0.04 s: at the nearest control step, this one
        (Computer(cpus=1, speed=12.5), 0.1),  # 0.08 s: at the next one
    ],
)
def test_thinking_delays_the_way_to_a_goal_by_what_it_takes(computer, delay_s):
    view = Cost(seconds=1.0, parallel=0.8)
    at_once, _ = simulate(think_and_drive, None, view=view)
    later, _ = simulate(think_and_drive, computer, view=view)
    assert at_once.status == later.status == "reached"
    assert later.times[-1] - at_once.times[-1] == pytest.approx(delay_s, abs=1e-9)
    assert later.series("distance_m")[-1] == pytest.approx(at_once.series("distance_m")[-1])


def test_while_the_computer_is_busy_the_base_goes_on_for_a_while_and_then_stands():
    thinks = []

    class Once:
        def step(self, robot):
            robot.drive(0.5)
            if robot.time >= 1.0 and not thinks:
                thinks.append(robot.time)
                robot.charge_work("view")

    run, _ = simulate(Once, Computer(cpus=1, hold_s=0.5), view=Cost(seconds=3.0), until_s=4.0)
    # 10 steps, then the last command for its period of 0.1 s and 0.5 s more; at 4.0 s the robot has not thought it out.
    assert run.poses[-1, 0, 0] == pytest.approx(-4.0 + 0.5 * (1.0 + 0.6 - 0.1))


def still(robot):
    robot.stop()


def test_scans_that_come_while_the_computer_matches_one_are_lost():
    # 0.4 s for each match, ten scans a second: the first, fifth, ninth ... is used, on one of two processors.
    costs = {"scan_match": Cost(seconds=0.4, parallel=0.0)}
    computer, mapping = Computer(cpus=2), Mapping(resolution_m=0.2)
    run, _ = simulate(still, computer, mapping=mapping, localization=Noise(sigma_m=0, sigma_rad=0), until_s=10, **costs)
    assert run.computers is not None
    assert run.computers["scans"].sum() == 25
    assert run.computers["scans_dropped"].sum() == 75
    assert run.metrics["scans_dropped_share"] == pytest.approx(0.75)
    np.testing.assert_allclose(run.computers["cpu_percent"], 50.0)
    assert run.metrics["robot_cpu_percent"] == pytest.approx(50.0)
    assert run.metrics["command_delay_s"] == pytest.approx(0.4)


def test_a_robot_that_is_told_where_it_is_matches_no_scans():
    costs = {"scan_match": Cost(seconds=0.4)}
    run, _ = simulate(still, Computer(), mapping=Mapping(resolution_m=0.2), until_s=5, **costs)
    assert run.computers["scans"].sum() == 50
    assert run.metrics["robot_cpu_percent"] == 0.0


def test_work_that_lasts_beyond_a_sample_counts_when_it_is_done():
    async def think(robot):
        await robot.sleep(4.0)
        robot.charge_work("view")
        await robot.sleep(20.0)

    run, _ = simulate(think, Computer(cpus=1), view=Cost(seconds=3.0), until_s=10)
    np.testing.assert_allclose(run.computers["cpu_percent"], [20.0, 40.0])  # 1 s of 5, 2 s of 5


def test_searches_are_charged_by_how_much_they_search():
    def explorer(ways):
        async def explore(robot):
            await robot.sleep(1.0)
            for _ in range(ways):
                robot.travel_cost()
            robot.drive(0.2)
            await robot.sleep(20.0)

        return explore

    delays = {}
    for ways in (1, 3):
        costs = {"search": Cost(seconds=1000.0, parallel=0.0)}
        run, _ = simulate(explorer(ways), Computer(cpus=1), mapping=Mapping(resolution_m=0.2), until_s=12, **costs)
        delays[ways] = run.computers["longest_delay_s"].max()
    assert delays[1] > 0.5  # a room of 10 x 4 m has 1000 cells of 0.2 m: 1 s, where all of them have been seen
    assert delays[3] == pytest.approx(3.0 * delays[1])


SMALL = """
world: {terrain: loop, size_m: 24, road_m: 4, resolution_m: 0.2}
robots:
  - robot: {base: pioneer3dx, mapping: {resolution_m: 0.2}, computer: {cpus: 1}}
    start: {together: {around: [-10, 10]}}
    controller: STRATEGY
execution: {costs: {control: {seconds: 0}, map_update: {seconds: 0}, frontiers: {seconds: 0}}}
stop: {timeout_s: 6}
"""


def test_a_strategy_that_looks_at_more_takes_more_of_the_computer():
    used = {}
    for strategy in ("nearest_frontier", "next_best_view"):
        run = parse_scenario(SMALL.replace("STRATEGY", strategy)).build().run()
        used[strategy] = run.metrics["robot_cpu_percent"]
    assert used["next_best_view"] > 1.5 * used["nearest_frontier"] > 0.0


def test_a_touch_is_remembered_until_the_controller_acts():
    felt = []

    class Bump:
        def step(self, robot):
            felt.append((round(robot.time, 1), robot.collided))
            robot.drive(-1.0)
            robot.charge_work("view")

    simulate(Bump, Computer(cpus=1, hold_s=5.0), view=Cost(seconds=1.0), until_s=5)
    # It drives from x = -4 m backwards once its first command came at 1 s, and meets the wall at -5 m, less its radius.
    assert felt[0] == (0.0, False)
    assert felt[1] == (1.0, False)
    assert any(touched for at, touched in felt if at >= 2.0)
    assert [at for at, _ in felt] == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_want_of_memory_slows_the_software_down_or_kills_it():
    view = Cost(seconds=0.5, parallel=0.0)
    slow = Computer(cpus=1, ram_mib=90.0)  # the software takes 100
    at_once, _ = simulate(think_and_drive, None)
    run, _ = simulate(think_and_drive, slow, view=view, swap_factor=4.0)
    assert run.times[-1] - at_once.times[-1] == pytest.approx(2.0)
    assert run.metrics["robot_ram_percent"] == pytest.approx(100 * 100 / 90)
    killed, sim = simulate(think_and_drive, slow.model_copy(update={"when_ram_full": "kill"}), view=view)
    assert sim.state.halted[0]
    assert killed.series("distance_m")[-1, 0] == 0.0
    failure = killed.events.filter(killed.events["kind"] == "controller_failed")["text"][0]
    assert "out of memory: it takes 100 MiB of 90 MiB" in failure


def digest(run) -> str:
    return hashlib.sha256((run.folder / "measurements.parquet").read_bytes()).hexdigest()


async def explore(robot):
    while True:
        frontiers = robot.frontiers()
        goal = robot.nearest(frontiers.cells) if len(frontiers) else None
        await (robot.goto(goal) if goal else robot.sleep(0.5))


def test_a_computer_that_costs_nothing_changes_no_byte_and_a_slow_one_always_the_same():
    mapping, noise = Mapping(resolution_m=0.2, max_range_m=2.0), Noise()
    plain, _ = simulate(explore, None, mapping=mapping, localization=noise, until_s=8)
    assert plain.computers is None
    assert plain.metrics["robot_cpu_percent"] is None
    free, _ = simulate(explore, Computer(), mapping=mapping, localization=noise, until_s=8)
    assert digest(free) == digest(plain)
    costs = {"scan_match": Cost(seconds=0.15), "search": Cost(seconds=300.0), "control": Cost(seconds=0.01)}
    slow = [simulate(explore, Computer(), mapping=mapping, localization=noise, until_s=8, **costs)[0] for _ in "ab"]
    assert digest(slow[0]) == digest(slow[1]) != digest(plain)
    assert slow[0].computers.equals(slow[1].computers)


def test_measured_time_delays_and_the_run_is_not_repeatable():
    async def burn(robot):
        end = time.thread_time() + 0.05
        while time.thread_time() < end:
            pass
        await robot.drive(0.5, until=lambda robot: robot.pose.x > -3.0)

    plain, _ = simulate(burn, None, compute="measured")
    assert plain.manifest["repeatable"]  # no robot has a computer, nothing is measured
    run, _ = simulate(burn, Computer(cpus=1, speed=0.1), compute="measured", view=Cost(seconds=1.0))
    assert not run.manifest["repeatable"]
    assert run.times[-1] - plain.times[-1] > 0.45  # 0.05 s on a tenth of the speed


def test_time_and_memory_of_a_process_are_charged_to_its_robot():
    body = disc().model_copy(update={"computer": Computer(cpus=1, speed=0.5)})
    sim = covey.Simulation(
        covey.World.empty(8, 8), [covey.Group("robot", body, [(0, 0, 0)], still)], execution={"compute": "measured"}
    )
    assert isinstance(sim.computing, Computing)
    sim.computing.charge(0, 0.25)
    assert sim.computing.machines[0].free_s == pytest.approx(0.5)
    sim.computing.report_ram(0, 512.0)
    for _ in range(50):
        sim.step()
    run = sim.close()
    assert run.computers["ram_percent"][0] == pytest.approx(25.0)


def test_unknown_work_is_refused():
    sim = covey.Simulation(covey.World.empty(4, 4), robots=1, controller=still)
    with pytest.raises(UnknownNameError, match="veiw"):
        sim.robot("robot0").charge_work("veiw")
    sim.close()


@pytest.mark.parametrize("amount", [-1, float("nan"), float("inf"), 1e300, "much", None])
def test_an_amount_that_is_none_is_refused_and_charges_nothing(amount):
    """NaN would end the run, and less than nothing would make a computer faster."""
    sim = covey.Simulation(covey.World.empty(4, 4), robots=1, controller=still)
    robot = sim.robot("robot0")
    for charge, call in (
        (robot.charge_search, "charge_search"),
        (lambda a: robot.charge_work("view", a), "charge_work"),
    ):
        with pytest.raises(InvalidValueError, match=rf"{call}\(.*number from 0 to 1e9"):
            charge(amount)
    sim.close()


def test_a_search_of_the_controllers_own_takes_the_time_of_its_entries():
    async def search_and_drive(robot):
        robot.charge_search(300_000)
        robot.charge_search(200_000)
        await robot.drive(0.5, until=lambda robot: robot.pose.x > -3.0)
        robot.stop()

    at_once, _ = simulate(search_and_drive, None, search=Cost(seconds=2.0))
    later, _ = simulate(search_and_drive, Computer(cpus=1), search=Cost(seconds=2.0))
    assert later.times[-1] - at_once.times[-1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("strategy", "module", "search"),
    [
        ("boustrophedon", coverage_loop, "astar"),
        ("ssb", ssb_driving, "astar"),
        ("partitioned_coverage", partitioned_coverage, "dijkstra"),
    ],
)
def test_the_searches_of_coverage_strategies_are_charged(strategy, module, search, monkeypatch):
    searched, charged, really = Counter(), Counter(), getattr(module, search)

    def watched(*where):
        found = really(*where)
        searched.update([found.work])
        return found

    monkeypatch.setattr(module, search, watched)
    monkeypatch.setattr(Robot, "charge_search", lambda robot, entries: charged.update([entries]))
    changes = {"robots.cleaner.count": 1, "robots.cleaner.controller": strategy, "stop.timeout_s": 20}
    sim = load_scenario("coverage", changes).build()
    while not sim.done:
        sim.step()
    sim.close()
    assert searched
    assert searched <= charged
