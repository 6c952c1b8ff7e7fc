"""Recorded plans, scans and maps are those of the simulation at that step; a second run of the same seed tells them."""

import numpy as np
import pytest

import covey
from covey.errors import InvalidValueError, RunFolderError, UnknownNameError
from covey.results.recording import Details
from covey.results.run import Run
from covey.runtime.phases.detailing import RecordingPeriod
from covey.scenario.load import parse_scenario

SCENARIO = """
world: {terrain: loop, size_m: 24, road_m: 4, resolution_m: 0.2}
robots:
  - {name: scout, count: 2, controller: nearest_frontier, localization: noise, start: {together: {around: [-10, 10]}},
     robot: {base: pioneer3dx, mapping: {resolution_m: 0.2}}}
  - {name: ring, count: 1, controller: still, start: {together: {around: [10, 10]}}}
radio: {range_m: 30}
share_maps: {every_s: 1, START}
stop: {timeout_s: 8}
seed: 3
RECORD
"""
FILES = ("plans.npz", "scans.npz", "map_changes.npz")
EVERYTHING = "record: {scans_every_s: 0.5, maps_every_s: 2}"
NOTHING = "record: {plans: false}"


def scenario(record, start="start_poses: known"):
    return parse_scenario(SCENARIO.replace("RECORD", record).replace("START", start))


def watched(text):
    """Return a run, and what the simulation said at each step: routes, scans, maps."""
    seen = {}

    def observe(snapshot):
        robots = {name: sim.robot(name) for name in ("scout0", "scout1")}
        bank = sim.sensing.feeding("scan")[0]
        beliefs = sim.localization.belief_of
        seen[snapshot.step] = {
            "routes": {name: robot._state.navigator.route for name, robot in robots.items() if robot.status == "going"},
            "ranges": bank.readings.ranges.copy(),
            "sensor": bank.newest.pose[bank.members],
            "taken": bank.newest.substep,
            "maps": [beliefs[i].occupancy().copy() for i in (0, 1)],
            "union": sim.scoring.union().cells.copy(),
            "places": [sim.localization.map_in_world(i).origin for i in (0, 1)],
            "frames": sim.localization.frames,
        }

    sim = text.build()
    sim.observers.append(observe)
    return sim.run(), seen


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return scenario(EVERYTHING).build(tmp_path_factory.mktemp("recorded") / "run").run()


@pytest.fixture(scope="module")
def again():
    return watched(scenario(NOTHING))


def test_a_run_has_the_same_tables_whatever_is_recorded_besides(recorded, again):
    run, _ = again
    names = sorted(path.name for path in run.folder.iterdir())
    assert not set(FILES) & set(names)
    assert sorted(path.name for path in recorded.folder.iterdir()) == sorted((*names, *FILES))
    for name in (*(name for name in names if name.endswith(".parquet") and name != "host.parquet"), "maps.npz"):
        assert (run.folder / name).read_bytes() == (recorded.folder / name).read_bytes(), name


def test_the_same_seed_gives_the_same_bytes(recorded):
    run = scenario(EVERYTHING).build().run()
    for name in FILES:
        assert (run.folder / name).read_bytes() == (recorded.folder / name).read_bytes(), name


def test_plans_are_those_of_the_simulation_at_each_step(recorded, again):
    _, seen = again
    plans = [recorded.plans.at(step) for step in seen]
    for step, found in zip(seen, plans, strict=True):
        routes = seen[step]["routes"]
        assert found.keys() == routes.keys(), step
        for name, route in routes.items():
            np.testing.assert_array_equal(found[name], route)
    assert len({len(found["scout0"]) for found in plans if "scout0" in found}) > 1
    assert len(recorded.plans.steps) < len(seen)  # only what changes is written


def test_scans_are_those_of_the_simulation_at_the_recorded_steps(recorded, again):
    _, seen = again
    assert list(recorded.scans) == ["scout0", "scout1", "ring0"]
    for row, name in enumerate(("scout0", "scout1")):
        scans = recorded.scans[name]["lidar"]
        assert scans.steps.tolist() == [1, *range(5, 81, 5)]
        for k, step in enumerate(scans.steps.tolist()):
            np.testing.assert_array_equal(scans.ranges[k], seen[step]["ranges"][row].astype(np.float32))
            np.testing.assert_allclose(scans.poses[k], seen[step]["sensor"][row], atol=1e-12)  # in the robot's middle
            assert scans.times[k] == pytest.approx(0.01 * seen[step]["taken"])
    x, y, heading = scans.poses[3]
    hit = np.isfinite(scans.ranges[3])
    expected = [
        (x + r * np.cos(heading + a), y + r * np.sin(heading + a))
        for a, r in zip(scans.angles[hit], scans.ranges[3][hit], strict=True)
    ]
    np.testing.assert_allclose(scans.points(17), expected, atol=1e-5)
    assert scans.points(0).shape == (0, 2)


def test_maps_are_those_of_the_simulation_at_the_recorded_steps(recorded, again):
    _, seen = again
    changes = recorded.map_changes
    assert changes.steps.tolist() == [1, 20, 40, 60, 80]
    for step in seen:
        known = max(at for at in changes.steps.tolist() if at <= step)
        for i, name in enumerate(("scout0", "scout1")):
            grid = changes.at(step, name)
            np.testing.assert_array_equal(grid.cells, seen[known]["maps"][i])
            assert grid.origin == tuple(seen[step]["places"][i])
        np.testing.assert_array_equal(changes.at(step).cells, seen[known]["union"])
    assert (changes.at(0, "scout0").cells == -1).all()
    np.testing.assert_array_equal(changes.at(80).cells, recorded.maps.union.cells)
    with pytest.raises(UnknownNameError, match="scout2"):
        changes.at(80, "scout2")


def test_changes_lead_back_from_the_end_to_each_recorded_step(recorded):
    changes = recorded.map_changes.of["scout1"]
    cells, before = recorded.map_changes.at(80, "scout1").cells.copy(), changes.before
    for k in reversed(range(len(changes.cells))):
        if changes.steps[k] <= 40:
            break
        assert cells.reshape(-1)[changes.cells[k]] == changes.values[k]
        cells.reshape(-1)[changes.cells[k]] = before[k]
    np.testing.assert_array_equal(cells, recorded.map_changes.at(40, "scout1").cells)


def test_with_unknown_starts_plans_and_maps_are_at_their_true_places():
    run, seen = watched(scenario(EVERYTHING, "start_poses: unknown"))
    compared = 0
    for step in (20, 40, 80):
        for i, (name, route) in enumerate(seen[step]["routes"].items()):
            x, y, heading = seen[step]["frames"][int(name[-1])]
            c, s = np.cos(heading), np.sin(heading)
            np.testing.assert_allclose(run.plans.at(step)[name], route @ [[c, s], [-s, c]] + [x, y], atol=1e-9)
            assert run.map_changes.at(step, f"scout{i}").origin == tuple(seen[step]["places"][i])
            compared += 1
        np.testing.assert_array_equal(run.map_changes.at(step).cells, seen[step]["union"])
    assert compared


def test_a_plan_ends_with_the_goal_and_with_its_motion():
    async def there(robot):
        await robot.goto((2.0, 1.0))
        await robot.sleep(1.0)
        robot.goto((-2.0, 1.0))
        await robot.sleep(0.5)
        robot.stop()
        await robot.sleep(1.0)

    run = covey.Simulation(covey.World.empty(6, 6), robots=1, controller=there).run(until_s=30)
    plans = [run.plans.at(step) for step in run.steps]
    goals = [tuple(plan["robot0"][-1]) if plan else None for plan in plans]
    assert [goal for k, goal in enumerate(goals) if k == 0 or goal != goals[k - 1]] == [
        *((2.0, 1.0), None, (-2.0, 1.0), None)
    ]
    assert goals.count((-2.0, 1.0)) == 5  # it stops after half a second


@pytest.mark.parametrize(("every_s", "steps"), [(0.1, [1, 2, 3, 4, 5]), (0.25, [1, 3, 5]), (0.3, [1, 3]), (9.0, [1])])
def test_recorded_steps_are_the_first_at_or_after_each_multiple(every_s, steps):
    period = RecordingPeriod(every_s)
    assert [k for k in range(1, 6) if period.is_due(0.1 * k)] == steps
    assert not any(RecordingPeriod(None).is_due(0.1 * k) for k in range(3))


def test_the_argument_takes_plain_data_too():
    world = covey.World.empty(4, 4)
    for record in ({"plans": False, "scans_every_s": 1.0}, Details(plans=False, scans_every_s=1.0)):
        sim = covey.Simulation(world, record=record)
        expected = {"plans": False, "scans_every_s": 1.0, "maps_every_s": None, "readings": False}
        assert sim.manifest["record"] == expected
        sim.close()
    with pytest.raises(InvalidValueError, match="record: unknown key 'plan', did you mean 'plans'"):
        covey.Simulation(world, record={"plan": False})
    with pytest.raises(InvalidValueError, match=r"takes scans_every_s within record; write record=covey.Details\("):
        covey.Simulation(world, scans_every_s=1.0)


def test_a_damaged_file_is_refused_in_words(recorded, tmp_path):
    run = recorded.save(tmp_path / "copy")
    for name, read in zip(FILES, ("plans", "scans", "map_changes"), strict=True):
        path = run.folder / name
        path.write_bytes(path.read_bytes()[:-200])
        with pytest.raises(RunFolderError, match=f"{name}.* is damaged"):
            getattr(Run(run.folder), read)
        (path).unlink()
        assert getattr(Run(run.folder), read) is None


@pytest.mark.parametrize(
    ("name", "array", "change"),
    [
        ("plans", "step/0", lambda values: values[:, None]),
        ("plans", "robot/0", lambda values: values + 0.5),
        ("plans", "count/0", lambda values: np.concatenate((values[:-2], [values[-2] + 99, values[-1] - 99]))),
        ("plans", "point/0", lambda values: values.astype(str)),
        ("scans", "0/robot/0", lambda values: -values - 1),
        ("scans", "0/angle/0", lambda values: values[:, None]),
        ("scans", "0/ranges/0", lambda values: values.astype(np.uint64)),
        ("map_changes", "value/0", lambda values: values.astype(str)),
        ("map_changes", "of/0", lambda values: values - 1),
        ("scans", "0/time_s/0", lambda values: values.astype(str)),
    ],
)
def test_arrays_that_are_no_plans_scans_or_changes_are_refused(name, array, change, recorded, tmp_path):
    for kept in ("manifest.json", "maps.npz"):
        (tmp_path / kept).write_bytes((recorded.folder / kept).read_bytes())
    with np.load(recorded.folder / f"{name}.npz") as file:
        arrays = dict(file)
    np.savez(tmp_path / f"{name}.npz", **arrays)
    assert getattr(Run(tmp_path), name)
    np.savez(tmp_path / f"{name}.npz", **arrays | {array: change(arrays[array])})
    with pytest.raises(RunFolderError, match=f"{name}.* is damaged"):
        getattr(Run(tmp_path), name)


def test_a_map_that_does_not_fit_the_world_is_refused_before_it_takes_memory(recorded, tmp_path):
    run = recorded.save(tmp_path / "copy")
    path = run.folder / "map_changes.npz"
    with np.load(path) as file:
        arrays = dict(file)
    of, right = arrays["of/0"].tolist().index(-1), run.maps.union.shape
    arrays["shape/0"][of] = 2_000_000, 2_000_000  # 4 TB
    np.savez(path, **arrays)
    why = f"the merged map has 2000000 x 2000000 cells, but in maps.npz {right[0]} x {right[1]}"
    with pytest.raises(RunFolderError, match=f"map_changes.npz' is damaged.*{why}"):
        run.map_changes.at(1)


def test_nobody_can_write_into_what_others_see(recorded):
    run = Run(recorded.folder)
    plans, scans, changes = run.plans, run.scans["scout0"]["lidar"], run.map_changes.of[None]
    shared = [run.pose_times, plans.steps, plans.robots, plans.begins, plans.points, run.map_changes.steps]
    shared += [scans.steps, scans.times, scans.poses, scans.ranges, scans.angles]
    shared += [changes.steps, changes.cells, changes.values, changes.grid.cells, *plans.at(50).values()]
    for values in shared:
        with pytest.raises(ValueError, match="read-only"):
            values[...] = 0
    run.map_changes.at(50).cells[:] = 7  # a copy
    assert (Run(recorded.folder).map_changes.at(50).cells == run.map_changes.at(50).cells).all()
