"""What robots make of scans and odometry: localization, beliefs, their exchange and alignment, SLAM."""

from typing import TYPE_CHECKING

from covey.lazy import names_of

if TYPE_CHECKING:
    from covey.mapping.exchange.merge_rules import MergeRule
    from covey.mapping.localizer import Equipment, Estimate, Localizer, LocalizerRecord, Scan, Sensed
    from covey.mapping.records import ElevationMapping, Mapper, Mapping

__all__ = [
    "ElevationMapping",
    "Equipment",
    "Estimate",
    "Localizer",
    "LocalizerRecord",
    "Mapper",
    "Mapping",
    "MergeRule",
    "Scan",
    "Sensed",
]

__getattr__ = names_of(
    __name__,
    {
        "ElevationMapping": "covey.mapping.records",
        "Equipment": "covey.mapping.localizer",
        "Estimate": "covey.mapping.localizer",
        "Localizer": "covey.mapping.localizer",
        "LocalizerRecord": "covey.mapping.localizer",
        "Mapper": "covey.mapping.records",
        "Mapping": "covey.mapping.records",
        "MergeRule": "covey.mapping.exchange.merge_rules",
        "Scan": "covey.mapping.localizer",
        "Sensed": "covey.mapping.localizer",
    },
)


def __dir__() -> list[str]:
    return __all__
