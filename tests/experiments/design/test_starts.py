"""`covey check` of a design places the robots with each of its seeds."""

import pytest

from covey.errors import CoveyError, ScenarioError
from covey.experiments.design import starts
from covey.experiments.design.plan import plan
from covey.experiments.design.records import Design
from covey.experiments.design.starts import check_starts


def design(iterations, start="[[0, 0, 0]]", world=None):
    return Design.model_validate(
        {
            "design": "d",
            "scenario": {
                "world": world or {"generate": "cave", "size_m": [25, 25], "resolution_m": 0.2},
                "robots": [{"name": "r", "robot": "disc", "controller": "still", "start": start}],
            },
            "iterations": iterations,
        }
    )


def fails(one):
    try:
        one.load().build().close()
    except CoveyError:
        return True
    return False


def test_a_start_that_only_some_seeds_wall_in_is_found():
    """A cave of each seed: the middle is free in some, and rock in others."""
    wanted = design(5, start=[[0, 0, 0]])
    runs = plan(wanted)
    failing = [one.iteration for one in runs if fails(one)]
    assert 0 < len(failing) < 5
    first = failing[0]
    with pytest.raises(
        ScenarioError,
        match=rf"\[vector 0, with {len(failing)} of the 5 seeds that were tried, first in "
        rf"iteration {first}, seed {runs[first].seed}\]$",
    ):
        check_starts(wanted)


def test_more_seeds_than_are_tried_are_told(monkeypatch):
    monkeypatch.setattr(starts, "MOST", 3)
    found = check_starts(design(8, start={"apart": {}}))
    assert str(found) == "the robots of the vector have room to start with the first 3 of 8 seeds"


def test_where_nothing_is_drawn_two_seeds_say_it_all(monkeypatch):
    monkeypatch.setattr(starts, "MOST", 3)
    found = check_starts(design(8, start=[[0, 0, 0]], world={"empty_m": [4, 4]}))
    assert str(found) == "the robots of the vector have room to start with all 8 seeds"
