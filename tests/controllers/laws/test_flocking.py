"""Flocking against its theorems, and against plain programs of the papers' formulas."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from covey import graphs
from covey.controllers.laws import flocking as law


def plain_sigma(x, epsilon=0.1):
    return (math.sqrt(1 + epsilon * x * x) - 1) / epsilon


def plain_action(z, r, d):
    """Equations 10, 15 and 16 of Olfati-Saber 2006, for a = b = 5 (so c = 0) and h = 0.2."""
    s = z / plain_sigma(r)
    bump = 1.0 if s < 0.2 else 0.5 * (1 + math.cos(math.pi * (s - 0.2) / 0.8)) if s < 1 else 0.0
    y = z - plain_sigma(d)
    return bump * 0.5 * (10 * y / math.sqrt(1 + y * y))


def energy_of(
    position: np.ndarray,
    velocity: np.ndarray,
    range_m: float,
    apart_m: float,
    goal: tuple[float, float],
    goal_velocity: tuple[float, float] = (0.0, 0.0),
    c1: float = 1.0,
) -> float:
    """Return the energy of a team relative to a goal [m2/s2]: potentials of pairs and of the goal, and kinetic energy.

    The potential of a pair is the integral of the force over the sigma distance, from the lattice's distance on.
    """
    i, j = np.triu_indices(len(position), 1)
    z = law._sigma_norm(((position[i] - position[j]) ** 2).sum(axis=1))
    away = position - np.asarray(goal)
    moving = velocity - np.asarray(goal_velocity)
    pairs = sum(pair_potential(float(one), range_m, apart_m) for one in z)
    return pairs + 0.5 * c1 * float((away**2).sum()) + 0.5 * float((moving**2).sum())


def pair_potential(z: float, range_m: float, apart_m: float) -> float:
    """Return the potential of two robots at the sigma distance z, by Gauss-Legendre quadrature; z = 0: one place."""
    low, high, bend = (
        law._sigma_norm(apart_m**2),
        min(z, law._sigma_norm(range_m**2)),
        law._H * law._sigma_norm(range_m**2),
    )
    ends = [low, bend, high] if min(low, high) < bend < max(low, high) else [low, high]
    nodes, weights = np.polynomial.legendre.leggauss(40)
    total = 0.0
    for a, b in pairwise(ends):
        at = 0.5 * (b - a) * nodes + 0.5 * (a + b)
        total += 0.5 * (b - a) * float(weights @ law._action(at, range_m, apart_m))
    return total


def plain_flocking(q, p, r, d, goal, c1, c2):
    u = np.zeros_like(q)
    for i in range(len(q)):
        for j in range(len(q)):
            far = math.dist(q[i], q[j])
            if i == j or far >= r:
                continue
            z = plain_sigma(far)
            s = z / plain_sigma(r)
            a = 1.0 if s < 0.2 else 0.5 * (1 + math.cos(math.pi * (s - 0.2) / 0.8))
            u[i] += plain_action(z, r, d) * (q[j] - q[i]) / math.sqrt(1 + 0.1 * far * far) + a * (p[j] - p[i])
        u[i] += -c1 * (q[i] - goal) - c2 * p[i]
    return u


def test_olfati_sabers_law_is_that_of_the_paper():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        q, p = rng.uniform(-10, 10, (8, 2)), rng.uniform(-1, 1, (8, 2))
        given = law.olfati_saber_acceleration(q, p, 8.4, 7.0, (1.0, 2.0), c1=0.3, c2=0.5)
        assert given == pytest.approx(plain_flocking(q, p, 8.4, 7.0, (1.0, 2.0), 0.3, 0.5), abs=1e-12)


def test_the_potential_of_a_pair_is_the_integral_of_its_force():
    for z in (0.0, 0.5, 3.0, plain_sigma(7.0), plain_sigma(8.0), 100.0):
        ends = plain_sigma(7.0), min(z, plain_sigma(8.4))
        expected = quad(plain_action, *ends, args=(8.4, 7.0), points=[0.2 * plain_sigma(8.4)], limit=200)[0]
        assert pair_potential(z, 8.4, 7.0) == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
def test_the_energy_never_grows_velocities_agree_and_nobody_collides():
    # theorem 2 and 3 of the paper: below the energy of one pair at one place no two can get there
    angle = 0.1 + 0.5 * math.pi * np.arange(4)
    q = 4.7 * np.column_stack((np.cos(angle), np.sin(angle)))
    p = 2.0 * np.random.default_rng(4).uniform(-1, 1, (4, 2))
    given, dt = (8.4, 7.0), 0.01
    energy = [energy_of(q, p, *given, (0.0, 0.0), c1=0.05)]
    assert energy[0] < pair_potential(0.0, *given)
    nearest = math.inf
    for k in range(6000):
        p = p + dt * law.olfati_saber_acceleration(q, p, *given, (0.0, 0.0), c1=0.05, c2=0.3)
        q = q + dt * p
        if k % 20 == 0:
            energy.append(energy_of(q, p, *given, (0.0, 0.0), c1=0.05))
            nearest = min(nearest, np.hypot(*(q[:, None] - q[None]).transpose(2, 0, 1))[~np.eye(4, dtype=bool)].min())
    assert max(np.diff(energy)) < 2e-3
    assert np.hypot(*p.T).max() < 1e-2
    assert pair_potential(plain_sigma(nearest), *given) < energy[0]


def test_alignment_alone_is_the_consensus_of_velocities():
    q = np.column_stack((np.arange(5.0), np.zeros(5)))
    p = np.random.default_rng(1).uniform(-1, 1, (5, 2))
    near = graphs.proximity(1.0)(q)
    expected = -(graphs.laplacian(near) / near.sum(axis=1)[:, None]) @ p
    given = law.reynolds_acceleration(q, p, 1.0, 0.1, separation=0.0, alignment=1.0, cohesion=0.0)
    assert given == pytest.approx(expected, abs=1e-12)


def test_separation_and_cohesion_of_two_robots_by_hand():
    q, still = np.array([(0.0, 0.0), (0.0, 2.0)]), np.zeros((2, 2))
    assert law.reynolds_acceleration(q, still, 5.0, 3.0, 1.0, 1.0, 0.0).tolist() == [[0.0, -0.5], [0.0, 0.5]]
    assert law.reynolds_acceleration(q, still, 5.0, 1.0, 1.0, 1.0, 0.5).tolist() == [[0.0, 1.0], [0.0, -1.0]]


def plain_vicsek(x, y, angle, radius, noise, box):
    """The update of the paper, robot by robot, with a mean of unit vectors as complex numbers."""
    turned = np.zeros(len(angle))
    for i in range(len(angle)):
        total = 0j
        for j in range(len(angle)):
            dx, dy = abs(x[i] - x[j]), abs(y[i] - y[j])
            dx, dy = min(dx, box - dx), min(dy, box - dy)
            if dx * dx + dy * dy <= radius * radius:
                total += complex(math.cos(angle[j]), math.sin(angle[j]))
        turned[i] = math.atan2(total.imag, total.real) + noise[i]
    return turned


def vicsek_order(eta, n=40, box=3.1, steps=300, seed=0):
    """Mean order of the paper's smallest team, N = 40 in L = 3.1 with v = 0.03, over the last two thirds."""
    rng = np.random.default_rng(seed)
    position, heading, orders = rng.uniform(0, box, (n, 2)), rng.uniform(-math.pi, math.pi, n), []
    for k in range(steps):
        noise = rng.uniform(-eta / 2, eta / 2, n)
        heading = law.vicsek_headings(position, heading, 1.0, noise, box)
        velocity = 0.03 * np.column_stack((np.cos(heading), np.sin(heading)))
        position = (position + velocity) % box
        if k >= steps // 3:
            orders.append(law.order_of(velocity))
    return float(np.mean(orders))


def test_vicsek_is_the_update_of_the_paper():
    rng = np.random.default_rng(2)
    position, heading = rng.uniform(0, 3.1, (40, 2)), rng.uniform(-math.pi, math.pi, 40)
    noise = rng.uniform(-1, 1, 40)
    expected = plain_vicsek(*position.T, heading, 1.0, noise, 3.1)
    given = law.vicsek_headings(position, heading, 1.0, noise, 3.1)
    assert np.exp(1j * given) == pytest.approx(np.exp(1j * expected), abs=1e-9)


def test_order_falls_with_noise():
    orders = [vicsek_order(eta) for eta in (0.1, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)]
    assert orders[0] > 0.99
    assert orders == sorted(orders, reverse=True)
    assert orders[-1] < 0.3  # 1/sqrt(40) = 0.16 if there were no order at all


@pytest.mark.parametrize("eta", [0.5, 2.0, 4.0, 2 * math.pi])
def test_order_of_a_team_that_sees_all_is_the_closed_form(eta):
    rng, n, squares = np.random.default_rng(7), 20, []
    heading = rng.uniform(-math.pi, math.pi, n)
    for _ in range(4000):
        heading = law.vicsek_headings(np.zeros((n, 2)), heading, 1.0, rng.uniform(-eta / 2, eta / 2, n))
        squares.append(law.order_of(np.column_stack((np.cos(heading), np.sin(heading)))) ** 2)
    s = math.sin(eta / 2) / (eta / 2)
    assert np.mean(squares) == pytest.approx(1 / n + (1 - 1 / n) * s * s, abs=4 * np.std(squares) / math.sqrt(4000))
