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

    def ask(self, name, **values):
        kind, client = f"simulation_interfaces/srv/{KINDS[name]}", self.clients[name]
        until(lambda: client.ready)
        number = client.call(self.types.encode(f"{kind}_Request", values))
        (data,) = until(lambda: [data for which, data in client.take() if which == number])
        return self.types.decode(f"{kind}_Response", data)

    def outcome(self, name, **values):
        """Return the code of the result."""
        return self.ask(name, **values).result.result

    def set_state(self, state):
        return self.outcome("set_simulation_state", state={"state": state})


@pytest.fixture
def world(domain):
    with Participant(domain) as ros, Participant(domain) as other:
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
    assert world.outcome("get_entities", filters={"filter": "("}) == FAILED
    assert world.outcome("get_entities", filters={"tags": {"tags": ["a"]}}) == UNSUPPORTED
    state = world.ask("get_entity_state", entity="scout1").state
    assert (state.header.frame_id, state.pose.position.x, state.pose.position.y) == ("map", 2.0, 1.0)
    assert state.pose.orientation.z == pytest.approx(math.sin(math.pi / 4))
    missing = world.ask("get_entity_state", entity="scout7").result
    assert (missing.result, "known: scout0, scout1" in missing.error_message) == (NOT_FOUND, True)
    assert 11 in world.ask("get_simulator_features").features.features


def test_a_robot_is_placed_and_one_is_deleted(world):
    there = {"position": {"x": -1.0, "y": 1.5}, "orientation": {"z": math.sin(0.25), "w": math.cos(0.25)}}
    assert world.outcome("set_entity_state", entity="scout0", set_pose=True, state={"pose": there}) == OK
    assert world.outcome("step_simulation", steps=1) == OK
    assert np.allclose(world.sim.state.pose[0], (-1.0, 1.5, 0.5))
    world.set_state(PLAYING)
    wall = there | {"position": {"x": 40.0}}
    assert world.outcome("set_entity_state", entity="scout0", set_pose=True, state={"pose": wall}) == 101
    lying = there | {"orientation": {"x": 1.0}}
    assert world.outcome("set_entity_state", entity="scout0", set_pose=True, state={"pose": lying}) == 101
    assert world.outcome("set_entity_state", entity="scout0", set_twist=True) == UNSUPPORTED
    assert world.outcome("delete_entity", entity="scout1") == OK
    assert list(world.ask("get_entities").entities) == ["scout0"]
    assert world.outcome("delete_entity", entity="scout1") == NOT_FOUND


def test_a_reset_begins_anew(world):
    assert world.outcome("reset_simulation", scope=1) == UNSUPPORTED
    assert world.outcome("reset_simulation", scope=255) == OK
    world.run.join(timeout=60)
    assert world.bridge.again
