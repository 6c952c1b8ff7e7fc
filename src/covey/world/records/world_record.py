"""`WorldRecord`: base of the worlds as users declare them."""

from pathlib import Path
from typing import Any, ClassVar

from covey.named import ByKey
from covey.registry import Registry
from covey.world.world import World

worlds: Registry[type["WorldRecord"]] = Registry("world", shelf="covey.world.records.landscapes")
"""Kinds of worlds by the key that selects them; packages add theirs under the entry-point group ``covey.world``.

A generator is registered as ``generate: maze``.
"""


class WorldRecord(ByKey):
    """Base of the worlds. A subclass overrides `build`."""

    registry = worlds
    choices: ClassVar[str] = "a world is one of"

    def build(self, folder: Path, seed: int) -> World:
        """Return the world; files are relative to ``folder``, and ``seed`` is that of the run."""
        raise NotImplementedError(f"{type(self).__name__} lacks build: write def build(self, folder, seed)")

    @classmethod
    def key_in(cls, value: dict[str, Any]) -> str | None:
        """Return the name that the keys of a mapping select, see `ByKey.key_in`."""
        if str(value.get("file", "")).lower().endswith((".dxf", ".svg")):
            return "file: .dxf or .svg"
        generator = f"generate: {value['generate']}" if "generate" in value else ""
        return generator if generator in cls.registry.names() else super().key_in(value)


class WallsRecord(WorldRecord):
    """Base of the worlds of walls, for places where a ground is not allowed, too."""

    registry = worlds
    choices: ClassVar[str] = "walls are one of"
