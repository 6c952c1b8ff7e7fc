"""A package from outside adds a kind of everything, and each is used everywhere: no file of Covey changes for it."""

import struct
import sys

import numpy as np
import pytest

import covey
from covey.experiments.design.plan import environment, plan
from covey.experiments.workers.execute import execute
from covey.plain import unpack
from covey.registry import _installed, _registries, looking
from covey.ros.sensor_topics import output_of
from covey.ros.types import Types
from covey.scenario.load import load_scenario
from covey.viewer.inspect_robot import inspector
from covey.viewer.recorded import messages_of

CODE = '''
"""A yard: what a package adds to Covey."""

import numpy as np
from covey import World, controller
from covey.comms.links import LinkModel
from covey.comms.protocols import Protocol
from covey.draws import Draws
from covey.events import Event, Fault
from covey.mapping import Estimate, LocalizerRecord, Mapping, MergeRule
from covey.missions import Mission, Tracker
from covey.physics import PhysicsRecord, PlanarPhysics
from covey.planning import Planner
from covey.sensors import SensorRecord, Values
from covey.world import PlacedTarget, StartRecord, TargetRecord, WallsRecord


class Depth(SensorRecord):
    """How far east the robot is."""

    name: str = "depth"
    factor: float = 2.0

    def read(self, truth, members, keys, sample):
        return Values(self.factor * truth.pose[members, 0])

    def drawn(self, readings=None):
        return Draws("number")


class Beacons(LocalizerRecord):
    """The true pose, and a standard deviation."""

    sigma_m: float = 0.5

    def build(self, names, seed, equipment=None):
        return Found(len(names), self.sigma_m)


class Found:
    def __init__(self, n, sigma_m):
        self.covariance = np.tile(sigma_m**2 * np.eye(3), (n, 1, 1))
        self.revision = np.zeros(n, np.int64)

    def update(self, sensed):
        return Estimate(sensed.true_pose.copy(), self.covariance, self.revision)


class Fog(Mapping):
    """Only near returns count."""

    sight_m: float = 1.0

    def measured(self, ranges, angles, range_m):
        return np.where(ranges <= self.sight_m, ranges, np.nan)


class East(Mission):
    """Be east of a line."""

    beyond_m: float = 0.5

    def begin(self, context):
        return _East(self.beyond_m)


class _East(Tracker):
    columns = ("east_share",)

    def __init__(self, beyond_m):
        self.beyond_m, self.share = beyond_m, 0.0

    def measure(self, time_s, pose, able):
        self.share = float(np.mean(pose[:, 0] > self.beyond_m))
        self.reached = self.share == 1.0
        return []

    @property
    def values(self):
        return {"east_share": self.share}


class Gust(Event):
    """All robots are blown north."""

    by_m: float = 0.25

    def apply(self, at):
        for i, (x, y, heading) in enumerate(at.port.state.pose.tolist()):
            at.say("gust", at.port.names[i], place=(x, y))


class Tired(Fault):
    """A robot drives slower."""

    left: float = 0.5

    def affect(self, robot, effects):
        effects.drive(robot, lambda twist: self.left * twist)


class Ring(StartRecord):
    """Robots in a row at x = 0."""

    gap_m: float = 1.0

    def poses(self, world, radii, random):
        return [[0.0, self.gap_m * k, 0.0] for k in range(len(radii))]


class Pair(TargetRecord):
    """Two targets."""

    def placed(self, world, random):
        return [PlacedTarget(kind="victim", at=(x, -2.0), on="floor") for x in (-1.0, 1.0)]


class Yard(WallsRecord):
    """An empty square."""

    side_m: float = 8.0

    def build(self, folder, seed):
        return World.empty(self.side_m, self.side_m, resolution_m=0.1)


class Near(LinkModel):
    def probability(self, pairs):
        return (pairs.distance_m < 0.5).astype(float)


class Slippery(PhysicsRecord):
    """Half of each command is lost."""

    grip: float = 0.5

    def build(self, world, model, substep_s):
        return Sliding(world, model, substep_s, self.grip)


class Sliding(PlanarPhysics):
    def __init__(self, world, model, substep_s, grip):
        super().__init__(world, model, substep_s)
        self.grip = grip

    def step(self, state, commands, *further):
        return super().step(state, self.grip * commands, *further)


class Votes(MergeRule):
    """Each robot has a vote."""

    def parts(self, evidence):
        return np.sign(evidence)


class Stairs(Planner):
    """First along the row, then along the column."""

    def corners(self, cost, start, goal):
        return np.array([start, (start[0], goal[1]), goal]), 2


class Mute(Protocol):
    def send(self, frame, station):
        pass


@controller("yard_drive", sees=("depth",))
def drive(robot, speed: float = 0.5):
    robot.drive(speed if robot.depth is not None else 0.0)


def yard_gusts(run) -> int:
    """How many gusts there were."""
    return run.count("gust")
'''
POINTS = {
    "sensor": "yard_depth=yard:Depth",
    "localizer": "yard_beacons=yard:Beacons",
    "mapper": "yard_fog=yard:Fog",
    "mission": "yard_east=yard:East",
    "event": "yard_gust=yard:Gust",
    "fault": "yard_tired=yard:Tired",
    "start": "yard_ring=yard:Ring",
    "target": "yard_pair=yard:Pair",
    "world": "yard=yard:Yard",
    "link": "yard_near=yard:Near",
    "protocol": "yard_mute=yard:Mute",
    "physics": "yard_slippery=yard:Slippery",
    "merger": "yard_votes=yard:Votes",
    "planner": "yard_stairs=yard:Stairs",
    "controller": "yard_drive=yard:drive",
    "metric": "yard_gusts=yard:yard_gusts",
}
SCENARIO = """
world: {kind: yard, side_m: 8}
robots:
  - count: 2
    robot: {base: disc, sensors: [lidar, {kind: yard_depth, rate_hz: 10}], mapping: {kind: yard_fog, sight_m: 2}, planner: yard_stairs}
    start: {kind: yard_ring, gap_m: 1.5}
    localization: {kind: yard_beacons, sigma_m: 0.25}
    controller: {name: yard_drive, speed: 0.5}
physics: {kind: yard_slippery, grip: 0.9}
share_maps: {rule: yard_votes}
radio: {links: [yard_near], protocol: yard_mute}
targets: [yard_pair]
mission: {yard_east: {beyond_m: 0.3}}
events: [{kind: yard_gust, at_s: 0.2}]
faults: [{kind: yard_tired, robot: robot1, left: 0.5}]
stop: {timeout_s: 3}
"""


@pytest.fixture
def yard(tmp_path, monkeypatch):
    """Install the package in a folder of its own, and forget it again."""
    packages = tmp_path / "packages"
    about = packages / "yard-1.0.dist-info"
    about.mkdir(parents=True)
    (packages / "yard.py").write_text(CODE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: yard\nVersion: 1.0\n")
    groups = (f"[covey.{kind}]\n{entry.replace('=', ' = ')}\n" for kind, entry in POINTS.items())
    (about / "entry_points.txt").write_text("\n".join(groups))
    monkeypatch.syspath_prepend(packages)
    _installed.cache_clear()
    environment.cache_clear()  # of the software: the package is part of it, for these tests alone
    yield tmp_path
    for registry in _registries:
        registry.forget_modules({"yard"})
    sys.modules.pop("yard", None)
    _installed.cache_clear()
    environment.cache_clear()


def test_a_scenario_uses_what_a_package_adds(yard):
    (yard / "s.yaml").write_text(SCENARIO)
    scenario = load_scenario(yard / "s.yaml")
    (yard / "again.yaml").write_text(scenario.to_yaml())
    assert load_scenario(yard / "again.yaml").robots == scenario.robots
    changed = scenario.replace("robots.robot.robot.sensors.depth.factor", 3.0)
    sim = changed.replace("robots.robot.localization.sigma_m", 0.1).build(yard / "run")
    for _ in range(6):
        sim.step()
    depth = next(bank for bank in sim.sensing.banks if bank.record.kind == "yard_depth")
    np.testing.assert_allclose(depth.readings.values, 3.0 * depth.newest.pose[:, 0])
    np.testing.assert_allclose(sim.localization.covariance[:, 0, 0], 0.01)
    np.testing.assert_allclose(sim.state.pose[:, 1], [0.0, 1.5])
    assert 0.1 < sim.state.pose[1, 0] < 0.6 * sim.state.pose[0, 0]  # the fault
    np.testing.assert_allclose(sim.state.twist[0, 0], 0.9 * 0.5)
    assert sim.localization.teams[0].beliefs.rule.kind == "yard_votes"
    assert len(sim.world_state.targets.kinds) == 2
    known = sim.localization.belief_of[0].grid.cells >= 0
    assert known.sum() * 0.01 < 1.2 * np.pi * 2.2**2  # fog: nothing is seen beyond 2 m; the room has 64 m2
    plain = {}
    inspector(sim, [0], {}, plain)
    assert ("Depth", f"{depth.readings.values[0]:.3g}") in plain["inspector"][0]["sections"]["Readings"]
    _check_ros(depth)
    run = sim.run()
    assert run.status == "reached"
    assert run.team["east_share"][-1] == 1.0
    page = unpack(list(messages_of(run, []))[1])[0]
    assert [event["robot"] for event in page["events"] if event["kind"] == "gust"] == ["robot0", "robot1"]


def test_python_names_what_a_package_adds(yard):
    async def goes(robot):
        await robot.goto((2.0, 1.5))

    model = covey.RobotModel(radius_m=0.2, sensors=["lidar"], mapping={}, planner="yard_stairs")
    groups = [covey.Group("r", model, [(0.0, 0.0, 0.0)], goes)]
    sim = covey.Simulation(covey.World.empty(8, 8), groups, physics={"kind": "yard_slippery", "grip": 0.5})
    for _ in range(3):
        sim.step()
    np.testing.assert_allclose(sim.robot("r0")._state.navigator.route, [[2.0, 0.0], [2.0, 1.5], [2.0, 1.5]], atol=0.06)
    assert sim.physics.grip == 0.5


def _check_ros(bank):
    """Check the bytes that ROS gets for a reading, and the reading that a node makes of them; no ROS is needed."""
    types, sent = Types("jazzy"), []

    class Node:
        def messages(self, name, kind, profile):
            return lambda values: sent.append((name, kind, types.encode(kind, values)))

    output_of(bank.record, False, Node(), [])(None, bank.readings, 1)
    ((name, kind, data),) = sent
    value = float(bank.readings.values[1])
    assert (name, kind) == ("depth", "std_msgs/msg/Float64MultiArray")
    assert data == b"\0\1\0\0" + struct.pack("<III4xd", 0, 0, 1, value)  # no dimensions, no offset, one double
    assert bank.record.reading(types.decode(kind, data).data) == value


def test_code_in_a_file_takes_the_place_of_each_name(yard):
    (yard / "mine.py").write_text(CODE)
    text = SCENARIO.replace("{yard_east: {beyond_m: 0.3}}", "{./mine.py:East: {beyond_m: 0.3}}")
    for entry in POINTS.values():
        name, _, place = entry.partition("=")
        for end in ",}]":
            text = text.replace(name + end, f"./mine.py:{place.partition(':')[2]}{end}")
    (yard / "s.yaml").write_text(text.replace("yard_mute", "./mine.py:Mute").replace("@controller", "#"))
    with looking() as seen:
        load_scenario(yard / "s.yaml")
    assert len(seen.unread) == len(POINTS) - 1  # a scenario names no metrics
    with pytest.raises(covey.ScenarioError, match="--trusted-only refuses"):
        load_scenario(yard / "s.yaml", trusted_only=True)


@pytest.mark.slow
def test_a_design_has_rows_of_it_in_process_and_in_processes(yard):
    (yard / "s.yaml").write_text(SCENARIO)
    (yard / "d.yaml").write_text(
        "design: yard\nscenario: ./s.yaml\nparameters: {execution.controllers: [in_process, processes]}\nmetrics: [yard_gusts]\niterations: 1\n"
    )
    runs = plan(covey.load_design(yard / "d.yaml"))
    rows = [execute(run, yard / f"study{k}") for k, run in enumerate(runs)]
    assert [row["status"] for row in rows] == ["reached", "reached"], rows
    assert [row["metrics"]["yard_gusts"] for row in rows] == [2, 2]
