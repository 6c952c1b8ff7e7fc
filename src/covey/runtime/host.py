"""`Host`: where the controllers of a team run, and how a step's records get there and back."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from covey.geometry import Pose
from covey.onboard.group import Group
from covey.onboard.spec import RobotSpec
from covey.onboard.step import GroupInput, GroupOutput, StepInput, StepOutput
from covey.results.recorder import Recorder

if TYPE_CHECKING:
    from covey.runtime.phases.communication import Communication
    from covey.runtime.phases.computing import Computing
    from covey.runtime.phases.localization_and_mapping import LocalizationAndMapping
    from covey.runtime.phases.sensing import Sensing, SensorBank

Answers = Iterable[tuple[int, StepOutput]]
"""Of robots, by team index."""
GroupAnswers = Iterable[tuple[Sequence[str], GroupOutput]]
"""Of controllers of several robots, with the names of the groups that they were shown."""
NONE: tuple[Answers, GroupAnswers] = ((), ())


@dataclass(frozen=True, eq=False)
class Team:
    """What a host needs to know.

    Attributes:
        specs: the robots that have a controller of their own, by team index.
        banks_of: the sensors that each of them reads, by team index.
        frames_of: where each of them has found the frames of others; empty when all share one.
        programs: the controllers of several robots by group, or ``team``; with their groups.
        members: the team indices of each group, by name.
        step_s: control period [s].
        step_budget_s: wall time that a controller may take for one step [s].
    """

    specs: dict[int, RobotSpec]
    banks_of: dict[int, list["SensorBank"]]
    frames_of: Mapping[int, Mapping[str, Pose]]
    programs: dict[str, list[Group]]
    members: dict[str, range]
    step_s: float
    step_budget_s: float
    sensing: "Sensing"
    localization: "LocalizationAndMapping"
    communication: "Communication"
    computing: "Computing"


class Host(ABC):
    """Where controllers run. What is asked in a step is answered by its `settle`; later where time is real.

    Attributes:
        repeatable: whether the same run comes out again, as far as the host goes.
        facts: what the manifest says of where controllers ran.
        busy: robots that cannot be asked now.
        cpu_s: processor time that robots took for their last answers [s], where that counts; by team index.
    """

    cpu_s: dict[int, float]

    repeatable: bool = True
    facts: Mapping[str, Any] = MappingProxyType({})
    busy: Collection[int] = ()

    @abstractmethod
    def ask(self, robots: Sequence[int], inputs: Sequence[StepInput]) -> Answers:
        """Show robots their inputs; return the answers that are there at once."""

    @abstractmethod
    def ask_group(self, key: str, inputs: Sequence[GroupInput]) -> GroupAnswers:
        """Show a controller of several robots what it sees; return its answer if it is there at once."""

    @abstractmethod
    def handle(self, robot: int) -> Any:
        """Return the handle of a robot.

        Raises:
            InvalidValueError: it is in another process.
        """

    @abstractmethod
    def close(self) -> None:
        """End every controller; what its ``finally`` blocks raise is a warning."""

    def begin(self, step: int, time_s: float) -> tuple[Answers, GroupAnswers]:
        """Begin a step; return the answers to earlier ones that have come since."""
        return NONE

    def settle(self) -> tuple[Answers, GroupAnswers]:
        """End the step; return the answers that have come since `ask`."""
        return NONE

    def drop(self, robot: int, samples: int) -> None:
        """Note that a robot that was busy has lost so many readings."""

    def kill(self, robot: int) -> None:
        """Let a controller end that has been killed for want of memory."""

    def post(self, key: str, value: Any) -> None:
        """Tell robots with a notice board of their own what the simulation has put up."""

    def record_into(self, recorder: Recorder) -> None:
        """Say where to record more about the controllers than what they do."""
