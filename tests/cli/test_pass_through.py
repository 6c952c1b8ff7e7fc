"""What is typed reaches what a command calls: each option in its own place, with values that are told apart."""

import importlib
import inspect
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from covey.cli import main

GRAPH = "--domain 7 --distro humble --reach SUBNET"
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "slam a.npz b.npz --relations r.csv --out o --method matching -s key_frame_m=0.5 --seed 3 --resolution 0.1 --force "
    "--continue c": (
        "slam:slam_command",
        {"paths": (Path("a.npz"), Path("b.npz")), "relations": Path("r.csv"), "out": Path("o"), "method": "matching",
         "changes": {"key_frame_m": 0.5}, "seed": 3, "resolution_m": 0.1, "force": True, "quiet": False,
         "unchecked": False, "continued": Path("c")},
    ),
    "slam a.npz --quiet": ("slam:slam_command", {"force": False, "quiet": True, "unchecked": False}),
    "slam a.npz --unchecked": ("slam:slam_command", {"force": False, "quiet": False, "unchecked": True}),
    "slam a.g2o --out o --force": ("slam:graph_command", {"out": Path("o"), "force": True, "quiet": False}),
    "replay-robot run r1 --out o --force --break-at 2.5": (
        "replay:replay_command",
        {"source": Path("run"), "robot": "r1", "out": Path("o"), "force": True, "break_at_s": 2.5},
    ),
    "robot localhost:9 --name r1": ("robot:robot_command", {"address": "localhost:9", "name": "r1"}),
    "play law.py -s gain=2 --speed 3 --robots 4 --stop 5 --seed 6 --save s.npz --plot p.png --film f.gif": (
        "play:play_command",
        {"law": "law.py", "speed": "3", "given": {"gain": 2, "robots": 4, "stop_s": 5.0, "seed": 6},
         "save": Path("s.npz"), "plot": Path("p.png"), "film": Path("f.gif")},
    ),
    "tournament a b --game capture --out o --starts 2 --jobs 3 --step-seconds 4 --game-seconds 5 --memory 6 --quiet": (
        "tournament:tournament_command",
        {"game": "capture", "out": Path("o"), "starts": 2, "jobs": 3, "quiet": True,
         "limits": {"step_s": 4.0, "game_s": 5.0, "memory_mib": 6.0}},
    ),
    "map a.png -s wall_below=0.4 --out p.png --save m.yaml --door 0.9": (
        "map:map_command",
        {"path": Path("a.png"), "changes": {"wall_below": 0.4}, "out": Path("p.png"), "save": Path("m.yaml"),
         "door_m": 0.9},
    ),
    "lessons check f --lesson 3 --seconds 50 --jobs 2 --format csv --quiet": (
        "lessons:check_command",
        {"folder": Path("f"), "lesson": 3, "seconds": 50.0, "jobs": 2, "form": "csv", "quiet": True},
    ),
    "results d --format csv --out o --trusted-only": (
        "design:results_command", {"source": "d", "form": "csv", "out": Path("o"), "trusted_only": True}
    ),
    "report d --results r --out o --trusted-only": (
        "design:report_command", {"source": "d", "results": Path("r"), "out": Path("o"), "trusted_only": True}
    ),
    "compare a b -m t90_s --format latex --trusted-only": (
        "design:compare_command", {"a": "a", "b": "b", "metrics": ["t90_s"], "form": "latex", "trusted_only": True}
    ),
    "view a b --host 127.0.0.2 --port 7001 --until-closed": (
        "view:view_command",
        {"folder": Path("a"), "beside": Path("b"), "host": "127.0.0.2", "port": 7001, "until_closed": True},
    ),
    "export a --format log --out o --robot r1": (
        "view:export_command", {"folder": Path("a"), "form": "log", "out": Path("o"), "robot": "r1"}
    ),
    "run smoke --seed 3 --out o --jobs 2 --shard 1/2 --dry-run --trusted-only": (
        "design:run_design_command",
        {"source": "smoke", "out": Path("o"), "seed": 3, "jobs": 2, "cluster": None, "shard": "1/2", "dry_run": True,
         "retry_failed": False, "quiet": False, "trusted_only": True, "trust": False, "page": None},
    ),
    "run smoke --cluster c.yaml --retry-failed --trust --live --port 7001 --quiet": (
        "design:run_design_command",
        {"cluster": "c.yaml", "shard": None, "dry_run": False, "retry_failed": True, "quiet": True, "trust": True,
         "trusted_only": False, "page": ("127.0.0.1", 7001)},
    ),
    f"ros run s -s seed=4 --out o --speed 2 --watch {GRAPH} --stamped --no-localization --timeout 1.5 --battery 9 --force": (
        "ros:ros_run_command",
        {"source": "s", "changes": {"seed": 4}, "graph": (7, "humble", "SUBNET"), "out": Path("o"), "force": True,
         "quiet": False, "trusted_only": False, "page": None,
         "settings": {"speed": 2.0, "drives": False, "stamped": True, "localization": False, "navigation": True,
                      "true_map": False, "true_poses": False, "prefixed": False, "timeout_s": 1.5, "battery_wh": 9.0}},
    ),
    "ros run s --no-navigation --map --quiet --live --port 7001": (
        "ros:ros_run_command",
        {"quiet": True, "force": False, "page": ("127.0.0.1", 7001),
         "settings": {"drives": True, "localization": True, "navigation": False, "true_map": True, "true_poses": False}},
    ),
    "ros run s --truth --prefixed --trusted-only": (
        "ros:ros_run_command",
        {"trusted_only": True, "settings": {"true_map": False, "true_poses": True, "prefixed": True}},
    ),
    f"ros node wander --name tb --scenario s -s seed=4 --localize --namespace n --wall --patience 5 {GRAPH}": (
        "ros_node:ros_node_command",
        {"controller": "wander", "name": "tb", "source": "s", "changes": {"seed": 4}, "localizes": True,
         "graph": (7, "humble", "SUBNET"),
         "settings": {"namespace": "n", "stamped": None, "prefixed": False, "wall": True, "direct": False,
                      "patience_s": 5.0}},
    ),
    "ros node wander --name tb --scenario s --direct": (
        "ros_node:ros_node_command", {"localizes": False, "settings": {"wall": False, "direct": True, "prefixed": False}}
    ),
    "ros launch s -s seed=4 --out o --distro humble --prefixed": (
        "ros_files:launch_command",
        {"source": "s", "changes": {"seed": 4}, "out": Path("o"), "distro": "humble", "prefixed": True},
    ),
    "ros import b.mcap --to map --out o --robot r1 --poses slam --map /m --force": (
        "ros_bags:import_command",
        {"path": Path("b.mcap"), "kind": "map", "out": Path("o"), "robot": "r1", "poses": "slam", "map_topic": "/m",
         "force": True, "quiet": False, "unchecked": False},
    ),
    f"ros play b.mcap --namespace n --topic /scan --speed 3 --time wall {GRAPH}": (
        "ros_play:play_command",
        {"path": Path("b.mcap"), "graph": (7, "humble", "SUBNET"), "namespace": "n", "topics": ["/scan"], "speed": 3.0,
         "time_from": "wall"},
    ),
}  # fmt: skip
"""Of each line, the function and what its parameters are; of a record, the fields that are named."""


@pytest.mark.parametrize("typed", CASES)
def test_each_option_has_its_own_place(typed, monkeypatch):
    (module, _, name), expected = CASES[typed][0].partition(":"), CASES[typed][1]
    module = importlib.import_module(f"covey.cli.{module}")
    signature, given = inspect.signature(getattr(module, name)), []
    monkeypatch.setattr(module, name, lambda *args, **how: given.append(signature.bind(*args, **how).arguments) or 0)
    assert main(typed.split()) == 0
    assert {
        key: _plain(given[0].get(key, signature.parameters[key].default), expected[key]) for key in expected
    } == expected


def _plain(value, expected):
    """Return a record as the fields that are expected of it."""
    if not isinstance(expected, dict) or isinstance(value, dict):
        return value
    fields = asdict(value) if is_dataclass(value) else value._asdict() if hasattr(value, "_asdict") else vars(value)
    return {name: fields[name] for name in expected}
