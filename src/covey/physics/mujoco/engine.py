"""The engine, MuJoCo. Only this module imports it, when it is first needed."""

import importlib
from functools import cache
from typing import Any

import numpy as np

from covey.errors import CoveyError
from covey.world.ground import Heightfield

GROUND, WALL, HULL = 1, 2, 4
"""Collision bits: wheels and boxes touch the ground, hulls touch walls and each other."""

STEP_S = 0.005
"""Longest step of the engine [s]; a longer substep is divided evenly."""

BUMP = [0.02, 2.0]
"""Contacts of hulls with walls and each other: time constant [s] and damping ratio. The time constant is the engine's
default; the damping is twice the default, to bounce less."""

GAP_M = 0.002
"""A contact with a wall or a robot ends when the gap is wider than this [m], as in the plane."""

_BASE_M = 1.0  # thickness of the height field's solid below its lowest altitude


@cache
def mujoco() -> Any:
    """Return the module ``mujoco``.

    Raises:
        CoveyError: it is not installed.
    """
    try:
        module = importlib.import_module("mujoco")
    except ImportError as error:
        how = "pip install 'covey[terrain]' (in a clone of Covey: make terrain)"
        raise CoveyError(f"physics: terrain needs MuJoCo; install it with: {how}") from error
    if module.get_mju_user_warning() is None:
        module.set_mju_user_warning(lambda text: None)  # else it writes a log into the current folder
    return module


def new_spec(step_s: float) -> Any:
    """Return an empty model with the options of all terrain physics, and a step of ``step_s`` [s].

    Friction is equal in all directions (elliptic cones). It is much stiffer than the contacts, so that a braked robot
    does not creep down a slope.
    """
    mj = mujoco()
    spec = mj.MjSpec()
    option = spec.option
    option.timestep = step_s
    option.cone = mj.mjtCone.mjCONE_ELLIPTIC
    option.impratio = 1000.0
    option.ccd_tolerance, option.tolerance, option.ls_iterations = 1e-4, 1e-6, 20
    return spec


def add_ground(spec: Any, ground: Heightfield | None) -> None:
    """Add the ground to a model: a height field for the whole range of its altitudes; a plane if ``ground`` is None."""
    shape = mujoco().mjtGeom
    touch = {"name": "ground", "contype": GROUND, "conaffinity": 0, "condim": 3, "friction": [0.0, 0.0, 0.0]}
    if ground is None:
        spec.worldbody.add_geom(type=shape.mjGEOM_PLANE, size=[0, 0, 1], **touch)
        return
    (rows, columns), (low, high) = ground.shape, ground.range_m
    west, east, south, north = ground.bounds
    size = [0.5 * (east - west), 0.5 * (north - south), max(high - low, 1e-3), _BASE_M]
    spec.add_hfield(name="ground", nrow=rows, ncol=columns, size=size, userdata=np.zeros(rows * columns, np.float32))
    at = [0.5 * (west + east), 0.5 * (south + north), low]
    spec.worldbody.add_geom(type=shape.mjGEOM_HFIELD, hfieldname="ground", pos=at, **touch)


def set_altitudes(engine: Any, ground: Heightfield, rows: slice = slice(None), columns: slice = slice(None)) -> None:
    """Copy a window of the ground's altitudes to the engine's height field."""
    low, height = ground.range_m[0], engine.hfield_size[0, 2]
    engine.hfield_data.reshape(ground.shape)[rows, columns] = (ground.altitude[rows, columns] - low) / height
