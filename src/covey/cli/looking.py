"""Shared by commands that only look: they run no code from files, and report which code they skipped."""

import sys
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from covey.comms.radio import radios_of
from covey.events.checks import blind, deaf, unshared
from covey.registry import Looking, looking
from covey.results.run import Run
from covey.scenario.build import TRIED_CELLS, try_out
from covey.scenario.load import load_scenario, parse_scenario


def refuse_code_of(run: Run) -> None:
    """Raise `ScenarioError` when the scenario of a run names code in a file; a run made in Python has no scenario."""
    if text := run.manifest.get("scenario"):
        with looking():
            parse_scenario(text, file=str(run.folder), trusted_only=True)


def check_scenario(source: str, changes: Mapping[str, Any], trusted_only: bool, trust: bool) -> None:
    """Check a scenario, and print what was checked."""
    with nullcontext(Looking()) if trust else looking(checks=True) as seen:
        loaded = load_scenario(source, changes, trusted_only=trusted_only)
        if seen.stand_ins:
            print(f"{source}: good as far as it could be checked; its robots have not been placed.")
        else:
            ready = try_out(loaded)
            print(f"{source}: good. {ready.summary()}")
            if len(ready.targets):
                print(f"targets: {loaded.mission.summary(ready.targets)}")
            if (cells := ready.world.grid.cells.size) > TRIED_CELLS:
                print(f"not tried: a simulation of {cells} cells; this command tries at most {TRIED_CELLS}")
            groups = [(g.controller.program, g.robot, g.count, g.known_map) for g in loaded.robots]
            seers = [(program, robot) for program, robot, _, _ in groups]
            programs = [program for program, _ in seers]
            warnings = unshared(groups, loaded.share_maps), blind(seers, loaded.mission)
            warnings = *warnings, deaf(programs, radios_of(loaded.radio))
            for warning in filter(None, (*warnings, loaded.mission.doubt(ready.targets))):
                print(f"warning: {warning}", file=sys.stderr)
        say_unread(seen)


def say_unread(seen: Looking, more: str = "") -> None:
    """Print which code was not run, how to run it, and what ``more`` is had then."""
    if seen.unread:
        print(f"not run: {', '.join(seen.unread)}; add --trust to run and check this code{more}")
