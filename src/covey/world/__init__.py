"""The place: walls, doors, grounds and targets, where they come from, and how they change."""

from typing import TYPE_CHECKING

from covey.lazy import names_of

if TYPE_CHECKING:
    from covey.world.records.starts import StartRecord
    from covey.world.records.targets import PlacedTarget, TargetRecord
    from covey.world.records.world_record import WallsRecord, WorldRecord

__all__ = ["PlacedTarget", "StartRecord", "TargetRecord", "WallsRecord", "WorldRecord"]

__getattr__ = names_of(
    __name__,
    {
        "PlacedTarget": "covey.world.records.targets",
        "StartRecord": "covey.world.records.starts",
        "TargetRecord": "covey.world.records.targets",
        "WallsRecord": "covey.world.records.world_record",
        "WorldRecord": "covey.world.records.world_record",
    },
)


def __dir__() -> list[str]:
    return __all__
