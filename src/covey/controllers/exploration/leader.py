"""Leader: one robot assigns the targets; the others ask it for one whenever they have none."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from covey.controllers.exploration.frontier_loop import Choice, Goal, explore
from covey.controllers.exploration.nearest_frontier import choose_nearest
from covey.controllers.teammates import Teammates
from covey.mapping.occupancy.frontiers import Frontiers
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning.progress import Blacklist
from covey.robots.parameters import Count, MetresOrNone, Seconds


@controller("leader", sees=("pose", "map", "shared_map", "radio", "shared_frame"), missions=("exploration",))
async def leader(
    robot: Robot,
    *,
    leader: str = "",
    min_distance_m: MetresOrNone = 1.0,
    kick_off_m: MetresOrNone = 2.5,
    spin_every: Count = 4,
    answer_s: Seconds = 1.0,
    forget_s: Seconds = 10.0,
) -> None:
    """Ask the leader for a target, drive there, ask again; the leader also serves itself.

    A robot asks with its position. The leader answers with the desirable cell of its own map that is nearest in a
    straight line, at least ``min_distance_m`` away and not listed as unreachable. A desirable cell is a free cell next
    to an unknown one and next to no wall. The leader ignores who asks, and what it has told others. Robots report the
    targets that they could not reach; these are never assigned again. At first every robot drives ``kick_off_m``
    straight on and turns all around. A robot keeps a target until it is there; after every ``spin_every`` drives, and
    after the first, it turns all around again.

    If no answer comes within ``answer_s``, or if the answer shows nothing unknown on the robot's own map, the robot
    decides alone by the same rule on that map; if the rule finds nothing, it takes the nearest frontier of any kind. It
    ends when it can reach no frontier. When the leader has been silent for ``forget_s``, the first robot by name of
    those that are heard leads.

    Args:
        robot: a robot with a map.
        leader: name of the robot that leads; empty: the one whose name comes first.
        min_distance_m: targets nearer than this are not assigned [m], because they cause many tiny moves.
        kick_off_m: distance to drive straight on before the first question [m].
        spin_every: number of drives between two turns all around; 0: never, not even at first.
        answer_s: time to wait for an answer [s].
        forget_s: time for which a silent leader is still asked [s].

    Unlike the source:
        Compared with gunnarkleiven/DAT160SemesterProject, leader.py and robot.py.

        - kept, though odd: nobody checks for a path, the leader forgets whom it sent where, and a robot keeps its
          target even if nothing there is unknown any more
        - cells at the border of the map are missed -> corrected (``definition: rescue``)
        - unreachable: less than 1 m in 4 s -> less than 0.3 m in 15 s, or no path; never assigned again within 0.3 m
        - no cell at the least distance: it fails -> the robot takes the nearest frontier
        - at first 2.5 m along x of the map -> straight ahead (``kick_off_m``), because robots start with any heading
        - one map for all -> each robot has its own, and ignores an answer that it knows already
        - the leader is a program of its own -> a robot, and the next one if it is silent
        - people and fires -> see ``rescue_leader``

    References:
        G. F. Kleiven: DAT160 Semester Project Report. Western Norway University of Applied Sciences, 2021; the program
        DAT160SemesterProject (multi_robot_challenge/scripts/leader.py, robot.py).
    """
    state = LeaderState(robot.name, leader, Teammates(forget_s=forget_s), min_distance_m, spin_every)

    async def choose(robot: Robot, frontiers: Frontiers, allowed: np.ndarray) -> Choice:
        if state.due_to_spin():
            await turn_round()
        return await state.next_target(robot, frontiers, allowed, answer_s)

    async def turn_round() -> None:
        await robot.turn(math.tau, until=lambda robot: state.step(robot, None))

    await robot.forward(kick_off_m)
    if spin_every > 0:
        await turn_round()
    await explore(
        robot,
        choose,
        definition="explore",
        min_cells=1,
        replan_s=math.inf,
        near_m=math.inf,
        each_step=state.step,
        unreachable=state.report,
    )


@dataclass
class LeaderState:
    """The state of a robot that leads, or is led."""

    name: str
    appointed: str
    team: Teammates
    min_distance_m: float
    spin_every: int
    refused: Blacklist = field(default_factory=lambda: Blacklist(tolerance_m=0.3))
    drives: int = 0

    def leads(self, robot: Robot) -> str:
        """Return the name of the leader."""
        heard = [self.name, *self.team.others(robot)]
        return self.appointed if self.appointed in heard else min(heard)

    def facts(self) -> dict[str, Any]:
        """Return what the robot tells the others besides its pose and goal."""
        return {}

    def step(self, robot: Robot, goal: Goal | None) -> bool:
        """Report where the robot is, record unreachable goals, and answer questions; false: nothing interrupts it."""
        self.team.step(robot, goal=goal, **self.facts())
        for message in robot.messages("unreachable"):
            self.refused.add(message.payload)
        for message in robot.messages("request"):
            robot.send(self.target(robot, message.payload), to=message.sender, kind="target")
        return False

    def report(self, robot: Robot, goal: Goal) -> None:
        """Tell all robots that a goal cannot be reached."""
        self.refused.add(goal)
        robot.send(goal, kind="unreachable")

    def target(self, robot: Robot, position: tuple[float, float], among: np.ndarray | None = None) -> Goal | None:
        """Return the target for a robot at a position [m] from the cells ``among``, int (k, 2), or None."""
        assert robot.map is not None
        cells, grid = robot.frontiers("rescue").cells, robot.map.grid
        if among is not None:
            allowed = np.zeros(grid.shape, bool)
            allowed[among[:, 0], among[:, 1]] = True
            cells = cells[allowed[cells[:, 0], cells[:, 1]]]
        unreachable = np.array(self.refused.goals).reshape(-1, 2)
        return nearest_target(grid.to_world(cells), unreachable, position, self.min_distance_m)

    async def next_target(self, robot: Robot, frontiers: Frontiers, allowed: np.ndarray, answer_s: float) -> Choice:
        """Return the target that the leader assigns within a time [s], or the robot's own by the same rule."""
        if (ask := self.leads(robot)) != robot.name:
            robot.messages("target")  # discard answers that came too late
            robot.send((float(robot.pose[0]), float(robot.pose[1])), to=ask, kind="request")
            answer = await robot.receive("target", timeout_s=answer_s)
            target = answer and answer.payload
            if target is not None and self.makes_sense(robot, target, frontiers.cells[allowed]):
                return target
        own = self.target(robot, robot.pose[:2], frontiers.cells[allowed])
        return own or choose_nearest(robot, frontiers, allowed)

    def makes_sense(self, robot: Robot, target: Goal, cells: np.ndarray) -> bool:
        """Return whether one of the robot's own frontier cells, int (k, 2), lies within a metre of a target."""
        assert robot.map is not None
        points = robot.map.grid.to_world(cells)
        return target not in self.refused and bool((np.hypot(*(points - target).T) <= 1.0).any())

    def due_to_spin(self) -> bool:
        """Count a finished drive; return whether it is time to turn all around."""
        self.drives += 1
        return self.spin_every > 0 and self.drives % self.spin_every == 0


def nearest_target(
    points: np.ndarray, unreachable: np.ndarray, position: tuple[float, float], min_distance_m: float
) -> Goal | None:
    """Return the point nearest to a position that is far enough away and not unreachable, or None.

    Args:
        points: float64 (k, 2), the desirable positions [m].
        unreachable: float64 (n, 2) [m]; points within 0.3 m of one count as unreachable.
        position: x, y [m].
        min_distance_m: least distance of the point from the position [m].

    Examples:
        >>> nearest_target(np.array([[0.5, 0.0], [3.0, 0.0]]), np.empty((0, 2)), (0.0, 0.0), 1.0)
        (3.0, 0.0)
    """
    distance = np.hypot(*(points - np.asarray(position[:2])).T)
    distance[distance < min_distance_m] = np.inf
    for place in unreachable:
        distance[np.hypot(*(points - place).T) <= 0.3] = np.inf
    if not np.isfinite(distance).any():
        return None
    x, y = points[int(distance.argmin())].tolist()
    return x, y
