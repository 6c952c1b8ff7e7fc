"""`play`: one control law, some robots, one call."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from covey.errors import InvalidValueError
from covey.lab.out import Out
from covey.onboard.controller import Program
from covey.onboard.group import Group
from covey.random import generator
from covey.results.recording import Recording
from covey.robots.model import RobotModel
from covey.runtime.execution import Execution
from covey.runtime.simulation import Simulation
from covey.runtime.stop import Stop
from covey.world.placement.placing import place
from covey.world.records.starts import Apart, ApartStart
from covey.world.world import World

SQUARE = ((0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0))
"""The default workspace [m]."""


def play(
    law: Any,
    robots: int | RobotModel = 1,
    workspace: Sequence[Sequence[float]] | World = SQUARE,
    stop_s: float = 60.0,
    speed: float | Literal["max"] = 1,
    *,
    starts: Any = None,
    sampling_s: float = 0.1,
    seed: int = 0,
    robot: RobotModel | None = None,
    obstacles: Sequence[Sequence[Sequence[float]]] = (),
    walls: Sequence[Sequence[Sequence[float]]] = (),
    border: Literal["walls", "open"] = "walls",
) -> Out:
    """Let a control law drive robots, and return what happened.

    Args:
        law: a function of the team, see `covey.onboard.group_view.GroupView`; or another controller, or its name.
        robots: their number.
        workspace: vertices of a simple polygon [m], or a world.
        stop_s: simulated time at which it ends [s].
        speed: simulated seconds per second; 0: one step per key; ``"max"``: as fast as possible.
        starts: poses x, y [m], heading [rad], shape (n, 3); positions (n, 2) get random headings; None: random poses.
        sampling_s: the control period [s].
        seed: root of all random numbers.
        robot: model of the robots; None: a disc of 0.3 m, 1 m/s, two wheels 0.2 m apart.
        obstacles: polygons [m]; walls: lines of points [m].
        border: ``walls``: the workspace is closed; ``open``: robots may leave, which is an event.

    Raises:
        InvalidValueError: a setting is invalid.
        PlacementError: a robot cannot stand at its start.
        ControllerError: the law failed.
    """
    model = disc() if robot is None else robot
    if isinstance(workspace, World):
        world = workspace
    else:
        world = World.polygons(
            workspace,
            obstacles_m=obstacles,
            walls_m=walls,
            border="open" if border == "open" else "wall",
        )
    if not isinstance(robots, int) or robots < 1:
        raise InvalidValueError(f"robots is {robots!r}; give their number, 1 or more")
    group = Group("robot", model, _starts(starts, robots, model, world, seed), program_of(law))
    sim = Simulation(
        world,
        [group],
        seed=seed,
        stop=Stop(timeout_s=stop_s),
        execution=Execution(step_s=sampling_s, substep_s=_substep(sampling_s)),
        recording=Recording(name=group.program.name),
    )
    return Out(sim.run(speed))


def disc() -> RobotModel:
    """Return the robot of the lab: a disc of 0.3 m on two wheels 0.2 m apart, without sensors."""
    return RobotModel(
        name="disc",
        radius_m=0.15,
        max_speed_m_s=1.0,
        max_turn_rad_s=10.0,
        max_wheel_speed_m_s=1.0,
        wheel_semi_axis_m=0.1,
    )


def program_of(law: Any) -> Program:
    """Return the program of a law; a plain function of the team sees everything of everybody."""
    if isinstance(law, Program):
        return law
    if callable(law) and not isinstance(law, type) and not hasattr(law, "covey_scope"):
        return Program(_seeing_all(law))
    return Program(law)


def _seeing_all(law: Callable[..., Any]) -> Callable[..., Any]:
    from functools import update_wrapper

    def of_team(team: Any) -> Any:
        return law(team)

    update_wrapper(of_team, law)
    of_team.covey_scope, of_team.covey_sees = "group", ("full",)  # pyright: ignore
    return of_team


def _substep(sampling_s: float) -> float:
    """Return the largest period of the physics up to 10 ms that divides a control period."""
    return sampling_s / max(1, int(np.ceil(sampling_s / 0.01 - 1e-9)))


def _starts(starts: Any, count: int, model: RobotModel, world: World, seed: int) -> np.ndarray:
    draw = generator(seed, "starts")
    radii = np.full(count, model.outer_radius_m)
    if starts is None:
        return place(ApartStart(apart=Apart()), world, radii, draw)
    given = np.asarray(starts, float)
    if given.shape == (count, 2):
        given = np.column_stack((given, draw.uniform(-np.pi, np.pi, count)))
    if given.shape != (count, 3):
        raise InvalidValueError(
            f"starts has the shape {given.shape}; give x, y, heading for each of the {count} robots, ({count}, 3)"
        )
    headings = given[:, 2].copy()
    placed = place(given, world, radii, draw)
    placed[:, 2] = headings
    return placed
