"""The trainings of ``examples/learning`` run, give the same bytes for the same seed, and ship what they say."""

import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from covey.controllers.policies.trained import policy_file
from covey.scenario.build import build
from covey.scenario.load import load_scenario

FOLDER = Path(__file__).parents[2] / "examples" / "learning"
CONTROLLERS = {"avoider": ("robot", "onnx"), "pursuers": ("pursuer", "onnx"), "explorer": ("scout", "onnx_each")}


def trained(name, options, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *options])
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")


@pytest.mark.parametrize(("name", "rounds"), [("avoider", 1), ("pursuers", 1), ("explorer", 0)])
def test_a_training_writes_a_policy_that_drives_its_scenario(name, rounds, tmp_path, monkeypatch):
    out = [tmp_path / f"{name}{k}.onnx" for k in range(1 if name == "explorer" else 2)]
    for path in out:
        trained(name, ["--rounds", str(rounds), "--worlds", "2", "--out", str(path)], monkeypatch)
        assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    assert len({path.read_bytes() for path in out}) == 1
    group, controller = CONTROLLERS[name]
    given = {"name": controller, "file": str(out[0])}
    changes = {f"robots.{group}.controller": given, "stop.timeout_s": 5, "execution.on_controller_error": "raise"}
    run = build(load_scenario(FOLDER / f"{name}.yaml", changes)).run()
    assert np.ptp(run.poses[:, 0, :2], axis=0).max() > 0.05


@pytest.mark.parametrize("name", ["avoider", "explorer", "pursuers"])
def test_a_shipped_policy_is_small_and_drives_its_scenario_under_its_name(name):
    file = Path(policy_file(name))
    assert 0 < file.stat().st_size < 1_000_000
    assert {*json.loads(Path(f"{file}.json").read_text())} == {"observe", "action", "every_s"}
    group, controller = CONTROLLERS[name]
    given = {"name": controller, "file": name}
    changes = {f"robots.{group}.controller": given, "stop.timeout_s": 5, "execution.on_controller_error": "raise"}
    run = build(load_scenario(FOLDER / f"{name}.yaml", changes)).run()
    assert np.ptp(run.poses[:, 0, :2], axis=0).max() > 0.3


def test_wrong_sizes_of_a_training_are_one_sentence(tmp_path, monkeypatch, capsys):
    with pytest.raises(SystemExit):
        trained("avoider", ["--worlds", "3", "--out", str(tmp_path / "a.onnx")], monkeypatch)
    assert "--worlds 3 --rounds" in (said := capsys.readouterr().err)
    assert "give an even number of worlds" in said


@pytest.mark.filterwarnings("default")  # of these libraries
@pytest.mark.parametrize(
    ("name", "needs", "options", "said"),
    [
        ("cleanrl_ppo", "torch", ["--worlds", "2", "--steps", "600"], "wrote ppo.onnx"),
        ("sb3_ppo", "stable_baselines3", ["--worlds", "2", "--steps", "64"], "decisions; reward of an episode"),
        ("torchrl_ppo", "torchrl", ["--steps", "1"], "update 0: reward of a decision"),
        ("rllib_ppo", "ray.rllib", ["--steps", "64"], "decisions of the team; reward of an episode"),
    ],
)
def test_a_loop_of_another_library_runs_where_that_is_installed(
    name, needs, options, said, tmp_path, monkeypatch, capsys
):
    pytest.importorskip(needs)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(FOLDER / "loops"))
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *options])
    runpy.run_path(str(FOLDER / "loops" / f"{name}.py"), run_name="__main__")
    assert said in capsys.readouterr().out
