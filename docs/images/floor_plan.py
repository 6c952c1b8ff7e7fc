"""The pictures in docs/floor_plans.md. To renew them: python docs/images/floor_plan.py"""

import runpy
from pathlib import Path

import covey
from covey.results.figures import ground, layout
from covey.results.figures.plan import plan_picture
from covey.results.figures.style import ROBOTS
from covey.world.io.floor_plans import read_floor_plan
from covey.world.rooms import rooms

FOLDER = Path(__file__).parent
EXAMPLES = FOLDER.parents[1] / "examples"

plan = read_floor_plan(EXAMPLES / "plans" / "second_floor.dxf", layers=["A-WALL"])
read = plan_picture(plan.world, plan.lines, rooms(plan.world))
(FOLDER / "floor_plan.png").write_bytes(read.to_bytes("png"))

found = runpy.run_path(str(EXAMPLES / "08_floor_plan.py"))
floor, routes = found["floor"], [found["blue"], found["green"], found["red"]]
law = found["downhill_along"](routes)
out = covey.play(law, robots=3, workspace=floor, starts=found["starts"], stop_s=120, speed="max")
figure, axes = layout.map_picture(ground.bounds(floor.grid))
ground.show_cells(axes, floor.grid, ground.truth_pixels(floor.grid))
for i, color in enumerate((ROBOTS[0], ROBOTS[2], ROBOTS[1])):
    x, y = out.poses[:, i, :2].T
    axes.plot(x, y, color=color, lw=0.9)
    axes.plot(x[0], y[0], "o", color=color, ms=3)
    axes.plot(*zip(*routes[i], strict=True), "x", color=color, ms=3.5, mew=0.8)
layout.scale_bar(axes)
(FOLDER / "floor_plan_robots.png").write_bytes(figure.to_bytes("png"))
