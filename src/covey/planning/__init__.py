"""Routes and local driving: pure functions on arrays that also run on a real robot."""

from typing import TYPE_CHECKING

from covey.lazy import names_of

if TYPE_CHECKING:
    from covey.planning.planner import AStar, Planner

__all__ = ["AStar", "Planner"]

__getattr__ = names_of(
    __name__,
    {
        "AStar": "covey.planning.planner",
        "Planner": "covey.planning.planner",
    },
)


def __dir__() -> list[str]:
    return __all__
