"""What seeing the ground and believing it cost, each beside a plain reference in the same run.

    python benchmarks/wedge.py

Prints the least processor time of several batches [us], because other work on the machine only ever adds time.
"""

import time

import numpy as np

from covey.geometry import Grid
from covey.geometry.raycast import skip_field
from covey.mapping.elevation.belief import Elevations
from covey.mapping.elevation.compare import compare, true_altitude
from covey.mapping.records import ElevationMapping
from covey.sensors import DepthCamera, Lidar3D, Truth, Wedge, sensor_keys
from covey.sensors.wedge import kinds_reference, placed
from covey.world.generators.grounds import hills
from covey.world.visibility.explorable_ground import GroundCells, explorable_ground

ROBOTS = 6
NAMES = [f"rover{i}" for i in range(ROBOTS)]
ALL = np.arange(ROBOTS)
KEYS = sensor_keys(1, "wedge", NAMES)


def best_us(call, repeat, batches=8):
    """Return the least mean processor time [us] of one call over the batches."""
    call(0)
    times = []
    for _ in range(batches):
        start = time.process_time()
        for k in range(repeat):
            call(k)
        times.append((time.process_time() - start) / repeat)
    return 1e6 * min(times)


def line(what, us, plain=None, bar=""):
    ratio = f"  plain reference {plain:10.0f} us, ratio {plain / us:6.0f}" if plain else ""
    print(f"{what:66s} {us:9.1f} us{ratio}{f'  ({bar})' if bar else ''}", flush=True)


def scene(spacing):
    """Six robots on 260 x 260 vertices of hills."""
    side = 259 * spacing
    ground = hills(size_m=(side, side), spacing_m=spacing, height_m=8.0 * min(1.0, 4 * spacing), seed=1)
    random = np.random.default_rng(0)
    pose = np.column_stack((random.uniform(-0.1, 0.1, (ROBOTS, 2)) * side, random.uniform(-3, 3, ROBOTS)))
    attitude = np.column_stack((ground.altitude_at(pose[:, :2]), np.zeros((ROBOTS, 2))))
    solid = np.zeros((260, 260), bool)
    grid = Grid(solid, spacing, (*(ground.frame[:2] - 0.5 * spacing), 0.0))
    still, discs = np.zeros((ROBOTS, 3)), np.zeros((ROBOTS, 1, 3))
    fields = pose, pose, still, discs, np.ones(ROBOTS, np.int64), np.empty((0, 3)), (0, 0), ALL, 0.1
    return Truth(skip_field(solid), grid.frame, *fields, ground, attitude)


def readings():
    for spacing, bar in ((1.0, "bar 50, aim 10"), (0.05, "bar 5000, aim 1000")):
        truth = scene(spacing)
        ground = truth.ground
        at, repeat = np.empty((4, 3)), 300 if spacing == 1.0 else 6
        for occlusion in (True, False):
            sensor = Wedge(occlusion=occlusion)

            def plain(_, sensor=sensor, truth=truth, ground=ground, at=at):
                placed(truth.pose[0], truth.altitude_roll_pitch[0], sensor._place, 0.0, at)
                kinds_reference(ground.altitude, ground.frame, at, sensor._limits, 0.346)

            each = best_us(lambda k, s=sensor, t=truth: s.read(t, ALL, KEYS, k), repeat) / ROBOTS
            what = f"one wedge reading, 5 m, {spacing:g} m grid{', occlusion' if occlusion else ''}"
            line(what, each, None if occlusion else best_us(plain, 3, 2), bar if occlusion else "")


def beliefs():
    for spacing in (1.0, 0.05):
        truth = scene(spacing)
        team = Elevations.covering(truth.ground, NAMES)
        told = [Wedge().read(truth, ALL, KEYS, k) for k in range(20)]
        repeat = 200 if spacing == 1.0 else 4

        def update(k, told=told, team=team, truth=truth):
            told[k % 20].into(team, ALL, ALL, truth.pose, k)

        line(f"six beliefs take in a wedge reading each, {spacing:g} m grid", best_us(update, repeat))
    truth = scene(1.0)
    team, hears = Elevations.covering(truth.ground, NAMES), ~np.eye(ROBOTS, dtype=bool)

    def share(k):
        Wedge().read(truth, ALL, KEYS, k).into(team, ALL, ALL, truth.pose, k)
        team.share(hears)

    line("six robots publish, and take what the five others have published", best_us(share, 20))
    altitudes = true_altitude(truth.ground, team.grid)
    line("a belief of 260 x 260 vertices against the truth", best_us(lambda _: compare(team[0], altitudes), 20))
    update = team.update_since(0, np.zeros(ROBOTS, np.int64))
    marked = sum(int((item.evidence["mark"] > 0).sum()) for item in update.items)
    print(f"{len(update.items)} tiles with {marked} vertices go over the air as {update.size_bytes} bytes")


def clouds():
    truth = scene(1.0)
    for sensor in (Lidar3D(), DepthCamera()):
        team = Elevations.covering(truth.ground, NAMES, ElevationMapping(spacing_m=0.25))
        rays, told = len(sensor.directions), sensor.read(truth, ALL, KEYS, 0)
        each = best_us(lambda k, s=sensor: s.read(truth, ALL, KEYS, k), 5) / ROBOTS
        line(f"one reading of a {sensor.kind}, {rays} rays", each)
        taken = best_us(lambda k, t=told, b=team: t.into(b, ALL, ALL, truth.pose, k), 5) / ROBOTS
        line("the same into a belief of 0.25 m", taken)


def explorable():
    truth = scene(1.0)
    world, view = truth.ground.world(), (5.0, 0.2, np.pi / 6, -np.pi / 6, 0.4)
    cells = GroundCells(world)

    def find(_):
        explorable_ground(world, cells, truth.pose[:1], np.array([0.3]), [view], cached=False)

    line("what can be explored of 260 x 260 vertices", best_us(find, 2, 3))


if __name__ == "__main__":
    readings()
    beliefs()
    clouds()
    explorable()
