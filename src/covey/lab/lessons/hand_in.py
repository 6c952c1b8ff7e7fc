"""One hand-in of a lesson, graded: the lesson's own code runs with what the student wrote in its gap.

So the teacher's settings and checks count, whatever a hand-in sets, plays or prints itself. It runs in a process of its
own: ``python -m covey.lab.lessons.hand_in LESSON FILE RESULT``, see `covey.lab.lessons.grading`.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from covey.errors import CoveyError, near_file
from covey.lab.lessons.checks import wrong_with
from covey.lab.lessons.course import Lesson, lessons
from covey.registry import Enough, loading
from covey.runtime.local.failures import text_of

Names = dict[str, Any]


def wrong_in(number: int, file: Path) -> list[str]:
    """Return what is still wrong with a hand-in; nothing if the lesson is done.

    Args:
        number: of the lesson, 1 to 10.
        file: a Python file or a notebook: the gap alone, or the whole lesson. It runs up to its first `covey.play`.
    """
    lesson, found = lessons()[number - 1], list[str]()
    names: Names = {"__name__": "lesson"}
    try:
        for kind, text in lesson.cells:
            if kind == "markdown":
                continue
            if kind == "complete":
                _complete(names, text, file)
                continue
            exec(compile(text, f"lesson {number}", "exec"), names)
            names["check"] = lambda which, made: found.extend(wrong_with(which, made))
    except CoveyError as error:
        return [str(error)]
    except SyntaxError as error:
        return [f"{error.filename}:{error.lineno}: {error.msg}"]
    except (Exception, SystemExit) as error:
        return [text_of(error).partition("\n")[0]]
    return found


def _complete(names: Names, gap: str, file: Path) -> None:
    """Add to the names of a lesson those that its gap defines, as the hand-in defines them.

    Raises:
        CoveyError: the hand-in does not define one.
    """
    asked: Names = dict(names)
    exec(compile(gap, "gap", "exec"), asked)
    wanted = [name for name in asked if name not in names]
    own: Names = {**names, "__name__": "hand_in", "__file__": str(file)}
    played: Any = None
    sys.path.insert(0, str(file.parent))
    try:
        with loading(file):
            for where, code in _parts(file):
                exec(compile(code, where, "exec"), own)
    except Enough as enough:
        played = enough.given[0]
    except SystemExit as end:
        missing = [name for name in wanted if name not in own]
        if missing:
            raise CoveyError(
                f"it ends the program (sys.exit) before it defines {' and '.join(missing)}; leave that out"
            ) from end
    for name in wanted:
        if name in own:
            names[name] = own[name]
        elif len(wanted) == 1 and callable(played):  # it plays a law of another name
            names[name] = played
        else:
            raise CoveyError(f"it defines no {name}; write it as in the cell to complete")


def _parts(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the code of a hand-in, in the parts in which it is written, each with its place.

    Raises:
        CoveyError: the file cannot be read, or is no notebook.
    """
    try:
        text = file.read_text(encoding="utf-8")
        if file.suffix != ".ipynb":
            yield str(file), text
            return
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        sources = ["".join(cell["source"]) for cell in cells]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise CoveyError(f"{file.name} cannot be read: {error}{near_file(file)}") from None
    for k, source in enumerate(sources, 1):
        lines = [line if line.lstrip()[:1] not in ("%", "!", "?") else "" for line in source.splitlines()]  # of Jupyter
        yield f"{file.name}, cell {k}", "\n".join(lines)


def main() -> None:
    """Grade one hand-in, and write what is wrong into a file, as a list in JSON."""
    number, file, result = sys.argv[1:]
    del sys.argv[1:]  # a hand-in is not told where its grade is written
    found = wrong_in(int(number), Path(file).resolve())
    Path(result).write_text(json.dumps(found), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)  # whatever threads the hand-in has left


def lesson_of(file: Path, folder: Path, given: int | None = None) -> Lesson | None:
    """Return the lesson that a file is of, by its name or that of its folder; None: neither says it.

    Examples:
        >>> lesson_of(Path("in/anna/03_unicycle.ipynb"), Path("in")).name
        '03_unicycle'
        >>> lesson_of(Path("in/lesson5/bob.py"), Path("in")).name, lesson_of(Path("in/bob.py"), Path("in"))
        ('05_cyclic_pursuit', None)
    """
    course = lessons()
    if given is not None:
        return course[given - 1]
    parts = [file.stem, *reversed(file.relative_to(folder).parts[:-1])]
    for part in parts:
        named = [lesson for lesson in course if lesson.name in part] or [
            lesson for lesson in course if lesson.name[3:] in part
        ]
        if named:
            return max(named, key=lambda lesson: len(lesson.name))  # cyclic_pursuit holds the word pursuit
    for part in parts:
        numbers = [int(word) for word in "".join(c if c.isdigit() else " " for c in part).split()]
        if numbers and 1 <= numbers[0] <= len(course):
            return course[numbers[0] - 1]
    return None


if __name__ == "__main__":
    main()
