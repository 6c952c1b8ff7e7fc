"""Worlds with names: five floors for rescue, each with its targets."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from covey.world.records.quantities import DrawnMaterial, WallHeight
from covey.world.records.targets import PlacedTarget
from covey.world.records.world_record import WallsRecord
from covey.world.world import World

_KINDS = ("small_fire", "small_fire", "victim", "small_fire", "big_fire")
_SEEDS = {"rescue_1": 47, "rescue_2": 24, "rescue_3": 28, "rescue_4": 9, "rescue_5": 45}
_TARGETS = {
    "rescue_1": ((3.30, -5.17, 90), (8.42, -0.05, 180), (5.35, 1.08, 90), (-5.92, 2.75, 0), (-1.30, -5.17, 90)),
    "rescue_2": ((-7.58, -0.95, 180), (-4.55, 9.42, 270), (-5.55, -5.17, 90), (3.55, 7.17, 270), (4.67, 3.15, 180)),
    "rescue_3": ((-7.55, 0.58, 90), (-5.00, -3.17, 90), (4.17, -1.75, 180), (-11.42, 4.25, 0), (-12.15, -2.42, 90)),
    "rescue_4": ((-8.42, -4.50, 0), (-8.42, 0.25, 0), (7.05, 2.17, 270), (-0.15, 5.42, 270), (4.58, -0.80, 0)),
    "rescue_5": ((5.67, -2.45, 180), (3.67, -5.85, 180), (-4.05, -4.67, 90), (-7.17, 3.10, 0), (2.67, 6.30, 180)),
}


class NamedWorld(WallsRecord):
    """One of five floors for rescue with five targets on its walls."""

    form: ClassVar[str] = "{named: rescue_1 to rescue_5}"
    named: Literal["rescue_1", "rescue_2", "rescue_3", "rescue_4", "rescue_5"] = Field(description="Name of the world.")
    resolution_m: Annotated[float, Field(ge=0.001, le=0.1, description="Side of a grid cell [m].")] = 0.05
    wall_height_m: WallHeight = 2.5
    material: DrawnMaterial = None

    @property
    def targets(self) -> tuple[PlacedTarget, ...]:
        """Its targets, with the identities 0 to 4: they apply where a scenario declares none."""
        places = zip(_KINDS, _TARGETS[self.named], strict=True)
        return tuple(
            PlacedTarget(kind=kind, identity=i, at=(x, y), side_deg=side)
            for i, (kind, (x, y, side)) in enumerate(places)
        )

    def build(self, folder: Path, seed: int) -> World:
        """Return the world; it does not depend on ``seed``."""
        options = self.model_dump(exclude={"named", "wall_height_m"})
        world = World.rescue(**options, seed=_SEEDS[self.named])
        return world.replace(wall_height_m=self.wall_height_m, name=self.named)
