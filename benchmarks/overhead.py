"""Overhead of the step loop per robot and step, beyond the kernels and the controller's own work.

From the CPU time of `Simulation.step` is taken what is not the loop's: the compiled kernels that the step calls (each
call timed from outside, so the cost of calling one counts as kernel) and the user's controller. A group controller is
timed where it is called; one with a handle per robot would be slowed down by that, so it is called for all robots once
more after the run, and timed there. What is left is the loop: building arguments, handles, readings of each robot,
checks, frames, recording.

100 and 1000 robots with a 12-ray proximity ring in a walled arena at 1 robot / 4 m2; a reactive controller with a
handle per robot, and a group controller (array in, array out). Each figure is the median of 5 rounds of 100 steps, in
CPU time on one core. Run: python benchmarks/overhead.py
"""

import math
import os
import statistics
import sys
import time

import numpy as np
from crowds import apart

import covey
from covey.onboard.group import Group
from covey.robots.model import RobotModel
from covey.sensors import Proximity
from covey.world.world import World

ROOMS = ("runtime", "physics", "events", "sensors", "world", "mapping")
"""Packages whose kernels the step calls."""
_clock = time.thread_time
spent = 0.0


def timed(function):
    """Return ``function`` with its time added to what is not the loop's."""

    def call(*arguments):
        global spent
        begin = _clock()
        try:
            return function(*arguments)
        finally:
            spent += _clock() - begin

    call.kernel = function
    return call


class Bounce:
    """Turn away from what is near, else straight on."""

    def step(self, robot):
        """Act."""
        if robot.proximity.presence[0]:
            robot.drive(0.0, 1.0)
        else:
            robot.drive(0.5)


@covey.controller(scope="group", sees=("proximity",))
class BounceAll:
    """The same for a group."""

    def step(self, group):
        """Return the twists."""
        near = group.proximity.presence[:, 0]
        twist = np.zeros((group.count, 3))
        twist[:, 0], twist[:, 2] = np.where(near, 0.0, 0.5), near
        return twist


BounceAll.step = timed(BounceAll.step)


def time_kernels() -> None:
    """Time every kernel that Covey's modules have imported by name, and those that are bound to arrays."""
    from numba.core.dispatcher import Dispatcher

    from covey.bound import Bound

    bind = Bound.__init__
    Bound.__init__ = lambda self, function, *more: bind(self, getattr(function, "kernel", function), *more)
    Bound.__call__ = timed(Bound.__call__)

    for name, module in list(sys.modules.items()):
        if name.startswith(tuple(f"covey.{room}" for room in ROOMS)):
            for key, value in list(vars(module).items()):
                if isinstance(value, Dispatcher):
                    setattr(module, key, timed(value))


def simulation(controller, count: int, **options) -> covey.Simulation:
    """Return a crowd at 1 robot / 4 m2; ``options``: other arguments of `Simulation`."""
    side = math.sqrt(4.0 * count)
    random = np.random.default_rng(2)
    places = apart(random.uniform(0.4 - 0.5 * side, 0.5 * side - 0.4, (8 * count, 2)), count, 0.5)
    poses = np.column_stack((places, random.uniform(-math.pi, math.pi, count)))
    robot = RobotModel(
        kinematics="unicycle", radius_m=0.15, max_speed_m_s=0.5, max_turn_rad_s=3.0, sensors=[Proximity()]
    )
    world = World.empty(side, side, resolution_m=0.1)
    return covey.Simulation(world, [Group("robot", robot, poses, covey.Program(controller))], seed=1, **options)


def own_work(sim: covey.Simulation) -> float:
    """Return what one call of `Bounce.step` takes [s]."""
    robots, bounce = [sim.robot(name) for name in sim.names], Bounce()
    rounds = []
    for _ in range(30):
        begin = _clock()
        for robot in robots:
            bounce.step(robot)
        rounds.append((_clock() - begin) / len(robots))
    return statistics.median(rounds)


def report(title: str, controller, count: int) -> None:
    """Print the overhead and what the whole step costs."""
    sim = simulation(controller, count)
    marks = []
    sim.observers.append(lambda _frame: marks.append((_clock(), spent)))
    sim.run(until_s=63.0)
    own = own_work(sim) if controller is Bounce else 0.0
    loops, steps = [], []
    for k in range(130, 630, 100):  # by then each robot's memory of the past is full
        whole, kernels = marks[k + 99][0] - marks[k - 1][0], marks[k + 99][1] - marks[k - 1][1]
        loops.append(((whole - kernels) / (100 * count) - own) * 1e6)
        steps.append(whole / (100 * count) * 1e6)
    loop, step = statistics.median(loops), statistics.median(steps)
    print(f"{title:34} {loop:6.2f} us per robot and step (least {min(loops):.2f}) of {step:.2f} us in all")


def main() -> None:
    """Print the figures."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    simulation(Bounce, 4).step()  # compiles
    time_kernels()
    for count in (100, 1000):
        report(f"{count} robots, a handle for each", Bounce, count)
        report(f"{count} robots, one group controller", BounceAll, count)


if __name__ == "__main__":
    main()
