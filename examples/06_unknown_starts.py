"""Robots that do not know where the others started explore alone, meet, and find out from their maps."""

import math

import covey
from covey.geometry import Pose
from covey.mapping.alignment.unknown_starts import UnknownStarts

sim = covey.load("office", {"robots.scout.count": 3, "robots.scout.localization": "noise", "share_maps": None})
starts = [Pose(*(float(v) for v in pose)) for pose in sim.state.pose]
scouts = [UnknownStarts(sim.robot(name).map, start) for name, start in zip(sim.names, starts, strict=True)]
while sim.time < 90:
    sim.step()
sim.close()

first, second, third = scouts
for hears, other in ((second, third), (first, second)):
    alignment = hears.hear(other)
    result = alignment.refused or f"merged, confidence {alignment.confidence:.2f}"
    print(f"{hears.belief.name} hears {other.belief.name}: {result}")
for name, found in first.T_own_other.items():
    off = (starts[0].inverse() @ starts[sim.names.index(name)]).inverse() @ found
    print(f"start of {name}: {math.hypot(off.x, off.y):.3f} m and {abs(math.degrees(off.heading)):.2f} deg off")
cell_m2 = first.grid.resolution**2
before, after = ((map_ >= 0).sum() * cell_m2 for map_ in (first.belief.occupancy(), first.merged().cells))
print(f"{first.belief.name} knew {before:.0f} m2, and now {after:.0f} m2")
