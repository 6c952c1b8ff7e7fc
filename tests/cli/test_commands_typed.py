"""Events that are typed while a run goes on."""

import io
import os
import threading

import pytest

import covey
from covey.cli import main
from covey.cli.commands import StreamCommands, event_of
from covey.errors import CoveyError
from covey.events.inputs import recorded_inputs
from covey.results.run import Run


def test_a_typed_wall_stands_from_the_next_step_on_and_what_is_wrong_is_said():
    said = io.StringIO()
    commands = StreamCommands(io.StringIO("wall: {from: [1, -1], to: [1, 1]}\n\nwal: {}\n"), said)
    commands.reader.join()
    sim = covey.Simulation(covey.World.empty(6, 6))
    commands(sim)
    sim.step()
    assert sim.world.solid[sim.world.grid.to_cells((1, 0))[0], sim.world.grid.to_cells((1, 0))[1]]
    assert "not done" in said.getvalue()
    assert "an event is one of" in said.getvalue()


def test_after_a_hundred_wrong_lines_in_a_row_no_more_is_read():
    said = io.StringIO()
    right = "wall: {from: [1, -1], to: [1, 1]}\n"
    commands = StreamCommands(io.StringIO("a: 1\n" * 99 + right + "a: 1\n" * 100 + right), said)
    commands.reader.join()
    sim = covey.Simulation(covey.World.empty(6, 6))
    commands(sim)
    sim.step()
    assert len(sim.inputs.applied) == 1
    assert said.getvalue().count("not done: {") == 199
    assert said.getvalue().endswith("no more is read; the run goes on without\n")


@pytest.mark.parametrize("content", [b"\xd7\x9e\xff\n" * 3, b"0 " * 30_000], ids=["bytes", "a long line"])
def test_commands_that_are_no_text_are_refused_in_words(tmp_path, content, capsys):
    (tmp_path / "bytes").write_bytes(content)
    run = ["run", "hello", "-q", "--no-pictures", "--out", str(tmp_path / "run")]
    assert main([*run, "--commands", str(tmp_path / "bytes")]) in (0, 3)
    assert "not done: " in capsys.readouterr().err
    assert not recorded_inputs(Run(tmp_path / "run"))


def test_a_pipe_of_events_reaches_a_run(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    feeder = threading.Thread(target=lambda: pipe.write_text("remove: {polygon_m: [[0, 0], [1, 0], [1, 1]]}\n"))
    feeder.start()
    code = main(
        [
            "run",
            "hello",
            "--commands",
            str(pipe),
            "--speed",
            "20",
            "-q",
            "--no-pictures",
            "--out",
            str(tmp_path / "run"),
        ]
    )
    feeder.join()
    assert code in (0, 3)
    (event,) = recorded_inputs(Run(tmp_path / "run"))
    assert event["remove"] == {"polygon_m": [[0, 0], [1, 0], [1, 1]]}


def test_what_is_typed_reaches_a_run(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("remove: {polygon_m: [[0, 0], [1, 0], [1, 1]]}\n"))
    out = str(tmp_path / "run")
    assert main(["run", "hello", "--commands", "-", "--speed", "20", "-q", "--no-pictures", "--out", out]) in (0, 3)
    assert len(recorded_inputs(Run(tmp_path / "run"))) == 1


def test_a_file_that_is_not_there(tmp_path, capsys):
    assert main(["run", "hello", "--commands", str(tmp_path / "none")]) == 2
    assert "--commands" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["crater", "3", "{", "a: [1"])
def test_lines_that_are_no_event(line):
    with pytest.raises(CoveyError):
        event_of(line)


def test_a_wall_that_sticks_out_of_the_world_does_not_end_the_run():
    from covey.scenario.build import build
    from covey.scenario.load import parse_scenario

    simulation = build(parse_scenario("world: {empty_m: [4, 4]}\nrobots: [{robot: disc, controller: wander}]\n"))
    errors = io.StringIO()
    line = "wall: {polygon_m: [[1, 1], [1.5, 1], [1.5, 9], [1, 1.5]]}, name: spike\n"
    commands = StreamCommands(io.StringIO(line), errors)
    commands.reader.join()
    for _ in range(3):
        commands(simulation)
        simulation.step()
    assert simulation.clock.step == 3
    assert not errors.getvalue()
    assert simulation.world.solid[simulation.world.grid.cell_at(1.45, 1.8)]
    simulation.close()
