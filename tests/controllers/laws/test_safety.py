"""Barriers and reciprocal avoidance: the same velocities as general solvers, laws untouched when safe, no contact."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

import covey
from covey.controllers.laws import guards
from covey.controllers.laws.barriers import barrier_velocity
from covey.controllers.laws.look_ahead import points_ahead, unicycle
from covey.controllers.laws.reciprocal import orca_velocity, way_out
from covey.onboard.controller import Program

NO_WALLS = np.zeros((0, 4))


def crowd(seed, n=6, size=1.2):
    rng = np.random.default_rng(seed)
    position = np.zeros((0, 2))
    while len(position) < n:
        one = rng.uniform(-size, size, 2)
        if len(position) == 0 or np.hypot(*(position - one).T).min() > 0.4:
            position = np.vstack((position, one))
    return position, rng.uniform(-1.0, 1.0, (n, 2))


def general_solution(position, wanted, apart, top, gain, wall_x):
    """All constraints at once, by SLSQP; robots stay left of a wall at x = wall_x, 0.2 m away."""
    n, rules = len(position), []
    for i in range(n):
        rules.append(lambda u, i=i: top**2 - u[2 * i] ** 2 - u[2 * i + 1] ** 2)
        rules.append(lambda u, i=i: -u[2 * i] + gain * (wall_x - position[i, 0] - 0.2))
        for j in range(i):
            z = position[i] - position[j]
            d = math.hypot(*z)
            e = z / d
            rules.append(
                lambda u, i=i, j=j, e=e, d=d: e @ (u[2 * i : 2 * i + 2] - u[2 * j : 2 * j + 2]) + gain * (d - apart)
            )
    found = minimize(
        lambda u: ((u - wanted.ravel()) ** 2).sum(),
        np.zeros(2 * n),
        constraints=[{"type": "ineq", "fun": rule} for rule in rules],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    assert found.success
    return found.x.reshape(n, 2)


@pytest.mark.parametrize("seed", range(6))
def test_barriers_give_the_velocities_of_a_general_solver(seed):
    position, wanted = crowd(seed, 8, 1.0)
    wanted *= 0.7  # none is faster than the top speed
    wall = np.array([(1.3, -50.0, 1.3, 50.0)])
    given = barrier_velocity(position, wanted, apart_m=0.4, top_speed_m_s=1.0, gain=2.0, walls=wall, wall_m=0.2)
    assert (given != wanted).any()
    assert given == pytest.approx(general_solution(position, wanted, 0.4, 1.0, 2.0, 1.3), abs=2e-5)


def test_velocities_that_are_safe_are_returned_as_they_are():
    position, wanted = np.array([(0.0, 0.0), (1.0, 0.0), (9.0, 9.0)]), np.array([(-0.5, 0.1), (0.5, 0.2), (9.0, 0.3)])
    given = barrier_velocity(position, wanted, apart_m=0.5, top_speed_m_s=1.0, gain=2.0)
    assert given is wanted
    wanted = -wanted  # the first two approach; the third is far
    given = barrier_velocity(position, wanted, apart_m=0.9, top_speed_m_s=1.0, gain=2.0)
    assert (given[:2] != wanted[:2]).any()
    assert np.array_equal(given[2], wanted[2])


def test_two_robots_head_on_share_what_is_left_of_the_gap():
    # e (u_1 - u_2) >= -k (d - D): both approach at half of 2 (1.0 - 0.5) m/s
    position, wanted = np.array([(0.0, 0.0), (1.0, 0.0)]), np.array([(0.8, 0.0), (-0.8, 0.0)])
    given = barrier_velocity(position, wanted, apart_m=0.5, top_speed_m_s=1.0, gain=2.0)
    assert given == pytest.approx(np.array([(0.5, 0.0), (-0.5, 0.0)]), abs=1e-6)


def test_robots_too_near_do_not_come_nearer():
    position, wanted = np.array([(0.0, 0.0), (0.3, 0.0)]), np.array([(0.8, 0.0), (-0.8, 0.5)])
    given = barrier_velocity(position, wanted, apart_m=0.5, top_speed_m_s=1.0, gain=2.0)
    assert given[1, 0] - given[0, 0] == pytest.approx(0.0, abs=1e-6)


def inside_obstacle(p, v, apart, horizon):
    """Whether a point that moves with v comes within ``apart`` of p, up to the horizon: by brute force."""
    times = np.linspace(0.0, horizon, 2001)
    return (np.hypot(p[0] - times * v[0], p[1] - times * v[1]) < apart).any()


@pytest.mark.parametrize("seed", range(40))
def test_the_change_of_orca_leads_to_the_nearest_border_of_the_velocity_obstacle(seed):
    rng = np.random.default_rng(seed)
    p, v, horizon = rng.uniform(-2, 2, 2), rng.uniform(-1.5, 1.5, 2), 2.0
    if math.hypot(*p) < 0.6:
        return
    ux, uy, ex, ey = way_out(*p, *v, 0.5, horizon, 0.1, 1.0)
    u = np.array([ux, uy])
    inside = inside_obstacle(p, v, 0.5, horizon)
    assert not inside_obstacle(p, v + u + 2e-3 * np.array([ex, ey]), 0.5, horizon)
    assert inside_obstacle(p, v + u - 2e-3 * np.array([ex, ey]), 0.5, horizon)
    for angle in np.linspace(0, 2 * math.pi, 90):  # nothing nearer is on the other side
        probe = v + 0.98 * math.hypot(ux, uy) * np.array([math.cos(angle), math.sin(angle)])
        assert math.hypot(ux, uy) < 5e-3 or inside_obstacle(p, probe, 0.5, horizon) == inside


def half_planes(i, position, velocity, apart):
    rows = []
    for j in range(len(position)):
        if j != i:
            p, v = position[j] - position[i], velocity[i] - velocity[j]
            ux, uy, ex, ey = way_out(*p, *v, apart, 2.0, 0.1, 1.0 if i < j else -1.0)
            rows.append((*(velocity[i] + 0.5 * np.array([ux, uy])), ex, ey))
    return np.array(rows)


@pytest.mark.parametrize("seed", range(8))
def test_orca_takes_the_velocities_of_general_solvers(seed):
    size = 1.0 if seed % 2 else 3.0  # dense: some find no velocity
    position, wanted = crowd(seed, 8, size)
    velocity = np.random.default_rng(100 + seed).uniform(-0.6, 0.6, (8, 2))
    found, fits = orca_velocity(position, velocity, wanted, 0.38, 1.5, 2.0, 0.1, NO_WALLS, 0.0, 1.0)
    for i in range(8):
        rows = half_planes(i, position, velocity, 0.38)
        slack = ((found[i] - rows[:, :2]) * rows[:, 2:]).sum(axis=1)
        limits = [
            {"type": "ineq", "fun": lambda u, r=r: (u[:2] - r[:2]) @ r[2:] + (u[2] if len(u) > 2 else 0.0)}
            for r in rows
        ]
        disc = {"type": "ineq", "fun": lambda u: 1.5**2 - u[0] ** 2 - u[1] ** 2}
        # a regular polygon of 256 sides in the disc: is there any velocity at all?
        angle = 2 * math.pi * np.arange(256) / 256
        sides = np.column_stack((np.cos(angle), np.sin(angle), np.zeros(256)))
        planes = np.column_stack((-rows[:, 2:], -np.ones(len(rows))))
        border = -(rows[:, :2] * rows[:, 2:]).sum(axis=1)
        best = linprog(
            (0, 0, 1.0),
            A_ub=np.vstack((planes, sides)),
            b_ub=np.concatenate((border, np.full(256, 1.5))),
            bounds=(None, None),
        )
        worst = best.fun
        if fits[i]:
            assert slack.min() >= -1e-8
            assert worst < 1e-3
            start = np.array(best.x[:2])
            wish = minimize(
                lambda u, i=i: ((u - wanted[i]) ** 2).sum(), start, constraints=[*limits, disc], options={"ftol": 1e-14}
            )
            assert found[i] == pytest.approx(wish.x, abs=1e-4)
        else:
            assert worst > -1e-3
            assert -slack.min() == pytest.approx(max(worst, 0.0), abs=2e-3)


def test_point_velocities_are_the_inverse_of_the_commands():
    rng = np.random.default_rng(1)
    velocity, heading = rng.uniform(-0.5, 0.5, (20, 2)), rng.uniform(-3, 3, 20)
    speed, turn = unicycle(velocity, heading, 0.1, 0.1)
    twists = np.column_stack((speed, np.zeros(20), turn))
    assert guards.point_velocity(twists, heading, 0.1, 0.1, False) == pytest.approx(velocity, abs=1e-12)


def model_of(kinematics):
    return covey.robots.disc(kinematics=kinematics, radius_m=0.15).model_copy(update={"max_turn_rad_s": 10.0})


def situation(kind, seed):
    """Start poses and goals: two robots or rows that swap, a circle across, two files in a corridor; and its width."""
    rng = np.random.default_rng(seed)
    if kind == "circle":
        angle = 2 * math.pi * np.arange(8) / 8
        start = 3.0 * np.column_stack((np.cos(angle), np.sin(angle)))
        goal, size = -start, (10.0, 10.0)
    elif kind == "swap":
        start = np.array([(-3.0, y) for y in (-1.0, 0.0, 1.0)] + [(3.0, y) for y in (-1.0, 0.0, 1.0)])
        goal, size = start * (-1.0, 1.0), (10.0, 10.0)
    else:
        start = np.array([(-4.0 + 0.8 * k, 0.3) for k in range(3)] + [(4.0 - 0.8 * k, -0.3) for k in range(3)])
        goal, size = start * (-1.0, -1.0), (12.0, 2.4)
    start = start + rng.uniform(-0.05, 0.05, start.shape)
    heading = np.arctan2(*(goal - start).T[::-1]) + rng.uniform(-0.3, 0.3, len(start))
    return np.column_stack((start, heading)), goal, size


def drive(guard, kind, seed, kinematics, seconds=15.0):
    """Contacts, and the robots that arrived within 0.3 m."""
    start, goal, size = situation(kind, seed)
    model = model_of(kinematics)
    law = {"name": "go_to", "goals_m": goal.tolist()}
    group = covey.Group("r", model, start, Program(guard, {"law": law}))
    sim = covey.Simulation(covey.World.empty(*size, resolution_m=0.1), [group], stop=covey.Stop(timeout_s=seconds))
    while not sim.done:
        sim.step()
        assert not sim.deciding.failures
    pose = sim.state.pose.copy()
    run = sim.close()
    contacts = run.metrics["collisions"] + run.metrics["collisions_wall"]
    points = pose[:, :2] if kinematics == "holonomic" else points_ahead(pose, 0.1)
    return contacts, int((np.hypot(*(points - goal).T) < 0.3).sum())


@pytest.mark.slow
@pytest.mark.parametrize("kinematics", ["holonomic", "differential"])
@pytest.mark.parametrize("kind", ["swap", "circle", "corridor"])
@pytest.mark.parametrize("guard", ["safe", "orca"])
def test_nobody_touches_anything(guard, kind, kinematics):
    contacts, _ = drive(guard, kind, 1, kinematics, 8.0)
    assert contacts == 0
    if kind == "circle":  # without a guard they do
        assert drive_bare(kind, kinematics) > 0


def drive_bare(kind, kinematics):
    start, goal, size = situation(kind, 1)
    group = covey.Group("r", model_of(kinematics), start, Program("go_to", {"goals_m": goal.tolist()}))
    sim = covey.Simulation(covey.World.empty(*size, resolution_m=0.1), [group], stop=covey.Stop(timeout_s=8.0))
    return sim.run().metrics["collisions"]


@pytest.mark.parametrize("kinematics", ["holonomic", "differential"])
def test_a_law_in_no_danger_is_untouched_to_the_last_bit(kinematics):
    start = np.array([(-3.0, 0.0, 0.3), (3.0, 0.0, 2.0), (0.0, 3.0, -1.0)])
    poses = []
    for guarded in (False, True):
        program = Program("consensus", {"gain": 0.2})
        if guarded:
            program = Program("safe", {"law": program})
        sim = covey.Simulation(covey.World.empty(20, 20), [covey.Group("r", model_of(kinematics), start, program)])
        for _ in range(20):
            sim.step()
        poses.append(sim.state.pose.copy())
        sim.close()
    assert np.array_equal(*poses)


def test_a_function_of_a_student_is_kept_inside_and_apart():
    def outwards(team):
        return 0.5, 0.0

    start = [(2.0, 2.0, 0.0), (2.0, 1.2, 0.0), (1.0, 2.0, 0.0), (3.0, 3.0, 1.5)]
    room = [(0, 0), (4, 0), (4, 4), (0, 4)]
    bare = covey.play(outwards, 4, room, 8.0, "max", starts=start)
    kept = covey.play(covey.laws.safe(outwards), 4, room, 8.0, "max", starts=start)
    assert bare.run.metrics["collisions_wall"] > 0
    assert kept.run.metrics["collisions_wall"] == kept.run.metrics["collisions"] == 0
    assert kept.poses[-1, :2, 0].min() > 3.0  # and they went as far as they may


@covey.law(sees=("position",), name=None)
def peeks(team):
    team.memory.walls = "its own"
    return 0.1, team.heading


def test_a_guarded_law_sees_no_more_than_it_declares():
    with pytest.raises(covey.ControllerError, match="does not see 'heading'"):
        covey.play(covey.laws.safe(peeks), 2, stop_s=0.2, speed="max")


def test_the_memory_of_a_guarded_law_is_its_own():
    def law(team):
        team.memory.walls = team.memory.drive = "its own"
        return 0.1, 0.1 * team.heading

    out = covey.play(covey.laws.orca(covey.laws.safe(law)), 2, stop_s=0.3, speed="max")
    assert out.status == "timeout"
