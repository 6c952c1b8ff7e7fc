"""How long a design will take, and the commands that tell."""

import json
import threading

import pytest

from covey.cli import main
from covey.experiments.design.describe import family_of, stop_text, table, values_text
from covey.experiments.design.estimate import TimeEstimate, TrialRun, estimate
from covey.experiments.design.load import parse_design
from covey.runtime.simulation import Simulation
from covey.runtime.stop import Stop

TWO = "design: two\nscenario: room.yaml\niterations: 3\nparameters: {robots.scout.count: [2, 1, 4]}\n"


def test_the_probes_are_the_smallest_and_the_largest_team(write):
    write()
    found = estimate(parse_design(TWO))
    assert [(p.vector, p.robots, p.simulated_s, p.status) for p in found.probes] == [
        (1, 1, 3.0, "timeout"),
        (2, 4, 3.0, "timeout"),
    ]
    low, high = (probe.wall_s for probe in found.probes)
    assert (found.vectors, found.runs) == (3, 9)
    assert found.total_s == pytest.approx(3 * (low + (low + (high - low) / 3) + high))


def test_a_probe_that_is_given_up_is_extrapolated_to_the_timeout(write):
    write()
    probe = estimate(parse_design(TWO), probe_s=0.0).probes[0]
    assert (probe.status, probe.simulated_s) == ("", 3.0)


def test_a_probe_that_fails_leaves_no_simulation_open(write, monkeypatch):
    write()
    step, before = Simulation.step, set(threading.enumerate())

    def fails(sim):
        step(sim)
        count[0] += 1
        if count[0] == 40:  # 30 steps are for warming up
            raise RuntimeError("the disk is gone")

    count = [0]
    monkeypatch.setattr(Simulation, "step", fails)
    with pytest.raises(RuntimeError, match="the disk is gone") as raised:
        estimate(parse_design(TWO))
    watchdogs = [t for t in set(threading.enumerate()) - before if t.name == "covey-watchdog"]
    for thread in watchdogs:
        thread.join(2.0)
    assert not any(thread.is_alive() for thread in watchdogs), raised


def test_more_jobs_than_runs_do_not_help():
    probe = TrialRun(0, {}, 1, 10.0, 100.0, "reached")
    assert TimeEstimate(1, 2, (probe, probe), 20.0).wall_s(1) == 20.0
    assert TimeEstimate(1, 2, (probe, probe), 20.0).wall_s(8) == 10.0


def test_check_prints_the_table_the_number_of_runs_and_how_the_time_was_found(write, capsys):
    write(two_yaml=TWO + "measurements: [{every_s: 1, record: [cpu_percent]}]\n")
    assert main(["check", "two.yaml", "--jobs", "3"]) == 0
    said = capsys.readouterr().out
    assert "3 vectors x 3 iterations = 9 runs" in said
    assert "with --jobs 3" in said
    assert "vector 1 (robots.scout.count 1)" in said
    assert "cpu_percent will be empty" in said


def test_check_refuses_a_bad_design_with_its_place(write, capsys):
    write(two_yaml=TWO.replace("count", "cuont"))
    assert main(["check", "two.yaml"]) == 2
    assert capsys.readouterr().err.startswith("two.yaml:4:")
    assert main(["check", "tabel4"]) == 2
    assert "did you mean 'table4'" in capsys.readouterr().err


def test_show_list_and_schema_know_designs(capsys):
    assert main(["show", "table4"]) == 0
    said = capsys.readouterr().out
    assert "1 to 30" in said
    assert "share_maps.rule: probabilistic" in said
    assert main(["list", "designs"]) == 0
    assert "minotaur_study" in capsys.readouterr().out
    assert main(["schema", "design"]) == 0
    assert "iterations" in json.loads(capsys.readouterr().out)["properties"]


@pytest.mark.parametrize(
    ("path", "family"),
    [
        ("robots.scout.robot.sensors.lidar.range_m", "robot"),
        ("robots.scout.localization", "robot"),
        ("robots.scout.start", "fleet"),
        ("share_maps.rule", "fleet"),
        ("world.terrain", "environment"),
        ("events", "environment"),
    ],
)
def test_parameters_have_families(path, family):
    assert family_of(path) == family


def test_a_table_tells_what_varies_and_leaves_out_what_is_replaced(write):
    write()
    design = parse_design(
        "design: d\nscenario: room.yaml\nvectors: {sobol: 8}\nparameters:\n"
        "  team: [{label: one, set: {robots.scout.count: 1}}, {label: two, set: {robots.scout.count: 2}}]\n"
        "  radio.range_m: {from: 1.0, to: 9, count: 3}\n"
    )
    rows = {row.name or row.element: row for row in table(design)}
    assert (rows["team"].value, rows["team"].family, rows["team"].varies) == ("one, two", "fleet", True)
    assert rows["radio.range_m"].value == values_text(design.parameters["radio.range_m"]) == "1 to 9, 3 values"
    assert "robots.scout.count" not in rows
    assert "radio" not in rows
    assert rows["vectors"].value == "Sobol sample of 8"
    assert rows["world"].value == "{empty_m: [8, 8]}"


def test_the_stop_of_one_map_is_said():
    assert stop_text(Stop(explored=0.9, of="one_map")) == "90 % explored and in the map of one robot, or 2000 s"
    assert stop_text(Stop(explored=0.9, of="all_maps")) == "90 % explored and in the map of each robot, or 2000 s"
