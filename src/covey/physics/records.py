"""Records that say how commands move the bodies of a team: in the plane, or on a landscape."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from covey.named import OfKind
from covey.registry import Registry

if TYPE_CHECKING:  # they load kernels
    from covey.physics.protocol import Physics
    from covey.robots.team import TeamModel
    from covey.world.state import AnyWorld

engines: Registry[type["PhysicsRecord"]] = Registry("physics", shelf="covey.physics.records")
"""Kinds of physics by name; packages add theirs under the entry-point group ``covey.physics``."""


class PhysicsRecord(OfKind, ABC):
    """Base of the records that build the physics of a team.

    Attributes:
        spatial: whether bodies have altitudes and tilts of their own, which are recorded then.
    """

    registry = engines
    spatial: ClassVar[bool] = False

    @abstractmethod
    def build(self, world: "AnyWorld", model: "TeamModel", substep_s: float) -> "Physics":
        """Return the physics of a team.

        Args:
            world: the world of the team, which may be edited.
            model: the bodies of the robots.
            substep_s: period of the physics [s].

        Raises:
            CoveyError: a library is missing, or the bodies do not suit it.
        """


@engines.register("planar")
class Planar(PhysicsRecord):
    """Discs in the plane, which slide along walls and stop at each other."""

    def build(self, world: "AnyWorld", model: "TeamModel", substep_s: float) -> "Physics":
        """Return the physics, see `PhysicsRecord.build`."""
        from covey.physics.planar.physics import PlanarPhysics

        return PlanarPhysics(world, model, substep_s)


@engines.register("terrain")
class Terrain(PhysicsRecord):
    """Rigid bodies with masses and wheels in three dimensions, by MuJoCo (extra terrain)."""

    spatial: ClassVar[bool] = True

    def build(self, world: "AnyWorld", model: "TeamModel", substep_s: float) -> "Physics":
        """Return the physics, see `PhysicsRecord.build`."""
        from covey.physics.mujoco.physics import TerrainPhysics

        return TerrainPhysics(world, model, substep_s)
