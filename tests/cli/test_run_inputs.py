"""`covey run --inputs`: a run in which somebody intervened, again, to the same bytes."""

import pytest

import covey
from covey.cli import main
from covey.events.inputs import recorded_inputs
from covey.scenario.load import parse_scenario
from covey.scenario.run import run_scenario

SCENARIO = """
name: rooms
world: {workspace_m: [[0, 0], [10, 0], [10, 6], [0, 6]], walls_m: [[[5, 0], [5, 6]]], resolution_m: 0.1}
doors: [{name: d, box_m: [4.8, 2, 5.2, 4]}]
robots: [{name: scout, robot: pioneer3dx, count: 2, start: {together: {around: [2, 3]}}, controller: minpos}]
events: [{at_s: 2.5, wall: {from: [9, 2], to: [9, 3]}}]
stop: {timeout_s: 6}
seed: 4
"""


def bytes_of(folder):
    tables = {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet")) if path.stem != "host"}
    return tables | {"maps.npz": (folder / "maps.npz").read_bytes()}


def intervene(sim):
    if sim.clock.step == 5:
        sim.close_door("d")
        sim.fault("radio_dies", "any", for_s=1.0)
    if sim.clock.step == 20:
        sim.add_wall([7, 1], [8, 1])
        sim.add_wall([0.5, 3], [4.5, 3])  # a robot stands there
    if sim.clock.step == 30:
        sim.fault("localization_jumps", "any")
        sim.do({"door": "any", "to": "toggle"})


def run_again(folder, out, *options):
    return main(["run", "--inputs", str(folder), "--out", str(out), "-q", "--no-pictures", *options])


@pytest.mark.slow
def test_a_run_with_its_inputs_has_the_same_bytes(tmp_path, capsys):
    scenario = parse_scenario(SCENARIO)
    first = run_scenario(scenario, tmp_path / "first", before_step=intervene)
    assert len(recorded_inputs(first)) == 6
    assert {"wall_added", "refused", "fault"} <= set(first.events["kind"])
    assert run_again(tmp_path / "first", tmp_path / "again") == 3
    assert bytes_of(tmp_path / "again") == bytes_of(tmp_path / "first")
    assert run_again(tmp_path / "again", tmp_path / "third") == 3, "the second has inputs too"
    assert bytes_of(tmp_path / "third") == bytes_of(tmp_path / "first")
    run_scenario(scenario, tmp_path / "without")
    assert bytes_of(tmp_path / "without") != bytes_of(tmp_path / "first")


def test_a_run_that_was_ended_by_hand_ends_there_again(tmp_path):
    def end(sim):
        intervene(sim)
        if sim.clock.step == 33:
            sim.end()

    assert run_scenario(parse_scenario(SCENARIO), tmp_path / "first", before_step=end).status == "stopped"
    assert run_again(tmp_path / "first", tmp_path / "again") == 3
    assert bytes_of(tmp_path / "again") == bytes_of(tmp_path / "first")


def test_changes_of_the_scenario_meet_the_same_inputs(tmp_path):
    run_scenario(parse_scenario(SCENARIO), tmp_path / "first", before_step=intervene)
    assert run_again(tmp_path / "first", tmp_path / "again", "--seed", "5") == 3
    again = covey.Run(tmp_path / "again")
    assert again.manifest["seed"] == 5
    assert recorded_inputs(again) == recorded_inputs(covey.Run(tmp_path / "first"))


@pytest.mark.parametrize(
    ("make", "options", "why"),
    [
        (lambda folder: None, (), "no such folder"),
        (lambda folder: folder.mkdir(), (), "is not a run folder"),
        (lambda folder: covey.Simulation(covey.World.empty(6, 6), recording=folder).close(), (), "not run from a scen"),
        (
            lambda folder: run_scenario(parse_scenario(SCENARIO), folder, before_step=intervene),
            ("-s", "doors=[]"),
            "at step 5 does not fit: event.door: this world has no doors",
        ),
    ],
)
def test_what_cannot_be_run_again_is_refused_with_words(tmp_path, capsys, make, options, why):
    make(tmp_path / "first")
    assert run_again(tmp_path / "first", tmp_path / "again", *options) in (1, 2)
    assert why in capsys.readouterr().err


def test_a_design_has_no_inputs(capsys):
    assert main(["run", "smoke", "--inputs"]) == 2
    assert "--inputs is for scenarios" in capsys.readouterr().err
