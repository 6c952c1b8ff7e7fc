"""Events and faults that change a world and its robots during a run: their declaration, schedule and effects."""

from typing import TYPE_CHECKING

from covey.lazy import names_of

if TYPE_CHECKING:
    from covey.events.fault_records import (
        Dies,
        Fault,
        LocalizationJumps,
        RadioDies,
        SensorFault,
        WheelsSlip,
        WheelSticks,
    )
    from covey.events.records import (
        DoorEvent,
        DriveEvent,
        Event,
        GroundEvent,
        JamEvent,
        ObstacleEvent,
        OrderEvent,
        PlaceEvent,
        RemoveEvent,
        RepairEvent,
        RestoreEvent,
        SaveGroundEvent,
        WallEvent,
    )

__all__ = [
    "Dies",
    "DoorEvent",
    "DriveEvent",
    "Event",
    "Fault",
    "GroundEvent",
    "JamEvent",
    "LocalizationJumps",
    "ObstacleEvent",
    "OrderEvent",
    "PlaceEvent",
    "RadioDies",
    "RemoveEvent",
    "RepairEvent",
    "RestoreEvent",
    "SaveGroundEvent",
    "SensorFault",
    "WallEvent",
    "WheelSticks",
    "WheelsSlip",
]

__getattr__ = names_of(
    __name__,
    {name: f"covey.events.{'records' if name.endswith('Event') else 'fault_records'}" for name in __all__},
)


def __dir__() -> list[str]:
    return __all__
