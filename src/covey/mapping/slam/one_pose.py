"""Algebra of single poses and their covariances, compiled: for small arrays NumPy takes longer to call than to work."""

import math

import numpy as np

from covey.kernel import kernel


@kernel
def composed(a, b):
    """Return the pose b (3,), which is in the frame of a, in the frame in which a (3,) is."""
    c, s = math.cos(a[2]), math.sin(a[2])
    heading = (a[2] + b[2] + math.pi) % (2.0 * math.pi) - math.pi
    return np.array([a[0] + c * b[0] - s * b[1], a[1] + s * b[0] + c * b[1], heading])


@kernel
def between(a, b):
    """Return the pose b (3,) in the frame of a (3,)."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    c, s = math.cos(a[2]), math.sin(a[2])
    heading = (b[2] - a[2] + math.pi) % (2.0 * math.pi) - math.pi
    return np.array([c * dx + s * dy, -s * dx + c * dy, heading])


@kernel
def inverted(m):
    """Return the inverse of a symmetric, positive definite matrix (3, 3), by its cofactors."""
    a, b, c, d, e, f = m[0, 0], m[0, 1], m[0, 2], m[1, 1], m[1, 2], m[2, 2]
    aa, bb, cc = d * f - e * e, c * e - b * f, b * e - c * d
    scale = 1.0 / (a * aa + b * bb + c * cc)
    found = np.empty((3, 3))
    found[0, 0], found[1, 1], found[2, 2] = scale * aa, scale * (a * f - c * c), scale * (a * d - b * b)
    found[0, 1] = found[1, 0] = scale * bb
    found[0, 2] = found[2, 0] = scale * cc
    found[1, 2] = found[2, 1] = scale * (b * c - a * e)
    return found


@kernel
def lower_factor(m):
    """Return the six numbers of L, row by row, m = L Lᵀ, for a symmetric, positive definite matrix m (3, 3)."""
    a = math.sqrt(m[0, 0])
    b, d = m[1, 0] / a, m[2, 0] / a
    c = math.sqrt(m[1, 1] - b * b)
    e = (m[2, 1] - d * b) / c
    return np.array([a, b, c, d, e, math.sqrt(m[2, 2] - d * d - e * e)])


@kernel
def turned(m, heading):
    """Return the information or covariance (3, 3) of a pose in the frame of a map, in a frame of this heading [rad]."""
    c, s = math.cos(heading), math.sin(heading)
    xx, xy, yy = m[0, 0], 0.5 * (m[0, 1] + m[1, 0]), m[1, 1]
    found = np.empty((3, 3))
    found[0, 0] = c * c * xx + 2.0 * c * s * xy + s * s * yy
    found[1, 1] = s * s * xx - 2.0 * c * s * xy + c * c * yy
    found[0, 1] = found[1, 0] = c * s * (yy - xx) + (c * c - s * s) * xy
    found[0, 2] = found[2, 0] = c * m[0, 2] + s * m[1, 2]
    found[1, 2] = found[2, 1] = -s * m[0, 2] + c * m[1, 2]
    found[2, 2] = m[2, 2]
    return found


@kernel
def carried(covariance, first, second, information):
    """Return the covariance (3, 3) of pose ``second`` in the frame of the map, to first order.

    It follows from that of ``first`` and the information of the motion between them, in the frame of ``first``.
    """
    p, q = -(second[1] - first[1]), second[0] - first[0]
    found = turned(inverted(information), -first[2])
    v = covariance
    found[0, 0] += v[0, 0] + 2.0 * p * v[0, 2] + p * p * v[2, 2]
    found[1, 1] += v[1, 1] + 2.0 * q * v[1, 2] + q * q * v[2, 2]
    found[2, 2] += v[2, 2]
    xy = v[0, 1] + q * v[0, 2] + p * v[1, 2] + p * q * v[2, 2]
    xh, yh = v[0, 2] + p * v[2, 2], v[1, 2] + q * v[2, 2]
    found[0, 1] += xy
    found[1, 0] += xy
    found[0, 2] += xh
    found[2, 0] += xh
    found[1, 2] += yh
    found[2, 1] += yh
    return found


@kernel
def ends_of(ranges, beams, x, y, reach, points):
    """Write the end points of the beams that return from nearer than ``reach``, from a lidar at x, y; return their
    number. ``beams`` are unit directions (B, 2) and ``points`` (B, 2), in the frame of the robot."""
    count = 0
    for i in range(ranges.size):
        r = ranges[i]
        if 0.0 < r < reach:
            points[count, 0], points[count, 1] = x + r * beams[i, 0], y + r * beams[i, 1]
            count += 1
    return count
