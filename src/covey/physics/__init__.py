"""How commands move bodies."""

from typing import TYPE_CHECKING

from covey.lazy import names_of

if TYPE_CHECKING:
    from covey.physics.planar.physics import PlanarPhysics
    from covey.physics.protocol import Contacts, Incident, Physics
    from covey.physics.records import PhysicsRecord

__all__ = ["Contacts", "Incident", "Physics", "PhysicsRecord", "PlanarPhysics"]

__getattr__ = names_of(
    __name__,
    {
        "Contacts": "covey.physics.protocol",
        "Incident": "covey.physics.protocol",
        "Physics": "covey.physics.protocol",
        "PhysicsRecord": "covey.physics.records",
        "PlanarPhysics": "covey.physics.planar.physics",
    },
)


def __dir__() -> list[str]:
    return __all__
