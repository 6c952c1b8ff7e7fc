"""`Simulation`: a world, a team, and the control step that advances both."""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from inspect import signature
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any, Literal, Never

import numpy as np

from covey.clock import Clock
from covey.comms.radio import Radio, radios_of
from covey.comms.tags import Tags
from covey.errors import ControllerError, CoveyError, InvalidValueError, UnknownNameError, printable
from covey.events.checks import blind, check_kinds, check_needed, check_unknown_starts, deaf, unshared
from covey.events.inputs import Inputs, RequestedEvent
from covey.events.port import Dig, Impairment, Port
from covey.geometry import Pose
from covey.mapping.elevation.belief import ElevationBelief
from covey.mapping.exchange.share_maps import ShareMaps, as_share_maps
from covey.missions import Exploration, Mission, MissionContext, Tracker
from covey.missions.exploration import ExplorationTracker
from covey.onboard.group import Group
from covey.physics.planar.physics import NO_CONTACTS
from covey.physics.protocol import Contacts
from covey.physics.records import PhysicsRecord
from covey.planning.orders import ORDER_KEY, Order
from covey.records import as_record
from covey.results.event_data import Data, OdometryContradicted, Reported, Sighted, said
from covey.results.folder import GROUNDS
from covey.results.manifest import build_manifest
from covey.results.recorder import Blank, Recorder
from covey.results.recording import Details, Recording, as_recording
from covey.results.run import Run
from covey.results.snapshot import RunEvent, Snapshot
from covey.robots.team import TeamModel, TeamState
from covey.runtime.execution import Execution, as_execution
from covey.runtime.hosting import Hosting, hosting_of
from covey.runtime.local.failures import stopped
from covey.runtime.memory import Crew, check_memory
from covey.runtime.pacing import Pace, rare_collections
from covey.runtime.phases.communication import Communication
from covey.runtime.phases.computing import Computing
from covey.runtime.phases.deciding import Deciding
from covey.runtime.phases.detailing import Detailing
from covey.runtime.phases.giving_up import GivingUp, GivingUpEvent
from covey.runtime.phases.ground_accuracy import GroundAccuracy
from covey.runtime.phases.localization_and_mapping import LocalizationAndMapping
from covey.runtime.phases.map_exchange import MapExchange, said_of
from covey.runtime.phases.moving import Moving, only_moves
from covey.runtime.phases.observing import Observing
from covey.runtime.phases.reporting import SCHEMA, Reporting, table
from covey.runtime.phases.scoring import Scoring
from covey.runtime.phases.sensing import Sensing, SensorBank
from covey.runtime.phases.team_slam import TeamSlam
from covey.runtime.phases.uncertainty import Uncertainty
from covey.runtime.stop import Stop
from covey.runtime.stopwatch import Stopwatch
from covey.runtime.team_setup import as_groups
from covey.world.placement.placing import check_free
from covey.world.placement.start_search import Standing
from covey.world.placement.targets import lay
from covey.world.state import GroundState, WorldState
from covey.world.targets import Targets
from covey.world.world import World

LOG = logging.getLogger("covey")
"""Logs an error when a controller fails, and a warning if a team that needs shared maps does not share them."""
END_LOG = logging.getLogger("covey.end")
"""Logs a summary of all failed robots at the end of `run`."""


class Simulation:
    """A team of robots in a world, one control step at a time.

    Args:
        world: the world, such as ``covey.World.empty(6, 6)``.
        robots: number of generic robots, or groups of robots.
        controller: controller of the robots that have none of their own; a class, a function, or the name of a
            shipped controller, such as ``"minpos"``.
        seed: root of all random numbers.
        mission: task of the team, such as `covey.missions.Patrolling`; None: exploration.
        stop: conditions for the end of the run; or a function of the simulation, see ``goal``.
        goal: a function of the simulation that is called after each step; the run ends, reached, when it returns True
            or a text, which becomes an event.
        radio: a range [m], a radio, or several radios; by default every robot hears every other.
        share_maps: exchange of map evidence between robots that hear each other: a record, or an interval [s]; None:
            only when their controllers ask for it.
        tags: range of the tags that robots leave in the environment.
        targets: what the team searches for: `covey.world.targets.Targets`, or records or plain data as in a scenario,
            such as ``[{"draw": "victim", "count": 5}]``.
        events: changes of the world, records of `covey.events.records` or plain data as in a scenario.
        faults: faults of robots, records of `covey.events.fault_records` or plain data as in a scenario.
        physics: ``planar``, or ``terrain``: bodies in three dimensions, on the world's ground if any; a record,
            or ``./mine.py:Name``; None: terrain in a world with ground, else planar.
        execution: settings of the computation, such as ``Execution(step_s=0.2)``; or plain data as in a scenario.
        record: what is recorded besides the tables, such as ``Details(scans_every_s=1)``; or plain data as in a
            scenario.
        recording: a folder for the run, or a `Recording`; None: a temporary folder.
        observers: functions that are called with each `Snapshot`; they must not change the simulation.
        hosting: host of the controllers, for tools that record their steps; None: the host set in ``execution``.

    Attributes:
        status: None during the run; then reached, timeout, exhausted, stopped, interrupted or failed.
        state: true state of the team.
        world_state: true state of the world, which doors, walls and craters change.
        pose_before: true poses before this step, (n, 3).
        trace: true poses at the end of each substep of it, (substeps, n, 3).
        recorder: writes the run.

    Raises:
        InvalidValueError: a value is invalid, or belongs to another argument.
        PlacementError: a robot cannot stand at its start pose.
        UnknownNameError: no argument or controller has that name.

    Examples:
        >>> import covey
        >>> sim = covey.Simulation(covey.World.empty(6, 6), robots=2, seed=1)
        >>> sim.step()
        >>> sim.time
        0.1
        >>> run = sim.close()
    """

    def __init__(
        self,
        world: World,
        robots: int | Sequence[Group] = 1,
        controller: Any = None,
        *,
        seed: int = 0,
        mission: Mission | None = None,
        stop: Stop | Callable[["Simulation"], Any] | None = None,
        goal: Callable[["Simulation"], Any] | None = None,
        radio: float | Radio | Sequence[Radio] = np.inf,
        share_maps: ShareMaps | float | None = None,
        tags: Tags = Tags(),
        targets: Targets | Sequence[Any] = (),
        events: Sequence[Any] = (),
        faults: Sequence[Any] = (),
        physics: str | PhysicsRecord | Mapping[str, Any] | None = "planar",
        execution: Execution | Mapping[str, Any] = Execution(),
        record: Details | Mapping[str, Any] = Details(),
        recording: Recording | Path | str | None = None,
        observers: Iterable[Callable[[Snapshot], Any]] = (),
        hosting: Hosting | None = None,
        **unknown: Never,
    ):
        if unknown:
            raise _misplaced(unknown)
        self.execution = execution = as_execution(execution)
        record = as_record(Details, record, "record")
        self.groups = as_groups(robots, controller, world, seed)
        self.world_state, self.seed = (place := WorldState(world)), seed
        self.names = [n for group in self.groups for n in group.names]
        if len(set(self.names)) < len(self.names):
            raise InvalidValueError(f"robot names clash: {sorted(self.names)}; give the groups different names")
        sharing = as_share_maps(share_maps)
        own_frames = sharing.start_poses == "unknown"
        check_memory(
            world,
            [Crew(group.robot, group.start, group.program, group.localization) for group in self.groups],
            sharing=None if share_maps is None else sharing,
            processes=execution.controllers != "in_process",
            timeout_s=(stop if isinstance(stop, Stop) else Stop()).timeout_s,
        )
        self.clock = Clock(execution.substep_s, execution.step_s)
        if not (stop is None or isinstance(stop, Stop) or callable(stop)):
            hint = "give a covey.Stop, such as covey.Stop(timeout_s=60), or a function of the simulation"
            raise InvalidValueError(f"stop is {stop!r:.60}; {hint}")
        if not isinstance(tags, Tags):
            raise InvalidValueError(f"tags is {tags!r:.60}; give a covey.Tags, such as covey.Tags(range_m=2)")
        self.stop = stop if isinstance(stop, Stop) else Stop()
        self._goal = stop if callable(stop) else goal
        self.model = TeamModel.of([g.robot for g in self.groups for _ in g.start])
        starts = np.concatenate([g.start for g in self.groups])
        check_free(starts[:, :2], Standing(world), self.model.radius, self.names)
        self.state = TeamState.at(starts)
        place.targets = lay(targets, world, self.state.pose, self.model.radius, seed)
        engine = as_record(PhysicsRecord, physics or ("terrain" if world.ground else "planar"), "physics")
        self.physics = engine.build(place, self.model, execution.substep_s)
        self.physics.stand(self.state)
        self.sensing = Sensing(place, self.groups, self.model, self.state, self.clock, seed)
        mission = Exploration() if mission is None else mission
        if not isinstance(mission, Mission):
            raise InvalidValueError(f"mission is {mission!r:.60}; give a mission, such as covey.missions.Coverage()")
        check_needed(self.groups, mission.gives_waypoints)
        check_kinds(self.groups, set(place.targets.kinds))
        if own_frames:
            check_unknown_starts(self.groups, mission)
        kinds, host = hosting or hosting_of(execution)
        plan = world.grid if world.plan is None else world.plan.grid
        self.localization = LocalizationAndMapping(
            self.groups, self.state, self.sensing, self.clock, world.grid, plan, seed, sharing.rule, own_frames, kinds
        )
        self.pose_before = self.state.pose.copy()
        placed = np.stack((self.state.pose, self.state.altitude_roll_pitch))
        self.trace, self._felt = np.repeat(placed[None], self.clock.substeps_per_step, axis=0), np.empty((0, 3))
        truth = (place, self.model, self.state, self.clock, self.pose_before, self.trace)
        context = MissionContext(*truth, self.sensing.banks, self.localization, tuple(self.names), seed)
        self.scoring = Scoring(context, mission)
        self.communication = Communication(self.names, radios_of(radio), tags, seed, execution)
        programs = [(g.program, g.robot, len(g.start), g.known_map) for g in self.groups if g.program is not None]
        seers = [(g.program, g.robot) for g in self.groups]
        self._warnings = [unshared(programs, sharing), blind(seers, mission), mission.doubt(place.targets)]
        self._warnings.append(deaf([program for program, _ in seers], radios_of(radio)))
        shares = np.array([g.program is None or g.program.shares_maps for g in self.groups for _ in g.start])
        frames, network = self.localization.frames, self.communication.network
        slam = TeamSlam(self.localization.localizers, shares, self.sensing, network, self.clock, frames)
        self.map_exchange = MapExchange(self.localization.teams, shares, network, sharing, self.clock, slam, frames)
        self.computing = Computing(self.groups, self.clock, execution)
        mapped = {i: b for i, b in self.localization.belief_of.items() if isinstance(b, ElevationBelief)}
        self.ground_accuracy = GroundAccuracy(place.ground, mapped, self.clock)
        self.events: list[RunEvent] = []
        self._failed: list[tuple[str, float, str]] = []
        port = Port(
            seed,
            self.clock,
            self.groups,
            self.model,
            place,
            self.state,
            estimate=self.localization.carried,
            explored=lambda: self.scoring.exploration.share_union,
            digs=self._digs,
            record=lambda event: self.events.append(event),
            carry=self._carry,
            impair=self._impair,
            order=self._give,
            ground_edited=self.ground_accuracy.edited,
            grounds=lambda: self.recorder.folder / GROUNDS,
        )
        self.inputs = Inputs(port, events, faults)
        self.observers = list(observers)
        self.deciding = Deciding(
            self.groups,
            self.sensing,
            self.localization,
            self.communication,
            self.computing,
            host,
            seed,
            execution,
            self.map_exchange.frames_of if own_frames else None,
            self.tracker.waypoints,
            self.tracker.goals,
        )
        if ORDER_KEY in self.tracker.facts:
            self.communication.blackboard.entries[ORDER_KEY] = self.tracker.facts[ORDER_KEY]
        truth = (place, self.clock, self.model, self.state)
        self.giving_up = GivingUp(self.names, *truth, self.deciding, self.localization)
        self.reporting = Reporting(self.tracker, self.communication.network)
        self.commands = np.zeros((len(self.names), 3))
        self.observing = Observing(self, self.pose_before)
        self.status: str | None = None
        self._is_free, self._process = Lock(), os.getpid()
        self._repeatable = self.deciding.host.repeatable and not self.computing.measures
        try:
            spatial = engine.spatial or world.ground is not None
            self.recorder = self._open_recorder(recording, mission, spatial, record)
        except BaseException:
            self.deciding.close()
            raise
        self.deciding.record_into(self.recorder)
        self.detailing = Detailing(self, self.recorder, record)
        self.uncertainty = Uncertainty(self.localization, self.names, self.recorder)
        more = (self.detailing.observe, self.detailing.due), (self.uncertainty.observe, self.uncertainty.due)
        self.recording = [observe for observe, is_ever_due in more if is_ever_due]
        self._moving = Moving(self) if only_moves(self) else None
        self._run: Run | None = None
        phases = self._phases_of_a_step()
        self._phases = [(name, phase) for name, phase in phases.items() if phase is not None]
        self._acting = [(name, phase) for name, phase in self._phases if name in ("decide", "act", "score", "observe")]
        self._has_looked = False  # whether the phases before these have been run, see `look`
        driven = {"localize": self.localization.localize, "decide": self._drive, "act": self._act_and_more}
        # The phases of a step in which laws drive the team, and nothing else happens.
        self._short = list(driven.items()) if self._moving is not None and self.deciding.is_of_laws else []
        self.stopwatch = Stopwatch(phases)

    def _open_recorder(
        self, recording: Recording | Path | str | None, mission: Mission, spatial: bool, record: Details
    ) -> Recorder:
        """Return the recorder of the run, in its folder; ``spatial``: bodies have altitude, roll and pitch."""
        recording = as_recording(recording)
        kind = Recorder if recording.written or self.world_state.ground is not None else Blank
        recorder = kind(
            recording,
            self.names,
            pose_every=self.execution.pose_every,
            mission=(*self.scoring.columns, *self.ground_accuracy.columns),
            robot_columns=self.scoring.robot_columns,
            attitude=spatial,
        )
        task = {"kind": mission.kind, **self.tracker.facts}
        if not type(mission).__module__.startswith("covey."):
            task["columns"] = list(self.tracker.columns)
        facts = build_manifest(self.names, self.seed, recorder.recording, self.stop.goal, task)
        facts |= {"step_s": self.clock.step_s, "bodies": self._bodies(), "world": self._place()}
        if len(self.targets):
            facts["targets"] = self.targets.plain()
        if cameras := self.sensing.feeding("targets"):
            facts["cameras"] = [
                {
                    "robots": bank.members.tolist(),
                    "fov_deg": bank.record.fov_deg,
                    "range_m": bank.record.range_m,
                    "mount": np.round(bank.record.mount, 4).tolist(),
                }
                for bank in cameras
            ]
        recorder.open(facts | {"record": record.model_dump()}, self.scoring.constant)
        if spatial:
            recorder.manifest |= {"radius_m": self.model.radius.tolist()}
        return recorder

    def _bodies(self) -> list[dict[str, Any]]:
        """Return each group's robot for the manifest: its kind, start poses, and discs of x, y, radius [m]."""
        ends = np.cumsum([len(group.start) for group in self.groups]).tolist()
        model = self.model
        return [
            {
                "group": group.name,
                "kind": group.robot.name,
                "start": group.start.tolist(),
                "discs_m": np.round(model.discs[end - 1, : model.disc_count[end - 1]], 4).tolist(),
            }
            for group, end in zip(self.groups, ends, strict=True)
        ]

    def _place(self) -> dict[str, Any]:
        """Return the facts of the world that its cells do not tell, for the manifest."""
        world = self.world_state
        doors = [asdict(door) for door in world.doors]
        place = {"name": world.name, "wall_height_m": world.wall_height_m, "doors": doors}
        return place if world.polygon is None else place | {"workspace_m": world.polygon.tolist()}

    def __repr__(self) -> str:
        n = f"{len(self.names)} robot{'s' * (len(self.names) > 1)}"
        return f"<Simulation {self.world_state.name}: {n}, {self.time:.1f} s, {self.status or 'not ended'}>"

    # -- queries ----------------------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.clock.time_s

    @property
    def world(self) -> World:
        """The world as it is now; later changes do not affect the returned `World`."""
        return self.world_state.world

    @property
    def targets(self) -> Targets:
        """What the team searches for; robots cannot reach it."""
        return self.world_state.targets

    @property
    def done(self) -> bool:
        """True when the run has ended; `status` says why."""
        return self.status is not None

    def view(self, height: int = 600) -> Any:
        """Show the simulation as it is now in a cell of a notebook, as `covey.view` does.

        Args:
            height: height of the page [pixel].
        """
        import covey  # which knows the viewer, far above this module

        return covey.view(self, height)

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The facts of the run that its folder holds so far: name, robots, goal, mission, versions."""
        return MappingProxyType(self.recorder.manifest)

    @property
    def record_folder(self) -> Path | None:
        """The folder in which the run is recorded; None if the record is thrown away."""
        return None if self.recorder.recording.folder is None else self.recorder.folder

    @property
    def tracker(self) -> Tracker:
        """The tracker that scores the mission."""
        return self.scoring.tracker

    def robot(self, name: str) -> Any:
        """Return the handle of a robot that has a controller of its own, by name.

        Raises:
            UnknownNameError: no robot of this name has a controller of its own.
            InvalidValueError: the handle is in another process.
        """
        handles = {self.names[i]: i for i in self.deciding.answered}
        if name not in handles:
            raise UnknownNameError("robot with a controller of its own", name, handles)
        return self.deciding.host.handle(handles[name])

    # -- running ----------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Advance by one control step.

        Raises:
            InvalidValueError: the run has ended (see `done`), or a step is under way: in another thread, or because a
                controller or an observer calls this; or the simulation belongs to the process that this one was
                forked from.
        """
        if self.status is not None or os.getpid() != self._process or not self._is_free.acquire(blocking=False):
            raise self._standing()
        try:
            if self._has_looked:
                phases, self._has_looked = self._acting, False
            else:
                is_short = self._short and not (
                    self.events or self.observers or len(self._felt) or self.deciding.failed
                )
                phases = self._short if is_short and self.inputs.begin() else self._phases
            self.stopwatch.time(phases, before="outside")
        finally:
            self._is_free.release()

    def sense(self) -> None:
        """Let the robots sense, localize, map and communicate for the next step; `step` goes on with their decisions.

        So an environment for learning has the observation to which its next action is the answer. After the end of the
        run, the robots only sense, localize and map. A second call before a step does nothing.

        Raises:
            InvalidValueError: a step is under way, or the simulation belongs to another process, see `step`.
        """
        if os.getpid() != self._process or not self._is_free.acquire(blocking=False):
            raise self._standing()
        try:
            if not self._has_looked:
                looking = [phase for phase in self._phases if phase not in self._acting]
                if self.done:
                    looking = [phase for phase in looking if phase[0] in ("sense", "localize", "map")]
                self._has_looked = True
                self.stopwatch.time(looking, before="outside")
        finally:
            self._is_free.release()

    def _standing(self) -> InvalidValueError:
        """Return why there is no step."""
        if self.status is not None:
            return InvalidValueError(
                f"the run has ended at {self.time:g} s ({self.status}), so there is no further step; look at sim.done "
                "before each, or make a covey.Simulation with another stop=covey.Stop(…)"
            )
        if os.getpid() != self._process:
            return InvalidValueError(
                "this process was forked from the one that made the simulation, and would write into the same files; "
                "make a simulation here"
            )
        return InvalidValueError(
            "a step of this simulation is under way; let one thread step it, and nothing that a step calls"
        )

    def run(
        self,
        speed: float | Literal["max"] = "max",
        *,
        until_s: float | None = None,
        wait: Callable[[], Any] | None = None,
        before_step: Callable[["Simulation"], Any] | None = None,
    ) -> Run:
        """Step until the run has ended, close it, and return it.

        Args:
            speed: ``"max"``, or simulated seconds per second of wall time; 0 waits for a key before each step.
            until_s: latest simulated time [s] at which the run stops.
            wait: called before each step at speed 0; the default waits for a key of the terminal.
            before_step: called with the simulation before each step; it may call `do`.

        Raises:
            InvalidValueError: ``speed`` or ``until_s`` is none.
            KeyboardInterrupt: on Ctrl-C; the recorded part is closed first, with the status interrupted.
        """
        pace = Pace(speed, wait)
        is_number = isinstance(until_s, (int, float, np.number)) and not isinstance(until_s, bool)
        if until_s is not None and not (is_number and until_s >= 0):
            raise InvalidValueError(f"until_s is {until_s!r:.60}; give a simulated time of 0 or more [s], or None")
        for warning in filter(None, self._warnings):
            LOG.warning("%s", warning)
        self._warnings = []
        try:
            with rare_collections():
                while not self.done and (until_s is None or self.time < until_s - 1e-9):
                    pace.wait(self.time)
                    if before_step is not None:
                        before_step(self)
                    if not self.done:
                        self.step()
        except KeyboardInterrupt:
            self.status = "interrupted"
            self.close()
            raise
        except BaseException as error:
            self.deciding.close()
            self.recorder.abandon(f"{type(error).__name__}: {error}")
            raise
        run = self.close()
        if self._failed:
            lines = "\n  ".join(stopped(self._failed))
            END_LOG.warning("%d of %d robots were stopped by errors:\n  %s", len(self._failed), len(self.names), lines)
        return run

    def end(self) -> None:
        """Let `run` end before its next step, with what has been recorded; the status is then ``stopped``."""
        self.status = self.status or "stopped"

    def close(self) -> Run:
        """End the run, write the rest of its folder, and return it; a second call returns the same run."""
        if self._run is None:
            self.deciding.close()
            self.status = self.status or "stopped"
            if self.communication.network.used and self.clock.step:
                sample = self.communication.network.sample(self.world_state, self.state.pose, self.speaks, self.time)
                self.recorder.observe_radio(self.clock.step, sample)
            self.recorder.observe_computers(self.clock.step, self.computing.sample(last=True))
            self.detailing.add_maps()
            self.uncertainty.write()
            self.recorder.manifest |= {"repeatable": self._repeatable, "phase_s": self.stopwatch.seconds}
            self.recorder.manifest |= {"scan_ms": self.localization.scan_ms}
            self.recorder.manifest |= self.deciding.host.facts
            if self.localization.frames is not None:
                self.recorder.manifest |= {"start_poses": "unknown"}
            maps = self.scoring.maps(self.world_state.changed)
            self._run = self.recorder.close(self.status, maps, self.ground_accuracy.landscape(self.names))
        return self._run

    def discard(self) -> None:
        """End the run without its result: of its record, only a manifest that says so remains in a folder."""
        if self._run is None:
            self.status = self.status or "stopped"
            self.deciding.close()
            self.recorder.abandon("discarded")

    # -- events: they happen at the start of the next step, and are recorded ------------------------------------------

    def do(self, event: Any) -> RequestedEvent:
        """Make an event or a fault happen, a record or plain data: ``sim.do({"door": "d3", "to": "closed"})``.

        It happens in the next step; then what is returned knows what came of it.

        Raises:
            InvalidValueError: it is invalid, names something that does not exist, or has a time.
        """
        return self.inputs.call(event)

    def open_door(self, door: str) -> None:
        """Open a door."""
        self.do({"door": door, "to": "open"})

    def close_door(self, door: str) -> None:
        """Close a door, as soon as no robot stands in it."""
        self.do({"door": door, "to": "closed"})

    def add_wall(self, start: Any, end: Any, name: str = "", **wall: Any) -> None:
        """Add a wall between two points [m]; refused if a robot stands there. See `covey.events.records.Segment`."""
        self.do({"wall": {"from": start, "to": end, **wall}, "name": name})

    def remove_wall(self, name: str) -> None:
        """Remove a wall or an obstacle that was added."""
        self.do({"remove": name})

    def add_obstacle(self, path_m: Any, name: str = "", **obstacle: Any) -> None:
        """Add an obstacle that moves along points [m]; see `covey.events.records.ObstaclePath`."""
        self.do({"obstacle": {"path_m": path_m, **obstacle}, "name": name})

    def change_ground(self, **change: Any) -> None:
        """Change the ground: ``crater={"centre_m": (3, 4), "depth_m": 1, "radius_m": 5}``.

        Other changes are mound, trench, bank, shift and altitude; see `covey.events.records.GroundEvent`.
        """
        self.do(change)

    def altitude_at(self, points: Any) -> np.ndarray:
        """Return the true altitude [m] of the ground now, at points [m] of shape (..., 2); see `Ground.altitude_at`."""
        return self._ground().altitude_at(points)

    def save_ground(self, path: str | Path, **options: Any) -> None:
        """Write the present ground to a file, in the format of its suffix; see `Ground.save`."""
        self._ground().ground.save(path, **options)

    def _ground(self) -> GroundState:
        if self.world_state.ground is None:
            raise InvalidValueError("the world has no ground; give it a `height_map`, or generate a ground")
        return self.world_state.ground

    def order(self, objective_m: Any, formation: str = "hexagon", **order: Any) -> None:
        """Order the team to go to an objective [m] in formation; see `covey.planning.orders.Order`."""
        self.do({"order": {"objective_m": objective_m, "formation": formation, **order}})

    def fault(self, kind: str, robot: str = "any", **fault: Any) -> None:
        """Give a robot a fault; see `covey.events.fault_records`."""
        self.do({"kind": kind, "robot": robot, **fault})

    # -- effects of events and faults, see `covey.events.port.Port` ---------------------------------------------------

    def _digs(self) -> Iterable[Dig]:
        digs = self.deciding.requested.digs
        return self._dug(digs) if digs else ()

    def _dug(self, digs: dict[int, list[Any]]) -> Iterator[Dig]:
        for i in sorted(digs):
            stood = Pose(*self.pose_before[i].tolist())  # the pose at the time of the request
            for x, y, to_x, to_y, volume_m3 in digs.pop(i):
                yield i, stood @ (x, y), stood @ (to_x, to_y), volume_m3

    @property
    def speaks(self) -> np.ndarray:
        """Which robots can send and hear, bool (n,)."""
        speaks = self.state.radio_alive > self.state.halted
        return speaks & ~self.inputs.jammed(self.state.pose) if self.inputs.jams else speaks

    def _carry(self, robot: int, pose: Pose) -> None:
        state = self.state
        motion = pose @ Pose(*state.pose[robot].tolist()).inverse()
        state.pose[robot] = pose
        state.twist[robot] = state.drive[robot] = 0.0
        self.physics.stand(state)
        self.sensing.follow_carried(robot, motion, state, self.trace)
        if self.clock.now == 0:
            self.localization.begin_at(state)

    def _impair(self, now: Impairment) -> None:
        deciding = self.deciding
        for i in deciding.down - now.down:
            self.state.halted[i] = i in deciding.failed
        deciding.down, deciding.lost = now.down, now.lost
        self.state.halted[list(now.down)] = True
        self.localization.jumps = now.jumps
        for bank in self.sensing.banks:
            bank.degraded = now.degraded.get(bank.record, ())

    def _give(self, order: Order, number: int) -> None:
        self.deciding.post(ORDER_KEY, order.entry(number))
        self.tracker.give(order)

    # -- the phases ----------------------------------------------------------------------------------------------------

    def _phases_of_a_step(self) -> dict[str, Callable[[], None] | None]:
        """Return all phases of a step, in their order; None for one that never has anything to do in this run."""
        return {
            "inputs": self.inputs.apply_due,
            "sense": self._sense if self.sensing.banks else None,
            "localize": self._localize,
            "map": self._map if self.localization.teams or self.computing.machines else None,
            "communicate": self._communicate if self._moving is None or self.deciding.answered else None,
            "decide": self._decide,
            "act": self._act if self._moving is None else self._act_and_more,
            "score": self._score if self._moving is None else None,
            "observe": self._observe if self._moving is None else None,
        }

    def _sense(self) -> None:
        before = self.sensing.silent
        self.sensing.sample(self.state, self.trace, self._felt)
        if before or self.sensing.silent:
            self._tell_silent(before, self.sensing.silent)

    def _tell_silent(self, before: Mapping[int, Sequence[str]], now: Mapping[int, Sequence[str]]) -> None:
        """Record which sensors have fallen silent, and which are heard again."""
        for robot in sorted({*before, *now}):
            was, silent = before.get(robot, ()), now.get(robot, ())
            x, y = self.state.pose[robot, :2].tolist()
            for kind, names in (("sensor_silent", silent), ("sensor_heard", was)):
                for name in names:
                    if not (name in was and name in silent):
                        self._event(kind, robot, other=name, x=x, y=y)

    def _localize(self) -> None:
        self.localization.localize()
        for robot, one in self.localization.contradicted:
            x, y = self.state.pose[robot, :2].tolist()
            self._event("odometry_contradicted", robot, x=x, y=y, says=OdometryContradicted(one.share, one.way_m))
        self.localization.contradicted.clear()

    def sense_until(self, banks: Sequence[SensorBank], substep: int) -> None:
        """Take samples of some sensors of the last step before their time in the next, see `Sensing.sample_until`."""
        self.sensing.sample_until(banks, substep, self.state, self.trace, self._felt)

    def _map(self) -> None:
        self.computing.begin(self.localization.belief_of)
        self.localization.map(self.computing)

    def _communicate(self) -> None:
        requested, now = self.deciding.requested, self.clock.time_s
        if self.communication.is_idle(requested.tags, now) and self.map_exchange.is_idle(requested.maps):
            return
        speaks = self.speaks
        self.communication.exchange(self.world_state, self.state, requested.tags, self.deciding.answered, speaks, now)
        self.map_exchange.exchange(self.world_state, self.state, speaks, requested.maps)

    def _decide(self) -> None:
        collided = ~np.isnan(self.state.contact_bearing) if len(self._felt) else None
        self.deciding.decide(self.clock.step, self.clock.time_s, self.commands, collided)
        if self.deciding.failures:
            self._fail()

    def _drive(self) -> None:
        self.deciding.drive(self.clock.time_s, self.commands)
        if self.deciding.failures:
            self._fail()

    def _fail(self) -> None:
        """Stop the robots whose controllers have failed in this step."""
        for failure in self.deciding.failures:
            self._repeatable &= not failure.by_wall_time
            for i in failure.robots:
                self.state.halted[i] = True
                self._event("controller_failed", i, says=failure.text)
            if self.execution.on_controller_error == "raise":
                text = failure.text.partition("\n")[0].replace(": ControllerError: ", ": ", 1)
                raise ControllerError(text if self.time == 0 else f"{text} (at {self.time:g} s)") from None
            if self.execution.on_controller_error == "end_run":
                self.status = "failed"
        failed = [(self.names[i], self.time, f.text) for f in self.deciding.failures for i in f.robots]
        for line in stopped(failed):
            LOG.error("%s", line)
        self._failed += failed

    def _act(self) -> None:
        state, substeps = self.state, self.clock.substeps_per_step
        self.pose_before[:] = state.pose
        driven = self.inputs.driven(self.commands)
        wanted = self.sensing.wanted(self.scoring.wanted(substeps))
        contacts = self.physics.step(state, driven, substeps, self.trace, wanted)
        self.clock.advance(substeps)
        self._meet(contacts)

    def _act_and_more(self) -> None:
        """Act, score and observe, in one kernel if nothing happens but motion."""
        assert self._moving is not None
        happened = self.events or self.deciding.requested.notes or self.communication.sample is not None
        if happened or self.observers or not self.inputs.rest:
            self._moving.is_stale = True
            self._act()
        elif (contacts := self._moving.step()) is not NO_CONTACTS:
            self._meet(contacts)
        else:
            self._felt = contacts.felt
            self._tell(self.giving_up.standing(self.commands))
            self._end(None)
            self.recorder.observe_events(self.events)
            self.events = []
            return
        self._score()
        self._observe()

    def _meet(self, contacts: Contacts) -> None:
        """Count and record what touched, left or fell in this step."""
        state = self.state
        self._felt = contacts.felt
        if contacts.kind.size:
            self.scoring.count(contacts)
            columns = contacts.kind, contacts.robot, contacts.other, contacts.x, contacts.y
            for kind, i, j, x, y in zip(*columns, strict=True):
                self._event("collision", i, other=self.names[j] if kind else "wall", x=x, y=y)
        for kind, i in self.physics.incidents:
            self._event(kind, i, x=state.pose[i, 0], y=state.pose[i, 1])
        for i in self.scoring.leaving(state.pose):
            self._event("left_world", i, x=state.pose[i, 0], y=state.pose[i, 1])

    def _score(self) -> None:
        if self.deciding.requested.reports or self.reporting.is_by_radio:
            self._judge()
        for i, change, (x, y), text in self.ground_accuracy.measure() if self.ground_accuracy.columns else ():
            self._event("change_noticed", i, other=change, x=x, y=y, says=text)
        for i, text in self.scoring.score():
            self._event("mission", i, x=self.state.pose[i, 0], y=self.state.pose[i, 1], says=text)
        for seen in () if self.scoring.search is None else self.scoring.search.sightings:
            (x, y), says = seen.place, Sighted(seen.kind, seen.is_true)
            self._event("sighted", seen.robot, other=str(seen.identity), x=x, y=y, says=says)

    def _judge(self) -> None:
        judged = self.reporting.judge(self.deciding.requested.reports, self.deciding.answers, self.time)
        for report, judgement in judged:
            x, y = self.state.pose[report.robot, :2]
            says = Reported(report.identity, round(report.x, 4), round(report.y, 4), judgement.answer)
            self._event("mission", report.robot, x=x, y=y, says=says)
        if judged:
            self.recorder.add("reports", SCHEMA, table(judged, self.clock.step, self.time, self.names))

    def _observe(self) -> None:
        for i, x, y, content in self.communication.events:
            self._event("tag_left", i, x=x, y=y, says=printable(str(content)[:80]))
        for aligning in self.map_exchange.aligning:
            for found in aligning.attempts:
                x, y = self.pose_before[found.robot, :2]
                self._event("maps_aligned", found.robot, other=self.names[found.other], x=x, y=y, says=said_of(found))
        if notes := self.deciding.requested.notes:
            for i, note in notes:
                self._event("note", i, says=note)
            notes.clear()
        self._tell((*self.giving_up.goals(), *self.giving_up.standing(self.commands)))
        snapshot = self.observing.snapshot()
        self._end(snapshot)
        self.recorder.observe(snapshot)
        if self.computing.machines:
            self.recorder.observe_computers(snapshot.step, self.computing.sample())
        for record in self.recording:
            record()
        for observer in self.observers:
            observer(snapshot)
        self.events = []

    def _end(self, snapshot: Snapshot | None) -> None:
        if self.status is not None:
            return
        over, tracker, failed, done, goal = self.deciding.all_done, self.scoring.tracker, False, False, False
        if over:
            failed = self.deciding.all_failed
            over = failed or not self.inputs.awaits_orders
            done = over and not failed and tracker.accomplished
        if self._goal is not None and isinstance(goal := self._goal(self), str) and goal:
            self.events.append(RunEvent(self.clock.step, self.time, "goal", text=printable(goal[:1000])))
        if tracker.reached or goal or ((done or snapshot is not None) and self.stop.reached(snapshot, done)):
            self.status = "reached"
        elif tracker.closed:
            self.status = "timeout"
        elif over:
            self.status = "failed" if failed else "exhausted"
            if self.status == "exhausted" and isinstance(tracker, ExplorationTracker):
                self._tell(self.giving_up.left(tracker.share_union, tracker.unexplored))
        elif self.clock.time_s >= self.stop.timeout_s - 1e-9:
            self.status = "timeout"

    def _tell(self, told: Iterable[GivingUpEvent]) -> None:
        for kind, robot, other, (x, y), text in told:
            name = self.names[robot] if robot >= 0 else ""
            self.events.append(RunEvent(self.clock.step, self.time, kind, name, other, float(x), float(y), text))

    def _event(
        self, kind: str, robot: int, *, other: str = "", x: float = np.nan, y: float = np.nan, says: str | Data = ""
    ) -> None:
        step = self.clock.step + (kind in _BEFORE_ACTING)
        self.events.append(RunEvent(step, self.time, kind, self.names[robot], other, float(x), float(y), *said(says)))


_BEFORE_ACTING = ("controller_failed", "sensor_silent", "sensor_heard", "odometry_contradicted")
"""Kinds of events that happen before the clock of their step advances."""


def _misplaced(given: Mapping[str, Any]) -> CoveyError:
    """Return the error for unknown arguments of `Simulation`; it names the record that has them."""
    for argument, record in (("execution", Execution), ("record", Details), ("recording", Recording), ("stop", Stop)):
        if fields := [f"{name}={value!r:.60}" for name, value in given.items() if name in record.model_fields]:
            names = " and ".join(name for name in given if name in record.model_fields)
            write = f"{argument}=covey.{record.__name__}({', '.join(fields)})"
            return InvalidValueError(f"Simulation takes {names} within {argument}; write {write}")
    known = [name for name, p in signature(Simulation).parameters.items() if p.kind != p.VAR_KEYWORD]
    return UnknownNameError("argument of Simulation", next(iter(given)), known)
