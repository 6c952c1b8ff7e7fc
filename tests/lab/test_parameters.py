"""Parameters of laws, laws that are done, and files that play themselves."""

import numpy as np
import pytest

import covey
from covey.cli import main
from covey.errors import InvalidValueError, UnknownNameError
from covey.onboard.step import GroupOutput
from covey.runtime.transport.codec import decoded_twists, encoded_twists

QUICK = {"stop_s": 1.0, "speed": "max"}
SQUARE = [(0, 0), (10, 0), (10, 10), (0, 10)]


def speeds(out):
    return np.hypot(*out.commands[0, :, :2].T)


def test_a_law_that_ships_takes_its_parameters_from_the_call():
    once = speeds(covey.play("lloyd", 3, kinematics="holonomic", gain=0.01, **QUICK))
    twice = speeds(covey.play("lloyd", 3, kinematics="holonomic", gain=0.02, **QUICK))
    assert once.min() > 0
    assert twice == pytest.approx(2 * once)  # the velocity is k (C - p)
    again = covey.play({"name": "lloyd", "gain": 0.02}, 3, kinematics="holonomic", **QUICK)
    assert speeds(again) == pytest.approx(twice)


def test_an_own_law_takes_its_parameters_too():
    def law(team, speed_share=1.0):
        return 0.5 * speed_share, 0.0

    assert speeds(covey.play(law, speed_share=0.5, **QUICK)) == pytest.approx([0.25])


def test_a_law_of_a_group_has_parameters_of_its_own():
    laws = {"a": {"name": "go_to", "goals_m": [(9, 5)], "gain": 0.1}, "b": {"name": "go_to", "goals_m": [(9, 5)]}}
    own = {"starts": [(5, 5, 0)], "kinematics": "holonomic"}
    out = covey.play(laws, {"a": own, "b": own | {"starts": [(5, 7, 0)]}}, **QUICK)
    assert out.commands[0, :, :2] == pytest.approx(np.array([(0.4, 0.0), (4.0, -2.0) / np.sqrt(20.0)]))


def test_the_parameter_of_a_controller_that_is_called_as_a_setting_is_given_with_it():
    out = covey.play({"name": "wander", "speed": 0.5}, sensors=["proximity"], starts=[(5, 5, 0)], **QUICK)
    assert np.abs(out.commands[..., 0]).max() == pytest.approx(0.5)  # of the top speed, 1 m/s


def test_wrong_parameters_are_told_with_the_right_ones():
    with pytest.raises(UnknownNameError, match="unknown setting 'gian', did you mean 'gain'"):
        covey.play("lloyd", gian=2, **QUICK)
    with pytest.raises(InvalidValueError, match=r"lloyd\.gain: must be greater than or equal to 0; given: -2"):
        covey.play("lloyd", gain=-2, **QUICK)


def test_parameters_and_settings_are_typed_after_set(capsys, tmp_path):
    table = str(tmp_path / "run.npz")
    typed = ["play", "go_to", "-s", "goals_m=[[9, 5]]", "-s", "gain=0.1", "-s", "starts=[[5, 5, 0]]"]
    assert main([*typed, "-s", "kinematics=holonomic", "--stop", "1", "--speed", "max", "--save", table]) == 0
    assert covey.Out.load(table).commands[0, 0, :2].tolist() == pytest.approx([0.4, 0.0])
    assert main(["play", "wander", "-s", "robots=2", "-s", "stop_s=1", "--speed", "max"]) == 0
    assert "2 robots, 1 s" in capsys.readouterr().out, "-s sets what has an option of its own, too"
    assert main(["play", "go_to", "-s", "gian=1", "--speed", "max"]) == 2
    assert "did you mean 'gain'" in capsys.readouterr().err


# -- what laws do without parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize("corner", [(0.0, 0.0), (-30.0, 7.0)])
def test_a_field_without_goals_leads_to_the_middle(corner):
    workspace = np.array(SQUARE) + corner
    out = covey.play("potential_field", workspace=workspace.tolist(), stop_s=40, speed="max")
    assert np.hypot(*(out.poses[-1, 0, :2] - workspace.mean(axis=0))) <= 0.1


def test_robots_circle_around_the_middle_without_a_beacon():
    out = covey.play("circular_motion", starts=[(8, 5, np.pi / 2)], stop_s=120, speed="max")
    radii = np.hypot(*(out.poses[-300:, 0, :2] - 5).T)
    assert radii == pytest.approx(3.053, abs=0.01)  # Ceccarelli et al. 2008, see docs/laws.md


def test_a_flock_goes_to_the_middle_without_a_goal():
    out = covey.play("olfati_saber", 3, kinematics="holonomic", c1=0.3, c2=1.0, stop_s=60, speed="max")
    assert out.poses[-1, :, :2].mean(axis=0).tolist() == pytest.approx([5, 5], abs=0.2)


def test_robots_that_hear_each_other_cover_the_workspace_of_the_run():
    starts = [(1, 1, 0), (2, 1, 0), (1, 2, 0), (2, 2, 0)]
    out = covey.play("lloyd_by_radio", 4, starts=starts, kinematics="holonomic", stop_s=25, speed="max")
    middles = np.array([(2.5, 2.5), (2.5, 7.5), (7.5, 2.5), (7.5, 7.5)])  # of four squares
    gap = np.hypot(*(middles[:, None] - out.poses[-1, :, :2]).T)
    assert gap.min(axis=0).max() < 0.3


def test_the_middle_of_an_l_is_that_of_its_area():
    from covey.controllers.laws.steering import middle_of

    corner = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 3), (0, 3)]  # 2 m² around (1, 0.5), and 2 m² around (0.5, 2)
    assert middle_of(np.array(corner)).tolist() == pytest.approx([0.75, 1.25])
    assert middle_of(np.array(corner[::-1])).tolist() == pytest.approx([0.75, 1.25])


# -- laws that are done ------------------------------------------------------------------------------------------------


def test_a_pursuit_ends_with_the_capture():
    out = covey.play("pursuit", starts=[(4, 5, 0), (5, 5, 0)], robots=2, evasion="diagonal", speed_m_s=1.5, stop_s=60)
    (note,) = out.events.filter(out.events["kind"] == "note").iter_rows(named=True)
    assert note["text"] == "caught by robot0"
    assert (out.status, out.time[-1]) == ("reached", note["time_s"])
    assert out.time[-1] < 30


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch):
    """Let runs without a speed not wait."""
    before = covey.play

    def quick(*given, **settings):
        return before(*given, **{"speed": "max", **settings})

    monkeypatch.setattr(covey, "play", quick)


def test_a_run_goes_on_until_every_law_is_done():
    def until(seconds):
        def law(team):
            if team.time >= seconds - 1e-9:
                team.finish()
            return 0.1, 0.0

        return law

    assert covey.play(until(0.5), stop_s=2.0).time[-1] == pytest.approx(0.6)
    laws = {"a": until(0.5), "b": until(1.0)}
    out = covey.play(laws, stop_s=2.0)
    assert (out.time[-1], out.status) == (pytest.approx(1.1), "reached")
    assert covey.play({"a": until(0.5), "b": lambda team: (0.1, 0.0)}, stop_s=2.0).status == "timeout"


def test_a_law_of_a_mixed_team_is_done_too():
    def law(team):
        if team.time >= 0.5 - 1e-9:
            team.finish()
        return 0.1, 0.0

    mixed = [{"count": 1}, {"kinematics": "holonomic"}]
    assert covey.play(law, mixed, stop_s=2.0).time[-1] == pytest.approx(0.6)


def test_the_process_of_a_law_sends_that_it_is_done():
    sent = GroupOutput({"a": np.zeros((1, 3))}, is_done=True)
    assert decoded_twists(encoded_twists(sent)).is_done
    assert not decoded_twists(encoded_twists(sent._replace(is_done=False))).is_done


# -- files that play themselves ----------------------------------------------------------------------------------------

SELF = """import covey

def law(team):
    return {speed}, 0.0

out = covey.play(law, robots=2, stop_s=5, workspace=[(0, 0), (20, 0), (20, 20), (0, 20)])
print(out.poses.shape)
raise SystemExit("what is below a call of play is not run")
"""


def test_a_file_that_plays_its_law_is_played_with_what_it_gives(tmp_path, caplog):
    file = tmp_path / "mine.py"
    file.write_text(SELF.format(speed=0.25))
    out = covey.play(str(file), stop_s=1.0)
    assert out.poses.shape == (11, 2, 3)
    assert speeds(out).tolist() == [0.25, 0.25]
    assert out.workspace.max() == 20
    assert "mine.py sets stop_s=5; the call overrules it: stop_s=1.0" in caplog.text


def test_another_law_of_such_a_file_is_played_by_its_name(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("import covey\n\ndef other(team):\n    return 0.125, 0.0\n" + SELF.format(speed=0.25))
    assert speeds(covey.play(f"{file}:other", stop_s=1.0)).tolist() == [0.125, 0.125]
