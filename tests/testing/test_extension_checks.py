"""The checks of extension points pass for all that ships, and say what is wrong with what is not."""

import random

import numpy as np
import pytest

import covey
from covey.cli import main
from covey.controllers.policies.actions import Action
from covey.controllers.policies.knowledge import Numbers, OneOf
from covey.controllers.policies.observations import Observation
from covey.errors import InvalidValueError, UnknownNameError
from covey.events import Fault
from covey.events.records import Event, GroundEvent
from covey.mapping.exchange.merge_rules import MergeRule
from covey.mapping.localizer import Estimate, LocalizerRecord
from covey.mapping.records import Mapping
from covey.physics.planar.physics import PlanarPhysics
from covey.physics.records import PhysicsRecord
from covey.planning.planner import AStar, Planner
from covey.registry import registry_of
from covey.sensors import SensorRecord, Values
from covey.testing import POINTS, SensorChecks, check_extension
from covey.world.records.starts import StartRecord


def shipped():
    for checks in (one for one in POINTS if one.of is not None):
        for name, kind in registry_of(checks.point).items().items():
            is_record = isinstance(kind, type) and kind.__module__.startswith("covey.")
            if kind is GroundEvent:  # its check for one change of six needs one
                continue
            if is_record and not any(field.is_required() for field in kind.model_fields.values()):
                yield pytest.param(checks.point, name, id=f"{checks.point}-{name}")


@pytest.mark.slow
@pytest.mark.parametrize(("point", "name"), list(shipped()))
def test_what_ships_is_good(point, name):
    if (point, name) in (("mission", "patrolling"), ("mission", "formation"), ("mission", "rescue")):
        pytest.skip("needs a world of its own; see the tests of missions")
    assert [one for one in check_extension(registry_of(point).get(name)) if one[1]] == []


class Drawn(SensorRecord):
    def read(self, truth, members, keys, sample):
        return Values(truth.pose[members, 0] + random.random())


class Worse(SensorRecord):
    degrades = True

    def read(self, truth, members, keys, sample):
        return Values(truth.pose[members, 0])


class Flat(LocalizerRecord):
    def build(self, names, seed, equipment=None):
        return self

    def update(self, sensed):
        return Estimate(sensed.true_pose[:, :2], np.zeros((3, 3, 3)), np.zeros(3, int))


class Touching(Mapping):
    def measured(self, ranges, angles, range_m):
        ranges[:] = 1.0
        return ranges


class Luck(Event):
    def apply(self, at):
        at.say("luck", says=str(random.random()))


class Nowhere(Fault):
    def can_strike(self, carried):
        return False


class Outside(StartRecord):
    def poses(self, world, radii, random):
        return [[99, 99, 0]] * len(radii)


class Straight(Planner):
    def corners(self, cost, start, goal):
        return np.array([start, goal] if np.isfinite(cost).any(axis=0).all() else [], int).reshape(-1, 2), 0


class Listed(AStar):
    weights: list[float] = [1.0]  # noqa: RUF012


class Everywhere(MergeRule):
    def parts(self, evidence):
        return evidence + 1


class Parked(PhysicsRecord):
    def build(self, world, model, substep_s):
        return Still(world, model, substep_s)


class Still(PlanarPhysics):
    def step(self, state, commands, *further):
        return super().step(state, 0 * commands, *further)


class Wide(Observation):
    def space(self, known):
        return Numbers((2,), 0.0, 1.0)

    def of(self, known):
        return 9.0 + known.pose[:, :2].astype(np.float32)


class Idle(Action):
    def space(self, known):
        return OneOf(3)

    def command(self, chosen, known):
        return np.zeros((len(chosen), 3))


class Luckier:
    def step(self, team):
        return random.random()

    def draw(self, canvas):
        canvas.points([(0, 0)])


@pytest.mark.parametrize(
    ("kind", "check", "problem"),
    [
        (Drawn, "readings are repeatable and independent", "differs between two reads of one sample"),
        (Worse, "it says truly what it feeds", "has no method degrade"),
        (Flat, "estimates are finite repeatable and of the right shape", r"shape \(3, 2\) for 3 robots"),
        (Touching, "scans become the same map twice", "read-only"),
        (Luck, "it happens in the same way twice", "draw from at.random"),
        (Nowhere, "it strikes and ends", "struck no robot"),
        (Outside, "robots fit", "outside the world"),
        (Straight, "routes lead through the gap to the goal", "leads through cells of infinite cost"),
        (Listed, "its fields cannot change", "a field of Listed can change"),
        (Everywhere, "what one robot sees is known to the other", "and 0 for evidence 0"),
        (Wide, "observations fit their space and repeat themselves", "is not within the space"),
        (Idle, "choices move the robots", "moves no robot"),
        (Luckier, "it watches and changes nothing", "gives other data"),
        (Parked, "a team moves the same way twice", "moves no robot"),
    ],
)
def test_what_is_wrong_is_said(kind, check, problem):
    wrong = {name: text for name, text in check_extension(kind) if text}
    assert [*wrong] == [check]
    assert problem.replace("\\", "") in wrong[check]


def test_what_cannot_be_checked_is_refused():
    with pytest.raises(InvalidValueError, match="derive the class from one of SensorRecord"):
        list(check_extension(dict))
    with pytest.raises(InvalidValueError, match="--as metric"):
        list(check_extension(len))
    with pytest.raises(UnknownNameError, match="unknown extension point 'sensr', did you mean 'sensor'"):
        list(check_extension(Drawn, "sensr"))
    with pytest.raises(InvalidValueError, match="Drawn is no localizer; derive it from LocalizerRecord"):
        list(check_extension(Drawn, "localizer"))

    class Needs(SensorRecord):
        range_m: float

        def read(self, truth, members, keys, sample):
            return Values(truth.pose[members, 0])

    with pytest.raises(InvalidValueError, match=r"give each field a default, or subclass covey.testing.SensorChecks"):
        list(check_extension(Needs))

    class Half(SensorRecord):
        """Reads nothing."""

    with pytest.raises(InvalidValueError, match="Half lacks read: write def read"):
        list(check_extension(Half))
    with pytest.raises(NotImplementedError, match="def made"):
        SensorChecks().made()


def test_the_command_says_what_is_wrong_and_ends_with_1(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def hits(run):\n    return [1, 2]\n")
    assert main(["check-extension", "./mine.py:hits", "--as", "metric"]) == 1
    said = capsys.readouterr()
    assert "wrong  it is plain and the same twice: metric hits returns list" in said.out
    assert said.err == "./mine.py:hits: 1 wrong\n"
    assert main(["check-extension", "noise"]) in (0, None)
    assert "noise: good" in capsys.readouterr().out
    assert main(["check-extension", "lidr"]) == 2
    assert "'lidr' is not registered" in capsys.readouterr().err
    assert covey.testing.check_extension is check_extension
