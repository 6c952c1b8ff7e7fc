"""The records of a scenario: the world, the team, the radio and the end of the run."""

import io
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from covey.comms.radio import Radio, Radios
from covey.comms.tags import Tags
from covey.events.checks import known_starts_needed, needed
from covey.events.fault_records import Fault
from covey.events.records import Event
from covey.lazy import ImageDraw
from covey.mapping.exchange.share_maps import ShareMaps
from covey.mapping.localization import TruePose
from covey.mapping.localizer import LocalizerRecord
from covey.missions import Exploration, Mission
from covey.physics.records import PhysicsRecord
from covey.records import WORD, Record, located
from covey.results.recording import Details
from covey.robots.model import RobotModel
from covey.runtime.execution import Execution
from covey.runtime.stop import Stop
from covey.scenario.controller import ControllerReference
from covey.scenario.from_file import FromFile
from covey.scenario.robot import OfFile
from covey.world.doors import Door
from covey.world.records.damage import Damage
from covey.world.records.starts import Start, TogetherStart
from covey.world.records.targets import TargetRecord
from covey.world.records.world_record import WorldRecord

if TYPE_CHECKING:
    from covey.runtime.simulation import Simulation

MAX_ROBOTS = 100_000


class RobotGroup(Record):
    """Robots of one model with the same controller; their names are the group's name and a number."""

    name: str = Field(
        default="robot",
        pattern=WORD,
        max_length=50,
        description="Name of the group. The robots of a group named scout are scout0, scout1, ...",
    )
    robot: Annotated[RobotModel, OfFile()] = Field(
        default="disc",  # pyright: ignore[reportAssignmentType] (validated into a model)
        description="A name from `covey list robots`, a model, or {base: name, ...changes}.",
    )
    count: int = Field(default=1, ge=1, le=MAX_ROBOTS, description="Number of robots.")
    start: Start = Field(
        default_factory=lambda: TogetherStart.model_validate({"together": {}}),
        description="Poses of the robots at time 0.",
    )
    localization: LocalizerRecord = Field(
        default=TruePose(),
        description="How a robot knows its pose: truth, noise, odometry, known_map, slam or particles, with "
        "parameters, or your own: ./mine.py:Name.",
    )
    controller: ControllerReference = Field(
        default="still",  # pyright: ignore[reportAssignmentType]
        description=(
            "Controller: a name from `covey list controllers`, ./mine.py:Name, or {name: ..., parameter: ...}."
        ),
    )

    known_map: bool | Annotated[str, Field(min_length=1)] = Field(
        default=False,
        description="true: the robots start with the true map of the world; plan: with the world before its damage, as "
        "a belief that scans overrule; or such a plan as a ROS map (.yaml).",
    )
    control_every: int = Field(default=1, ge=1, le=10_000, description="The controller acts every so many steps.")
    control_phase: int = Field(
        default=0,
        ge=0,
        description="The controller acts in the steps k for which k modulo control_every is this number.",
    )

    @model_validator(mode="after")
    def _phase_within_period(self) -> "RobotGroup":
        if self.control_phase >= self.control_every:
            message = f"must be less than control_every, {self.control_every}; given: {self.control_phase}"
            raise located([(("control_phase",), message, self.control_phase)])
        return self

    @property
    def names(self) -> list[str]:
        """The names of the robots, in order."""
        return [f"{self.name}{i}" for i in range(self.count)]


class DeclaredDoor(Record):
    """A door in addition to those of the world; while it is open, its place is floor."""

    name: str = Field(pattern=WORD, max_length=50, description="Name of the door, for events.")
    box_m: tuple[float, float, float, float] = Field(description="West, south, east and north edge [m].")
    open: bool = Field(default=True, description="Whether the door is open at the start.")

    @model_validator(mode="after")
    def _is_door(self) -> "DeclaredDoor":
        self.door()
        return self

    def door(self) -> Door:
        """Return it as a door of a world."""
        return Door(self.name, *self.box_m, open=self.open)


class Scenario(FromFile):
    """A world, a team and a goal: everything about a run except where it is written."""

    format: Literal[1] = Field(default=1, description="Version of this file format.")
    name: str = Field(default="", max_length=100, description="Name of the scenario and of the folder of its runs.")
    description: str = Field(default="", max_length=10_000, description="What the scenario shows.")
    world: WorldRecord = Field(
        description="World: a terrain, a map file, an empty room, polygons, or a generated world."
    )
    damage: Damage | None = Field(
        default=None, description="What has changed in the world since its plan was drawn; null: nothing."
    )
    doors: tuple[DeclaredDoor, ...] = Field(default=(), description="Doors in addition to those of the world.")
    robots: tuple[RobotGroup, ...] = Field(min_length=1, description="Groups of the team.")
    physics: PhysicsRecord | None = Field(
        default=None,
        description="planar: discs in the plane; terrain: bodies in three dimensions, with masses and wheels (needs "
        "the extra terrain); or your own: ./mine.py:Name; null: terrain in a world with ground, else planar.",
    )
    radio: Radios = Field(default=Radio(), description="A radio, or a list of radios.")
    share_maps: ShareMaps | None = Field(default=None, description="Exchange of maps; null: robots share no maps.")
    tags: Tags = Field(default=Tags(), description="Tags that robots leave for others to read.")
    targets: tuple[TargetRecord, ...] = Field(
        default=(),
        description="What the team searches for: targets at given places, and drawn ones; empty: those of a named "
        "world, such as rescue_1.",
    )
    mission: Mission = Field(
        default=Exploration(),
        description="Task of the team: exploration, coverage, {patrolling: {...}}, {formation: {...}}, or your own: "
        "{./mine.py:Name: {...}}.",
    )
    events: tuple[Event, ...] = Field(default=(), description="Changes of the world during the run.")
    faults: tuple[Fault, ...] = Field(default=(), description="Faults of robots.")
    stop: Stop = Field(default=Stop(), description="Goal and timeout of the run.")
    execution: Execution = Field(default=Execution(), description="How the run is computed.")
    record: Details = Field(default=Details(), description="What is recorded besides the tables.")
    seed: int = Field(default=0, ge=0, lt=2**63, description="Seed of all random numbers of the run.")

    def __repr__(self) -> str:
        team = ", ".join(f"{group.count} {group.name} ({group.robot.name})" for group in self.robots)
        return f"<Scenario {self.name or 'without a name'}: {team}, seed {self.seed}>"

    __str__ = __repr__

    def _repr_png_(self) -> bytes:
        """Return a picture of its world with its robots at their starts, for notebooks.

        Raises:
            ScenarioError: the world cannot be made, or the robots do not fit.
        """
        from covey.scenario.build import set_up

        ready = set_up(self)
        image = ready.world.plot().convert("RGB")
        grid, draw = ready.world.grid, ImageDraw.Draw(image)
        zoom = image.width / grid.shape[1]
        for group, poses in zip(ready.groups, ready.poses, strict=True):
            reach = max(3.0, zoom * group.robot.outer_radius_m / grid.resolution)
            for row, column in grid.to_cells(poses[:, :2]):
                x, y = zoom * (column + 0.5), image.height - zoom * (row + 0.5)
                draw.ellipse((x - reach, y - reach, x + reach, y + reach), fill=(213, 94, 0))
        buffer = io.BytesIO()
        image.save(buffer, "PNG")
        return buffer.getvalue()

    def __hash__(self) -> int:
        return hash((self.name, self.seed, len(self.robots)))

    @field_validator("robots", mode="after")
    @classmethod
    def _names_differ(cls, groups: tuple[RobotGroup, ...]) -> tuple[RobotGroup, ...]:
        total = sum(group.count for group in groups)
        if total > MAX_ROBOTS:
            raise ValueError(f"{total} robots; a team has at most {MAX_ROBOTS}")
        for names in ([group.name for group in groups], [n for group in groups for n in group.names]):
            twice = [name for name, times in Counter(names).items() if times > 1]
            if twice:
                raise ValueError(f"the name {twice[0]!r} is given twice; give each group a name of its own")
        return groups

    @model_validator(mode="after")
    def _rates_divide(self) -> "Scenario":
        errors: list[tuple[tuple[str | int, ...], str, Any]] = []
        step, substep = self.execution.step_s, self.execution.substep_s
        used = (("every_s", "policy", "every"), ("align_every_s", "start_poses", "unknown"))
        for name in [n for n, key, value in used if getattr(self.share_maps, key, None) == value]:
            period_s = getattr(self.share_maps, name)
            steps = period_s / step
            if steps < 1 - 1e-9 or abs(steps - round(steps)) > 1e-9 * steps:
                message = f"{period_s:g} s is not a multiple of the step of {step:g} s"
                errors.append((("share_maps", name), message, period_s))
        team = [(group.controller.program, group.robot) for group in self.robots]
        errors += [(*found, None) for found in needed(team, self.mission.gives_waypoints)]
        if self.share_maps and self.share_maps.start_poses == "unknown":
            groups = [(group.controller.program, group.known_map) for group in self.robots]
            errors += [(*found, None) for found in known_starts_needed(groups, self.mission)]
        for i, group in enumerate(self.robots):
            if group.robot.mapping is not None and group.robot.mapping.uses == "ground":
                where: tuple[str | int, ...] = ("robots", i, "robot", "mapping")
                if self.share_maps and self.share_maps.start_poses == "unknown":
                    errors.append((where, "elevation needs share_maps.start_poses: known", "elevation"))
            for j, sensor in enumerate(group.robot.sensors):
                if sensor.rate_hz * substep > 1 + 1e-9:
                    message = f"{sensor.rate_hz:g} Hz is more than one sample in each substep of {substep:g} s"
                    errors.append((("robots", i, "robot", "sensors", j, "rate_hz"), message, sensor.rate_hz))
        if errors:
            raise located(errors)
        return self

    def replace(self, path: str, value: Any) -> "Scenario":
        """Return a copy with one value changed.

        Args:
            path: keys joined by dots; groups and sensors are named, for example ``robots.scout.count``.
            value: the new value, as in a file, or an object; files that it names are looked for in the current folder,
                then beside the scenario.

        Raises:
            ScenarioError: the path does not exist, or the value is not allowed.
        """
        from covey.scenario.overrides import override

        return override(self, {path: value}, here=Path.cwd())

    def to_yaml(self) -> str:
        """Return the text of a scenario file that loads into an equal scenario.

        Raises:
            InvalidValueError: a controller is an object that no file can name.
        """
        from covey.scenario.dump import to_yaml

        return to_yaml(self)

    def build(self, folder: Path | str | None = None, *, overwrite: bool = False) -> "Simulation":
        """Return a simulation that is ready for its first step.

        Args:
            folder: where to record; None for a temporary folder.
            overwrite: replace a finished run in ``folder``.

        Raises:
            CoveyError: the map file is invalid, or the robots do not fit.
        """
        from covey.scenario.build import build

        return build(self, folder=folder, overwrite=overwrite)
