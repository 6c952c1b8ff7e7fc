"""Cyclic pursuit: numbers for `laws.py`. Unicycles; the control period is 0.01 s, 0.005 s for rates."""

import math
from collections.abc import Iterator

import numpy as np
from laws_parts import Row, run, square

from covey.controllers.laws.cyclic_pursuit import formation, growth_rate, modes, radius, ratio

CONSTANT = (1.2732, 1.6540, 1.8006, 1.8710, 1.9099, 1.9335, 1.9490, 1.9596, 1.9673, 1.9729, 1.9772)
"""The ratio k_a / k_r of n = 2 to 12, by a table made apart from this code."""
STABLE = {3: {1}, 4: {1, 2}, 5: {1, 2}, 6: {1, 2}, 7: {1, 2}, 8: {1, 2}, 9: {1, 2}, 10: {1, 2, 3}}
"""At constant speed, the d of stable formations {n/d}, likewise; with proportional speed only d = 1."""
K_A = 1.0


def spacing(poses: np.ndarray) -> np.ndarray:
    """Return the distance of each robot to the next, (t, n) [m]."""
    ahead = np.roll(poses[..., :2], -1, axis=1) - poses[..., :2]
    return np.hypot(ahead[..., 0], ahead[..., 1])


def pursued(start, seconds, step_s, **parameters) -> np.ndarray:
    """Return the poses of a run in a world without walls nearby."""
    return run("cyclic_pursuit", start, seconds, step_s, square(400.0, resolution_m=5.0), **parameters)[0]


def size_rate(n: int, k_r: float) -> float:
    """Return the measured rate of the size of a formation [1/s], once its shape is steady.

    The run ends before the robots come to the walls or to each other.
    """
    seconds = min(30.0, 3.5 / max(abs(growth_rate(n, k_r, K_A)), 1e-3))
    poses = pursued(formation(n, 2.0), seconds, 0.005, law="proportional", k_r=k_r, k_a=K_A)
    size = np.log(spacing(poses).mean(axis=1))
    half = len(size) // 2
    return (size[-1] - size[half]) / ((len(size) - 1 - half) * 0.005)


def jacobian(start: np.ndarray, law: str, k_r: float, speed: float) -> np.ndarray:
    """Return the linearisation in the frame that rotates with a formation, (3 n, 3 n) [1/s], by central differences."""
    n = len(start)

    def flow(flat: np.ndarray) -> np.ndarray:
        x, y, heading = flat.reshape(n, 3).T
        dx, dy = np.roll(x, -1) - x, np.roll(y, -1) - y
        bearing = (np.arctan2(dy, dx) - heading + np.pi) % (2 * np.pi) - np.pi
        v = k_r * np.hypot(dx, dy) if law == "proportional" else speed
        return np.column_stack((v * np.cos(heading), v * np.sin(heading), K_A * bearing)).ravel()

    flat, small = start.ravel(), 1e-6
    found = np.column_stack([(flow(flat + e) - flow(flat - e)) / (2 * small) for e in small * np.eye(3 * n)])
    turning = np.mean(flow(flat)[2::3])
    return found - turning * np.kron(np.eye(n), [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])


def slowest(n: int, d: int, law: str) -> tuple[np.ndarray, complex, np.ndarray, float]:
    """Return a formation, its eigenvalue with the largest real part [1/s], that mode, and k_r; by `jacobian`.

    Of all eigenvalues, those of the symmetries are left out: 0 and +- i times the rate of rotation.
    """
    k_r, size = K_A / ratio(n, d), 2.0 if law == "proportional" else radius(n, K_A, 1.0, d)
    start = formation(n, size, d)
    values, vectors = np.linalg.eig(jacobian(start, law, k_r, 1.0))
    spin = math.pi * d / n * K_A
    own = (np.abs(values) > 1e-3) & (np.abs(np.abs(values.imag) - spin) + np.abs(values.real) > 1e-3)
    at = np.flatnonzero(own)[np.argmax(values[own].real)]
    return start, complex(values[at]), vectors[:, at].reshape(n, 3), k_r


def shape_rate(n: int, d: int, law: str) -> float:
    """Return the measured rate of the slowest, or fastest growing, deviation from a regular formation [1/s].

    The formation starts with 1e-5 of that mode. The deviation is the spread of the spacings over their mean.
    """
    start, value, mode, k_r = slowest(n, d, law)
    seconds = max(min(5.0 / abs(value.real), 60.0), 2.2 * math.pi / max(abs(value.imag), 0.05))
    begin = start + 1e-5 * (mode / np.abs(mode).max()).real
    between = spacing(pursued(begin, seconds, 0.005, law=law, k_r=k_r, k_a=K_A, speed_m_s=1.0))
    off = np.log(between.std(axis=1) / between.mean(axis=1))
    if abs(value.imag) < 1e-3:
        return float(np.polyfit(0.005 * np.arange(len(off)), off, 1)[0])
    period = round(math.pi / abs(value.imag) / 0.005)  # a wave that stands has its spread again after half a turn
    times = (len(off) - period) // period
    apart = off[times * period :][:period].mean() - off[:period].mean()
    return float(apart / (times * period * 0.005))


def rows(short: bool = False) -> Iterator[Row]:
    """Yield the numbers."""
    for n in (2, 3, 6, 12) if short else range(2, 13):
        yield Row("cyclic proportional", f"n = {n}: k* = k_a / k_r", CONSTANT[n - 2], ratio(n), 5.1e-5)
    for n in (6,) if short else range(2, 13):
        for share in (0.9,) if short else (0.9, 1.0, 1.1):
            k_r = K_A / (share * ratio(n))
            what = f"n = {n}, k = {share} k*: rate of growth, negative inside [1/s]"
            yield Row(
                "cyclic proportional",
                what,
                growth_rate(n, k_r, K_A),
                size_rate(n, k_r),
                1e-3 + 0.01 * abs(growth_rate(n, k_r, K_A)),
            )
    for n, d in ((5, 2),) if short else ((2, 1), (3, 1), (6, 1), (12, 1), (5, 2), (7, 2)):
        expected = radius(n, 1.0, 0.3, d)
        poses = pursued(formation(n, 1.1 * expected, d), 60.0 if short else 150.0, 0.01, k_a=1.0, speed_m_s=0.3)
        circle = poses[-1, :, :2] - poses[-1, :, :2].mean(axis=0)
        what = f"{{{n}/{d}}}, k = 1/s, s = 0.3 m/s: radius s n / (k pi d) [m]"
        yield Row("cyclic constant", what, expected, float(np.hypot(*circle.T).mean()), 0.005 * expected)
    for law, short_name in (("proportional", "cyclic proportional"), ("constant_speed", "cyclic constant")):
        for n in (6, 10) if short else range(3, 11):
            found = {d for d in range(1, n // 2 + 1) if modes(n, d, law).real.max() < 0.0}
            expected = {1} if law == "proportional" else STABLE[n]
            yield Row(short_name, f"n = {n}: how many d are stable", len(expected), len(found & expected), 0)
            yield Row(short_name, f"n = {n}: how many other d up to n/2 are stable", 0, len(found - expected), 0)
        for n, d in (
            ((5, 1 if law == "proportional" else 2),)
            if short
            else ((3, 1), (4, 1), (6, 1), (5, 2), (7, 2), (7, 3), (8, 3), (10, 3))
        ):
            value = modes(n, d, law).real.max()
            what = f"{{{n}/{d}}}: largest real part of the linearisation, by its blocks [1/s]"
            yield Row(short_name, what, slowest(n, d, law)[1].real, value, 1e-6)
            what = f"{{{n}/{d}}}: rate of that mode in the simulation [1/s]"
            yield Row(short_name, what, value, shape_rate(n, d, law), 0.006)
