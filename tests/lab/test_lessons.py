"""Every lesson runs: with its solution the check is content, with its gap it says what is wrong."""

import base64
import io
import json
from pathlib import Path

import pytest
from PIL import Image

from covey import CoveyError
from covey.cli import main
from covey.lab.lessons import check
from covey.lab.lessons.course import lessons, write_lessons

LESSONS = lessons()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_are_ten_each_with_aims_a_task_a_gap_a_check_and_a_picture():
    assert [int(lesson.name[:2]) for lesson in LESSONS] == list(range(1, 11))
    for lesson in LESSONS:
        kinds = [kind for kind, _ in lesson.cells]
        first, last = lesson.cells[0][1], lesson.cells[-1][1]
        assert kinds.count("complete") == 1
        assert all(word in first for word in ("**Aims.**", "**Task.**"))
        assert f"pictures/{lesson.name[:2]}.png" in last
        assert lesson.cells[-2][1].startswith(f"check({int(lesson.name[:2])}, ")
        assert lesson.cells[-3][1].splitlines()[-1] in ("out", "run"), "a notebook shows what the robots did"


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS, ids=[lesson.name for lesson in LESSONS])
def test_the_solution_is_right_and_the_gap_is_not(lesson, folder, capsys):
    exec(compile(lesson.code(solved=True), lesson.name, "exec"), {})
    assert f"lesson {int(lesson.name[:2])}: done" in capsys.readouterr().out
    exec(compile(lesson.code(), lesson.name, "exec"), {})
    said = capsys.readouterr().out
    assert "not yet: " in said
    assert "done" not in said


def test_the_command_writes_notebooks_and_never_over_the_work_of_others(folder, capsys):
    assert main(["lessons", "course"]) == 0
    assert "ten lessons" in capsys.readouterr().out
    found = {str(path.relative_to("course")) for path in Path("course").rglob("*.*")}
    assert {"01_first_robot.ipynb", "01_first_robot.py", "solutions/10_tournament.py", "pictures/05.png"} <= found
    for path in Path("course").glob("*.ipynb"):
        book = json.loads(path.read_text(encoding="utf-8"))
        assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
        assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
        assert "".join(book["cells"][0]["source"]).startswith("# ")
        for cell in book["cells"]:
            keys = {"cell_type", "id", "metadata", "source"}
            assert set(cell) == keys if cell["cell_type"] == "markdown" else keys | {"execution_count", "outputs"}
        assert not [cell for cell in book["cells"] if "](pictures/" in "".join(cell["source"])], (
            "it needs no other file"
        )
        (shown,) = (cell for cell in book["cells"] if cell["id"] == "picture")
        there = {}
        exec("\n".join(["".join(book["cells"][1]["source"]), *shown["source"][:-1]]), there)  # Covey is there
        png = base64.b64decode(shown["outputs"][0]["data"]["image/png"])
        assert eval(shown["source"][-1], there).size == Image.open(io.BytesIO(png)).size
    assert main(["lessons", "course"]) == 2
    assert "exists already" in capsys.readouterr().err
    with pytest.raises(CoveyError, match="there is no lesson 11"):
        check(11, None)
    (folder / "file").write_text("")
    with pytest.raises(CoveyError, match="cannot write"):
        write_lessons(folder / "file" / "x")
