"""A bound kernel does what the kernel does with the same arguments."""

import numpy as np
import pytest

from covey.bound import Bound
from covey.kernel import kernel


@kernel
def _mix(a, b, flags, factor, k):
    """Write into a; arrays of other types and shapes, and numbers."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] += factor * b[i, j, k] * flags[j]
    return a.shape[0] * 100 + a.shape[1] + len(flags)


@kernel
def _of_groups(pair, other, more):
    first, second = pair
    first[0] = second[1, 0] + other[0] + more
    return first[0]


@pytest.mark.parametrize("kind", [np.bool_, np.uint8, np.int32, np.uint32, np.int64, np.float64])
def test_it_reads_and_writes_the_arrays_themselves(kind):
    random = np.random.default_rng(1)
    a, b, flags = random.normal(size=(4, 3)), random.normal(size=(4, 3, 2)), np.array([0, 1, 1]).astype(kind)
    expected = a + 0.5 * b[:, :, 1] * flags
    assert Bound(_mix, [a, b, flags], (0.0, 0))(0.5, 1) == 403 + 3
    np.testing.assert_array_equal(a, expected)


def test_arrays_in_tuples_and_arrays_that_are_replaced():
    first, second, other = np.zeros(1), np.array([[1.0], [2.0]]), np.array([10.0])
    bound = Bound(_of_groups, [(first, second), other], (0.0,))
    assert bound(100.0) == first[0] == 112.0
    another, longer = np.zeros(1), np.array([[0.0], [5.0], [7.0]])
    bound.put(another, longer)
    assert bound(0.0) == another[0] == 15.0
    assert first[0] == 112.0
    bound.put(first, longer)
    assert bound(1.0) == first[0] == 16.0


def test_an_array_of_another_type_or_layout_is_refused():
    bound = Bound(_of_groups, [(np.zeros(1), np.zeros((2, 1))), np.zeros(1)], (0.0,))
    with pytest.raises(AssertionError):
        bound.put(np.zeros(1, np.float32))
    with pytest.raises(AssertionError):
        bound.put(np.zeros(1), np.zeros(2))
    with pytest.raises(AssertionError):
        Bound(_mix, [np.zeros((3, 4)).T, np.zeros((4, 3, 2)), np.ones(3)], (0.0, 0))


def test_no_two_entries_have_one_name():
    """A linker knows code by its name, also code that other processes have compiled and saved."""
    a, b, pair = np.zeros((4, 3)), np.zeros((4, 3, 2)), (np.zeros(1), np.zeros((2, 1)))
    bound = [Bound(_mix, [a, b, np.zeros(3, kind)], (0.0, 0)) for kind in (np.uint8, np.float64)]
    bound.append(Bound(_of_groups, [pair, np.zeros(1)], (0.0,)))
    assert len({one._run.__name__ for one in bound}) == 3
