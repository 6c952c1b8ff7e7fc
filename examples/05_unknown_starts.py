"""Three robots that do not know where the others started: each maps in its own frame, and they find each other."""

import math

from covey.geometry import Pose
from covey.mapping.unknown_starts import UnknownStarts
from covey.testing.map_pairs import map_along, tour
from covey.world.world import World

office = World.office(size_m=(30, 30), seed=3)
starts = [(6.0, -2.0), (-2.0, -7.0), (-6.0, 7.5)]
robots, frames = [], []
for k, (x, y) in enumerate(starts):
    cells = office.grid.to_cells((x, y))
    way = tour(office, (int(cells[0]), int(cells[1])), reach_m=18.0)
    frames.append(Pose(float(way[0, 0]), float(way[0, 1]), 2.0 * k))  # what no robot knows
    robots.append(UnknownStarts(map_along(office, way, frames[k], seed=k, name=f"scout{k}")))

first, second, third = robots
for hears, other in ((second, third), (first, second)):
    alignment = hears.hear(other)
    result = alignment.refused or f"merged, confidence {alignment.confidence:.2f}"
    print(f"{hears.belief.name} hears {other.belief.name}: {result}")
for name, T in first.T_own_other.items():
    true = frames[0].inverse() @ frames[int(name[-1])]
    off = true.inverse() @ T
    print(
        f"{name} is {math.hypot(off.x, off.y):.3f} m and {abs(math.degrees(off.heading)):.2f} deg from where it started"
    )
known = (first.merged().cells >= 0).sum() * 0.01
print(f"{first.belief.name} knew {(first.belief.occupancy() >= 0).sum() * 0.01:.0f} m2, and now {known:.0f} m2")
