"""Control laws of teams: plain functions of arrays, and group controllers that apply them."""

from covey.controllers.laws.guards import orca, safe

__all__ = ["orca", "safe"]
