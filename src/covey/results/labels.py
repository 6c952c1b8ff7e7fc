"""Names of metrics and parameters as people read them, and the metrics that they look at first."""

from typing import Any

from covey.errors import printable

FLEET_METRICS = ("exploration_time_s", "exploration_cost_m", "exploration_efficiency_m2_per_m", "map_quality")
ROBOT_METRICS = ("robot_cpu_percent", "robot_ram_percent", "kbytes_received_per_s", "kbytes_sent_per_s")
_UNITS = {
    "_m2_per_m": "m²/m",
    "_m2": "m²",
    "_m_s": "m/s",
    "_kbit_s": "kbit/s",
    "_rad": "rad",
    "_deg": "°",
    "_percent": "%",
    "_hz": "Hz",
    "_mib": "MiB",
    "_j": "J",
    "_s": "s",
    "_m": "m",
}
_NAMES = {
    "robot_cpu_percent": "CPU of a robot [%]",
    "robot_ram_percent": "RAM of a robot [%]",
    "kbytes_received_per_s": "received by a robot [kB/s]",
    "kbytes_sent_per_s": "sent by a robot [kB/s]",
}


def label(column: str) -> str:
    """Return the axis label of a metric or a parameter: words, and the unit from the end of its name.

    Examples:
        >>> label("exploration_efficiency_m2_per_m"), label("t90_s"), label("map_quality")
        ('exploration efficiency [m²/m]', 't90 [s]', 'map quality')
        >>> label("robots.scout.count"), label("world.terrain"), label("radio.range_m")
        ('number of robots', 'terrain', 'radio range [m]')
    """
    if column in _NAMES:
        return _NAMES[column]
    *path, name = column.split(".")
    if path and name == "count":
        return "number of robots"
    suffix = next((u for u in _UNITS if name.endswith(u) and name != u[1:]), None)
    words = name.removesuffix(suffix or "").replace("_", " ")
    if words in ("range", "name", "size", "seed") and path:
        words = f"{path[-1]} {words}"
    return words if suffix is None else f"{words} [{_UNITS[suffix]}]"


def unit(column: str) -> str:
    """Return the unit of a metric in brackets, empty if it has none.

    Examples:
        >>> unit("exploration_time_s"), unit("robot_cpu_percent"), unit("map_quality")
        ('[s]', '[%]', '')
    """
    return label(column)[label(column).find("[") :] if "[" in label(column) else ""


def written(value: Any) -> str:
    """Return a value of a parameter as text."""
    return f"{value:g}" if isinstance(value, float) else printable(str(value), keep="")
