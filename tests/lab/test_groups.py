"""A law for each group of robots."""

import numpy as np
import pytest

import covey
from covey.cli import main
from covey.errors import ControllerError, InvalidValueError

QUICK = {"stop_s": 0.5, "speed": "max"}


def ahead(team):
    return 0.5, 0.0


def stand(team):
    return 0.0, 0.0


def test_each_law_drives_its_group():
    robots = {
        "slow": {"starts": [(3, 3, 0), (3, 7, 0)]},
        "fast": {"starts": [(7, 5, 0)], "kinematics": "holonomic", "max_speed_m_s": 2.0},
    }
    out = covey.play({"fast": lambda team: (0.0, 2.0), "slow": ahead}, robots, **QUICK)
    assert out.names == ("fast0", "slow0", "slow1")  # in the order of the laws
    assert np.allclose(out.poses[-1, :, :2] - out.poses[0, :, :2], [[0, 1], [0.25, 0], [0.25, 0]], atol=1e-6)


def test_a_law_sees_its_group_and_the_poses_of_the_others():
    seen = {}

    def look(team):
        seen[team.name] = team.names, team.position.tolist(), team.others[:, :2].tolist()
        return 0.0, 0.0

    starts = {"a": [(1, 1, 0), (2, 1, 0)], "b": [(5, 5, 0)], "c": [(8, 8, 0)]}
    robots = [{"name": name, "starts": at} for name, at in starts.items()]
    covey.play(dict.fromkeys("abc", look), robots, **QUICK)
    assert seen["b"] == (("b0",), [[5, 5]], [[1, 1], [2, 1], [8, 8]])
    assert seen["a"][1:] == ([[1, 1], [2, 1]], [[5, 5], [8, 8]])


def test_what_a_law_does_not_declare_it_does_not_see():
    @covey.law(sees=("position",))
    def blind(team):
        return team.others[0, 0], 0.0

    with pytest.raises(ControllerError, match="does not see 'others'"):
        covey.play({"a": blind, "b": stand}, **QUICK)


def test_addons_and_end_conditions_are_of_all():
    seen = []

    def law(team):
        seen.append(team.centroid.tolist())
        return 0.0, 0.0

    robots = {"a": {"starts": [(2, 2, 0)]}, "b": {"starts": [(6, 4, 0)]}}
    out = covey.play(
        {"a": law, "b": stand}, robots, addons=["centroid"], until=lambda team: team.count == 2 and "two", **QUICK
    )
    assert seen[0] == [4, 3]
    assert (out.message, out.recorded.manifest["name"]) == ("two", "law, stand")


def test_laws_of_files(tmp_path, caplog, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("settings = dict(robots=9)\n\n\ndef law(team):\n    return 0.5, 0.0\n")
    out = covey.play({"a": "mine.py", "b": stand}, {"a": 1, "b": 1}, **QUICK)
    assert out.names == ("a0", "b0")
    assert "the settings of mine.py do not count" in caplog.text
    (tmp_path / "both.py").write_text(
        "settings = dict(robots={'a': 2, 'b': 1}, stop_s=0.2)\n\n\ndef one(team):\n    return 0.5, 0.0\n\n\n"
        "law = {'a': one, 'b': lambda team: (0, 0)}\n"
    )
    assert main(["play", "both.py", "--speed", "max", "--save", "both.npz"]) == 0
    again = covey.Out.load("both.npz")
    assert again.names == ("a0", "a1", "b0")
    assert np.allclose(again.commands[0, :, 0], [0.5, 0.5, 0.0])


@pytest.mark.parametrize(
    ("laws", "robots", "said"),
    [
        ({}, None, "law is {}; give a law for each group"),
        ({"a": stand, 3: stand}, None, "give a law for each group by its name"),
        ({"a": stand, "b": stand}, 6, r"robots is 6; say how many each law drives: robots=\{'a': 2, 'b': 2\}"),
        ({"a": stand, "b": stand}, {"a": 2}, "there are laws for a, b, and robots for a; give both the same names"),
        ({"a": stand}, [{"count": 2}], "laws for a, and robots for number 1"),
        ({"a": stand}, {"a": "two"}, "robots of 'a' are 'two'; give their number"),
        ({"a": 5}, None, "law of 'a': controller '5' is int"),
        ({"a": lambda: (0, 0)}, None, "law of 'a': .*cannot be called with the team alone"),
    ],
)
def test_what_to_write_instead(laws, robots, said):
    with pytest.raises(InvalidValueError, match=said):
        covey.play(laws, robots, **QUICK)
