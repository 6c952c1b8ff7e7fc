"""The lessons as files: notebooks, plain Python, solutions and pictures."""

import base64
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from covey.errors import InvalidValueError
from covey.lazy import Image
from covey.results.folder import unwritable

_HERE = Path(__file__).parent
_CELL = re.compile(r"^# %%(.*)$", re.MULTILINE)
_PICTURE = re.compile(r"^!\[.*\]\(pictures/.*\)\n\n", re.MULTILINE)
INSTALL = """\
# Installs Covey where it is missing, as in Google Colab.
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("covey") is None:
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "covey[lab]"], check=True)
"""
"""The second cell of each notebook."""


@dataclass(frozen=True)
class Lesson:
    """A lesson.

    Attributes:
        name: such as ``01_first_robot``.
        text: Python in the percent format: a line ``# %%`` begins a cell, ``# %% [markdown]`` one of text, and
            ``# %% complete`` the one to complete.
    """

    name: str
    text: str

    @property
    def solution(self) -> str:
        """The cell that solves it."""
        return (_HERE / "solutions" / f"{self.name[:2]}.py").read_text(encoding="utf-8")

    @property
    def cells(self) -> list[tuple[str, str]]:
        """Kind (``markdown``, ``complete`` or empty) and text of each cell."""
        parts = _CELL.split(self.text)[1:]
        kinds = (kind.strip().strip("[]") for kind in parts[::2])
        return [(kind, text.strip("\n")) for kind, text in zip(kinds, parts[1::2], strict=True)]

    def code(self, solved: bool = False) -> str:
        """Return the code of all cells, with the gap or with the solution."""
        own = [
            self.solution if solved and kind == "complete" else text for kind, text in self.cells if kind != "markdown"
        ]
        return "\n\n".join(own)

    def _picture(self) -> dict[str, Any]:
        """Return source and output of the cell that shows the picture, also before it has run."""
        number = int(self.name[:2])
        data = {"image/png": base64.b64encode(_picture_of(number).read_bytes()).decode()}
        shown = {"output_type": "display_data", "data": data, "metadata": {}}
        return {"source": ["from covey.lab.lessons import picture\n", "\n", f"picture({number})"], "outputs": [shown]}

    def notebook(self) -> dict[str, Any]:
        """Return the lesson as a notebook, of nbformat 4.5; it needs no other file, and installs Covey if need be.

        No form of pictures in texts is shown both by JupyterLab and by Colab, so a cell of its own shows it.
        """
        code = {"metadata": {}, "cell_type": "code", "execution_count": None, "outputs": []}
        cells = []
        for i, (kind, text) in enumerate(self.cells):
            cell: dict[str, Any] = {"id": f"cell{i}", "metadata": {}}
            if kind == "markdown":
                text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in text.splitlines())
                cell |= {"cell_type": "markdown"}
                if found := _PICTURE.search(text):
                    cells += [cell | {"id": f"cell{i}a", "source": text[: found.start()].splitlines(keepends=True)}]
                    cells += [code | {"id": "picture"} | self._picture()]
                    text = text[found.end() :]
            else:
                cell |= code
            cells.append(cell | {"source": text.splitlines(keepends=True)})
        cells.insert(1, code | {"id": "install", "source": INSTALL.splitlines(keepends=True)})
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        about = {"kernelspec": kernel, "language_info": {"name": "python"}}
        return {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def picture(lesson: int) -> "Image.Image":
    """Return the picture of what a lesson should look like, which a notebook shows.

    Args:
        lesson: its number, 1 to 10.
    """
    with Image.open(_picture_of(lesson)) as opened:
        return opened.copy()


def _picture_of(lesson: int) -> Path:
    return _HERE / "pictures" / f"{lesson:02}.png"


def lessons() -> list[Lesson]:
    """Return the ten lessons in order."""
    return [Lesson(path.stem, path.read_text(encoding="utf-8")) for path in sorted((_HERE / "texts").glob("*.py"))]


def write_lessons(folder: Path) -> list[Path]:
    """Write each lesson as a notebook and as Python, and beside them ``solutions`` and ``pictures``.

    Raises:
        InvalidValueError: a file exists already, or the folder cannot be written.
    """
    files: dict[Path, bytes] = {}
    for lesson in lessons():
        files[folder / f"{lesson.name}.ipynb"] = (json.dumps(lesson.notebook(), indent=1) + "\n").encode()
        files[folder / f"{lesson.name}.py"] = lesson.text.encode()
        files[folder / "solutions" / f"{lesson.name}.py"] = lesson.solution.encode()
    for picture in sorted((_HERE / "pictures").glob("*.png")):
        files[folder / "pictures" / picture.name] = picture.read_bytes()
    if existing := [path for path in files if path.exists()]:
        raise InvalidValueError(f"{existing[0]} exists already; give another folder, so that nobody's work is lost")
    try:
        for path, data in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except OSError as error:
        raise unwritable(f"into {folder}", error) from error
    return list(files)
