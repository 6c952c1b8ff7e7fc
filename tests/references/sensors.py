"""Plain references of compiled code of `covey.sensors`: loops and NumPy, to compare with."""

import math
from typing import Any

import numpy as np
from tests.references.geometry import cast_ray_reference

from covey.geometry.raycast import line_of_sight
from covey.geometry.se2 import wrap_angle
from covey.random import normal2_numpy, normal4_numpy, uniform2_numpy
from covey.sensors.imu import _LEVELS, _WALK
from covey.sensors.neighbours import Neighbours
from covey.sensors.scan import _mounted
from covey.sensors.truth import Truth


def walk_reference(key, steps: int) -> np.ndarray:
    """NumPy reference of the random walks of the kernel, (4,)."""
    left, right = 0, 1 << _LEVELS
    at = {0: np.zeros(4), right: math.sqrt(right) * np.array(normal4_numpy(key, 0, _WALK))}
    level = 0
    while left != steps:
        level, middle = level + 1, (left + right) // 2
        normals = np.array(normal4_numpy(key, middle, _WALK + level))
        at[middle] = 0.5 * (at[left] + at[right]) + 0.5 * math.sqrt(right - left) * normals
        left, right = (middle, right) if steps >= middle else (left, middle)
    return at[steps]


def measure_reference(true_ranges, keys, sample, errors, min_range, range_m) -> np.ndarray:
    """NumPy reference of the noise of `Lidar`: true distances (m, rays) -> measured ones."""
    rays, (sigma, dropout, outliers) = true_ranges.shape[1], errors
    quads, pairs = np.arange((rays + 3) // 4), np.arange((rays + 1) // 2)
    noise = np.stack(normal4_numpy(keys[:, None], sample, quads), -1).reshape(len(keys), -1)[:, :rays]
    chance = np.stack(uniform2_numpy(keys[:, None], sample, pairs + 2**32), -1).reshape(len(keys), -1)[:, :rays]
    value = np.maximum(true_ranges + sigma * noise, min_range)
    beyond = (true_ranges >= range_m) | (value > range_m)
    strange, anything = uniform2_numpy(keys[:, None], sample, np.arange(rays) + 2**33)
    read = np.where(strange < outliers, min_range + anything * (range_m - min_range), np.where(beyond, np.inf, value))
    return np.where((chance < dropout) & (dropout > 0), np.nan, read)


def neighbours_reference(truth: Truth, own: int, key, sample: int, sensor: Neighbours) -> list[tuple]:
    """Plain reference of `Neighbours` for one robot: (range, bearing, identity, heading), nearest first."""
    found = []
    for other, (x, y, heading) in enumerate(truth.pose):
        dx, dy = x - truth.pose[own, 0], y - truth.pose[own, 1]
        hidden = sensor.line_of_sight and not line_of_sight.py_func(truth.skip, truth.frame, *truth.pose[own, :2], x, y)
        if other == own or math.hypot(dx, dy) > sensor.range_m or hidden:
            continue
        e0, e1 = normal2_numpy(key, sample, truth.identity[other])
        away = max(0.0, math.hypot(dx, dy) + sensor.range_sigma_m * float(e0))
        bearing = math.atan2(dy, dx) - truth.pose[own, 2] + math.radians(sensor.bearing_sigma_deg) * float(e1)
        who = int(truth.identity[other]) if sensor.identity else -1
        turned = wrap_angle(heading - truth.pose[own, 2]) if sensor.heading else math.nan
        found.append((away, wrap_angle(bearing), who, turned))
    return sorted(found)[: sensor.max_count]


def scan_reference(
    truth: Truth, members: np.ndarray, mount: np.ndarray, angles: np.ndarray, range_m: float, sees_robots: bool
) -> np.ndarray:
    """Plain NumPy reference of `scan`: every ray against every cell on its path and every disc."""
    solid = truth.skip[0] == 0
    distance = np.full((len(members), len(angles)), float(range_m))
    for i, robot in enumerate(members):
        x, y, heading = _mounted.py_func(truth.pose[robot], mount)
        for j, angle in enumerate(angles + heading):
            distance[i, j] = cast_ray_reference(solid, truth.frame, x, y, angle, range_m)
        for other in range(len(truth.pose)) if sees_robots else ():
            if other == robot:
                continue
            ox, oy, oh = truth.pose[other]
            for bx, by, radius in truth.discs[other, : truth.disc_count[other]]:
                px = ox + np.cos(oh) * bx - np.sin(oh) * by - x
                py = oy + np.sin(oh) * bx + np.cos(oh) * by - y
                ray = np.stack((np.cos(angles + heading), np.sin(angles + heading)))
                along, across = px * ray[0] + py * ray[1], px * ray[1] - py * ray[0]
                hits = (np.abs(across) <= radius) & ((along > 0) | (np.hypot(px, py) <= radius))
                near = np.maximum(along - np.sqrt(np.maximum(radius**2 - across**2, 0.0)), 0.0)
                near = np.where(np.hypot(px, py) <= radius, 0.0, near)
                hits |= np.hypot(px, py) <= radius
                distance[i] = np.where(hits, np.minimum(distance[i], near), distance[i])
    return distance


def noise_reference(key: Any, sample: int, vertices: np.ndarray, sigma_m: float) -> tuple[np.ndarray, np.ndarray]:
    """NumPy reference of the noise [m] of a measurement of vertices, row * columns + column, and of four more."""
    first, second = normal2_numpy(key, sample, vertices)
    return sigma_m * first, 0.5 * sigma_m * second
