"""With a lookout: any strategy of one robot, which also reports what its tag camera happens to see."""

from collections.abc import Coroutine, Generator
from typing import Annotated, Any

from pydantic import AfterValidator

from covey.controllers.rescue.lookout import Lookout
from covey.errors import CoveyError
from covey.onboard.controller import Program, controller
from covey.onboard.handle import Robot
from covey.onboard.motions import Waiting
from covey.robots.parameters import Count, Share


def _checked(strategy: Any) -> Any:
    try:
        inner = Program(with_lookout, {"strategy": strategy}).inner
    except CoveyError as error:
        raise ValueError(str(error)) from None
    if inner is not None and inner.factory is with_lookout:
        raise ValueError("with_lookout runs a strategy that drives; with_lookout itself is none, so name another")
    return strategy


Strategy = Annotated[Any, AfterValidator(_checked)]


@controller("with_lookout", sees=("pose", "report", "tag_camera"), runs="strategy", missions=("rescue",))
async def with_lookout(
    robot: Robot, *, strategy: Strategy = "random_ballistic_walk", targets: Count = 5, report_at: Share = 0.99
) -> None:
    """Do what another strategy does, and report the targets that the camera happens to see.

    The strategy drives as if nobody looked; no robot is told what others have found. The robot believes in targets and
    reports them as those of `rescue_leader` do. It ends with the strategy.

    Args:
        robot: the robot; without a tag camera it reports nothing.
        strategy: a controller of one robot: its name, or ``{name: ..., parameter: ...}``.
        targets: expected number of targets.
        report_at: least probability that a target exists for its report.
    """
    program = Program.of(strategy)
    lookout = Lookout(robot, targets, report_at)
    shown: Any = robot if program.sees is None else robot.declared(program.name, program.sees)
    if program.is_sequential:
        await _Watched(program.bound()(shown), lookout)
        return
    step = program.bound()
    while True:
        lookout.step(robot, {})
        step(shown)
        await robot.sleep(0.0)


class _Watched:
    """Runs the coroutine of a strategy; while it waits, a lookout looks at every step."""

    def __init__(self, coroutine: Coroutine[Waiting, Any, Any], lookout: Lookout):
        self._coroutine, self._lookout = coroutine, lookout

    def __await__(self) -> Generator[Waiting, Any, None]:
        outcome = None
        while True:
            try:
                waiting = self._coroutine.send(outcome)
            except StopIteration:
                return
            waiting.until = self._also(waiting.until)
            outcome = yield waiting

    def _also(self, until: Any) -> Any:
        def looks(robot: Robot) -> bool:
            self._lookout.step(robot, {})
            return until is not None and bool(until(robot))

        return looks
