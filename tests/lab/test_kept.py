"""What add-ons gave becomes arrays and comes back, down to a depth that both ways have in common."""

import pytest

from covey.errors import InvalidValueError
from covey.lab.kept import columns_of, values_of
from covey.plain import DEEPEST


def nested(depth):
    """Return the values of two times: lists in lists, this many."""
    value = 1.5
    for _ in range(depth):
        value = [value]
    return [value, value]


def test_lists_as_deep_as_plain_data_come_back():
    arrays = {}
    kept = columns_of("a", nested(DEEPEST), arrays)
    assert values_of(kept, arrays) == nested(DEEPEST)


def test_what_is_nested_deeper_is_refused_when_it_is_kept_not_when_it_is_read():
    with pytest.raises(InvalidValueError, match="nested too deeply"):
        columns_of("a", nested(DEEPEST + 1), {})
    with pytest.raises(InvalidValueError, match="nested too deeply"):
        columns_of("a", nested(5000), {})


def test_a_file_that_is_nested_deeper_is_refused():
    arrays = {}
    kept = columns_of("a", nested(1), arrays)
    for _ in range(DEEPEST):
        kept = {"is": "list", "name": "a", "of": kept}
    with pytest.raises(ValueError, match="nested too deeply"):
        values_of(kept, arrays)
