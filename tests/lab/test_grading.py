"""`covey lessons check`: hand-ins are graded by the lesson's own settings, whatever they do themselves."""

import json
import sys
from pathlib import Path

import pytest

from covey.cli import main
from covey.errors import InvalidValueError
from covey.lab.lessons.course import lessons, write_lessons
from covey.lab.lessons.grading import graded, hand_ins_of
from covey.lab.lessons.hand_in import lesson_of, wrong_in

LESSONS = lessons()
RIGHT = LESSONS[0].solution


@pytest.fixture
def hand_in(tmp_path, monkeypatch):
    """Return a function that writes a hand-in; what hand-ins import from their folder is forgotten after the test."""
    monkeypatch.setattr(sys, "path", sys.path.copy())

    def write(text, name="anna.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    yield write
    for name, module in sys.modules.copy().items():
        if str(getattr(module, "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def test_the_gap_alone_the_whole_lesson_and_a_notebook_are_graded(hand_in):
    lesson = LESSONS[0]
    assert wrong_in(1, hand_in(lesson.solution)) == []
    assert wrong_in(1, hand_in(lesson.code(solved=True))) == []
    book = lesson.notebook()
    gap = next(text for kind, text in lesson.cells if kind == "complete")
    assert wrong_in(1, hand_in(json.dumps(book), "anna.ipynb")) == [
        "the robot hardly moves; what speed does the law answer?"
    ]
    for cell in book["cells"]:
        if "".join(cell["source"]) == gap:
            cell["source"] = [lesson.solution]
    book["cells"].insert(1, book["cells"][1] | {"source": ["%matplotlib inline\n", "!pip list"]})
    assert wrong_in(1, hand_in(json.dumps(book), "anna.ipynb")) == []


@pytest.mark.parametrize("number", [5, 8, 10])
def test_what_the_gap_defines_is_taken_and_nothing_else(hand_in, number):
    assert wrong_in(number, hand_in(LESSONS[number - 1].solution)) == []


def test_settings_of_a_hand_in_do_not_count(hand_in):
    easy = "settings = dict(starts=[(6.5, 5, 0)], stop_s=10, robots=1)\n\n\n"
    straight = "def law(team):\n    return min(0.5, team.distance_to((8, 5))[0]), 0.0\n"
    (said,) = wrong_in(1, hand_in(easy + straight))
    assert said.startswith("at the end the robot is ")
    played = f"import covey\n{straight}\ncovey.play(law, starts=[(6.5, 5, 0)])\n"
    assert wrong_in(1, hand_in(played)) == [said]
    assert wrong_in(1, hand_in(f"goal = (2, 5)\n\ndef check(*_):\n    pass\n\n{straight}")) == [said]


def test_a_law_of_another_name_is_graded_if_the_hand_in_plays_it(hand_in):
    renamed = RIGHT.replace("def law", "def to_the_goal")
    assert wrong_in(1, hand_in(f"import covey\n{renamed}\ncovey.play(to_the_goal)\n")) == []
    assert wrong_in(1, hand_in(renamed)) == ["it defines no law; write it as in the cell to complete"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import sys\nsys.exit(0)\n", "it ends the program (sys.exit) before it defines law; leave that out"),
        ("def law(team:\n", "anna.py:1: '(' was never closed"),
        ("def law(team):\n    return 1.0\n", "anna.py:2 in law: the law returned 1.0 alone; write: return speed, turn"),
        ("def law(team):\n    return 1 / 0, 0.0\n", "anna.py:2 in law: ZeroDivisionError: division by zero"),
        ("law = 3\n", "controller '3' is int"),
        ("import helper_of_nobody\n", "anna.py:1 in <module>: ModuleNotFoundError"),
    ],
)
def test_what_fails_is_said_with_its_line(hand_in, text, said):
    (found,) = wrong_in(1, hand_in(text))
    assert said in found


def test_an_error_in_a_notebook_has_its_cell(hand_in):
    book = LESSONS[0].notebook() | {"cells": [{"cell_type": "code", "source": ["x = 1\n"]}]}
    book["cells"].append({"cell_type": "code", "source": ["\n", "def law(team):\n", "    return nothing\n"]})
    (said,) = wrong_in(1, hand_in(json.dumps(book), "anna.ipynb"))
    assert said.startswith("anna.ipynb, cell 2:3 in law: NameError: name 'nothing' is not defined")


def test_a_hand_in_imports_what_lies_beside_it(hand_in):
    hand_in("factor = 2.0\n", "gains.py")
    assert wrong_in(1, hand_in("from gains import factor\n\n" + RIGHT)) == []


@pytest.mark.slow
def test_the_command_prints_grades_and_reasons(hand_in, tmp_path, capsys):
    hand_in(RIGHT, "anna/01_first_robot.py")
    hand_in("import os\nos._exit(0)\n", "bob/lesson1.py")
    hand_in(RIGHT, "dora.py")
    hand_in("nothing", "_notes.py")
    names = ["anna/01_first_robot.py", "bob/lesson1.py", "dora.py"]
    assert [path.relative_to(tmp_path).as_posix() for path in hand_ins_of(tmp_path)] == names
    (tmp_path / "dora.py").unlink()
    assert main(["lessons", "check", str(tmp_path), "--format", "json", "-j", "2"]) == 3
    shown = capsys.readouterr()
    rows = {row["file"]: row for row in json.loads(shown.out)}
    assert rows["anna/01_first_robot.py"]["done"], rows
    assert rows["bob/lesson1.py"]["reasons"] == ["it ended its process (exit code 0)"]
    assert "bob/lesson1.py: not yet" in shown.err


def test_a_hand_in_that_never_ends_is_ended(hand_in, tmp_path):
    hand_in("while True:\n    pass\n", "01.py")
    (grade,) = graded(tmp_path, seconds=0.1)
    assert grade == ("01.py", 1, False, ("it takes longer than 0.1 s; does a loop in it never end?",))


def test_a_hand_in_is_not_told_where_its_grade_is_written(hand_in, tmp_path):
    hand_in("import os\nimport sys\n\nopen(sys.argv[3], 'w').write('[]')\nos._exit(0)\n", "in/01_first_robot.py")
    (grade,) = graded(tmp_path / "in")
    assert not grade.done


def test_a_table_and_rows_without_a_run(hand_in, tmp_path, capsys):
    hand_in(RIGHT, "dora.py")
    assert main(["lessons", "check", str(tmp_path)]) == 3
    shown = capsys.readouterr().out
    assert "which lesson is it? name it, such as 01_first_robot.py, or give --lesson" in shown
    assert "0 of 1 are done" in shown
    assert main(["lessons", "check", str(tmp_path), "--format", "csv", "-q"]) == 3
    shown = capsys.readouterr()
    assert shown.out.splitlines()[0] == "file,lesson,done,reasons"
    assert not shown.err


def test_wrong_folders_and_numbers_are_refused(tmp_path, capsys):
    with pytest.raises(InvalidValueError, match="holds no hand-in"):
        graded(tmp_path)
    assert main(["lessons", "check", str(tmp_path / "none")]) == 2
    assert "is no folder" in capsys.readouterr().err
    with pytest.raises(InvalidValueError, match="there is no lesson 11; there are 1 to 10"):
        graded(tmp_path, 11)


def test_the_course_itself_is_graded(tmp_path):
    write_lessons(tmp_path)
    for path in hand_ins_of(tmp_path):
        assert lesson_of(path, tmp_path).name == path.stem
    assert lesson_of(Path("in/07/x.py"), Path("in")).name == "07_consensus"
