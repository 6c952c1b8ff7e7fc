"""Draws second_floor.dxf: a corridor with rooms on both sides, doors, desks and names.

To draw it again: python examples/plans/second_floor.py. Lengths are millimetres, as is usual for buildings.
"""

from pathlib import Path

import ezdxf

NORTH = ((0, 6000), (6000, 12000), (12000, 18000), (18000, 24000), (24000, 30000))
SOUTH = ((0, 5000), (5000, 10000), (10000, 16000), (16000, 22000), (22000, 30000))
DOOR = 1000

document = ezdxf.new("R2000", units=4)
space = document.modelspace()
for name in ("A-WALL", "A-DOOR", "A-FURN", "A-NAME"):
    document.layers.add(name)

door = document.blocks.new("DOOR")  # its leaf stands open, at a right angle
door.add_line((0, 0), (0, DOOR))
door.add_arc((0, 0), DOOR, 0, 90)
desk = document.blocks.new("DESK")
desk.add_lwpolyline([(0, 0), (1600, 0), (1600, 800), (0, 800)], close=True)
desk.add_circle((800, 1200), 250)


def wall(*points):
    space.add_lwpolyline(points, dxfattribs={"layer": "A-WALL"})


wall((0, -5000), (30000, -5000), (30000, 0))
wall((30000, 2400), (30000, 7400), (0, 7400), (0, -5000))
wall((30000, 0), (30000, 2400))
for rooms, near, far, turn, prefix in ((NORTH, 2400, 7400, 1, "2.1"), (SOUTH, 0, -5000, -1, "2.2")):
    for number, (left, right) in enumerate(rooms):
        middle = (left + right) / 2
        wall((left, near), (middle - DOOR / 2, near))
        wall((middle + DOOR / 2, near), (right, near))
        if number:
            wall((left, near), (left, far))
        space.add_blockref("DOOR", (middle - DOOR / 2, near), {"layer": "A-DOOR", "yscale": turn})
        space.add_blockref("DESK", (left + 500, far - turn * 900), {"layer": "A-FURN", "yscale": -turn})
        space.add_text(f"{prefix}{number + 1}", height=400, dxfattribs={"layer": "A-NAME"}).set_placement(
            (middle, near)
        )

path = Path(__file__).with_name("second_floor.dxf")
document.saveas(path)
print(f"wrote {path.name}")
