"""Rays per second against a height field of 260 x 260 vertices 1 m apart, 20 m range, one core; and MuJoCo's.

The field is fractal hills. Scans of 16 rings from -15 to +15 degrees, as of a 3-D lidar, start 0.5 m above random
points. MuJoCo casts some of the same rays at the same field (`mj_ray`): agreement and ratio.
"""

import math
import time

import numpy as np

from covey.geometry.heightfield import cast
from covey.world.generators.grounds import hills
from covey.world.ground import Ground

RANGE_M, RINGS, RAYS, PLACES, FEW = 20.0, 16, 360, 50, 6000


def scans(ground: Ground) -> tuple[np.ndarray, np.ndarray]:
    """Return origins and directions of all rays, float64 (m, 3)."""
    random = np.random.default_rng(1)
    places = random.uniform((-110, -110), (110, 110), (PLACES, 2))
    eyes = np.column_stack((places, ground.altitude_at(places) + 0.5))
    elevation, azimuth = np.meshgrid(
        np.radians(np.linspace(-15, 15, RINGS)), np.linspace(-math.pi, math.pi, RAYS, endpoint=False), indexing="ij"
    )
    across = np.cos(elevation)
    one = np.stack((across * np.cos(azimuth), across * np.sin(azimuth), np.sin(elevation)), axis=-1).reshape(-1, 3)
    return np.repeat(eyes, len(one), axis=0), np.tile(one, (PLACES, 1))


def by_mujoco(ground: Ground, origins: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, float]:
    """Return MuJoCo's distances, infinite beyond the range, and the seconds that it took."""
    import mujoco

    low, high = float(ground.altitude.min()), float(ground.altitude.max())
    rows, columns = ground.shape
    (width, depth), (left, right, bottom, top) = ground.size_m, ground.bounds
    spec: mujoco.MjSpec = mujoco.MjSpec()
    data = ((ground.altitude - low) / (high - low)).astype(np.float32).ravel()
    spec.add_hfield(name="ground", nrow=rows, ncol=columns, size=[width / 2, depth / 2, high - low, 1.0], userdata=data)
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="ground", pos=[(left + right) / 2, (bottom + top) / 2, low]
    )
    model = spec.compile()
    state = mujoco.MjData(model)
    mujoco.mj_forward(model, state)
    found, geom = np.empty(len(origins)), np.zeros(1, np.int32)
    begin = time.process_time()
    for k in range(len(origins)):
        found[k] = mujoco.mj_ray(model, state, origins[k], directions[k], None, 1, -1, geom)
    seconds = time.process_time() - begin
    found[(found < 0) | (found > RANGE_M)] = math.inf
    return found, seconds


def main() -> None:
    """Print rays per second of both, their ratio, and the largest difference of a distance."""
    ground = hills(height_m=20.0, roughness=0.2)
    origins, directions = scans(ground)
    cast(ground.altitude, ground.frame, origins[:10], directions[:10], RANGE_M)
    rounds = []
    for _ in range(7):
        begin = time.process_time()
        distance = cast(ground.altitude, ground.frame, origins, directions, RANGE_M)
        rounds.append(time.process_time() - begin)
    hit = np.isfinite(distance)
    print(
        f"{len(origins)} rays, {hit.mean():.2f} of them meet the ground, after {distance[hit].mean():.2f} m on average"
    )
    ours = len(origins) / min(rounds)
    print(f"compiled walk: {ours / 1e6:.1f} M rays/s")
    try:
        import mujoco
    except ImportError:
        print("MuJoCo is not installed: pip install 'covey[terrain]'")
        return
    some = np.random.default_rng(2).permutation(len(origins))[:FEW]
    theirs, seconds = by_mujoco(ground, origins[some], directions[some])
    print(f"MuJoCo {mujoco.__version__}: {FEW / seconds / 1e3:.1f} k rays/s; ratio {ours * seconds / FEW:.0f}")
    both = np.isfinite(theirs) & hit[some]
    apart = np.abs(theirs[both] - distance[some][both]).max()
    print(f"largest difference: {apart:.1e} m over {both.sum()} rays that end in both")
    print(f"rays that end in one of the two only: {np.sum(np.isfinite(theirs) != hit[some])}")


if __name__ == "__main__":
    main()
