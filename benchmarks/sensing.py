"""Time of whole readings on one core: a lidar and a camera on 100 robots in the cave of rays.py, a ring on 1000."""

import time
from dataclasses import replace

import numpy as np
from rays import RESOLUTION, SIDE, cave

from covey.geometry import Grid
from covey.geometry.faces import SIDES, face_list
from covey.geometry.raycast import skip_field
from covey.sensors import Lidar, Proximity, SensorRecord, TagCamera, Truth, sensor_keys
from covey.world.targets import Targets


def truth_of(solid: np.ndarray, positions: np.ndarray, radius: float = 0.2) -> Truth:
    """Return the truth of discs at positions (n, 2) [m] with random headings."""
    n = len(positions)
    pose = np.column_stack((positions, np.random.default_rng(7).uniform(-3, 3, n)))
    discs, ones = np.tile([0.0, 0.0, radius], (n, 1, 1)), np.ones(n, np.int64)
    frame = Grid(solid, RESOLUTION).frame
    return Truth(
        skip_field(solid), frame, pose, pose, np.zeros((n, 3)), discs, ones, np.empty((0, 3)), (0, 0), np.arange(n), 0.1
    )


def report(title: str, truth: Truth, sensor: SensorRecord, loops: int = 200) -> None:
    """Print the time of a reading of all robots, buckets of bodies included, per ray."""
    n = len(truth.pose)
    members, keys = np.arange(n), sensor_keys(1, sensor.name, [f"robot{i}" for i in range(n)])
    rays = sensor.read(truth, members, keys, 0).ranges.size  # type: ignore[attr-defined]
    seconds = []
    for sample in range(loops):
        truth.__dict__.pop("bodies", None)
        begin = time.perf_counter()
        sensor.read(truth, members, keys, sample)
        seconds.append(time.perf_counter() - begin)
    print(f"{title}: {min(seconds) / rays * 1e9:.1f} ns per ray, {min(seconds) / n * 1e6:.2f} us per robot")


def on_walls(solid: np.ndarray, count: int, random: np.random.Generator) -> Targets:
    """Return targets on random faces of walls."""
    faces = random.permutation(face_list(~solid, solid))[:count]
    step = SIDES[faces[:, 2]][:, ::-1]
    places = (faces[:, 1::-1] + 0.5 + 0.45 * step) * RESOLUTION
    at = np.column_stack((places, np.full(count, 0.25)))
    return Targets(("victim",) * count, np.arange(count), at, -step.astype(float), np.full(count, 0.5))


def main() -> None:
    """Print the figures."""
    random = np.random.default_rng(2)
    solid = cave(SIDE)
    free = np.argwhere(~solid)
    cells = free[random.integers(len(free), size=100)]
    truth = truth_of(solid, (cells[:, ::-1] + 0.5) * RESOLUTION)
    lidar = Lidar(rays=180, fov_deg=190, range_m=10, sigma_m=0.01)
    report("100 robots, lidar of 180 rays, 10 m, noise", truth, lidar)
    report("the same without noise", truth, lidar.model_copy(update={"sigma_m": 0.0}))
    report("the same, blind to robots", truth, lidar.model_copy(update={"sigma_m": 0.0, "sees_robots": False}))
    camera = TagCamera()
    seen = replace(truth, targets=on_walls(solid, 1000, random))
    reading = camera.read(seen, np.arange(100), np.zeros(100, np.uint64), 0)
    loops, members, keys = 300, np.arange(100), sensor_keys(1, "tag_camera", [f"robot{i}" for i in range(100)])
    begin = time.process_time()
    for sample in range(loops):
        seen.__dict__.pop("bodies", None)
        camera.read(seen, members, keys, sample)
    spent = time.process_time() - begin
    per_s = 100 * loops / camera.rate_hz / spent
    print(
        f"100 robots, camera among 1000 targets ({reading.count.sum()} read at once): {per_s:.0f} robot-seconds per s"
    )
    arena = np.zeros((640, 640), bool)
    arena[[0, -1]] = arena[:, [0, -1]] = True
    truth = truth_of(arena, random.uniform(0.5, 63.5, (1000, 2)))
    report("1000 robots at 1 per 4 m2, ring of 12 rays, 2 m", truth, Proximity(sectors=12, range_m=2))


if __name__ == "__main__":
    main()
