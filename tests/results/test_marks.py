"""The file with what add-ons drew: it comes back as it was, and a damaged one is refused."""

import numpy as np
import pytest

import covey
from covey.results.archive import npz_bytes
from covey.results.marks import Mark, arrays_of, marks_of

A = Mark("points", (np.array([[1.0, 2.0], [np.nan, 4.0]]),), "red", 5.0, by="a")
B = Mark("polygons", (np.zeros((3, 2)), np.ones((4, 2))), "blue", 0.8, 0.2, by="b")
C = Mark("field", (np.array([[1.0, np.inf, -2.0]]), np.array([0.0, 2.0, 0.0, 1.0])), "viridis", fill=0.6, by="b")
D = Mark("text", (np.array([4.0, 4.0]),), text="<b>äé", by="a")
E = Mark("lines", (), by="c")
MARKS = [(A, B), (), (A, C, D, E)]


def test_marks_come_back():
    again = marks_of(arrays_of(MARKS))
    assert [len(now) for now in again] == [2, 0, 4]
    for now, then in zip(MARKS, again, strict=True):
        for one, other in zip(now, then, strict=True):
            assert [one.kind, one.color, one.width, one.fill, one.text, one.by] == [
                *(other.kind, other.color, other.width, other.fill, other.text, other.by)
            ]
            assert len(one.parts) == len(other.parts)
            assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one.parts, other.parts, strict=True))
    assert again[0][0] is again[2][0]  # a mark that stays is there once
    assert marks_of(arrays_of([])) == []
    assert marks_of(arrays_of([(), ()])) == [(), ()]


def changed(name, at, value):
    arrays = {key: values.copy() for key, values in arrays_of(MARKS).items()}
    arrays[name][at] = value
    return arrays


@pytest.mark.parametrize(
    "arrays",
    [
        changed("mark", (0, 0), 9),  # a kind that there is not
        changed("mark", (0, 1), 99),  # a word that there is not
        changed("mark", (0, 4), 2),  # a part too many
        changed("mark", (0, 4), -1),
        changed("shape", (0, 0), 2_000_000_000),
        changed("shape", (0, 1), 1),
        changed("shown", 0, 77),
        changed("shown", 0, -1),
        changed("count", 0, 1),
        changed("look", (0, 0), 1e9),  # a point of 1e9
        changed("look", (1, 1), np.nan),
        changed("words", 0, "url(x)"),
        arrays_of(MARKS) | {"shown": np.array([0.5])},
        arrays_of(MARKS) | {"number": np.array(["x"])},
        {name: values for name, values in arrays_of(MARKS).items() if name != "look"},
    ],
)
def test_a_damaged_file_is_refused(tmp_path, arrays):
    run = covey.play(lambda team: (0.0, 0.0), stop_s=0.1, speed="max").run
    run.folder.joinpath("marks.npz").write_bytes(npz_bytes(arrays))
    with pytest.raises(covey.RunFolderError, match=r"marks\.npz' is damaged"):
        _ = run.marks
