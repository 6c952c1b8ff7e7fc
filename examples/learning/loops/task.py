"""The task of the loops in this folder: eight robots cross a room, each to a place of its own."""

import argparse
from pathlib import Path
from typing import Any

import covey
from covey.learning import vector_env

SCENARIO = Path(__file__).parent.parent / "avoider.yaml"
CHANGES = {"mission": "exploration", "stop.timeout_s": 20, "robots.robot.controller": "still"}
SETTINGS: dict[str, Any] = {"goals": True, "observe": ["goal", "velocity", "ranges", "neighbours"], "every_s": 0.2}


def one() -> Any:
    """Return one world, a ParallelEnv of PettingZoo."""
    return covey.env(covey.load_scenario(SCENARIO, CHANGES), **SETTINGS)


def many(worlds: int, autoreset: Any) -> Any:
    """Return many worlds, a VectorEnv of Gymnasium."""
    return vector_env(covey.load_scenario(SCENARIO, CHANGES), worlds, autoreset=autoreset, **SETTINGS)


def arguments(doc: str, steps: int) -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=32, help="worlds (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=steps, help="decisions of all robots (default: %(default)s)")
    return parser.parse_args()
