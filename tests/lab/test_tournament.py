"""Tournaments: who loses why, what is played again, and ratings against another optimiser."""

import json
import os
import re
from pathlib import Path

import numpy as np
import psutil
import pytest
from scipy.optimize import minimize

from covey.cli.tournament import tournament_command
from covey.errors import InvalidValueError, UnknownNameError
from covey.lab.tournament import match as match_module
from covey.lab.tournament.apart import can_step_apart
from covey.lab.tournament.fence import OTHERS_SINCE
from covey.lab.tournament.game import Game, GameError
from covey.lab.tournament.match import GameOutcome, LawLimits, VoidGameError, play_match
from covey.lab.tournament.page import write_page
from covey.lab.tournament.ranking import bradley_terry
from covey.lab.tournament.tournament import Tournament
from covey.onboard.controller import Program
from covey.world.placement.start_search import Standing

STILL = "def law(team):\n    return 0.0, 0.0\n"
CHASE = "def law(team):\n    return 1.0, 4.0 * team.bearing_to(team.others[0, :2])\n"
GAME = """
from covey.lab.tournament.game import Game

class Short(Game):
    \"\"\"The farther to the right after two seconds, the better.\"\"\"
    name, stop_s, smaller_wins = "short", 2.0, False

    def starts(self, side, world, random):
        return [[1.0, 5.0, 0.0]]

    def score(self, played):
        return played.poses["laws"][-1, 0, 0]
"""
FAULTS = {
    "raises": ("def law(team):\n    if team.time > 1:\n        return 1 / 0\n    return 0, 0\n", "division by zero"),
    "hangs": ("def law(team):\n    while True:\n        pass\n", "wall time"),
    "hangs_in_c": ("def law(team):\n    sum(range(10**12))\n    return 0, 0\n", "wall time"),
    "eats": ("x = []\ndef law(team):\n    x.append(bytearray(10**9))\n    return 0, 0\n", "emory"),
    "leaves": ("import os\ndef law(team):\n    os._exit(0)\n", ""),
    "forgets": ("def law(team):\n    pass\n", "returned nothing"),
    "is_no_python": ("def law(team:\n", "line 1"),
    "takes_the_other_side": (
        "def law(team):\n    vars(team)['name'] = 'pursuers'\n    return 1, 0\n",
        "changed its view",
    ),
    "writes_for_the_other_side": (
        "def law(team):\n    team.notes.append(('pursuers', 0, 'lost'))\n    return 1, 0\n",
        "changed its view",
    ),
    "peeks": ("def law(team):\n    return team.true_pose\n", "true_pose"),
}


def written(folder: Path, **laws: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in laws.items():
        (folder / f"{name}.py").write_text(text)
    return folder


@pytest.mark.parametrize("fault", FAULTS)
def test_a_law_that_fails_loses(tmp_path, fault):
    text, why = FAULTS[fault]
    folder = written(tmp_path / "laws", bad=text, good=STILL)
    files = {"pursuers": folder / "good.py", "evaders": folder / "bad.py"}
    outcome = play_match("pursuit", files, 0, LawLimits(step_s=0.5, memory_mib=100.0), tmp_path / "run")
    assert outcome.score == 1.0
    assert list(outcome.failed) == ["evaders"]
    assert why in outcome.failed["evaders"]


BROKEN_GAMES = {
    "score": ("return played.poses", "return 1 / 0 or played.poses", ", line 12: ZeroDivisionError: division by zero"),
    "starts": ("[[1.0, 5.0, 0.0]]", "[[1.0, 5.0]]", "give a pose"),
    "workspace": ("    name,", "    workspace = [(0, 0), (1, 0)]\n    name,", "workspace"),
    "no number": ("return played.poses", "played.poses", "returned None; return a number"),
    "over": (
        "    def score",
        "    def over(self, poses, time_s):\n        return poses['all']\n\n    def score",
        ", line 12: KeyError",
    ),
}


@pytest.mark.parametrize("broken", BROKEN_GAMES)
def test_an_error_of_a_game_blames_no_law_and_leaves_no_run(broken, tmp_path):
    old, new, why = BROKEN_GAMES[broken]
    (tmp_path / "short.py").write_text(GAME.replace(old, new))
    files = {"laws": written(tmp_path / "laws", a=STILL) / "a.py"}
    with pytest.raises(GameError) as error:
        play_match(str(tmp_path / "short.py"), files, 0, LawLimits(step_s=10.0), tmp_path / "run")
    assert why in str(error.value)
    assert "no law has lost" in str(error.value) or broken == "no number"
    assert str(tmp_path / "short.py") in str(error.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_tournament_of_a_broken_game_blames_no_law_and_leaves_nothing(tmp_path, capsys):
    old, new, why = BROKEN_GAMES["score"]
    (tmp_path / "short.py").write_text(GAME.replace(old, new))
    laws, out = written(tmp_path / "laws", a=STILL, b=STILL), tmp_path / "out"
    with pytest.raises(GameError) as error:
        tournament_command([laws], str(tmp_path / "short.py"), out, 1, 1, LawLimits(step_s=10.0), False)
    assert why in str(error.value)
    assert str(tmp_path / "short.py") in str(error.value)
    assert "failed" not in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.slow
def test_a_game_that_is_under_way_when_another_breaks_is_kept(tmp_path):
    """The tournament used to leave at once, and left the folder of the other game half-written."""
    once = f"""if not os.path.exists({str(tmp_path / "once")!r}):
            open({str(tmp_path / "once")!r}, "x").close()
            return 1 / 0
        time.sleep(1.0)
        return played.poses"""
    text = GAME.replace("return played.poses", once)
    (tmp_path / "short.py").write_text(f"import os\nimport time\n{text}")
    laws, out = written(tmp_path / "laws", a=STILL, b=STILL), tmp_path / "out"
    with pytest.raises(GameError, match="division by zero"):
        tournament_command([laws], str(tmp_path / "short.py"), out, 1, 1, LawLimits(step_s=10.0), False)
    (row,) = (out / "games").glob("*.json")
    assert json.loads(row.read_text())["score"] == 1.0
    assert sorted(path.name for path in (out / "games").iterdir()) == [row.stem, row.name]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (GAME + "\nimport no_such_thing\n", "line 14: ModuleNotFoundError"),
        (GAME.replace("def starts", "def starts("), "line 8: SyntaxError"),
        (GAME.partition("    def score")[0], "has no score"),
        ("from covey.lab.tournament.game import Game\n", "defines 0 games"),
    ],
)
def test_a_game_that_cannot_be_loaded(text, why, tmp_path):
    (tmp_path / "short.py").write_text(text)
    with pytest.raises(GameError, match=why):
        Tournament(str(tmp_path / "short.py"), [written(tmp_path / "laws", a=STILL)], tmp_path / "out")


def test_a_score_of_two_sides_is_a_share(tmp_path):
    text = GAME.replace("    def score", "    sides = 'reds', 'blues'\n\n    def score").replace('["laws"]', '["reds"]')
    (tmp_path / "short.py").write_text(text.replace("[[1.0, 5.0, 0.0]]", "[[1.0, 3.0 + 2 * (side == 'reds'), 0.0]]"))
    file = written(tmp_path / "laws", a="def law(team):\n    return 1.0, 0.0\n") / "a.py"
    with pytest.raises(GameError, match="share of the first side"):
        play_match(
            str(tmp_path / "short.py"), {"reds": file, "blues": file}, 0, LawLimits(step_s=10.0), tmp_path / "run"
        )
    assert not (tmp_path / "run").exists()


def test_what_a_law_starts_ends_with_its_game(tmp_path):
    mark = str(tmp_path)
    text = (
        "import subprocess, sys\n"
        "def law(team):\n"
        f"    code = ['-c', 'import time; time.sleep(600)', {mark!r}]\n"
        f"    subprocess.Popen([sys.executable, *code], start_new_session={can_step_apart()})\n"
        "    raise ValueError('started')\n"
    )
    folder = written(tmp_path / "laws", bad=text, good=STILL)
    files = {"pursuers": folder / "good.py", "evaders": folder / "bad.py"}
    outcome = play_match("pursuit", files, 0, LawLimits(), tmp_path / "run")
    assert "started" in outcome.failed["evaders"]
    left = [one for one in psutil.process_iter(["cmdline"]) if mark in (one.info["cmdline"] or ())]
    assert not psutil.wait_procs(left, timeout=30.0)[1]


KILLER = """
import os
def law(team):
    if os.getpid() > 9:  # it is not apart: it would end all that runs here
        raise RuntimeError("it has no processes of its own")
    for pid in [-1, *(int(name) for name in os.listdir("/proc") if name.isdecimal() and int(name) != os.getpid())]:
        try:
            os.kill(pid, 9)
        except OSError:
            pass
    return 0.0, 0.0
"""


@pytest.mark.skipif(not can_step_apart(), reason="here a law can end the others")
def test_a_law_that_ends_all_it_can_ends_no_other_law_and_nobody_is_blamed_for_it(tmp_path):
    (tmp_path / "short.py").write_text(
        GAME.replace("    def score", "    sides = 'reds', 'blues'\n\n    def score")
        .replace('played.poses["laws"][-1, 0, 0]', "0.5")
        .replace("[[1.0, 5.0, 0.0]]", "[[1.0, 3.0 + 2 * (side == 'reds'), 0.0]]")
    )
    folder = written(tmp_path / "laws", killer=KILLER, honest=STILL)
    files = {"reds": folder / "killer.py", "blues": folder / "honest.py"}
    outcome = play_match(str(tmp_path / "short.py"), files, 0, LawLimits(step_s=10.0), tmp_path / "run")
    assert (outcome.failed, outcome.ended, outcome.score) == ({}, "time is up", 0.5)


def test_a_law_whose_process_is_killed_loses_unless_another_may_have_done_it(tmp_path, monkeypatch):
    folder = written(tmp_path / "laws", bad="import os\ndef law(team):\n    os.kill(os.getpid(), 9)\n", good=STILL)
    files = {"pursuers": folder / "good.py", "evaders": folder / "bad.py"}
    with monkeypatch.context() as here:
        here.setattr(match_module, "landlock", lambda: OTHERS_SINCE)
        outcome = play_match("pursuit", files, 0, LawLimits(), tmp_path / "run")
    assert outcome.score == 1.0
    assert "its process was killed by signal" in outcome.failed["evaders"]
    monkeypatch.setattr(match_module, "landlock", lambda: OTHERS_SINCE - 1)
    monkeypatch.setattr(match_module, "can_step_apart", lambda: False)
    with pytest.raises(VoidGameError, match=r"evaders: its process was killed by signal .*perhaps by another law"):
        play_match("pursuit", files, 0, LawLimits(), tmp_path / "run")
    assert not (tmp_path / "run").exists()


SENDS = """
import os, pickle
from covey.runtime.remote import serving
from covey.runtime.transport import transport
class Runs:
    def __reduce__(self):
        return os.mkdir, (MINE,)
def law(team):
    serving.codec.encoded_twists = lambda answer: WHAT
    if PICKLED:
        transport.encode = pickle.dumps
    return 0.0, 0.0
"""


@pytest.mark.parametrize(
    ("what", "pickled", "why"),
    [
        ("(Runs(), None, None)", True, "bytes are no plain data"),
        ("(Runs(), None, None)", False, "a Runs cannot be sent; send numbers"),
        ("(None, 5, None)", False, "an answer cannot be read: TypeError"),
        ("('x', None, None)", False, "its answer is not one of evaders"),
    ],
)
def test_what_a_law_sends_runs_no_code_in_the_referee_and_is_blamed_on_no_other(tmp_path, what, pickled, why):
    """The law replaces what encodes its answers, from which its own process cannot keep it."""
    text = SENDS.replace("MINE", repr(str(tmp_path / "mine"))).replace("WHAT", what).replace("PICKLED", str(pickled))
    folder = written(tmp_path / "laws", bad=text, good=STILL)
    files = {"pursuers": folder / "good.py", "evaders": folder / "bad.py"}
    outcome = play_match("pursuit", files, 0, LawLimits(), tmp_path / "run")
    assert outcome.score == 1.0
    assert why in outcome.failed["evaders"]
    assert not (tmp_path / "mine").exists()


@pytest.mark.slow
def test_a_game_whose_files_have_changed_counts_for_nobody_and_is_played_again(tmp_path):
    (tmp_path / "short.py").write_text(GAME)
    folder, out = written(tmp_path / "laws", a=STILL, b=STILL), tmp_path / "out"
    first = Tournament(str(tmp_path / "short.py"), [folder], out)
    written(folder, a="def law(team):\n    return 0.5, 0\n")
    first.play(1)
    assert [(key[0], why) for key, why in first.void.items()] == [("a", "a.py has changed since the tournament began")]
    assert [match.players[0] for match in first.missing] == ["a"]
    assert sorted(path.name[0] for path in (out / "games").iterdir()) == ["b", "b"]


def test_files_of_games_that_somebody_changes_or_removes_are_written_anew(tmp_path):
    (tmp_path / "short.py").write_text(GAME)
    files = written(tmp_path / "laws", a=STILL, b=STILL, c=STILL)
    tournament = Tournament(str(tmp_path / "short.py"), [files], tmp_path / "out")
    for match in tournament.matches:
        tournament._keep(match, GameOutcome(1.0, "", 2.0, {}, {}))
    rows = [tournament._row(match) for match in tournament.matches]
    before = [row.read_bytes() for row in rows]
    rows[0].write_text("{}")
    rows[1].unlink()
    assert tournament.check_rows() == 2
    assert [row.read_bytes() for row in rows] == before
    assert tournament.check_rows() == 0
    for row in rows:
        row.unlink()
    rows[0].parent.rmdir()
    assert tournament.check_rows() == 3
    assert [row.read_bytes() for row in rows] == before


def test_a_wrong_answer_is_found_in_the_file_of_the_law(tmp_path):
    folder = written(
        tmp_path / "laws", bad="import numpy as np\n\n\ndef law(team):\n    return np.ones(3), 0\n", good=STILL
    )
    files = {"pursuers": folder / "good.py", "evaders": folder / "bad.py"}
    outcome = play_match("pursuit", files, 0, LawLimits(), tmp_path / "run")
    assert outcome.failed["evaders"].startswith(
        f"{folder / 'bad.py'}:5 in law: ControllerError: speed has the shape (3,)"
    )


def test_a_faster_pursuer_catches_who_stands_still(tmp_path):
    folder = written(tmp_path / "laws", chase=CHASE, still=STILL)
    files = {"pursuers": folder / "chase.py", "evaders": folder / "still.py"}
    outcome = play_match("pursuit", files, 3, LawLimits(), tmp_path / "run")
    assert (outcome.score, outcome.ended) == (1.0, "caught")
    ways = {side: np.array(way) for side, way in outcome.ways.items()}
    assert (ways["evaders"] == ways["evaders"][0]).all()
    gap = np.hypot(*(ways["pursuers"][0, 0] - ways["evaders"][0, 0]))
    assert outcome.time_s > (gap - 0.3) / 0.9 - 0.11  # not before it can be there at 0.9 m/s


@pytest.mark.slow
def test_only_the_games_of_changed_files_are_played_again(tmp_path, monkeypatch):
    (tmp_path / "short.py").write_text(GAME)
    note = f"import os\nassert os.getpid() != {os.getpid()}\n"  # its code runs, but not in this process
    folder = written(
        tmp_path / "laws", slow=note + "def law(team):\n    return 0.1, 0\n", fast="def law(team):\n    return 0.5, 0\n"
    )
    known = lambda: Tournament(str(tmp_path / "short.py"), [folder], tmp_path / "out")  # noqa: E731
    first = known()
    first.play(1)
    assert [row.name for row in first.standings()] == ["fast", "slow"]
    assert not any(outcome.failed for outcome in first.outcomes.values())
    assert known().missing == []
    written(
        folder,
        fast="def law(team):\n    return 0.0, 0\n",
        third="class Law:\n    def step(self, team):\n        return -0.1, 0\n",
    )
    again = known()
    assert sorted(match.players[0] for match in again.missing) == ["fast", "third"]
    told = []
    again.play(1, lambda match, outcome: told.append((match.players[0], round(outcome.score, 2))))
    assert sorted(told) == [("fast", 1.0), ("third", 0.8)]
    assert [row.name for row in again.standings()] == ["slow", "fast", "third"]
    page = write_page(again, running=False).read_text()
    assert "third" in page
    assert "http-equiv" not in page
    assert "http-equiv" in write_page(again, running=True).read_text()


EXPLORATION = """
from covey.lab.tournament.games import ExplorationGame

class Tiny(ExplorationGame):
    \"\"\"An L of two rooms, seen from one end: the second room is hidden.\"\"\"
    name, stop_s = "tiny", 8.0
    changes = {
        "world": {"workspace_m": [[0, 0], [4, 0], [4, 2], [2, 2], [2, 4], [0, 4]], "resolution_m": 0.1},
        "robots.scout.count": 1, "robots.scout.start": [[3.3, 1.0, 0.0]], "stop.explored": 0.99,
    }
"""
RESCUE = """
from covey.lab.tournament.games import RescueGame

class Tiny(RescueGame):
    \"\"\"A room with one person, right before the robot.\"\"\"
    name, stop_s = "tiny", 2.0
    changes = {
        "world": {"empty_m": [4, 4], "resolution_m": 0.1}, "targets": [{"kind": "victim", "at": [1.9, 0.0], "identity": 1}],
        "robots.searcher.count": 1, "robots.searcher.start": [[0.5, 0.0, 0.0]],
    }
"""
GOES = "async def law(robot):\n    await robot.goto((1.0, 1.0))\n"
CREEPS = "def law(robot):\n    robot.drive(0.15)\n"
REPORTS = """
async def law(robot):
    robot.drive(0.15)
    while True:
        seen = robot.tag_camera
        if seen is not None and seen.any():
            await robot.report(int(seen.identities[0]), seen.places(robot.pose)[0][:2])
        await robot.sleep(0.1)
"""


def played(tmp_path, game, law, limits=LawLimits(step_s=10.0)):
    (tmp_path / "tiny.py").write_text(game)
    file = written(tmp_path / "laws", law=law) / "law.py"
    return play_match(str(tmp_path / "tiny.py"), {"laws": file}, 0, limits, tmp_path / "run")


def test_the_game_of_exploration_ends_when_the_hidden_room_is_seen(tmp_path):
    outcome = played(tmp_path, EXPLORATION, GOES)
    assert (outcome.ended, outcome.failed) == ("goal reached", {})
    assert outcome.score == outcome.time_s < 8.0
    assert outcome.time_s > 1.3 / 0.26  # not before the corner at 2 m is passed, at the top speed of the robot


SLOW_STEP = "import time\n\n\ndef law(robot):\n    robot.drive(0.0)\n    time.sleep(0.04)\n"
SLOW_WAIT = "import time\n\n\nasync def law(robot):\n    while True:\n        time.sleep(0.04)\n        await robot.sleep(0.1)\n"


@pytest.mark.parametrize("law", [SLOW_STEP, SLOW_WAIT], ids=["step", "await"])
def test_a_law_that_is_slow_in_each_step_loses_by_the_time_of_the_game(tmp_path, law):
    outcome = played(tmp_path, EXPLORATION, law, LawLimits(step_s=10.0, game_s=0.1))
    (why,) = outcome.failed.values()
    assert re.search(r"law.py:\d in law: .*the law took more than 0.1 s for its steps together", why)
    assert outcome.time_s < 1.0  # of 8 s: three steps of 0.04 s are too many


def test_a_law_of_a_team_has_a_time_for_the_game_too(tmp_path):
    (tmp_path / "short.py").write_text(GAME)
    slow = "import time\n\n\ndef law(team):\n    time.sleep(0.04)\n    return 0.0, 0.0\n"
    file = written(tmp_path / "laws", law=slow) / "law.py"
    limits = LawLimits(step_s=10.0, game_s=0.1)
    outcome = play_match(str(tmp_path / "short.py"), {"laws": file}, 0, limits, tmp_path / "run")
    assert "law.py:4 in law: ControllerError: the law took more than 0.1 s" in outcome.failed["laws"]


def test_the_time_for_a_game_is_half_of_its_length_and_ten_steps_at_least():
    assert LawLimits().for_game(60.0) == 30.0
    assert LawLimits(step_s=10.0).for_game(60.0) == 100.0
    assert LawLimits(game_s=5.0).for_game(60.0) == 5.0


def test_who_does_not_explore_all_has_the_limit_and_as_much_again_for_what_is_left(tmp_path):
    outcome = played(tmp_path, EXPLORATION, "def law(robot):\n    robot.drive(0.0)\n")
    assert (outcome.ended, outcome.failed) == ("time is up", {})
    # of 12 m2 the robot at (3.3, 1) sees all but what the corner (2, 2) hides: x < 2, y > 2 + (2 - x) / 1.3, 4 - 1.54 m2
    assert outcome.score == pytest.approx(8.0 * (1.0 + 2.46 / 12.0), rel=0.02)


def test_who_fails_loses_against_who_has_no_score(tmp_path):
    (tmp_path / "short.py").write_text(GAME)
    files = written(tmp_path / "laws", fails=STILL, idle=STILL, wins=STILL)
    tournament = Tournament(str(tmp_path / "short.py"), [files], tmp_path / "out")
    for match in tournament.matches:
        name = match.files["laws"].stem
        failed = {"laws": "ZeroDivisionError"} if name == "fails" else {}
        tournament.outcomes[match.key] = GameOutcome(1.0 if name == "wins" else np.nan, "", 2.0, failed, {})
    assert [(row.name, row.won) for row in tournament.standings()] == [("wins", 2.0), ("idle", 1.0), ("fails", 0.0)]


@pytest.mark.parametrize(("law", "score", "ended"), [(REPORTS, 700.0, "goal reached"), (CREEPS, 0.0, "time is up")])
def test_the_game_of_rescue_gives_points_for_what_is_found_and_none_for_time_without(tmp_path, law, score, ended):
    outcome = played(tmp_path, RESCUE, law)
    assert (outcome.ended, outcome.failed) == (ended, {})
    # 100 points for the person, and one for each of the 600 seconds that are left when the clock has started
    assert outcome.score == pytest.approx(score, abs=1e-9)


def test_ratings_are_the_maximum_of_the_likelihood():
    random = np.random.default_rng(1)
    wins = np.triu(random.integers(0, 9, (5, 5)), 1) + np.tril(random.integers(0, 9, (5, 5)), -1)

    def cost(x):
        beats = np.log1p(np.exp(x[None, :] - x[:, None]))
        return (wins * beats).sum() + 0.5 * (np.log1p(np.exp(x)) + np.log1p(np.exp(-x))).sum()

    best = minimize(cost, np.zeros(5), tol=1e-12).x
    rating = bradley_terry(wins.astype(float))
    assert rating.strength == pytest.approx(best - best.mean(), abs=1e-5)
    assert (rating.low < rating.strength).all()
    many = bradley_terry(np.array([[0.0, 3e6], [1e6, 0.0]]))
    assert many.strength[0] - many.strength[1] == pytest.approx(np.log(3.0), abs=1e-5)


def test_wrong_input_says_what_to_do(tmp_path):
    with pytest.raises(InvalidValueError, match="2 sides, pursuers and evaders"):
        Tournament("pursuit", [written(tmp_path / "a", x=STILL)], tmp_path / "out")
    with pytest.raises(InvalidValueError, match="no folder"):
        Tournament("coverage", [tmp_path / "none"], tmp_path / "out")
    with pytest.raises(InvalidValueError, match="holds no law"):
        Tournament("coverage", [written(tmp_path / "empty")], tmp_path / "out")
    with pytest.raises(UnknownNameError, match="did you mean 'pursuit'"):
        Tournament("persuit", [tmp_path], tmp_path / "out")
    two = written(tmp_path / "two", x="def one(team): pass\ndef two(team): pass\n")
    outcome = play_match("coverage", {"laws": two / "x.py"}, 0, LawLimits(), tmp_path / "run")
    assert "defines one, two" in outcome.failed["laws"]
    assert np.isnan(outcome.score)


def test_sides_that_draw_their_starts_apart_from_each_other_never_overlap():
    """Five discs of each of two sides in a square of 3 m: drawn once, most starts of the second hit the first."""

    class Crowded(Game):
        """Two sides in a small square."""

        name, sides, robots, workspace = "crowded", ("left", "right"), 5, [[0, 0], [3, 0], [3, 3], [0, 3]]

    model = Crowded().model("left")
    for start in range(20):
        drawn, standing = np.random.default_rng(start), Standing(Crowded().world())
        for side in ("left", "right"):
            group = Crowded()._group(side, Program("still"), standing, drawn)
            standing.add(group.start[:, :2], np.full(5, model.outer_radius_m))
        apart = np.hypot(*(standing.taken[:, None, :2] - standing.taken[None, :, :2]).T)
        assert (apart[~np.eye(10, dtype=bool)] >= 2.0 * model.outer_radius_m - 1e-9).all()
