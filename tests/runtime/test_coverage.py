"""What bodies pass over is covered, however fast they are."""

import numpy as np
import pytest
from scipy.spatial import KDTree

import covey
from covey.onboard.group import Group
from covey.robots.catalogue import maes
from covey.robots.model import RobotModel
from covey.runtime.simulation import Simulation
from covey.world.world import World


def covered(model: RobotModel, twist: tuple[float, float], steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which cells of a room of 12 m x 12 m were covered, and the distance of each from the way driven [m].

    The way is what small steps of 1 ms of the same commands draw.
    """

    @covey.controller(sees=())
    def drive(robot):
        robot.drive(*twist)

    ways = []
    for step_s, substep_s in ((0.1, 0.01), (0.001, 0.001)):
        sim = Simulation(
            World.empty(12, 12, 0.05),
            [Group("r", model, [[-5.0, -2.0, 0.2]], drive)],
            execution=covey.Execution(step_s=step_s, substep_s=substep_s),
        )
        way = [sim.state.pose[0, :2].copy()]
        for _ in range(round(0.1 * steps / step_s)):
            sim.step()
            way.append(sim.state.pose[0, :2].copy())
        sim.close()
        ways.append((sim, np.array(way)))
    sim, way = ways[0][0], ways[1][1]
    cells = np.stack(np.indices(sim.world.grid.shape), axis=-1)
    apart, _ = KDTree(way).query(sim.world.grid.to_world(cells).reshape(-1, 2))
    return sim.scoring.coverage.cells.last_step >= 0, apart.reshape(cells.shape[:2])


@pytest.mark.parametrize(
    ("model", "twist", "steps"),
    [
        (RobotModel(kinematics="unicycle", radius_m=0.1, max_speed_m_s=4.0, max_turn_rad_s=4.0), (4.0, 0.0), 20),
        (RobotModel(kinematics="unicycle", radius_m=0.1, max_speed_m_s=4.0, max_turn_rad_s=4.0), (4.0, 1.6), 20),
        (maes(), (3.0, 0.0), 20),
    ],
)
def test_a_fast_robot_covers_all_that_it_drives_over(model, twist, steps):
    cells, apart = covered(model, twist, steps)
    radius = model.outer_radius_m
    inside, outside = apart < radius - 0.01, apart > radius + 0.01  # a tenth of a cell either way, and maes' lag
    assert inside.sum() > 200
    assert cells[inside].mean() > 0.995
    assert cells[outside].mean() < 0.001
