"""Physics on terrain: six skid-steer robots on 260 x 260 vertices, the engine alone beside, and what a crater costs.

    python benchmarks/terrain.py

Prints times real time goes in, of processor time, the best of several runs; other work on the machine adds time.
"""

import time

import numpy as np

import covey
from covey.onboard.group import Group
from covey.physics.mujoco.engine import mujoco
from covey.physics.mujoco.physics import TerrainPhysics
from covey.robots.catalogue import robots
from covey.robots.team import TeamModel, TeamState
from covey.world.editing.ground_edits import crater, mound
from covey.world.ground import Ground
from covey.world.state import WorldState
from covey.world.world import World

N = 6


def hills(size=260):
    """Return a ground of smooth hills of +-3 m with bumps of 5 cm."""
    rows, columns = np.mgrid[:size, :size]
    bumps = np.random.default_rng(0).uniform(0.0, 0.05, (size, size))
    return Ground.of(3.0 * np.sin(columns / 12.0) * np.cos(rows / 15.0) + bumps)


def start(spacing=8.0):
    return np.array([[spacing * (i - 0.5 * (N - 1)), 0.0, 0.3 * i] for i in range(N)])


class Wanders:
    """Drives on, another way every 5 s."""

    def __init__(self):
        self.steps, self.twist = 0, (0.0, 0.0)

    def step(self, robot):
        if self.steps % 50 == 0:
            self.twist = robot.random.uniform(0.2, 1.0), robot.random.uniform(-0.5, 0.5)
        self.steps += 1
        robot.drive(*self.twist)


def physics_speed(model, world, seconds=20.0):
    """Return times real time of the physics with a team driving, and of the engine alone in the same states."""
    physics, state = TerrainPhysics(world, TeamModel.of([model] * N)), TeamState.at(start())
    rng, trace, states = np.random.default_rng(1), np.empty((10, 2, N, 3)), []
    spent = 0.0
    for k in range(round(10 * seconds)):
        if k % 50 == 0:
            commands = np.column_stack((rng.uniform(0.2, 1, N), np.zeros(N), rng.uniform(-0.5, 0.5, N)))
        before = time.process_time()
        physics.step(state, commands, 10, trace)
        spent += time.process_time() - before
        engine, data = physics._engine, physics._data
        states.append((data.qpos.copy(), data.qvel.copy(), data.ctrl.copy()))
    alone, steps = 0.0, 10 * physics._per_substep
    for q, v, u in states[::4]:
        data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, u
        before = time.process_time()
        mujoco().mj_step(engine, data, steps)
        alone += time.process_time() - before
    return seconds / spent, 0.1 * len(states[::4]) / alone


def whole_speed(seconds=20.0):
    """Return times real time of a simulation with wedge, belief and controllers, and the share of each phase."""
    world = hills().world()
    sim = covey.Simulation(world, [Group("robot", robots.get("skid_steer")(), start())], Wanders, physics="terrain")
    for _ in range(20):
        sim.step()
    before = time.process_time()
    for _ in range(round(10 * seconds)):
        sim.step()
    spent = time.process_time() - before
    phases = dict(sim.stopwatch.seconds)
    sim.close()
    return seconds / spent, phases


def crater_costs():
    """Return the processor time [ms] of digging a crater of radius 10 m, and of the physics' taking it in."""
    costs = {}
    for what, centre in (("below all robots", (0.0, 0.0)), ("where nobody is", (80.0, 80.0))):
        world, times = WorldState(hills().world()), []
        ground = world.ground
        assert ground is not None
        physics = TerrainPhysics(world, TeamModel.of([robots.get("skid_steer")()] * N))
        state = TeamState.at(start(2.0))
        physics.step(state, np.zeros((N, 3)), 10)
        for depth in 12 * (1.0, -1.0):
            before = time.process_time()
            ground.apply((crater if depth > 0 else mound)(ground, centre, 1.0, 10.0))
            physics._keep_up(state)
            times.append(time.process_time() - before)
            physics.step(state, np.zeros((N, 3)), 10)
        costs[what] = 1e3 * min(times)
    return costs


def best(call, runs=3):
    call()
    return max(call() for _ in range(runs))


if __name__ == "__main__":
    for name in ("skid_steer", "pioneer3dx", "turtlebot3_waffle", "tracked"):
        model = robots.get(name)()
        for what, world in (("260 x 260 vertices", hills().world()), ("a plane", World.empty(200, 200, 1.0))):
            seconds = 5.0 if name == "tracked" else 20.0
            own, alone = best(lambda m=model, w=world, s=seconds: physics_speed(m, w, s))
            print(f"{N} {name} on {what}: {own:6.1f} x real time; engine alone {alone:6.1f}", flush=True)
    speed, phases = best(whole_speed)
    total = sum(phases.values())
    shares = ", ".join(
        f"{k} {v / total:.0%}" for k, v in sorted(phases.items(), key=lambda i: -i[1]) if v > 0.01 * total
    )
    print(f"whole simulation, {N} skid_steer with wedge and belief: {speed:.1f} x real time ({shares})", flush=True)
    for what, ms in crater_costs().items():
        print(f"a crater of radius 10 m {what}: {ms:.2f} ms")
