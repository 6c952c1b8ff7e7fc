"""What the tables of a run tell of its robots, compared with what the simulation knew."""

import numpy as np

import covey
from covey.plain import unpack
from covey.scenario.run import run_scenario
from covey.viewer.recorded import messages_of, step_s_of, steps_of
from covey.viewer.recorded_team import flags_of, measures_of, orders_of, visits_of

ORDERS = """
format: 1
name: orders
world: {empty_m: [20, 20]}
robots: [{name: scout, robot: disc, count: 3, controller: random_ballistic_walk}]
mission: {formation: {objective_m: [1, 2], formation: rank, spacing_m: 1.5, facing_deg: 90}}
events:
  - {at_s: 1.0, order: {objective_m: [-3, 4], formation: rank, spacing_m: 2}}
stop: {timeout_s: 3}
seed: 1
"""


def test_flags_follow_from_the_events(patrolled):
    run, seen = patrolled
    changes = flags_of(run).tolist()
    assert {flags for _, _, flags in changes} == {0, 4, 5, 7}
    now = [0, 0, 0]
    for step, (_, flags) in seen.items():
        while changes and changes[0][0] <= step:
            _, robot, now[robot] = changes.pop(0)
        assert now == flags.tolist()


def test_visits_lead_to_the_idleness_of_each_step(patrolled):
    run, seen = patrolled
    stays = unpack(visits_of(run, steps_of(run)))[1]["stay"]
    for step, (last_s, _) in seen.items():
        last = np.zeros(len(last_s))
        for waypoint, _, end in stays[stays[:, 1] <= step]:
            last[waypoint] = max(last[waypoint], min(end, step) * step_s_of(run))
        np.testing.assert_allclose(last, last_s, atol=1e-9)


def test_measurements_are_those_of_the_table(patrolled):
    run, _ = patrolled
    header, arrays = unpack(measures_of(run))
    assert arrays["step"].tolist() == [*range(1, 201)]
    table = dict(zip(header["measures"], np.moveaxis(arrays["measures"], 1, 0), strict=True))
    for name in ("distance_m", "energy_j", "explored_share"):
        np.testing.assert_allclose(table[name], run.series(name), rtol=1e-6)
    moved = np.diff(run.series("distance_m"), axis=0) / 0.1  # speeds are those at the end of a step
    np.testing.assert_allclose(table["speed_m_s"][1:].mean(), moved.mean(), rtol=0.02)


def test_orders_have_the_places_of_their_formation(tmp_path):
    path = tmp_path / "orders.yaml"
    path.write_text(ORDERS)

    def order(sim):
        if sim.clock.step == 20:
            sim.order((5.0, 5.0), "hexagon", spacing_m=2.0, facing_deg=180.0)

    run = run_scenario(covey.load_scenario(path), tmp_path / "run", before_step=order)
    first, second, third = unpack(orders_of(run))[0]["orders"]
    # a rank stands across its facing: along x when it faces north, along y when it faces east
    assert sorted(first["target"]) == [[-0.5, 2.0], [1.0, 2.0], [2.5, 2.0]]
    assert sorted(second["target"]) == [[-3.0, 2.0], [-3.0, 4.0], [-3.0, 6.0]]
    # three places on a circle of 2 m, 120 degrees apart, the first one ahead: to the west
    np.testing.assert_allclose(np.hypot(*(np.array(third["target"]) - 5.0).T), 2.0, atol=1e-3)
    assert third["target"][0] == [3.0, 5.0]
    assert [one["step"] for one in (first, second, third)] == [0, 11, 21]


def test_a_file_has_them_too(patrolled):
    run, _ = patrolled
    types = {unpack(message)[0]["type"] for message in list(messages_of(run))[1:]}
    assert {"waypoints", "measures"} <= types
