"""`covey ros node`: a controller as a node of ROS 2."""

import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from covey.cli.exit_codes import FAILED, REACHED
from covey.errors import ControllerError, InvalidValueError
from covey.onboard.giving_up import Reason
from covey.onboard.step import StepInput, StepOutput
from covey.ros.any_robot import AnyRobot
from covey.ros.dds import Participant
from covey.ros.node import ControllerNode, NodeSettings
from covey.ros.node_setup import NodeSetup, controller_named, node_setup
from covey.scenario.load import load_scenario


def ros_node_command(
    controller: str,
    name: str,
    source: str | AnyRobot,
    changes: Mapping[str, Any],
    graph: tuple[int | None, str | None, str | None],
    settings: NodeSettings,
    *,
    localizes: bool,
) -> int:
    """Run a controller as a node of ROS 2 until the clock ends or a signal comes, and return the exit code.

    Args:
        controller: its name, ``./mine.py:Name``, or ``{name: …, parameter: …}``.
        name: of the robot.
        source: the scenario that tells what the node knows, see `node_setup`; or the robot itself.
        graph: domain, distribution and reach, see `Participant`.
        localizes: the node localizes the robot. The other arguments are those of `covey ros node`.
    """
    folder, found = Path.cwd(), controller_named(controller, Path.cwd())
    if isinstance(source, AnyRobot):
        setup = source.setup(name, found, changes, folder, localizes=localizes)
    else:
        setup = node_setup(load_scenario(source, changes), name, found, localizes=localizes)
    with Participant(*graph) as participant:
        print(participant, file=sys.stderr, flush=True)
        return drive(participant, setup, settings)


def source_of(scenario: str | None, described: Mapping[str, Any]) -> str | AnyRobot:
    """Return what tells a node about its robot: a scenario, or the values that are given for an `AnyRobot`.

    Raises:
        InvalidValueError: both are given.
    """
    given = {key: value for key, value in described.items() if value not in (None, ())}
    if scenario is None:
        return AnyRobot(**given)
    if given:
        raise InvalidValueError(
            f"--scenario {scenario} tells all about the robot, and so do the options for its {' and '.join(given)}; "
            "leave out one of both, or change the scenario with -s"
        )
    return scenario


def drive(participant: Participant, setup: NodeSetup, settings: NodeSettings) -> int:
    """Let a controller drive its robot, and return the exit code."""
    node = ControllerNode(participant, setup, settings)
    node.on_step = _print_notes
    came: list[int] = []
    signals = {kind: signal.signal(kind, _ending(node, came)) for kind in (signal.SIGINT, signal.SIGTERM)}
    try:
        node.run()
    except ControllerError as error:
        print(f"covey: {error}", file=sys.stderr)
        return FAILED
    finally:
        for kind, before in signals.items():
            signal.signal(kind, before)
        node.close()
    print(f"{node.name}: {node.ended} after {node.steps} steps", file=sys.stderr)
    return 128 + came[0] if came else REACHED


def _print_notes(time_s: float, _shown: StepInput, answer: StepOutput) -> None:
    """Print the notes of a controller, and the goals that it gives up, a line each."""
    if answer.requests is None:
        return
    for note in answer.requests.notes:
        print(f"{time_s:.2f} s  {note}", flush=True)
    for x, y, kind, by, gap_m, body_m in answer.requests.gave_up:
        print(f"{time_s:.2f} s  gave up ({x:g}, {y:g}): {Reason(kind, by, gap_m, body_m).text}", flush=True)


def _ending(node: ControllerNode, came: list[int]) -> Any:
    """Return what a signal does: it ends the loop, and is noted; a second one ends it at once."""

    def end(number: int, _frame: FrameType | None) -> None:
        if node.ended:
            raise KeyboardInterrupt
        came.append(number)
        node.ended = "interrupted"

    return end
