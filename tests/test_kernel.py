"""Kernels outside Covey: a user's own script and module may use `@kernel`."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import covey

HERE = os.environ | {"PYTHONPATH": str(Path(covey.__file__).parents[1])}

SCRIPT = """
from covey.kernel import kernel

@kernel
def double(x):
    return 2.0 * x

print(double(21.0))
"""


BOTH = """
from covey.kernel import kernel

@kernel
def times(x, k):
    return x * k

@kernel
def twice_and_thrice(x):
    return times(x, 2) + times(x, 3)

print(times(4.0, 5), twice_and_thrice(4.0), times(4.0, 6))
"""


def test_a_kernel_is_called_from_python_and_from_another_kernel(tmp_path):
    (tmp_path / "both.py").write_text(BOTH)
    for _ in range(2):  # compiled, then loaded
        done = subprocess.run(
            [sys.executable, "both.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
            env=HERE | {"COVEY_CACHE_DIR": str(tmp_path / "cache")},
        )
        assert done.stdout.strip() == "20.0 20.0 24.0"


def test_a_script_may_hold_a_kernel(tmp_path):
    (tmp_path / "mine.py").write_text(SCRIPT)
    for command in (["mine.py"], ["-m", "mine"]):
        done = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=True, env=HERE
        )
        assert done.stdout.strip() == "42.0"


def test_code_from_the_command_line_may_not_be_cached_but_imports_covey():
    code = "import covey.kernel; print(len(covey.kernel._sources('__main__')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=HERE)
    assert done.stdout.strip() == "0"


def test_what_users_compile_themselves_stays_as_it_was():
    import numba
    from numba.experimental import jitclass

    @numba.njit
    def twice(x):
        return 2 * x

    @numba.vectorize(["float64(float64)"], nopython=True)
    def each(x):
        return twice(x) + 1

    @numba.cfunc("float64(float64)")
    def called(x):
        return twice(x)

    @numba.njit
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    @numba.njit
    def numbers(n):
        for i in range(n):
            yield twice(i)

    @numba.njit
    def total(n):
        found = 0
        for x in numbers(n):
            found += x
        return found

    @numba.njit
    def refuses(x):
        if x < 0:
            raise ValueError("negative")
        return x

    @jitclass([("x", numba.float64)])
    class Box:
        def __init__(self, x):
            self.x = x

        def go(self):
            return twice(self.x)

    @numba.njit
    def matrices(a):
        return np.dot(a, a.T).sum() + np.linalg.norm(a) + np.sort(a.ravel())[0]

    a = np.arange(6.0).reshape(3, 2)
    assert each(a).tolist() == (2 * a + 1).tolist()
    assert called.ctypes(1.5) == 3.0
    assert fibonacci(12) == 144
    assert total(5) == 20
    assert list(numbers(3)) == [0, 2, 4]
    assert Box(2.0).go() == 4.0
    assert matrices(a) == pytest.approx((a @ a.T).sum() + np.linalg.norm(a))
    with pytest.raises(ValueError, match="negative"):
        refuses(-1)
