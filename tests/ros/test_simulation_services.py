"""The services of simulation_interfaces: state, steps, reset, and the robots' true poses."""

import math
import threading

import numpy as np
import pytest
from tests.ros.world import until

import covey
from covey.onboard.group import Group
from covey.robots.catalogue import disc
from covey.ros.bridge import Bridge
from covey.ros.dds import Participant
from covey.ros.services import ServiceClient
from covey.ros.settings import BridgeSettings

OK, NOT_FOUND, FAILED, UNSUPPORTED = 1, 2, 4, 0
PLAYING, PAUSED, QUITTING = 1, 2, 3
KINDS = {
    "get_simulator_features": "GetSimulatorFeatures",
    "get_simulation_state": "GetSimulationState",
    "set_simulation_state": "SetSimulationState",
    "step_simulation": "StepSimulation",
    "reset_simulation": "ResetSimulation",
    "get_entities": "GetEntities",
    "get_entity_state": "GetEntityState",
    "set_entity_state": "SetEntityState",
    "delete_entity": "DeleteEntity",
    "get_spawnables": "GetSpawnables",
    "spawn_entity": "SpawnEntity",
}


class World:
    """A running simulation of two robots, and a client of all its services."""

    def __init__(self, ros, other):
        self.bridge = Bridge(ros, BridgeSettings("max"))
        group = Group("scout", disc(), [(0.0, 0.0, 0.0), (2.0, 1.0, math.pi / 2)], "commanded")
        self.sim = covey.Simulation(covey.World.empty(8.0, 6.0), [group], hosting=self.bridge.hosting)
        self.bridge.before_step(self.sim)  # makes the topics
        self.bridge.pacer.pause()
        self.types, node = other.types, other.node("tool")
        self.clients = {
            name: ServiceClient(node, f"/covey/{name}", f"simulation_interfaces/srv/{kind}")
            for name, kind in KINDS.items()
        }
        how = {"before_step": self.bridge.before_step, "until_s": 1e6}
        self.run = threading.Thread(target=self.sim.run, kwargs=how)
        self.run.start()

    def ask(self, name, /, **values):
        kind, client = f"simulation_interfaces/srv/{KINDS[name]}", self.clients[name]
        until(lambda: client.ready)
        number = client.call(self.types.encode(f"{kind}_Request", values))
        (data,) = until(lambda: [data for which, data in client.take() if which == number])
        return self.types.decode(f"{kind}_Response", data)

    def outcome(self, name, /, **values):
        """Return the code of the result."""
        return self.ask(name, **values).result.result

    def set_state(self, state):
        return self.outcome("set_simulation_state", state={"state": state})


@pytest.fixture
def distro():
    return "jazzy"


@pytest.fixture
def world(domain, distro):
    with Participant(domain, distro) as ros, Participant(domain, distro) as other:
        made = World(ros, other)
        yield made
        made.sim.end()
        made.bridge.pacer.play()
        made.run.join(timeout=60)
        assert not made.run.is_alive()


def test_it_is_paused_stepped_played_and_ended(world):
    assert world.ask("get_simulation_state").state.state == PAUSED
    before = world.sim.clock.step
    assert world.outcome("step_simulation", steps=3) == OK
    assert world.sim.clock.step == before + 3  # the answer comes when they have been taken
    assert world.outcome("step_simulation", steps=0) == FAILED
    assert world.set_state(PLAYING) == OK
    until(lambda: world.sim.clock.step > before + 10)
    assert world.set_state(PLAYING) == 101
    said = world.ask("step_simulation", steps=1).result
    assert (said.result, "pause it" in said.error_message) == (FAILED, True)
    assert world.set_state(0) == UNSUPPORTED
    assert world.set_state(QUITTING) == OK
    world.run.join(timeout=60)
    assert world.sim.status == "stopped"


def test_robots_are_named_and_their_true_states_are_told(world):
    assert list(world.ask("get_entities").entities) == ["scout0", "scout1"]
    assert list(world.ask("get_entities", filters={"filter": "1$"}).entities) == ["scout1"]
    assert not list(world.ask("get_entities", filters={"categories": [{"category": 2}]}).entities)
    for wrong, why in (("(", "missing )"), ("a" * 2000, "2000 characters"), ("(a)\\1", "invalid escape")):
        said = world.ask("get_entities", filters={"filter": wrong}).result
        assert (said.result, why in said.error_message) == (FAILED, True)
    assert world.outcome("get_entities", filters={"tags": {"tags": ["a"]}}) == UNSUPPORTED
    state = world.ask("get_entity_state", entity="scout1").state
    assert (state.header.frame_id, state.pose.position.x, state.pose.position.y) == ("map", 2.0, 1.0)
    assert state.pose.orientation.z == pytest.approx(math.sin(math.pi / 4))
    missing = world.ask("get_entity_state", entity="scout7").result
    assert (missing.result, "known: scout0, scout1" in missing.error_message) == (NOT_FOUND, True)
    assert 11 in world.ask("get_simulator_features").features.features


def test_a_pattern_that_grows_exponentially_is_answered(domain):
    with Participant(domain) as ros, Participant(domain) as other:
        bridge = Bridge(ros, BridgeSettings("max"))
        group = Group("a" * 60, disc(), [(0.0, 0.0, 0.0)], "commanded")  # 2^60 ways to divide the name
        sim = covey.Simulation(covey.World.empty(8.0, 6.0), [group], hosting=bridge.hosting)
        bridge.before_step(sim)
        client = ServiceClient(other.node("tool"), "/covey/get_entities", "simulation_interfaces/srv/GetEntities")
        until(lambda: client.ready)
        kind = "simulation_interfaces/srv/GetEntities"
        number = client.call(other.types.encode(f"{kind}_Request", {"filters": {"filter": "(a|a)*(a+)+$"}}))

        def answered():
            bridge.control.apply()
            return [data for which, data in client.take() if which == number]

        (data,) = until(answered)
        assert not list(other.types.decode(f"{kind}_Response", data).entities)


def pose_of(x, y, heading=0.0):
    return {"position": {"x": x, "y": y}, "orientation": {"z": math.sin(heading / 2), "w": math.cos(heading / 2)}}


@pytest.mark.parametrize("distro", ["jazzy", "rolling"])
def test_a_robot_that_has_gone_is_spawned(world, distro):
    def spawn(uri="scout", pose=None, **values):
        resource = {"entity_resource": {"uri": uri}} if distro == "rolling" else {"uri": uri}
        return world.ask("spawn_entity", initial_pose={"pose": pose or pose_of(1.0, -1.0, 0.5)}, **resource, **values)

    def spawnable():
        (one,) = world.ask("get_spawnables").spawnables
        uri = one.entity_resource.uri if distro == "rolling" else one.uri
        return uri, one.description.partition("away: ")[2]

    full = spawn()
    assert (full.result.result, "a run has no more robots than its scenario" in full.result.error_message) == (4, True)
    assert spawnable() == ("scout", "none")
    world.set_state(PLAYING)
    assert world.outcome("delete_entity", entity="scout1") == OK
    assert spawnable() == ("scout", "scout1")
    for code, why, how in (
        (103, "give the name of a group of the scenario as uri: scout", {"uri": "robot.urdf"}),
        (104, "give the name of a group", {"uri": ""}),
        (101, "scout0 is there already", {"name": "scout0"}),
        (102, "of scout these are away: scout1", {"name": "rover"}),
        (105, "that of a robot is its name", {"entity_namespace": "other"}),
        (109, "outside", {"pose": pose_of(40.0, 0.0)}),
        (109, "its length must be 1", {"pose": {"orientation": {"w": 2.0}}}),
        (109, "", {"pose": pose_of(*world.sim.state.pose[0, :2].tolist())}),  # where scout0 stands
    ):
        said = spawn(**how)
        assert (said.result.result, why in said.result.error_message) == (code, True), (how, said)
    assert spawnable() == ("scout", "scout1")
    said = spawn(name="rover", allow_renaming=True, entity_namespace="/scout1")
    assert (said.result.result, said.entity_name) == (OK, "scout1")
    assert list(world.ask("get_entities").entities) == ["scout0", "scout1"]
    state = world.ask("get_entity_state", entity="scout1").state.pose
    assert (state.position.x, state.position.y) == (1.0, -1.0)
    assert {0, 14} <= set(world.ask("get_simulator_features").features.features.tolist())


def test_while_all_stands_a_robot_is_spawned_once(world):
    world.set_state(PLAYING)
    assert world.outcome("delete_entity", entity="scout1") == OK
    world.set_state(PAUSED)
    answers = [world.ask("spawn_entity", uri="scout", initial_pose={"pose": pose_of(x, 1.0)}) for x in (-2.0, 3.0)]
    assert [(one.result.result, one.entity_name) for one in answers] == [(OK, "scout1"), (FAILED, "")]
    assert world.outcome("step_simulation", steps=1) == OK
    assert np.allclose(world.sim.state.pose[1, :2], (-2.0, 1.0))
    assert list(world.ask("get_entities").entities) == ["scout0", "scout1"]


@pytest.mark.parametrize("distro", ["jazzy", "rolling"])
def test_a_robot_is_placed_and_one_is_deleted(world, distro):
    set_pose = {"set_pose": True} if distro == "rolling" else {}
    kind = "simulation_interfaces/srv/SetEntityState_Request"
    # of ROS 2's own rosidl, from versions 1.5.1 and 2.1.0 of the package
    assert (
        world.types.hash(kind)
        == {
            "jazzy": "RIHS01_95cdfbffcd9c4d0133b2079bdcadd4420ce86dd255c11a3dfed7f9f907fd304d",
            "rolling": "RIHS01_0ec3cca7e2bde7323c0c7ea4a5a7947f81edb90c144fc0aef5e2052e94e10061",
        }[distro]
    )
    there = pose_of(-1.0, 1.5, 0.5)
    assert world.outcome("set_entity_state", entity="scout0", **set_pose, state={"pose": there}) == OK
    assert world.outcome("step_simulation", steps=1) == OK
    assert np.allclose(world.sim.state.pose[0], (-1.0, 1.5, 0.5))
    world.set_state(PLAYING)
    wall = there | {"position": {"x": 40.0}}
    assert world.outcome("set_entity_state", entity="scout0", **set_pose, state={"pose": wall}) == 101
    lying = there | {"orientation": {"x": 1.0}}
    assert world.outcome("set_entity_state", entity="scout0", **set_pose, state={"pose": lying}) == 101
    moving = {"set_twist": True} if set_pose else {"state": {"twist": {"linear": {"x": 0.5}}}}
    assert world.outcome("set_entity_state", entity="scout0", **moving) == UNSUPPORTED
    assert world.outcome("delete_entity", entity="scout1") == OK
    assert list(world.ask("get_entities").entities) == ["scout0"]
    assert world.outcome("delete_entity", entity="scout1") == NOT_FOUND


def test_a_reset_begins_anew(world):
    assert world.outcome("reset_simulation", scope=1) == UNSUPPORTED
    assert world.outcome("reset_simulation", scope=255) == OK
    world.run.join(timeout=60)
    assert world.bridge.again
