"""Damage to a world as users declare it."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from covey.records import Record
from covey.world.records.quantities import Metres, OwnSeed
from covey.world.world import World

_Count = Annotated[int, Field(ge=0, le=1000)]
Disc = tuple[float, float, Annotated[float, Field(ge=0, le=100_000)]]


class Damage(Record):
    """What has changed in a building since its plan was drawn; numbers are the most that find room."""

    walls_gone: _Count = Field(default=3, description="Number of gaps that have opened ways through walls.")
    gap_m: tuple[Metres, Metres] = Field((0.9, 1.8), description="Smallest and largest width of such a gap [m].")
    blocked: _Count = Field(default=2, description="Number of ways that heaps of rubble have closed.")
    rubble: _Count = Field(default=8, description="Number of other heaps of rubble.")
    rubble_m: tuple[Metres, Metres] = Field((0.3, 1.0), description="Smallest and largest width of a heap [m].")
    furniture: _Count = Field(default=4, description="Pieces that stand elsewhere than in the plan.")
    body_m: Metres = Field(
        default=0.3, description="A disc of this radius [m] still gets everywhere where it has room."
    )
    spare_m: tuple[Disc, ...] = Field(
        ((0.0, 0.0, 2.0),), description="Discs x, y, radius [m] without damage, such as where robots start."
    )
    seed: OwnSeed = None

    def build(self, world: World, seed: int, spare: Sequence[Disc] = ()) -> World:
        """Return a damaged world; ``spare``: further discs without damage."""
        options = self.model_dump(exclude={"seed", "spare_m"})
        return world.damaged(**options, spare_m=(*self.spare_m, *spare), seed=seed if self.seed is None else self.seed)
