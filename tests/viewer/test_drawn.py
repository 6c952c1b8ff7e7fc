"""Marks as the page gets them."""

import json

import numpy as np

from covey.plain import pack, unpack
from covey.results.marks import Mark
from covey.viewer.drawn import levels, packed


def test_values_of_a_field_are_places_in_a_palette():
    values = np.array([[0.0, 1.0, 2.0], [np.nan, np.inf, -np.inf]])
    assert np.array_equal(levels(values), [[0, 127, 255], [np.nan, 255, 0]], equal_nan=True)
    assert np.array_equal(levels(np.array([[3.0, np.nan]])), [[0, np.nan]], equal_nan=True)
    assert np.array_equal(levels(np.array([[np.nan]])), [[np.nan]], equal_nan=True)


def test_marks_are_sent_as_numbers_colours_and_text():
    field = Mark("field", (np.array([[0.0, 4.0]]), np.array([0.0, 2.0, 0.0, 1.0])), "gray", fill=0.5)
    marks = [Mark("points", (np.array([[1.0, 2.0], [np.nan, 4.0]]),), "red", 5.0), field]
    marks += [Mark("text", (np.array([4.0, 4.0]),), text="</script>"), marks[0]]
    plain, arrays = packed(marks)
    header, arrays = unpack(pack({"type": "marks", **json.loads(json.dumps(plain))}, arrays))
    assert [look[:4] for look in header["looks"]] == [
        ["points", "#ff0000ff", 5.0, 0.0],
        ["field", "", 1.0, 0.5],
        ["text", "#1a1a1aff", 1.0, 0.0],
    ]
    palette = header["looks"][1][4]
    assert (palette[:6], palette[-6:], len(palette)) == ("000000", "ffffff", 6 * 256)
    assert header["texts"] == ["", "</script>"]
    assert arrays["mark"].tolist() == [[0, 0, 1], [1, 0, 2], [2, 1, 1], [0, 0, 1]]
    assert arrays["shape"].tolist() == [[2, 2], [1, 2], [1, 4], [1, 2], [2, 2]]
    assert arrays["number"][4:10].tolist() == [0, 255, 0, 2, 0, 1]
