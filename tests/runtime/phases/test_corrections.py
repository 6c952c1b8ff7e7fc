"""What a correction of 1 m does to a robot under way: its pose jumps, and nothing else that it should rely on."""

import numpy as np
import pytest
from scipy import ndimage

import covey
from covey.controllers.rescue.rescue_team import RescueSettings, Searcher
from covey.geometry.constant import is_constant
from covey.mapping.localizer import Estimate, LocalizerRecord
from covey.sensors import Lidar, TagCamera
from covey.sensors.odometry import Odometry
from covey.world.world import WALL

FROM_S, TO_S = 2.0, 9.0
"""The estimate drifts by 1 m to the north between both times; then it is corrected at once."""


class Planted(LocalizerRecord):
    """Drifts, is corrected, and then knows all its past poses."""

    needs = ("motion", "scan")
    kind: str = "planted"

    def build(self, names, seed, equipment):
        return _Planted(len(names))


class _Planted:
    def __init__(self, count):
        self.truth, self.revision = [], np.zeros(count, np.int64)

    def update(self, sensed):
        time_s = 0.1 * sensed.step
        off = 0.0 if time_s >= TO_S else np.clip((time_s - FROM_S) / (TO_S - FROM_S), 0.0, 1.0)
        self.revision[:] = time_s >= TO_S
        if sensed.scan is not None:
            self.truth.append(sensed.true_pose.copy())
        pose = sensed.true_pose + np.array([0.0, off, 0.0])
        return Estimate(pose, np.full((len(pose), 3, 3), np.nan), self.revision.copy())

    def newest(self, robot):
        return len(self.truth) - 1, True

    def past(self, robot, scans):
        return np.array([self.truth[k][robot] for k in scans])


def simulation(controller, starts=((-9, -4, 0),), timeout_s=60.0, more_sensors=(), **options):
    """A hall of 20 x 10 m with walls across it: the way through is at the south of the first, the north of the second."""
    empty = covey.World.empty(20, 10, resolution_m=0.1).grid
    cells = empty.cells.copy()
    cells[30:, 71:75] = WALL
    cells[:70, 131:135] = WALL
    sensors = (Lidar(range_m=8.0, rays=180, sigma_m=0.01), Odometry(), *more_sensors)
    robot = covey.robots.pioneer3dx().model_copy(update={"sensors": sensors})
    group = covey.Group("one", robot, starts, localization=Planted())
    world = covey.World(empty.with_cells(cells))
    return covey.Simulation(world, [group], controller, seed=1, stop=covey.Stop(timeout_s=timeout_s), **options)


def test_a_robot_under_way_reaches_its_goal_in_the_world():
    outcomes, shown, goal = [], [], (8.0, -3.0)

    async def travel(robot):
        outcomes.append(await robot.goto(goal))

    sim = simulation(travel)
    while not sim.done:
        sim.step()
        robot = sim.robot("one0")
        shown.append((robot.pose, robot.odometry_pose, robot._state.navigator.route))
        if len(shown) == round(TO_S / 0.1) - 1:
            under_way = sim.state.pose[0].copy()
    assert -9 < under_way[0] < 8  # it was corrected on its way
    assert [str(outcome.state) for outcome in outcomes] == ["reached"]
    assert np.hypot(*(sim.state.pose[0, :2] - goal)) < 0.15
    assert sim.close().metrics["collisions_wall"] == 0
    steps = [np.hypot(*np.diff([np.array(p)[:2] for p, _, _ in shown], axis=0).T)]
    smooth = np.hypot(*np.diff([np.array(o)[:2] for _, o, _ in shown], axis=0).T)
    assert steps[0].max() == pytest.approx(1.0, abs=0.2)  # pose jumps,
    assert smooth.max() < 0.13  # odometry does not: 1.2 m/s in 0.1 s
    jump = int(steps[0].argmax()) + 1
    after = shown[jump + 30]  # 3 s later the route begins at the robot again
    assert np.hypot(*(after[2][0] - np.array(after[0])[:2])) < 3.0
    assert tuple(after[2][-1]) == goal  # and the goal is where it was put


def test_straight_ways_and_turns_are_measured_by_odometry():
    places = []

    async def manoeuvre(robot):
        await robot.turn(np.pi / 2)
        await robot.sleep(TO_S - 1.5 - robot.time)
        places.append(sim.state.pose[0].copy())
        await robot.forward(2.5)
        places.append(sim.state.pose[0].copy())

    sim = simulation(manoeuvre, timeout_s=20.0)
    sim.run()
    (_, y, heading), (_, there, _) = places
    assert heading == pytest.approx(np.pi / 2, abs=0.05)
    assert there - y == pytest.approx(2.5, abs=0.05)  # by the pose it would be 3.5 m: it falls back by 1 m meanwhile


def test_tags_stay_at_their_places_and_told_positions_as_they_were_told():
    found = {}

    async def leave(robot):
        await robot.sleep(TO_S - 0.35)
        robot.leave_tag("here")
        robot.blackboard["place"] = tuple(robot.pose)[:2]
        await robot.sleep(0.2)
        found["before"] = [(t.distance_m, t.bearing) for t in robot.tags], robot.blackboard["place"]
        await robot.sleep(0.5)
        found["after"] = [(t.distance_m, t.bearing) for t in robot.tags], robot.blackboard["place"]
        found["pose"] = tuple(robot.pose)[:2]

    simulation(leave, timeout_s=15.0).run()
    (before, told), (after, still) = found["before"], found["after"]
    assert before == after == [(pytest.approx(0.0, abs=1e-6), pytest.approx(before[0][1]))]  # it is where the robot is
    assert told == still == (pytest.approx(-9.0), pytest.approx(-4 + (8.7 - FROM_S) / (TO_S - FROM_S), abs=0.05))
    assert found["pose"] == pytest.approx((-9.0, -4.0), abs=1e-6)


def test_the_map_follows_the_correction():
    async def wait(robot):
        await robot.goto((-6.0, -4.0))
        await robot.sleep(20.0)

    sim = simulation(wait, timeout_s=12.0)
    while not sim.done:
        sim.step()
        if sim.time < TO_S - 0.05:
            before = sim.localization.pasts[0].scans.poses.copy()
    kept = sim.localization.pasts[0].scans
    truth = sim.localization.localizers[0][1].past(0, kept.rows)
    fifth = 0.2 * sim.localization.belief_of[0].grid.resolution
    assert np.abs(before - truth[: len(before)]).max() > 0.5
    assert np.hypot(*(kept.poses - truth)[:, :2].T).max() <= fifth  # what moves by less stays


def test_what_cameras_searched_follows_the_correction():
    """Robots look around while their estimates drift; what they believe later is where the cameras have looked."""
    agree = {}

    async def look(robot):
        await robot.goto((-7.5, robot.pose.y))
        await robot.turn(2 * np.pi)
        robot.share_searched()
        await robot.sleep(TO_S - 0.25 - robot.time)
        agree[robot.name, "before"] = overlap(robot)
        await robot.sleep(0.5)
        for _ in range(6):
            robot.share_searched()
            await robot.sleep(0.2)
        agree[robot.name, "after"] = overlap(robot)

    def overlap(robot):
        """Of the cells that it believes searched, the share that a camera has seen, or a neighbour of; and its views."""
        grid, seen = sim.world.grid, np.pad(sim.scoring.search.cells.explored(), 10)
        near = ndimage.binary_dilation(seen)
        rows, columns = grid.to_cells(robot.map.grid.to_world(np.argwhere(robot.searched.cells))).T + 10
        return near[rows, columns].mean(), robot.searched.views

    starts, camera = [(-9, -4, 0), (-9, 3, 0)], TagCamera(range_m=3.0)
    sim = simulation(look, starts, 12.0, (camera,), radio=50.0, share_maps=1.0)
    sim.run()
    for name in ("one0", "one1"):
        assert agree[name, "before"][0] < 0.95  # it drifts by 1 m
        assert agree[name, "after"][0] > 0.99  # of its own views, and of those that it was told
    assert agree["one0", "after"][1] == agree["one1", "after"][1]
    one, other = (sim.robot(name).searched for name in ("one0", "one1"))
    assert (one.cells & other.cells).sum() > 0.95 * one.cells.sum()


def test_the_chances_of_rescue_team_follow_the_correction():
    """Patches that a camera saw from drifted poses lie beside the walls that it drew there, and then beside the true ones."""
    true_share = {}

    async def look(robot):
        searcher = Searcher(robot, RescueSettings())
        await robot.goto((-7.5, robot.pose.y), until=searcher.interrupted)
        await robot.sleep(4.5 - robot.time)  # by then it has drifted by 0.36 m
        await robot.turn(2 * np.pi, until=searcher.interrupted)
        await robot.sleep(TO_S - 0.25 - robot.time, until=searcher.interrupted)
        true_share["before"] = at_walls(searcher, robot)
        await robot.sleep(0.5, until=searcher.interrupted)
        true_share["after"] = at_walls(searcher, robot)
        assert robot.corrections == ()  # told once

    def at_walls(searcher, robot):
        """Of the patches that were seen, the share with a true wall at most 0.3 m away: a cell beside it, half a patch, a cell of error."""
        walls = np.pad(sim.world.grid.cells == WALL, 10, constant_values=True)
        near = ndimage.binary_dilation(walls, np.ones((7, 7)))
        i, j, _ = np.nonzero(searcher.searched.missed < 0.9)
        corner, side = np.array(robot.map.grid.origin[:2]), searcher.searched.tile * robot.map.grid.resolution
        rows, columns = sim.world.grid.to_cells(corner + side * (np.column_stack((j, i)) + 0.5)).T + 10
        return near[rows, columns].mean()

    sim = simulation(look, timeout_s=11.0, more_sensors=(TagCamera(range_m=3.0),))
    sim.run()
    assert true_share["before"] < 0.8
    assert true_share["after"] > 0.95


def test_nobody_can_write_into_corrections():
    seen = []

    async def look(robot):
        while True:
            seen.extend(robot.corrections)
            await robot.sleep(0.05)

    simulation(look, timeout_s=11.0).run()
    assert seen
    for motions in seen:
        assert is_constant(motions)


def test_there_is_no_odometry_pose_without_odometry():
    poses = []
    group = covey.Group("one", covey.robots.pioneer3dx(), [(0, 0, 0)], lambda robot: poses.append(robot.odometry_pose))
    covey.Simulation(covey.World.empty(6, 6), [group], seed=1, stop=covey.Stop(timeout_s=0.3)).run()
    assert poses == [None] * 3
