"""What commands that only look have in common: they run no code of any file, and say which."""

import sys
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from covey.events.checks import unshared
from covey.registry import Looking, looking
from covey.scenario.build import TRIED_CELLS, try_out
from covey.scenario.load import load_scenario


def check_scenario(source: str, changes: Mapping[str, Any], trusted_only: bool, trust: bool) -> None:
    """Print that a scenario is good, as far as that is seen."""
    with nullcontext(Looking()) if trust else looking(checks=True) as seen:
        loaded = load_scenario(source, changes, trusted_only=trusted_only)
        if seen.stand_ins:
            print(f"{source}: good as far as it is read; its robots have not been placed.")
        else:
            ready = try_out(loaded)
            print(f"{source}: good. {ready.summary()}")
            if (cells := ready.world.grid.cells.size) > TRIED_CELLS:
                print(f"not tried: a simulation of {cells} cells; worlds of at most {TRIED_CELLS} are")
            groups = [(g.controller.program, g.robot, g.count, g.known_map) for g in loaded.robots]
            if alone := unshared(groups, loaded.share_maps):
                print(f"warning: {alone}", file=sys.stderr)
        say_unread(seen)


def say_unread(seen: Looking) -> None:
    """Print what has not been run, and how it can be."""
    if seen.unread:
        print(f"not run: {', '.join(seen.unread)}; with --trust it is, and what it gives is checked")
