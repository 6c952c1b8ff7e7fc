"""The attacks of ``attacks/``, small: no traceback, no hang, no more memory than there may be."""

import tempfile
from collections import Counter
from importlib.util import find_spec
from random import Random

import pytest
from attacks import bounded, controllers, full_disks, pages, ports, starts
from tests import each_attack

from covey.cli.exit_codes import NOT_REACHED
from covey.results.run import Run


@pytest.mark.slow
def test_whatever_is_given_is_taken_or_refused_in_words(tmp_path, monkeypatch):
    """One child runs the cases of all modules, as each child loads the whole of Covey."""
    monkeypatch.chdir(tmp_path)
    left_out = [*(["mjcf"] if find_spec("mujoco") is None else []), *([] if full_disks.possible() else ["full_disks"])]
    monkeypatch.setenv("COVEY_ATTACKS_LEFT_OUT", " ".join(left_out))
    cases = [name for name, number in each_attack.CASES.items() if name not in left_out for _ in range(number)]
    outcome = bounded.run_cases("tests.each_attack", range(len(cases)))
    assert not outcome.failures, str(outcome)
    modules = Counter()
    for word, number in outcome.counts.items():
        modules[word.partition(":")[0]] += number
    assert modules == Counter(cases)


@pytest.mark.slow
def test_a_case_that_hangs_dies_raises_or_grows_is_found(tmp_path, monkeypatch):
    (tmp_path / "bad_cases.py").write_text(
        "import os\n"
        "def case(number):\n"
        "    if number == 1: raise KeyError('lost')\n"
        "    if number == 2:\n"
        "        while True: pass\n"
        "    if number == 3: os._exit(7)\n"
        "    if number == 4: len(bytearray(200_000_000))\n"
        "    return 'good'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(bounded, "LIMIT_S", 1.5)  # ten times what the memory takes on a busy machine
    monkeypatch.setattr(bounded, "LIMIT_MB", 200.0)
    (tmp_path / "left").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "left"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    outcome = bounded.run_cases("bad_cases", range(6))
    assert sorted(outcome.failures) == [1, 2, 3, 4]
    assert "KeyError: 'lost'" in outcome.failures[1]
    assert "hangs at bad_cases.py" in outcome.failures[2]
    assert outcome.failures[3] == "the process ended with 7"
    assert "MB" in outcome.failures[4]
    assert outcome.counts["good"] == 3
    assert not list((tmp_path / "left").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "way"), [("raises BaseException('b')", "in_process"), ("huge_message", "processes")])
def test_a_hostile_controller_ends_no_run(name, way, tmp_path):
    end, wrong, _ = controllers.attack(name, way, tmp_path)
    assert not wrong
    assert end == "exit code 3"


@pytest.mark.slow
def test_nothing_but_loopback_is_listened_on_unless_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in ports.FILES.items():
        (tmp_path / name).write_text(text)
    asked, loopback = (
        ports.COMMANDS.index(command) for command in (*ports.ASKS, "run processes.yaml -q --no-pictures")
    )
    assert ports.case(asked) == "asked"
    assert ports.case(loopback) == "loopback"


@pytest.mark.slow
def test_runs_that_start_at_the_same_time_are_all_whole(tmp_path):
    assert starts.attack(tmp_path, 2) == [NOT_REACHED] * 2
    assert starts.whole(tmp_path) == [0, 1]
    folders = [path.parent for path in tmp_path.rglob("manifest.json") if not path.parent.is_symlink()]
    assert [Run(folder).metrics["simulated_time_s"] for folder in folders] == [2.0] * 2


def test_strange_messages_do_not_change_those_that_come_after():
    random = Random(1)
    assert [len(pages.message(random)) >= 0 for _ in range(3000)]
    assert {} in pages.STRANGE
    assert {"a": {}} in pages.STRANGE


@pytest.mark.slow
def test_viewers_that_come_go_and_send_garbage_leave_nothing_and_stop_nobody():
    outcome = pages.attack(connections=20, messages=60, hours=0.02)
    assert not outcome.wrong, outcome
