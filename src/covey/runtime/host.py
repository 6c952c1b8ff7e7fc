"""`Host`: runs the controllers of a team, and carries the records of a step there and back."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from covey.geometry import Pose
from covey.onboard.group import Group
from covey.onboard.group_view import GroupFacts
from covey.onboard.navigator import Navigator
from covey.onboard.spec import RobotSpec
from covey.onboard.step import GroupInput, GroupOutput, StepInput, StepOutput
from covey.results.recorder import Recorder
from covey.runtime.execution import Execution

if TYPE_CHECKING:
    from covey.runtime.phases.communication import Communication
    from covey.runtime.phases.computing import Computing
    from covey.runtime.phases.localization_and_mapping import LocalizationAndMapping
    from covey.runtime.phases.sensing import Sensing, SensorBank

Answers = Iterable[tuple[int, StepOutput]]
"""Answers of robots, by team index."""
GroupAnswers = Iterable[tuple[Sequence[str], GroupOutput]]
"""Answers of controllers of several robots, with the names of the groups in their input."""
NONE: tuple[Answers, GroupAnswers] = ((), ())


@dataclass(frozen=True, eq=False)
class Team:
    """The data that a host needs.

    Attributes:
        specs: the robots with a controller of their own, by team index.
        banks_of: the sensors that each of them reads, by team index.
        frames_of: poses of the frames of others that each of them has found; empty if all share one frame.
        programs: the controllers of several robots and their groups, by group or ``team``.
        facts: what they know of each of these groups from the start, by name.
        members: the team indices of each group, by name.
        execution: the control period, what a controller may take for one step, and where it runs.
    """

    specs: dict[int, RobotSpec]
    banks_of: dict[int, list["SensorBank"]]
    frames_of: Mapping[int, Mapping[str, Pose]]
    programs: dict[str, list[Group]]
    facts: dict[str, GroupFacts]
    members: dict[str, range]
    execution: Execution
    sensing: "Sensing"
    localization: "LocalizationAndMapping"
    communication: "Communication"
    computing: "Computing"


class Host(ABC):
    """Runs the controllers. `settle` returns the answers of a step; in real time they may come later.

    Attributes:
        is_local: whether controllers run in this process.
        repeatable: whether the run is repeatable, as far as the host goes.
        facts: what the manifest says about where controllers ran.
        busy: robots that cannot be asked now.
        cpu_s: processor time of robots for their last answers [s], if it is measured; by team index.
    """

    cpu_s: dict[int, float]

    is_local: bool = False
    repeatable: bool = True
    facts: Mapping[str, Any] = MappingProxyType({})
    busy: Collection[int] = ()

    @abstractmethod
    def ask(self, robots: Sequence[int], inputs: Sequence[StepInput]) -> Answers:
        """Give robots their inputs; return the answers that are available at once."""

    @abstractmethod
    def ask_group(self, key: str, inputs: Sequence[GroupInput]) -> GroupAnswers:
        """Give a controller of several robots its input; return its answer if it is available at once."""

    @abstractmethod
    def handle(self, robot: int) -> Any:
        """Return the handle of a robot.

        Raises:
            InvalidValueError: the handle is in another process.
        """

    def navigators(self) -> Iterable[tuple[int, Navigator]] | None:
        """Return the navigators that drive their robots to a goal now, by team index; None: they are elsewhere."""
        return None

    @abstractmethod
    def close(self) -> None:
        """End every controller; exceptions in ``finally`` blocks become warnings."""

    def begin(self, step: int, time_s: float) -> tuple[Answers, GroupAnswers]:
        """Begin a step; return late answers to earlier steps."""
        return NONE

    def settle(self) -> tuple[Answers, GroupAnswers]:
        """End the step; return the answers since `ask`."""
        return NONE

    def drop(self, robot: int, samples: int) -> None:
        """Count readings that a busy robot has lost."""

    def kill(self, robot: int) -> None:
        """End a controller that was killed because its computer ran out of memory."""

    def post(self, key: str, value: Any) -> None:
        """Send an entry of the simulation to robots with their own copy of the blackboard."""

    def record_into(self, recorder: Recorder) -> None:
        """Set the recorder for additional data about the controllers."""
