"""Changes of the ground while a run goes on: declared, called for, refused."""

import numpy as np
import pytest

import covey
from covey.errors import InvalidValueError
from covey.events.inputs import recorded_inputs
from covey.world.ground import Ground


def world_of(rows=21, columns=31, **options):
    return Ground.of(np.zeros((rows, columns)), **options).world()


def simulation(events=(), **options):
    return covey.Simulation(
        world_of(**options), robots=[covey.Group("a", covey.robots.disc(), [(5.0, 5.0, 0.0)])], events=events
    )


def test_a_declared_crater_is_dug_when_it_is_due_and_is_an_event():
    crater = {"at_s": 0.3, "crater": {"centre_m": [0, 0], "depth_m": 2, "radius_m": 4}}
    sim = simulation([crater])
    for _ in range(3):
        sim.step()
    assert sim.world.ground.altitude_at((0, 0)) == 0
    sim.step()
    assert sim.world.ground.altitude_at((0, 0)) == -2
    assert sim.world.ground.altitude_at((2, 0)) == pytest.approx(-2 * (1 - (2 / 4) ** 2))
    (event,) = [e for e in sim.close().events.iter_rows(named=True) if e["kind"] == "ground_changed"]
    assert (event["other"], event["step"], event["x_m"], event["y_m"]) == ("crater", 4, 0, 0)
    inside = sum(x * x + y * y < 16 for x in range(-4, 5) for y in range(-4, 5))
    assert event["text"] == f"{inside} vertices by -2.00 to +0.00 m"


def test_the_world_that_was_given_stays():
    world = world_of()
    sim = covey.Simulation(world)
    sim.change_ground(mound={"centre_m": (0, 0)})
    sim.step()
    assert sim.world.ground.altitude.max() == 1
    assert world.ground.altitude.max() == 0


def test_a_call_is_recorded_so_that_the_run_can_be_repeated():
    sim = simulation()
    sim.step()
    sim.change_ground(trench={"from": (0, -5), "to": (0, 5), "width_m": 2, "depth_m": 0.5})
    sim.step()
    (again,) = recorded_inputs(sim.close())
    trench = {"from": [0, -5], "to": [0, 5], "width_m": 2, "depth_m": 0.5}
    assert again == {"at_step": 1, "trench": trench, "name": "trench 1"}


def test_what_leaves_the_range_of_altitudes_is_refused_as_a_whole():
    sim = simulation(range_m=(-3, 3))
    with pytest.raises(InvalidValueError, match="declared to reach from -3 to 3 m"):
        sim.change_ground(crater={"centre_m": (0, 0), "depth_m": 4})
    for _ in range(2):  # each alone would do, the second finds the first
        sim.change_ground(crater={"centre_m": (0, 0), "depth_m": 2})
    sim.step()
    assert sim.world.ground.altitude.min() == -2
    kinds = [e["kind"] for e in sim.close().events.iter_rows(named=True)]
    assert kinds.count("refused") == 1
    assert kinds.count("ground_changed") == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"crater": {"centre_m": (99, 99)}}, "holds no vertex of the ground"),
        ({"crater": {"centre_m": (0, 0), "depth_m": -1}}, "greater than 0"),
        ({"crater": {"centre_m": (0, 0)}, "mound": {"centre_m": (0, 0)}}, "crater and mound are given"),
        ({"altitude": {"to_m": 1}}, "give one of point_m, box_m, polygon_m"),
        ({"bank": {"from": (1, 1), "to": (1, 1)}}, "two different points"),
    ],
)
def test_bad_changes(change, said):
    sim = simulation()
    with pytest.raises(InvalidValueError, match=said):
        sim.change_ground(**change)


def test_a_plain_world_has_no_ground_to_change():
    with pytest.raises(InvalidValueError, match="this world has no ground"):
        covey.Simulation(covey.World.empty(5, 5), events=[{"at_s": 1, "crater": {"centre_m": [0, 0]}}])


def test_altitudes_can_be_asked_for_and_saved_while_the_run_goes_on(tmp_path):
    sim = simulation()
    sim.change_ground(crater={"centre_m": (0, 0), "depth_m": 2, "radius_m": 4})
    sim.step()
    assert sim.altitude_at([(0, 0), (2, 0), (9, 9)]).tolist() == pytest.approx([-2.0, -1.5, 0.0])
    sim.save_ground(tmp_path / "after.png")
    kept = Ground.from_file(tmp_path / "after.png")
    np.testing.assert_allclose(kept.altitude_at([(0, 0), (2, 0), (9, 9)]), [-2.0, -1.5, 0.0], atol=5e-4)
    with pytest.raises(InvalidValueError, match=r"not as 'after\.doc'"):
        sim.save_ground(tmp_path / "after.doc")
    assert [p.name for p in tmp_path.iterdir()] == ["after.png"]
    with pytest.raises(InvalidValueError, match="the world has no ground"):
        covey.Simulation(covey.World.empty(5, 5)).altitude_at((0, 0))


def test_the_ground_is_saved_into_the_runs_folder_when_the_scenario_says_so(tmp_path):
    crater = {"at_s": 0.3, "crater": {"centre_m": [0, 0], "depth_m": 2, "radius_m": 4}}
    events = [{"at_s": 0.2, "save_ground": "before.npz"}, crater, {"every_s": 0.5, "save_ground": "later.npz"}]
    sim = covey.Simulation(world_of(), events=events, recording=tmp_path / "run", stop=covey.Stop(timeout_s=1.1))
    sim.do({"save_ground": "called.asc"})
    run = sim.run()
    at = {path.name: Ground.from_file(path).altitude_at((0, 0)) for path in (tmp_path / "run" / "grounds").iterdir()}
    assert at == {"before.npz": 0, "later.npz": -2, "later-2.npz": -2, "called.asc": 0}
    saved = run.events.filter(run.events["kind"] == "ground_saved")["other"].to_list()
    assert saved == ["called.asc", "before.npz", "later.npz", "later-2.npz"]
    assert recorded_inputs(run) == [{"at_step": 0, "save_ground": "called.asc"}]
    recording = covey.Recording(folder=tmp_path / "run", overwrite=True)
    again = covey.Simulation(world_of(), recording=recording, stop=covey.Stop(timeout_s=0.1))
    again.run()
    assert list((tmp_path / "run" / "grounds").iterdir()) == []  # those of the run that was replaced


@pytest.mark.parametrize(
    "name",
    ["../after.npz", "/tmp/after.npz", "a/b.npz", "after", "after.doc", ".npz", "a.b.npz", "a.npz\n", "", "ä.npz"],
)
def test_a_name_that_leads_out_of_the_folder_is_refused(name, tmp_path):
    sim = covey.Simulation(world_of(), recording=tmp_path / "run")
    with pytest.raises(InvalidValueError, match=r"cannot be the file name of a ground.*for example after\.npz"):
        sim.do({"save_ground": name})


def test_a_plain_world_has_no_ground_to_save():
    with pytest.raises(InvalidValueError, match="this world has no ground to save"):
        covey.Simulation(covey.World.empty(5, 5), events=[{"at_s": 1, "save_ground": "after.npz"}])
