"""`SimulationServices`: the services of ROS 2's ``simulation_interfaces``, as far as Covey has what they ask for."""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.errors import CoveyError
from covey.events.inputs import RequestedEvent
from covey.lazy import pa, pc
from covey.ros import messages as m
from covey.ros.definitions import SECOND_SIMULATION
from covey.ros.messages import MAP
from covey.ros.services import Request, Service
from covey.runtime.simulation import Simulation

if TYPE_CHECKING:
    from covey.ros.bridge import Bridge

_PACKAGE = "simulation_interfaces/srv"
_UNSUPPORTED, _OK, _NOT_FOUND, _INCORRECT_STATE, _FAILED = range(5)
_STOPPED, _PLAYING, _PAUSED, _QUITTING = range(4)
_ALREADY, _INVALID_POSE = 101, 101  # in two services
_NAME_TAKEN, _NO_NAME, _NO_FORMAT, _NO_RESOURCE, _NO_NAMESPACE = range(101, 106)  # of a spawn
_NO_PLACE = 109
_FEATURES = (0, 1, 8, 10, 11, 14, 20, 24, 25, 26, 31, 32)
"""Spawning and deleting; categories; states of entities, read and set; what can be spawned; reset; the state of the
simulation, also paused; steps."""
_ROBOT = 1  # the category
_ALL = (0, 255)  # scopes of a reset
_WORLD = ("", MAP, "world")
_LONGEST = 100  # characters of a regular expression: some take a millisecond each
_FARTHEST = 1e6  # coordinates of a place [m]
_HEADING_ONLY = 1e-3  # components of a quaternion that tilt a robot in the plane
Answer = dict[str, Any]


class SimulationServices:
    """Services below ``/covey``: the simulation's state, steps and reset; its robots, their true poses.

    Steps are answered when they have been taken, and events when they have happened, or at once while all stands.

    Args:
        bridge: the simulation's bridge.
    """

    def __init__(self, bridge: "Bridge"):
        self._bridge = bridge
        self._pending: list[tuple[Service, Request, Callable[[], Answer | None]]] = []
        answers: dict[str, tuple[str, Callable[[Any], Answer | Callable[[], Answer | None]]]] = {
            "get_simulator_features": ("GetSimulatorFeatures", self._features),
            "get_simulation_state": ("GetSimulationState", self._state),
            "set_simulation_state": ("SetSimulationState", self._set_state),
            "step_simulation": ("StepSimulation", self._step),
            "reset_simulation": ("ResetSimulation", self._reset),
            "get_entities": ("GetEntities", self._entities),
            "get_entity_state": ("GetEntityState", self._entity_state),
            "set_entity_state": ("SetEntityState", self._set_entity_state),
            "delete_entity": ("DeleteEntity", self._delete),
            "get_spawnables": ("GetSpawnables", self._spawnables),
            "spawn_entity": ("SpawnEntity", self._spawn),
        }
        self._coming: list[tuple[Simulation, str, RequestedEvent]] = []  # robots that come back in the next step
        self._second = bridge.participant.types.distro in SECOND_SIMULATION
        self._services = [
            (Service(bridge.node, f"~/{name}", f"{_PACKAGE}/{kind}"), answer)
            for name, (kind, answer) in answers.items()
        ]
        self._news = bridge.participant.waiter(*(service.requests for service, _ in self._services))

    def serve(self) -> None:
        """Answer what was asked since the last call, and what has happened since."""
        if self._news(0.0) or self._bridge.participant.delayed:
            for service, answer in self._services:
                for request, asked in service.asked():
                    found = answer(asked)
                    if callable(found):
                        self._pending.append((service, request, found))
                    else:
                        service.answer(request, found)
        waiting, self._pending = self._pending, []
        for service, request, look in waiting:
            if (found := look()) is None:
                self._pending.append((service, request, look))
            else:
                service.answer(request, found)

    @property
    def _sim(self) -> Simulation:
        sim = self._bridge.sim
        assert sim is not None
        return sim

    # -- the simulation ------------------------------------------------------------------------------------------------

    def _features(self, _asked: Any) -> Answer:
        about = "Covey: a robot that has been deleted, or has vanished, can be spawned; uri is the name of its group"
        return {"features": {"features": list(_FEATURES), "custom_info": about}}

    def _state(self, _asked: Any) -> Answer:
        state = _QUITTING if self._sim.done else _PLAYING if self._bridge.pacer.playing else _PAUSED
        return {"state": {"state": state}, "result": _result(_OK)}

    def _set_state(self, asked: Any) -> Answer:
        wanted, pacer = int(asked.state.state), self._bridge.pacer
        if wanted == self._state(None)["state"]["state"]:
            return {"result": _result(_ALREADY, "it is in this state")}
        if wanted == _PLAYING:
            pacer.play()
        elif wanted == _PAUSED:
            pacer.pause()
        elif wanted == _QUITTING:
            self._bridge.control.do("end")
        else:
            return {"result": _result(_UNSUPPORTED, "it plays, pauses and quits; to begin anew, call reset_simulation")}
        return {"result": _result(_OK)}

    def _step(self, asked: Any) -> Answer | Callable[[], Answer | None]:
        pacer, steps = self._bridge.pacer, int(asked.steps)
        if pacer.playing:
            return {"result": _result(_FAILED, "the simulation plays; pause it before it takes single steps")}
        if not 0 < steps <= 10**9:
            return {"result": _result(_FAILED, f"steps is {steps}; give a whole number from 1 on")}
        sim = self._sim
        target = sim.clock.step + pacer.steps + steps
        pacer.step(steps)

        def look() -> Answer | None:
            if sim.clock.step >= target:
                return {"result": _result(_OK)}
            if sim.done or sim is not self._bridge.sim:
                return {"result": _result(_FAILED, f"the run ended in step {sim.clock.step}")}
            return None

        return look

    def _reset(self, asked: Any) -> Answer:
        if int(asked.scope) not in _ALL:
            return {"result": _result(_UNSUPPORTED, "Covey resets everything (scope 255): a new run begins")}
        self._bridge.control.do("reset")
        return {"result": _result(_OK)}

    # -- the robots ----------------------------------------------------------------------------------------------------

    def _entities(self, asked: Any) -> Answer:
        filters = asked.filters
        if len(filters.tags.tags) or int(filters.bounds.type):
            return {"result": _result(_UNSUPPORTED, "entities are found by name and category, not by tags or bounds")}
        if len(filters.filter) > _LONGEST:
            return {"result": _result(_FAILED, f"filter has {len(filters.filter)} characters; give at most {_LONGEST}")}
        names = [name for name, i in self._here().items() if not self._sim.state.vanished[i]]
        try:  # by an engine without backtracking
            wanted = pc.MatchSubstringOptions(filters.filter)
            kept = pc.call_function("match_substring_regex", [pa.array(names, pa.string())], wanted).to_pylist()
        except pa.ArrowInvalid as error:
            why = str(error).removeprefix("Invalid regular expression: ")
            return {"result": _result(_FAILED, f"filter {filters.filter!r:.60} is no regular expression: {why:.80}")}
        categories = [int(one.category) for one in filters.categories]
        names = [name for name, keep in zip(names, kept, strict=True) if keep]
        return {"result": _result(_OK), "entities": names if not categories or _ROBOT in categories else []}

    def _here(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self._sim.names)}

    def _number_of(self, name: str) -> int | None:
        number = self._here().get(name.strip("/"))
        return None if number is None or self._sim.state.vanished[number] else number

    def _entity_state(self, asked: Any) -> Answer:
        if (i := self._number_of(asked.entity)) is None:
            return {"result": _no_such(asked.entity, self._sim)}
        sim = self._sim
        x, y, heading = sim.state.pose[i].tolist()
        z, roll, pitch = sim.state.altitude_roll_pitch[i].tolist()
        ahead, left, turn = sim.state.twist[i].tolist()
        c, s = math.cos(heading), math.sin(heading)
        state = {
            "header": m.header(m.stamp_of(sim.clock.now, sim.clock.substep_s), MAP),
            "pose": {"position": {"x": x, "y": y, "z": z}, "orientation": m.quaternion(heading, pitch, roll)},
            "twist": {
                "linear": {"x": c * ahead - s * left, "y": s * ahead + c * left, "z": 0.0},
                "angular": {"x": 0.0, "y": 0.0, "z": turn},
            },
        }
        return {"result": _result(_OK), "state": state}

    def _set_entity_state(self, asked: Any) -> Answer | Callable[[], Answer | None]:
        if (i := self._number_of(asked.entity)) is None:
            return {"result": _no_such(asked.entity, self._sim)}
        if self._second:  # it says what is to be set
            moving, pose = asked.set_twist or asked.set_acceleration, asked.set_pose
        else:
            rates = (asked.state.twist, asked.state.acceleration)
            parts = (part for rate in rates for part in (rate.linear, rate.angular))
            moving, pose = any(part.x or part.y or part.z for part in parts), True
        if moving:
            return {"result": _result(_UNSUPPORTED, "Covey sets poses; a robot gets its speed from cmd_vel")}
        if not pose:
            return {"result": _result(_OK)}
        if isinstance(pose := _pose_of(asked.state), str):
            return {"result": _result(_INVALID_POSE, pose)}
        return self._event({"place": self._sim.names[i], "pose": pose}, _INVALID_POSE)

    def _delete(self, asked: Any) -> Answer | Callable[[], Answer | None]:
        if (i := self._number_of(asked.entity)) is None:
            return {"result": _no_such(asked.entity, self._sim)}
        return self._event({"kind": "dies", "robot": self._sim.names[i], "vanishes": True}, _FAILED)

    def _away(self) -> dict[str, list[str]]:
        """Return the robots of each group that have vanished, and do not come back yet."""
        sim = self._sim
        self._coming = [one for one in self._coming if one[0] is sim and not one[2].events]
        coming = {name for _, name, _ in self._coming}
        gone = {name for name, i in self._here().items() if sim.state.vanished[i]} - coming
        return {group.name: [name for name in group.names if name in gone] for group in sim.groups}

    def _spawnables(self, _asked: Any) -> Answer:
        away, found = self._away(), []
        for name, robots in away.items():
            about = f"robots of the scenario that are away: {', '.join(robots[:20]) or 'none'}"
            uri = {"entity_resource": {"uri": name}} if self._second else {"uri": name}
            found.append({**uri, "description": about})
        return {"result": _result(_OK), "spawnables": found}

    def _spawn(self, asked: Any) -> Answer | Callable[[], Answer | None]:
        resource, name = asked.entity_resource if self._second else asked, asked.name.strip("/")
        away, uri = self._away(), resource.uri
        what = f"give the name of a group of the scenario as uri: {', '.join(away)}"
        free = away.get(uri, [])
        chosen = name if name in free else free[0] if free and (asked.allow_renaming or not name) else ""
        if not uri:
            code, text = (_NO_FORMAT, what) if resource.resource_string else (_NO_RESOURCE, what)
        elif uri not in away:
            code, text = _NO_FORMAT, f"uri is {uri!r:.60}; {what}"
        elif not free:
            reserve = f"[{{kind: dies, vanishes: true, robot: {self._last_of(uri)}, at_s: 0}}]"
            code, text = (
                _FAILED,
                (
                    f"all robots of {uri} are there, or go in the next step: "
                    "a run has no more robots than its scenario; "
                    f"hold some back with faults: {reserve}"
                ),
            )
        elif not chosen and self._number_of(name) is not None:
            code, text = _NAME_TAKEN, f"{name} is there already; free: {', '.join(free[:20])}"
        elif not chosen:
            code, text = _NO_NAME, f"name is {name!r:.60}; of {uri} these are away: {', '.join(free[:20])}"
        elif asked.entity_namespace.strip("/") not in ("", chosen):
            code, text = _NO_NAMESPACE, f"namespace is {asked.entity_namespace!r:.60}; that of a robot is its name"
        elif isinstance(pose := _pose_of(asked.initial_pose), str):
            code, text = _NO_PLACE, pose
        else:
            return self._event({"place": chosen, "pose": pose}, _NO_PLACE, chosen)
        return {"result": _result(code, text)}

    def _last_of(self, group: str) -> str:
        return next(one.names[-1] for one in self._sim.groups if one.name == group)

    def _event(self, event: Mapping[str, Any], wrong: int, spawned: str = "") -> Answer | Callable[[], Answer | None]:
        """Ask for an event in the next step; the answer says whether it happened, or else has the code ``wrong``.

        Args:
            spawned: the robot that comes back, which is in the answer, too.
        """
        sim = self._sim
        try:
            asked: RequestedEvent = sim.do(event)
        except CoveyError as error:
            return {"result": _result(wrong, str(error))}
        more = {}
        if spawned:
            self._coming.append((sim, spawned, asked))
            more = {"entity_name": spawned}
        if not self._bridge.pacer.playing:
            return {"result": _result(_OK, "the simulation is paused: it happens in the next step, if it can"), **more}

        def look() -> Answer | None:
            if asked.events:
                refused = asked.refused
                return {"result": _result(_OK), **more} if refused is None else {"result": _result(wrong, refused.text)}
            if sim.done or sim is not self._bridge.sim:
                return {"result": _result(_FAILED, "the run ended before its next step")}
            return None

        return look


def _pose_of(stamped: Any) -> list[float] | str:
    """Return x, y [m] and heading [deg] of a pose with a header, or what is wrong with it."""
    place, turn = stamped.pose.position, stamped.pose.orientation
    numbers = np.array([place.x, place.y, turn.x, turn.y, turn.z, turn.w])
    if stamped.header.frame_id not in _WORLD:
        return f"the frame is {stamped.header.frame_id!r:.60}; poses are in {MAP}"
    if not (np.abs(numbers) < _FARTHEST).all():
        return f"position {numbers[:2].tolist()}, quaternion {numbers[2:].tolist()}; give finite numbers, metres"
    if abs(np.sum(numbers[2:] ** 2) - 1.0) > 0.01:
        return f"the quaternion is {numbers[2:].tolist()}; its length must be 1"
    if max(abs(turn.x), abs(turn.y)) > _HEADING_ONLY:
        return "a robot can be turned around the vertical only"
    return [float(place.x), float(place.y), math.degrees(2.0 * math.atan2(turn.z, turn.w))]


def _result(code: int, text: str = "") -> dict[str, Any]:
    return {"result": code, "error_message": text}


def _no_such(name: str, sim: Simulation) -> dict[str, Any]:
    known = ", ".join(sim.names[:20]) + (" …" if len(sim.names) > 20 else "")
    return _result(_NOT_FOUND, f"there is no robot {name!r:.60}; known: {known}")
