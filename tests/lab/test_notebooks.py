"""Lessons as notebooks: a kernel of Jupyter executes two of them, and a live run in a cell has its speed.

`test_lessons.py` runs the cells of all ten, `make notebooks` all ten in JupyterLab.
"""

import re
from importlib.util import find_spec

import pytest

from covey.lab.lessons.course import lessons

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of Jupyter, about its own transport and settings
    pytest.mark.skipif(find_spec("ipykernel") is None, reason="needs ipykernel"),  # what is imported stays
]

LIVE = """import covey
from covey.lab import watching

watching.ALONE_S = 0.1
out = covey.play(lambda team: (0.2, 0.1), robots=2, stop_s=0.5, speed=0)
"""


SHOWN = (1, 9)
OURS = ("install", "picture")
"""Cells that a notebook has besides those of the lesson."""
LOOK = """covey.view(out.run)
---
out.run.plot("trajectories")
---
import sys, types
sys.modules["google.colab"] = types.ModuleType("google.colab")
out = covey.play(lambda team: (0.2, 0.1), robots=2, stop_s=0.5, speed=1)
"""
"""Cells after these: a run's page, a picture, and one as in Colab."""


@pytest.mark.slow
def test_lessons_run_in_a_kernel_and_their_solutions_are_right():
    """One kernel for both, so that it starts once. The run of lesson 9 draws in HTML."""
    book = nbformat.v4.new_notebook()
    for lesson in lessons():
        own = lesson.notebook()
        nbformat.validate(nbformat.from_dict(own))
        if int(lesson.name[:2]) not in SHOWN:
            continue
        cells = [cell for cell in own["cells"] if cell["cell_type"] == "code" and cell["id"] not in OURS]
        kinds = [kind for kind, _ in lesson.cells if kind != "markdown"]
        for kind, cell in zip(kinds, cells, strict=True):
            text = lesson.solution if kind == "complete" else "".join(cell["source"])
            book.cells.append(nbformat.v4.new_code_cell(text))
    book.cells += [nbformat.v4.new_code_cell(text) for text in (LIVE, *LOOK.split("---\n"))]
    nbclient.NotebookClient(book, timeout=240, kernel_name="python3").execute()
    said = "".join(out.get("text", "") for cell in book.cells for out in cell.outputs)
    assert re.findall(r"lesson (\d+): done", said) == [str(k) for k in SHOWN]
    assert "not yet" not in said
    pictures = [out for cell in book.cells for out in cell.outputs if "image/png" in out.get("data", {})]
    assert len(pictures) >= 1  # `out` at the end of a cell draws
    (page, line), (view,), (picture,), (line_in_colab, page_in_colab) = (cell.outputs for cell in book.cells[-4:])
    for shown in (page, view, page_in_colab):
        assert "srcdoc" in shown["data"]["text/html"]
    for shown in (line, line_in_colab):
        assert re.fullmatch(r"0.5 s in \d+.\d s: timeout", shown["data"]["text/plain"])
    assert picture["data"]["image/png"]
