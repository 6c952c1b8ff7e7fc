"""Bodies on the ground: their clearance, their placement, and their poses in the state of the team."""

import math

import numpy as np

from covey.geometry.heightfield import altitude_at
from covey.kernel import kernel
from covey.physics.motion import arc
from covey.physics.planar.contacts import free_radius

STANDS_M = 0.03
"""A body with less clearance than this [m] stands on the ground, and moves down with it."""


@kernel
def clearance(altitude, frame, points, count, at, turn):
    """Return the smallest height [m] of a body's points above the ground; negative if a point is below the ground.

    Args:
        altitude, frame: altitudes and frame of the ground, see `covey.geometry.heightfield`.
        points: float64 (k, 3), points [m] in the frame of the body; the first ``count`` are used.
        at: float64 (3,), position of the body [m], in the world frame.
        turn: float64 (3, 3), rotation from the body frame to the world frame.
    """
    least = np.inf
    for k in range(count):
        x, y, z = points[k, 0], points[k, 1], points[k, 2]
        px = at[0] + turn[0, 0] * x + turn[0, 1] * y + turn[0, 2] * z
        py = at[1] + turn[1, 0] * x + turn[1, 1] * y + turn[1, 2] * z
        pz = at[2] + turn[2, 0] * x + turn[2, 1] * y + turn[2, 2] * z
        least = min(least, pz - altitude_at(altitude, frame, px, py))
    return least


@kernel
def rotation(quaternion):
    """Return the rotation matrix, float64 (3, 3), of a unit quaternion w, x, y, z."""
    w, x, y, z = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    turn = np.empty((3, 3))
    turn[0, 0], turn[0, 1], turn[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    turn[1, 0], turn[1, 1], turn[1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    turn[2, 0], turn[2, 1], turn[2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    return turn


@kernel
def follow(before, after, frame, points, count, position, q):
    """Move bodies up and down with a ground that has changed, in place; return the displacements [m], float64 (n,).

    A body that stands on the ground keeps its clearance. A body in the air is lifted only if the ground now reaches it.

    Args:
        before, after: altitudes of the ground, float64 (rows, columns) [m].
        frame: frame of both, see `covey.geometry.heightfield`.
        points, count: float64 (n, k, 3) and int64 (n,), see `clearance`.
        position: int64 (n,), first index of each robot's pose in ``q``; -1 for none.
        q: float64, poses x, y, z [m], quaternion w, x, y, z; changed in place.
    """
    moved = np.zeros(position.shape[0])
    for i in range(position.shape[0]):
        p = position[i]
        if p < 0:
            continue
        at, turn = q[p : p + 3], rotation(q[p + 3 : p + 7])
        gap = clearance(before, frame, points[i], count[i], at, turn)
        now = clearance(after, frame, points[i], count[i], at, turn)
        if gap < STANDS_M:
            moved[i] = gap - now
        elif now < 0.0:
            moved[i] = -now
        q[p + 2] += moved[i]
    return moved


def stand(altitude, frame, points, x: float, y: float, heading: float) -> np.ndarray:
    """Return the pose x, y, z [m], quaternion w, x, y, z of a body on the ground, tilted with the slope below it.

    Args:
        altitude, frame: altitudes and frame of the ground.
        points: float64 (k, 3), see `clearance`.
        x, y: place of the body [m], in the world frame.
        heading: heading of the body [rad].
    """
    reach_x, reach_y = np.abs(points[:, 0]).max(), np.abs(points[:, 1]).max()
    c, s = math.cos(heading), math.sin(heading)
    corners = [(reach_x * a, reach_y * b) for a in (1, -1) for b in (1, -1)]
    height = [altitude_at(altitude, frame, x + c * u - s * v, y + s * u + c * v) for u, v in corners]
    along = (height[0] + height[1] - height[2] - height[3]) / (4.0 * reach_x)
    across = (height[0] - height[1] + height[2] - height[3]) / (4.0 * reach_y)
    pitch = -math.atan(along)
    quaternion = _quaternion(heading, pitch, math.atan(across * math.cos(pitch)))
    pose = np.array([x, y, 0.0, *quaternion])
    pose[2] = -clearance(altitude, frame, points, len(points), pose[:3], rotation(pose[3:]))
    return pose


def _quaternion(yaw: float, pitch: float, roll: float) -> tuple[float, float, float, float]:
    """Return w, x, y, z of the rotation by roll about x, then pitch about y, then yaw about z [rad]."""
    (a, b), (c, d), (e, f) = ((math.cos(0.5 * t), math.sin(0.5 * t)) for t in (yaw, pitch, roll))
    return a * c * e + b * d * f, a * c * f - b * d * e, a * d * e + b * c * f, b * c * e - a * d * f


@kernel
def read(bodies, q, v, ground, drives, dt, pose, twist, tilt, distance, wanted, trace):
    """Update the state of a team after some substeps, in place.

    Args:
        bodies: position, velocity and height, see `covey.physics.mujoco.bodies.EngineBodies`.
        q: float64 (substeps, nq), positions of the engine after each substep.
        v: float64 (nv,), velocities of the engine after the last substep.
        ground: altitude and frame; and west, east, south, north [m], float64 (4,), at which flying robots stop.
        drives: float64 (substeps, n, 3), twists of the drives; they move the flying robots.
        dt: length of a substep [s].
        pose, twist, tilt, distance: arrays of the state; ``tilt`` is altitude [m], roll, pitch [rad].
        wanted, trace: see `covey.physics.protocol.Physics.step`.
    """
    (position, velocity, height), (altitude, frame, edge) = bodies, ground
    for i in range(pose.shape[0]):
        p = position[i]
        x, y, z, heading = pose[i, 0], pose[i, 1], tilt[i, 0], pose[i, 2]
        for k in range(q.shape[0]):
            old_x, old_y, old_z = x, y, z
            if p >= 0:
                x, y, z = q[k, p], q[k, p + 1], q[k, p + 2]
                a, b, c, d = q[k, p + 3], q[k, p + 4], q[k, p + 5], q[k, p + 6]
                heading = math.atan2(2 * (b * c + a * d), 1 - 2 * (c * c + d * d))
                heading = -math.pi if heading >= math.pi else heading
            else:
                x, y, heading = arc(x, y, heading, drives[k, i, 0], drives[k, i, 1], drives[k, i, 2], dt)
                x, y = min(max(x, edge[0]), edge[1]), min(max(y, edge[2]), edge[3])
                z = altitude_at(altitude, frame, x, y) + height[i]
            distance[i] += math.sqrt((x - old_x) ** 2 + (y - old_y) ** 2 + (z - old_z) ** 2)
            if wanted[k]:
                trace[k, 0, i, 0], trace[k, 0, i, 1], trace[k, 0, i, 2] = x, y, heading
                trace[k, 1, i, 0] = z
                if p >= 0:
                    trace[k, 1, i, 1], trace[k, 1, i, 2] = _tilt(rotation(q[k, p + 3 : p + 7]))
        pose[i, 0], pose[i, 1], pose[i, 2], tilt[i, 0] = x, y, heading, z
        if p < 0:
            for j in range(3):
                twist[i, j] = drives[q.shape[0] - 1, i, j]
            continue
        turn, w = rotation(q[q.shape[0] - 1, p + 3 : p + 7]), velocity[i]
        tilt[i, 1], tilt[i, 2] = _tilt(turn)
        c, s = math.cos(heading), math.sin(heading)
        twist[i, 0], twist[i, 1] = c * v[w] + s * v[w + 1], c * v[w + 1] - s * v[w]
        twist[i, 2] = turn[2, 0] * v[w + 3] + turn[2, 1] * v[w + 4] + turn[2, 2] * v[w + 5]


@kernel
def _tilt(turn):
    """Return roll and pitch [rad] of a rotation (3, 3)."""
    return math.atan2(turn[2, 1], turn[2, 2]), -math.asin(min(max(turn[2, 0], -1.0), 1.0))


@kernel
def anything_near(skip, grid_frame, edge, pose, radius, flies, reach):
    """Return whether any robot on the ground may touch a wall or another robot when each moves by ``reach`` [m]."""
    for i in range(pose.shape[0]):
        if flies[i]:
            continue
        x, y, far = pose[i, 0], pose[i, 1], radius[i] + reach
        from_wall = min(x - edge[0], edge[1] - x, y - edge[2], edge[3] - y)
        if from_wall < far or free_radius(skip, grid_frame, x, y) < far:
            return True
        for j in range(i):
            if not flies[j] and math.hypot(pose[j, 0] - x, pose[j, 1] - y) < far + radius[j] + reach:
                return True
    return False
