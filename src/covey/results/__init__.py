"""Frames, the run folder, metrics and pictures."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from covey.results import figures, statistics

__all__ = ["figures", "statistics"]
