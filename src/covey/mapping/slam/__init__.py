"""SLAM: scans and odometry become a map and the poses in it, for logs, arrays and simulated robots."""

from typing import TYPE_CHECKING

from covey.lazy import names_of

if TYPE_CHECKING:
    from covey.mapping.slam.graph_slam import GraphSlam
    from covey.mapping.slam.log import Laser, Log, load_log, relative, save_log
    from covey.mapping.slam.monte_carlo import MonteCarlo

__all__ = ["GraphSlam", "Laser", "Log", "MonteCarlo", "load_log", "relative", "save_log"]

__getattr__ = names_of(
    __name__,
    {
        "GraphSlam": "covey.mapping.slam.graph_slam",
        "Laser": "covey.mapping.slam.log",
        "Log": "covey.mapping.slam.log",
        "MonteCarlo": "covey.mapping.slam.monte_carlo",
        "load_log": "covey.mapping.slam.log",
        "relative": "covey.mapping.slam.log",
        "save_log": "covey.mapping.slam.log",
    },
)


def __dir__() -> list[str]:
    return __all__
