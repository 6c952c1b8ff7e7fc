"""Choose the physics of a team: in the plane, or on a landscape."""

from covey.errors import InvalidValueError
from covey.physics.protocol import Physics
from covey.robots.team import TeamModel, TeamState
from covey.world.state import AnyWorld


def physics_of(name: str | None, world: AnyWorld, model: TeamModel, state: TeamState, substep_s: float) -> Physics:
    """Return the physics of a team, and set altitudes and tilts in ``state``.

    Args:
        name: ``planar`` or ``terrain``; None: terrain in a world with ground, else planar.
        world: the world of the team.
        model: the bodies of the robots.
        state: their start poses; ``altitude_roll_pitch`` is written.
        substep_s: period of the physics [s].

    Raises:
        InvalidValueError: the name is unknown, or a robot is outside the ground.
        CoveyError: terrain needs MuJoCo, which is not installed.
    """
    name = name or ("planar" if world.ground is None else "terrain")
    if name == "planar":
        from covey.physics.planar.physics import PlanarPhysics

        physics: Physics = PlanarPhysics(world, model, substep_s)
    elif name == "terrain":
        from covey.physics.mujoco.physics import TerrainPhysics

        physics = TerrainPhysics(world, model, substep_s)
    else:
        raise InvalidValueError(f"physics is {name!r}; give planar or terrain")
    physics.place(state)
    return physics
