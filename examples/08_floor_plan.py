"""Three robots cross a floor, drawn in a DXF file, downhill in potential fields. The red one gets stuck in a room.

Needs the extra lab: pip install 'covey[lab]'.
"""

from pathlib import Path

import numpy as np

import covey

floor = covey.World.from_file(Path(__file__).parent / "plans" / "second_floor.dxf", layers=["A-WALL"])
slope_y, slope_x = np.gradient(np.minimum(floor.clearance, 1.0), floor.grid.resolution)  # away from the walls


def downhill_along(routes):
    """Return a law: each robot goes to its way-points, one after the other; the next one attracts, walls repel."""
    leg = np.zeros(len(routes), int)

    def law(team):
        goal = np.array([route[k] for route, k in zip(routes, leg, strict=True)])
        way = goal - team.position
        far = np.hypot(*way.T)
        leg[:] = np.minimum(leg + (far < 0.4), [len(route) - 1 for route in routes])
        at = tuple(floor.grid.to_cells(team.position).T)
        near = np.maximum(floor.clearance[at], 0.05)
        push = 0.1 * np.maximum(1 / near - 1 / 0.8, 0) / near**2
        force = way / np.maximum(far, 1)[:, None] + push[:, None] * np.stack((slope_x[at], slope_y[at]), axis=1)
        turn = team.bearing_to(team.position + force)
        return np.where(far > 0.1, 0.5 * np.maximum(np.cos(turn), 0), 0), 2 * turn

    return law


starts = [(2.5, -3, 0), (27, 5, 3.14), (13, -3, 1.57)]
blue = [(2.5, 1.2), (15, 1.2), (15, 5)]  # out of its room, along the corridor, into another room
green = [(27, 1.2), (7.5, 1.2), (7.5, -3)]
red = [(19, 5)]  # straight through the walls
way_out = [(13, 1.2), (21, 1.2), (21, 4)]
for routes in ([blue, green, red], [blue, green, way_out + red]):
    out = covey.play(downhill_along(routes), robots=3, workspace=floor, starts=starts, stop_s=120, speed="max")
    for name, pose, route in zip(("blue", "green", "red"), out.poses[-1], routes, strict=True):
        gap = np.hypot(*(pose[:2] - route[-1]))
        told = "arrives" if gap < 0.5 else f"is stuck at ({pose[0]:.1f}, {pose[1]:.1f}), {gap:.1f} m from its goal"
        print(f"{name}: {len(route)} way-points, {told}")
