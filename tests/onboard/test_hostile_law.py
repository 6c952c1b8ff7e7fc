"""Laws that attack what they are given: nothing but the team that they command may change."""

import types

import numpy as np
import pytest

import covey
from covey.onboard.group_view import GroupView, Later, seen
from covey.runtime.phases.deciding import Deciding
from covey.testing.boundary import TRUTH, reachable_from

STARTS = [(1, 1, 0.7), (3, 2, 0.8), (5, 5, 0.9)]
RING = {"kind": "proximity", "range_m": 3.0}


def play(law, **settings):
    given = {"robots": 3, "starts": STARTS, "sensors": [RING], "stop_s": 0.3, "speed": "max"}
    return covey.play(law, **(given | settings))


def undecorated(attack):
    return lambda team: attack(team)


def declared(attack):
    return covey.law(lambda team: attack(team), sees=("position", "proximity"))


def declared_with_addon(attack):
    return covey.law(lambda team: attack(team), sees=("position", "proximity", "middle"))


def of_each(attack):
    return covey.law(lambda me: attack(me), sees=("pose", "proximity"), graph=covey.graphs.proximity(4))


class Middle:
    """An add-on that gives an array, and a list of arrays that it keeps."""

    def step(self, team):
        self.kept = [team.position.mean(axis=0)]
        return self.kept


@pytest.mark.parametrize("kind", [undecorated, declared, of_each])
@pytest.mark.parametrize("mixed", [False, True])
def test_no_attribute_closure_or_method_leads_out_of_a_view(kind, mixed):
    found = []

    def attack(team):
        found.extend(
            type(item).__name__
            for item in reachable_from(vars(team))
            if isinstance(item, (*TRUTH, Deciding))
            or (isinstance(item, types.MethodType) and item.__self__ is not team)
        )
        return 0.0, 0.0

    robots = {"robots": [{"count": 2}, {"max_speed_m_s": 0.5}], "starts": None} if mixed else {}
    play(kind(attack), addons=[] if mixed else [Middle], **robots)
    assert found == []


def test_what_is_computed_when_it_is_read_does_not_lead_to_who_computes_it():
    class Secret:
        def links(self):
            return np.ones((2, 2), bool)

    later = Later(Secret().links)
    assert seen(later).all()
    assert [type(item) for item in reachable_from(later)] == [Later]
    assert not [word for word in dir(later) if not word.startswith("__")]


def test_the_undecorated_law_still_reads_its_links():
    rows = []

    def law(team):
        rows.append(team.neighbours(covey.graphs.radio()).sum(axis=1).tolist())
        return 0.0, 0.0

    play(law, radio=3.0, stop_s=0.1)  # robots 0 and 1 are 2.24 m apart, 1 and 2 are 3.6 m apart
    assert rows == [[1, 1, 0]]


@pytest.mark.parametrize("kind", [undecorated, declared_with_addon, of_each])
def test_writing_into_every_array_changes_nothing(kind):
    def nothing(team):
        return 0.3, 0.2

    def attack(team):
        for array in [item for item in reachable_from(vars(team)) if isinstance(item, np.ndarray)]:
            try:
                array.flags.writeable = True
                array[...] = np.ones((), array.dtype)
            except ValueError:
                pass
        return 0.3, 0.2

    innocent, hostile = (play(kind(how), addons=[Middle]) for how in (nothing, attack))
    assert hostile.poses.tobytes() == innocent.poses.tobytes()
    assert hostile.workspace.tobytes() == innocent.workspace.tobytes()
    assert np.array_equal(hostile.data["middle"], innocent.data["middle"])
    assert hostile.readings["proximity"].ranges.tobytes() == innocent.readings["proximity"].ranges.tobytes()


def test_a_kept_view_shows_no_more_than_at_first():
    kept = []

    @covey.law(sees=("position",))
    def law(team):
        kept.append((team, team.fields, team.position))
        assert [set(fields) for _, fields, _ in kept] == [{"position"}] * len(kept)
        assert all(name not in vars(view) for view, _, _ in kept for name in ("pose", "true_pose", "heading"))
        assert len({array[0, 0] for _, _, array in kept}) == len(kept), "an old array goes on with the team"
        return 0.5, 0.0

    assert play(law).status == "timeout"


@pytest.mark.parametrize(
    "attack",
    [
        lambda team: vars(team).update(name="evaders"),
        lambda team: vars(team).update(count=1),
        lambda team: team.notes.append(("evaders", 0, "lost")),
        lambda team: team.notes.append((team.name, 7, "there is no such robot")),
        lambda team: team.notes.append((team.name, 0, "x" * 100_000)),
        lambda team: team.notes.append("not a note"),
        lambda team: [team.note(0, "again") for _ in range(1000)],
        lambda team: vars(team).update(notes=None),
    ],
)
def test_a_forged_answer_is_an_error_of_the_law(attack):
    def law(team):
        attack(team)
        return 0.1, 0.0

    with pytest.raises(covey.ControllerError):
        play(law)


def test_a_law_of_a_team_cannot_take_its_groups_away():
    def law(views):
        views.clear()
        return {}

    law.covey_scope, law.covey_sees = "team", ("pose",)
    group = covey.Group("r", covey.robots.disc(), STARTS, law)
    sim = covey.Simulation(covey.World.polygons([(0, 0), (10, 0), (10, 10), (0, 10)]), [group])
    sim.step()
    assert sim.deciding.failed == {0, 1, 2}
    assert "change only team.memory" in sim.deciding.failures[0].text


def test_the_class_and_the_values_of_a_view_stay():
    def law(team):
        for name, value in {"__class__": dict, "name": "evaders", "time": 9.0, "_fields": {}}.items():
            with pytest.raises(AttributeError, match="cannot be set"):
                setattr(team, name, value)
        assert type(team) is GroupView
        return 0.0, 0.0

    assert play(law, stop_s=0.1).status == "timeout"
