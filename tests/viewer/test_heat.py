"""Heat maps of robots and groups: visits against plain loops, looks by a robot that is carried to another room."""

import numpy as np
import pytest

import covey
from covey.scenario.load import load_scenario, parse_scenario
from covey.viewer import Live
from covey.viewer.cell_layers import layer_of
from covey.viewer.heat import EVERY, Heat
from covey.world.visibility.explored import ExploredTruth

TWO_ROOMS = """
world: {workspace_m: [[0, 0], [10, 0], [10, 6], [0, 6]], walls_m: [[[5, 0], [5, 6]]], resolution_m: 0.1}
robots:
  - {name: a, robot: pioneer3dx, count: 2, start: [[1, 1, 0], [1, 4, 0]], controller: still}
  - {name: b, robot: pioneer3dx, count: 1, start: [[8, 3, 0]], controller: still}
stop: {timeout_s: 600}
"""


def within(centres, a, b, radius):
    """Return which points are within a radius of the way from a to b, by the distance from its nearest point."""
    along = b - a
    length = np.linalg.norm(along)
    t = np.zeros(centres.shape[:2]) if length == 0 else np.clip(((centres - a) @ along) / length**2, 0, 1)
    return np.linalg.norm(centres - (a + t[..., None] * along), axis=-1) <= radius


@pytest.mark.slow
def test_visits_are_entries_of_bodies():
    world = covey.World.empty(6, 6)

    async def to_and_fro(robot):
        while True:
            await robot.goto((1.0, 0.5))
            await robot.goto((-1.0, -0.5))

    sim = covey.Simulation(world, [covey.Group("s", covey.robots.disc(), [(-1.0, 0.0, 0.0)])], to_and_fro)
    heat = Heat(sim)
    sim.observers.append(heat.add_step)
    grid, radius = world.grid, float(sim.model.discs[0, 0, 2])
    centres = grid.to_world(np.moveaxis(np.indices(grid.shape), 0, -1))
    at = sim.state.pose[0, :2].copy()
    expected = within(centres, at, at, radius).astype(int)
    for _ in range(300):
        before = at
        sim.step()
        at = sim.state.pose[0, :2].copy()
        expected += within(centres, before, at, radius) & ~within(centres, before, before, radius)
    assert expected.max() >= 3
    np.testing.assert_array_equal(heat.visits, expected)
    np.testing.assert_array_equal(heat.each[0], expected)


@pytest.mark.slow
def test_looks_of_a_robot_that_is_carried_to_another_room():
    sim = parse_scenario(TWO_ROOMS).build()
    heat = Heat(sim)
    sim.observers.append(heat.add_step)
    layers = heat.layers()
    assert all(str(make().seen.dtype) == layer_of(name).type for name, make in layers.items())
    for _ in range(150):
        sim.step()
    sim.do({"place": "a1", "pose": [8, 1, 90]})
    for _ in range(250):
        sim.step()
    grid, explored = sim.world_state.grid, sim.scoring.exploration.cells
    seen = {name: np.stack([layers[f"{kind}:{name}"]().seen for kind in ("first_seen", "last_seen")]) for name in parts}
    left, right = (tuple(grid.to_cells(place)) for place in ((3, 2), (9, 4)))
    # a0 stays left of the wall, b0 right of it, a1 is carried over at step 150
    assert 1 <= seen["a0"][0][left] <= EVERY + 1
    assert seen["a0"][1][left] > 400 - EVERY
    assert seen["a0"][:, *right].tolist() == [-1, -1]
    assert 150 - EVERY <= seen["a1"][1][left] <= 150
    assert 150 < seen["a1"][0][right] <= 150 + EVERY
    assert seen["b0"][:, *left].tolist() == [-1, -1]
    np.testing.assert_array_equal(seen["group a"][0][left], min(seen["a0"][0][left], seen["a1"][0][left]))
    assert seen["group a"][1][right] == seen["a1"][1][right]
    overlap = {name: layers[f"overlap:{name}"]().seen for name in parts}
    assert (overlap["group a"][left], overlap["group a"][right]) == (2, 1)
    assert (overlap["a0"][left], overlap["a0"][right]) == (2, 0)  # of the team: what a0 has seen
    assert (overlap["b0"][right], overlap["group b"][right]) == (2, 2)
    np.testing.assert_array_equal(seen["a1"][0] >= 0, explored.explored(1))
    visits = layers["visits:a1"]().seen
    assert visits[tuple(grid.to_cells((1, 4)))] == visits[tuple(grid.to_cells((8, 1)))] == 1
    assert visits[left] == visits[right] == 0, "it was carried over, and passed nothing"
    np.testing.assert_array_equal(layers["visits:group a"]().seen, layers["visits:a0"]().seen + visits)


parts = ("a0", "a1", "b0", "group a", "group b")


@pytest.mark.slow
def test_all_that_scans_explore_is_seen_in_time():
    """Each robot's first and last look, against all beams of all its scans."""
    sim = load_scenario("maze").build()
    heat = Heat(sim)
    sim.observers.append(heat.add_step)
    goal = sim.world_state.grid.with_cells(sim.scoring.exploration.mask)
    alone = ExploredTruth(goal, 1, seen_every=1)
    (bank,) = [bank for bank in sim.sensing.banks if bank.record.kind == "lidar"]
    for _ in range(250):
        sim.step()
        for sample in bank.samples:
            fan, truth = bank.record, sample.readings.truth[:1]
            alone.mark(np.array([0]), sample.pose[:1], truth, fan.angles, fan.mount, sim.clock.step)
    first, last = heat.first[0] - 1, heat.last([0])[0] - 1
    exact_first, exact_last = alone.first_step, alone.last_step
    settled = (exact_first >= 0) & (exact_first <= 250 - EVERY)
    assert settled.sum() > 1000
    late = first[settled] - exact_first[settled]
    assert 0 <= late.min() <= late.max() <= EVERY
    off = np.abs(exact_last[settled] - last[settled])
    assert np.mean(off <= EVERY) > 0.9, "far away, single beams hit some cells in few scans only"


def test_a_page_that_joins_later_has_no_counts_since_the_start():
    sim, live = parse_scenario(TWO_ROOMS).build(), Live()
    live.begin(sim)
    counted = {"visits", "visits:a0", "first_seen:a0", "overlap:group a"}
    assert counted <= live.hub.make.keys()
    sim.step()
    live.begin(sim)
    assert "truth" in live.hub.make
    assert not counted & live.hub.make.keys()
    sim.close()
