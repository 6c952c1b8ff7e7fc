"""Draw the picture of digging in docs/terrain.md: python docs/images/digging.py"""

from pathlib import Path

import numpy as np
from PIL import Image

import covey
from covey.results.figures.on_ground import robots_at
from covey.results.figures.scene import Camera, still
from covey.robots.catalogue import skid_steer
from covey.robots.digger import Digger
from covey.world.ground import Ground


async def ditch(robot):
    """Drive ahead, and move earth from the right to the left."""
    for _ in range(25):
        await robot.dig(robot.pose @ (0.0, -0.9), robot.pose @ (0.0, 0.9), 0.05)
        await robot.forward(0.2)


def main() -> None:
    """A robot on 16 x 10 m of rolling ground, vertices 0.1 m apart, after 25 loads of 0.05 m3."""
    y, x = np.mgrid[-5:5.01:0.1, -8:8.01:0.1]
    world = Ground.of(0.15 * np.sin(x / 2) * np.cos(y / 3), 0.1).world()
    robot = skid_steer().model_copy(update={"digger": Digger(reach_m=1.0, load_s=0.5), "mapping": None, "sensors": ()})
    group = covey.Group("digger", robot, [(-4.0, 0.0, 0.0)], ditch)
    run = covey.Simulation(world, [group], physics="terrain", stop=covey.Stop(timeout_s=60)).run()
    ground = run.landscape
    camera = Camera.over((-1.6, -0.3, 0.0), 11.5, elevation_deg=40.0, size=(760, 340))
    picture = Image.fromarray(still(ground.altitude, ground.frame, camera, bodies=[robots_at(run, -1)]))
    path = Path(__file__).with_name("digging.png")
    picture.quantize(200, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)
    print(path, path.stat().st_size, run.events["kind"].value_counts().rows())


if __name__ == "__main__":
    main()
