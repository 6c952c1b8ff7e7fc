"""A robot as a URDF, for RViz and ``robot_state_publisher``: its frames, and its body as upright cylinders."""

import math
from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree import ElementTree

import numpy as np

from covey.robots.model import RobotModel

_HEIGHT_M = 0.2  # of a body whose record has no height


def urdf_of(model: RobotModel, name: str, root: str, base: str, frames: Iterable[Mapping[str, Any]]) -> str:
    """Return the description of a robot.

    Args:
        model: its record.
        name: its name.
        root: its lowest frame, such as ``base_footprint``.
        base: the frame of its body, such as ``base_link``.
        frames: its frames that never move, each as a geometry_msgs/TransformStamped; one without a parent among them
            is below ``root``.
    """
    robot = ElementTree.Element("robot", name=name)
    links = [root]
    joints = []
    for frame in frames:
        parent, child = frame["header"]["frame_id"], frame["child_frame_id"]
        links += [one for one in (parent, child) if one not in links]
        joints.append((parent, child, frame["transform"]))
    if base not in links:  # on a landscape it rolls and pitches, which tf says
        links.append(base)
    for link in links:
        element = ElementTree.SubElement(robot, "link", name=link)
        if link == base:
            _add_body(element, np.array(model.body_discs))
    for parent, child, transform in joints:
        _add_joint(robot, "fixed", parent, child, transform)
    if not any(child == base for _, child, _ in joints) and base != root:
        _add_joint(robot, "floating", root, base, None)
    ElementTree.indent(robot)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(robot, encoding="unicode") + "\n"


def _add_body(link: ElementTree.Element, discs: np.ndarray) -> None:
    """Add a cylinder for each disc of a body, float64 (k, 3), x, y, radius [m]."""
    for x, y, radius in discs.tolist():
        for kind in ("visual", "collision"):
            part = ElementTree.SubElement(link, kind)
            ElementTree.SubElement(part, "origin", xyz=f"{x:g} {y:g} {_HEIGHT_M / 2:g}")
            shape = ElementTree.SubElement(part, "geometry")
            ElementTree.SubElement(shape, "cylinder", radius=f"{radius:g}", length=f"{_HEIGHT_M:g}")


def _add_joint(robot: ElementTree.Element, kind: str, parent: str, child: str, transform: Any) -> None:
    joint = ElementTree.SubElement(robot, "joint", name=f"{parent}_to_{child}", type=kind)
    ElementTree.SubElement(joint, "parent", link=parent)
    ElementTree.SubElement(joint, "child", link=child)
    if transform is not None:
        at, turn = transform["translation"], transform["rotation"]
        angles = _roll_pitch_yaw(*(float(turn[axis]) for axis in "xyzw"))
        place = " ".join(f"{float(at[axis]):g}" for axis in "xyz")
        ElementTree.SubElement(joint, "origin", xyz=place, rpy=" ".join(f"{angle:g}" for angle in angles))


def _roll_pitch_yaw(x: float, y: float, z: float, w: float) -> tuple[float, float, float]:
    """Return the fixed-axis angles [rad] of a quaternion, as a URDF has them.

    Examples:
        >>> [round(angle, 6) for angle in _roll_pitch_yaw(0.0, 0.0, math.sin(0.25), math.cos(0.25))]
        [0.0, 0.0, 0.5]
        >>> [round(angle, 6) for angle in _roll_pitch_yaw(math.sin(0.25), 0.0, 0.0, math.cos(0.25))]
        [0.5, 0.0, 0.0]
    """
    roll = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = math.asin(max(-1.0, min(1.0, 2.0 * (w * y - z * x))))
    yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return roll, pitch, yaw
