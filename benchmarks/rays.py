"""Rays per second of the exact ray caster in a cave of 75 x 75 m at 0.1 m, 10 m range, on one core.

The cave is made by a cellular automaton. Fans of 180 rays over 190 degrees start at random free poses. The plain walk
from cell to cell (Amanatides and Woo) casts the same rays in the same process; the ratio is what the skip field buys.
"""

import math
import time

import numba
import numpy as np

from covey.geometry import raycast
from covey.geometry.grid import Grid

SIDE, RESOLUTION, RANGE_M, RAYS, POSES = 750, 0.1, 10.0, 180, 20_000


def cave(side: int, seed: int = 3, fill: float = 0.45, rounds: int = 6) -> np.ndarray:
    """Return the solid cells of a cave: noise smoothed by the 4-5 rule (5 or more of 9 solid -> solid)."""
    small = side // 5
    solid = np.random.default_rng(seed).random((small, small)) < fill
    for _ in range(rounds):
        padded = np.pad(solid, 1, constant_values=True).astype(int)
        solid = sum(padded[i : i + small, j : j + small] for i in range(3) for j in range(3)) >= 5
    solid = np.kron(solid, np.ones((5, 5), bool))
    solid[[0, -1]] = solid[:, [0, -1]] = True
    return solid


@numba.njit(error_model="numpy")
def walk(solid, u, v, du, dv, t_max):
    """Walk from cell to cell until a solid one."""
    ix, iy = math.floor(u), math.floor(v)
    step_x, step_y = (1 if du >= 0.0 else -1), (1 if dv >= 0.0 else -1)
    per_u, per_v = 1.0 / abs(du), 1.0 / abs(dv)
    tx = ((ix + 1 - u) if step_x > 0 else (u - ix)) * per_u
    ty = ((iy + 1 - v) if step_y > 0 else (v - iy)) * per_v
    t = 0.0
    while t < t_max:
        if solid[iy, ix]:
            return t
        if tx < ty:
            t, ix, tx = tx, ix + step_x, tx + per_u
        else:
            t, iy, ty = ty, iy + step_y, ty + per_v
    return t_max


@numba.njit(error_model="numpy")
def fans_by_skip(skip, frame, poses, directions, max_range, out):
    """Cast every fan through the skip field."""
    for i in range(poses.shape[0]):
        raycast.cast_fan(skip, frame, poses[i, 0], poses[i, 1], poses[i, 2], directions, max_range, out[i])


@numba.njit(error_model="numpy")
def fans_by_walk(solid, frame, poses, directions, max_range, out):
    """Cast every fan from cell to cell."""
    for i in range(poses.shape[0]):
        u, v = (poses[i, 0] - frame[0]) / frame[4], (poses[i, 1] - frame[1]) / frame[4]
        c, s = math.cos(poses[i, 2]), math.sin(poses[i, 2])
        for j in range(directions.shape[0]):
            dx, dy = directions[j, 0], directions[j, 1]
            out[i, j] = walk(solid, u, v, c * dx - s * dy, s * dx + c * dy, max_range / frame[4]) * frame[4]


def main() -> None:
    """Print rays per second of both, their ratio, and the largest difference of a distance."""
    solid = cave(SIDE)
    grid = Grid(solid, RESOLUTION)
    random = np.random.default_rng(1)
    cells = np.argwhere(~solid)
    cells = cells[random.integers(len(cells), size=POSES)]
    place = (cells[:, ::-1] + random.random((POSES, 2))) * RESOLUTION
    poses = np.column_stack((place, random.uniform(-math.pi, math.pi, POSES)))
    angles = np.radians(np.linspace(-95, 95, RAYS))
    directions = np.column_stack((np.cos(angles), np.sin(angles)))
    skip = raycast.skip_field(solid)
    distances = {}
    seconds = {}
    for name, cast, field in (("skip", fans_by_skip, skip), ("walk", fans_by_walk, solid.astype(np.uint8))):
        out = np.empty((POSES, RAYS))
        cast(field, grid.frame, poses[:10], directions, RANGE_M, out)
        rounds = []
        for _ in range(3):
            begin = time.perf_counter()
            cast(field, grid.frame, poses, directions, RANGE_M, out)
            rounds.append(time.perf_counter() - begin)
        distances[name], seconds[name] = out, min(rounds)
    rays = POSES * RAYS
    print(f"free share {1 - solid.mean():.2f}, mean distance {distances['walk'].mean():.2f} m, {rays} rays")
    for name, value in seconds.items():
        print(f"{name}: {rays / value / 1e6:.1f} M rays/s")
    print(f"ratio: {seconds['walk'] / seconds['skip']:.2f}")
    print(f"largest difference: {np.abs(distances['skip'] - distances['walk']).max():.1e} m")


if __name__ == "__main__":
    main()
