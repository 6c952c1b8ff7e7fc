"""Draw the picture of docs/terrain.md: python docs/images/ground.py"""

from pathlib import Path

import numpy as np
from PIL import Image

from covey.results.figures.scene import Camera, RobotShapes, still
from covey.results.figures.style import robot_color
from covey.world.editing.ground_edits import bank, crater, trench
from covey.world.generators.grounds import hills


def main() -> None:
    """Hills of 260 x 260 vertices with a crater, a trench and a bank of earth, and six robots in a hexagon of 12 m."""
    ground = hills(seed=3)
    ground = ground.edited(crater(ground, (2.0, -20.0), 2.5, 9.0))
    ground = ground.edited(trench(ground, (-32.0, 2.0), (-6.0, 18.0), 2.0, 1.5))
    ground = ground.edited(bank(ground, (20.0, 4.0), (44.0, -10.0), 2.0, 2.0))
    angle = np.radians(60 * np.arange(6))
    at = 12.0 * np.column_stack((np.cos(angle), np.sin(angle))) + (2.0, -2.0)
    poses = np.zeros((6, 6))
    poses[:, :2], poses[:, 2], poses[:, 5] = at, ground.altitude_at(at) + 0.11, angle
    robots = RobotShapes(poses, (0.3, 0.34, 0.2), [robot_color(i, 6) for i in range(6)])
    camera = Camera.over((4.0, -4.0, float(ground.altitude_at((4.0, -4.0)))), 95.0, size=(760, 340))
    picture = Image.fromarray(still(ground.altitude, ground.frame, camera, bodies=[robots]))
    path = Path(__file__).with_name("ground.png")
    picture.quantize(200, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)
    print(path, path.stat().st_size)


if __name__ == "__main__":
    main()
