"""Maps of robots that do not know where they started from each other: how many are merged, and how many wrongly.

Two robots drive through parts of one world, each in a frame of its own, rotated anywhere, and scan at noisy estimates
of their poses. A hundred pairs of maps at overlaps of 0.1 … 0.9 of the smaller map, from five caves, five buildings,
three offices, two fields of rubble, two perfect mazes, the maze terrain, and two places that look alike from many
sides: a grid of equal rooms, and the cross terrain, which no map can tell from itself turned by 90 degrees. A merge is
right within 0.5 m and 2 deg of the truth. Maps that have nothing in common are counted too: all of those merges are
wrong.

    python benchmarks/map_alignment.py [--seed 100] [--worlds 20]
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from covey.mapping.alignment.aligning import Alignment, align
from covey.testing.map_pairs import MapPair, make_pairs
from covey.world.world import World

OVERLAPS = (0.1, 0.3, 0.5, 0.7, 0.9)
BANDS = ((0.0, 0.2), (0.2, 0.4), (0.4, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01))


@dataclass(frozen=True)
class Kind:
    """A kind of world: how to build it, how far the robots drive [m], and how many worlds of it there are."""

    name: str
    build: Callable[[int], World]
    reach_m: tuple[float, float]
    worlds: int = 1


KINDS = (
    Kind("cave", lambda seed: World.cave(seed=seed, resolution_m=0.1), (10, 20), 5),
    Kind("building", lambda seed: World.building(seed=seed, resolution_m=0.1), (10, 22), 5),
    Kind("office", lambda seed: World.office(seed=seed, size_m=(40, 30)), (8, 16), 3),
    Kind("rubble", lambda seed: World.rubble(seed=seed), (6, 12), 2),
    Kind("perfect maze", lambda seed: World.maze(seed=seed, road_m=3.0), (10, 20), 2),
    Kind("maze terrain", lambda seed: World.terrain("maze"), (20, 45)),
    Kind("equal rooms", lambda seed: World.rooms(seed=seed), (8, 16)),
    Kind("cross terrain", lambda seed: World.terrain("cross", size_m=40, road_m=5), (15, 30)),
)


@dataclass(frozen=True)
class Outcome:
    """What came of one pair."""

    kind: str
    pair: MapPair
    alignment: Alignment
    seconds: float

    @property
    def right(self) -> bool:
        """Merged within 0.5 m and 2 deg."""
        return self.merged_within(0.5)

    @property
    def wrong(self) -> bool:
        """Merged, but not there."""
        return self.alignment.accepted and not self.right

    def merged_within(self, distance_m: float) -> bool:
        """Whether it was merged within a distance and 2 deg of the truth."""
        if not self.alignment.accepted or self.alignment.T_a_b is None:
            return False
        distance, angle = self.pair.error_of(self.alignment.T_a_b)
        return distance <= distance_m and angle <= 2.0


def outcomes(seed: int, worlds: int) -> list[Outcome]:
    """Return what came of all pairs of the first so many worlds."""
    found = []
    for number, kind in enumerate([k for k in KINDS for _ in range(k.worlds)][:worlds]):
        pairs = make_pairs(kind.build(seed + number), OVERLAPS, seed=seed + number, reach_m=kind.reach_m)
        for pair in pairs:
            start = time.process_time()
            alignment = align(pair.a, pair.b)
            found.append(Outcome(kind.name, pair, alignment, time.process_time() - start))
        print(".", end="", flush=True)
    print()
    return found


def line(what: str, chosen: list[Outcome]) -> str:
    """Return one row of a table."""
    n = len(chosen)
    right, near = sum(o.right for o in chosen), sum(o.merged_within(0.2) for o in chosen)
    wrong = sum(o.wrong for o in chosen)
    share = f"{100 * right / n:.0f} %" if n else "-"
    return f"| {what} | {n} | {right} ({share}) | {near} | {n - right - wrong} | {wrong} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--worlds", type=int, default=sum(k.worlds for k in KINDS))
    options = parser.parse_args()
    found = outcomes(options.seed, options.worlds)
    head = "| pairs | within 0.5 m, 2 deg | within 0.2 m, 2 deg | refused | wrong |\n|---|---|---|---|---|---|"
    print(f"| overlap {head}")
    for low, high in BANDS:
        print(line(f"{low:.1f} … {min(high, 1.0):.1f}", [o for o in found if low <= o.pair.overlap < high]))
    print(line("all", found))
    half = [o for o in found if o.pair.overlap >= 0.5]
    print(line("0.5 and more", half))
    print(line("0.5 and more, but for the cross", [o for o in half if o.kind != "cross terrain"]))
    print(f"\n| overlap 0.5 and more {head}")
    for kind in KINDS:
        print(line(kind.name, [o for o in half if o.kind == kind.name]))
    times = [o.seconds for o in found]
    errors = [o.pair.error_of(o.alignment.T_a_b) for o in found if o.right and o.alignment.T_a_b]
    if errors:
        print(f"\nmedian error {median(e[0] for e in errors):.3f} m, {median(e[1] for e in errors):.2f} deg")
    print(f"processor time of an alignment: median {median(times):.2f} s, largest {max(times):.2f} s")
    for o in found:
        if o.wrong and o.alignment.T_a_b:
            print(f"wrong: {o.kind} at overlap {o.pair.overlap:.2f}, confidence {o.alignment.confidence:.2f}")


if __name__ == "__main__":
    main()
