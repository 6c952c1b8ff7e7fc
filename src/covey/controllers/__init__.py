"""The controllers that ship with Covey, one file each; `controllers` finds them by name. Each loads when it is used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from covey.onboard.controller import controller as controller
from covey.onboard.controller import controllers as controllers

if TYPE_CHECKING:
    from covey.controllers.shelf import *  # noqa: F403

ROOMS = ("basic", "coverage", "exploration", "laws", "patrolling", "policies", "rescue", "terrain")
"""The folders of their files."""


def __getattr__(name: str) -> Any:
    if name in ROOMS or (name.startswith("_") and name != "__all__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("covey.controllers.shelf"), name)


def __dir__() -> list[str]:
    return import_module("covey.controllers.shelf").__all__
