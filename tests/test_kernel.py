"""Kernels outside Covey: a user's own script and module may use `@kernel`."""

import ast
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import covey
from covey.geometry.raycast import line_of_sight
from covey.kernel import _cache_folder, config

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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_script_may_hold_a_kernel(tmp_path):
    (tmp_path / "mine.py").write_text(SCRIPT)
    for command in (["mine.py"], ["-m", "mine"]):
        done = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=True, env=HERE
        )
        assert done.stdout.strip() == "42.0"


def test_code_from_the_command_line_may_not_be_cached_but_imports_covey():
    code = "import covey.geometry.raycast; print('loaded')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=HERE)
    assert done.stdout.strip() == "loaded"


def test_compiled_code_of_covey_is_found_from_wherever_the_package_lies(tmp_path):
    world = covey.World.empty(2, 2)
    assert line_of_sight(world.skip, world.grid.frame, -0.5, 0.0, 0.5, 0.0)
    (tmp_path / "elsewhere").symlink_to(Path(covey.__file__).parents[1])
    code = "from covey.kernel import is_compiled; from covey.geometry import raycast as r; print(r.__file__, is_compiled(r.line_of_sight))"
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "elsewhere")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(tmp_path / "elsewhere/covey/geometry/raycast.py"), "True"]


CALLED = """
from covey.kernel import kernel
{more}

@kernel
def rise(x):
    return {value}
"""
CALLER = """
{imports}
from covey.kernel import kernel

@kernel
def twice(x):
    return 2 * {call}

print(twice(1))
"""


EDITED = {
    "function": ("from second import rise", "rise(x)", ("", "x * 10"), ("", "x * 15")),
    "module": ("import second", "second.rise(x)", ("", "x * 10"), ("", "x * 15")),
    "package": ("from package import rise", "rise(x)", ("", "x * 10"), ("", "x * 15")),
    "global": ("from second import rise", "rise(x)", ("FACTOR = 10", "x * FACTOR"), ("FACTOR = 15", "x * FACTOR")),
    "number": ("from second import FACTOR", "(x * FACTOR)", ("FACTOR = 10", "x"), ("FACTOR = 15", "x")),
    "number of a module": ("import second", "(x * second.FACTOR)", ("FACTOR = 10", "x"), ("FACTOR = 15", "x")),
    "third file": (
        "from second import rise",
        "rise(x)",
        ("from third import FACTOR", "x * FACTOR"),
        ("from third import FACTOR  #", "x * FACTOR"),
    ),
}
EACH_ALONE = """
import runpy
import sys

for folder in sys.argv[1:]:
    print(folder, end=": ")
    sys.path.insert(0, folder)
    runpy.run_path(f"{folder}/first.py", run_name="__main__")
    sys.path.remove(folder)
    for name in ("package", "second", "third"):
        sys.modules.pop(name, None)
"""


@pytest.mark.slow
def test_a_function_in_another_file_that_was_edited_is_compiled_again(tmp_path):
    """Each way of using it is a script in a folder of its own; one process runs them all, and each has its own cache."""
    (tmp_path / "each_alone.py").write_text(EACH_ALONE)
    for name, (imports, call, _, _) in EDITED.items():
        (tmp_path / name / "package").mkdir(parents=True)
        (tmp_path / name / "package" / "__init__.py").write_text("from second import rise\n")
        (tmp_path / name / "first.py").write_text(CALLER.format(imports=imports, call=call))
    environment = HERE | {"COVEY_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "each_alone.py", *EDITED]
    for version, factor, printed in ((2, 10, "20"), (3, 15, "30"), (2, 10, "20")):
        for name, ways in EDITED.items():
            more, value = ways[version]
            (tmp_path / name / "third.py").write_text(f"FACTOR = {factor}\n")
            (tmp_path / name / "second.py").write_text(CALLED.format(more=more, value=value))
            os.utime(tmp_path / name / "second.py", (factor, factor))
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, env=environment)
        assert done.stdout.splitlines() == [f"{name}: {printed}" for name in EDITED]
    assert len(list((tmp_path / "cache").rglob("*twice*.nbi"))) == 2 * len(EDITED)


@pytest.mark.slow
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


CACHED = """
import numba

@numba.njit(cache=True)
def square(n):
    return n * n

@numba.njit(cache=True)
def more(n):
    return square(n) + 1
"""


def test_code_from_the_cache_is_linked_into_what_is_compiled_later(tmp_path):
    import numba

    (tmp_path / "cached.py").write_text(CACHED)
    first, again = (runpy.run_path(str(tmp_path / "cached.py")) for _ in range(2))
    more, square = again["more"], again["square"]
    assert first["more"](12) == more(12) == 145
    assert sum(more.stats.cache_hits.values()) == 1
    assert numba.njit(lambda n: more(n) + square(n))(12) == 145 + 144


def test_kernels_for_any_processor_are_found_on_every_processor(monkeypatch):
    """Else an image that was built with NUMBA_CPU_NAME=generic would compile them again on another machine."""

    def folders():
        for processor in ("one", "another"):
            monkeypatch.setattr("llvmlite.binding.get_host_cpu_name", lambda processor=processor: processor)
            yield _cache_folder.__wrapped__()

    assert len({*folders()}) == 2
    monkeypatch.setattr(config, "CPU_NAME", "generic")
    monkeypatch.setattr(config, "CPU_FEATURES", "")
    assert len({*folders()}) == 1


CACHE = """
import os
import sys

from covey.kernel import cache_root

for folder in sys.argv[1:]:
    os.environ["COVEY_CACHE_DIR"] = folder
    print(cache_root.__wrapped__(), flush=True)
"""


def test_a_cache_folder_is_the_users_alone(tmp_path):
    """As code that somebody planted in it would run. One process looks at all folders."""
    modes = {"group": 0o770, "others": 0o702, "new": None, "readable": 0o755, "of another": 0o700}
    shared, own = {"group", "others"}, {"new", "readable"}
    for name, mode in modes.items():
        if mode is not None:
            (tmp_path / name).mkdir()
            (tmp_path / name).chmod(mode)
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # only root gives folders away
        os.chown(tmp_path / "of another", 12345, 12345)
        shared.add("of another")
    names = sorted(shared | own)
    command = [sys.executable, "-W", "always", "-c", CACHE, *(str(tmp_path / name) for name in names)]
    done = subprocess.run(command, env=HERE, capture_output=True, text=True, check=True)
    for name, used in zip(names, map(Path, done.stdout.splitlines()), strict=True):
        folder = tmp_path / name
        assert (used == folder) == (name in own), name
        if name in own:
            assert folder.stat().st_mode & 0o777 == 0o700
        else:
            assert not used.exists()  # it has gone with the process
            assert not any(folder.iterdir())
            said = "user 12345 owns" if name == "of another" else "others may write into"
            assert f"{said} {folder}" in done.stderr


def test_a_full_disk_under_the_cache_is_a_warning_and_the_kernel_runs(tmp_path):
    """A limit of the size of files stands for a full disk: both refuse to write (EFBIG, ENOSPC)."""
    (tmp_path / "mine.py").write_text(
        "import resource, warnings\n"
        "from covey.kernel import kernel\n"
        "@kernel\n"
        "def twice(x):\n"
        "    return 2.0 * x\n"
        "@kernel\n"
        "def thrice(x):\n"
        "    return 3.0 * x\n"
        "if __name__ == '__main__':\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))\n"
        "    with warnings.catch_warnings(record=True) as said:\n"
        "        print(twice(10.0), thrice(10.0), *[w.message for w in said])\n"
    )
    environment = HERE | {"COVEY_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, str(tmp_path / "mine.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("20.0 30.0 cannot keep compiled kernels in"), done.stderr
    assert done.stdout.count("cannot keep") == 1
    assert "the run goes on" in done.stdout


@pytest.mark.slow
def test_compiled_code_that_was_cut_off_is_compiled_again(tmp_path):
    cuts = [(ending, length) for ending in ("nbi", "nbc") for length in (0, 20)]
    kernels = [f"@kernel\ndef twice_{ending}_{length}(x):\n    return 2.0 * x\n" for ending, length in cuts]
    calls = ", ".join(f"twice_{ending}_{length}(10.0)" for ending, length in cuts)
    (tmp_path / "mine.py").write_text(f"from covey.kernel import kernel\n{''.join(kernels)}print({calls})\n")
    environment = HERE | {"COVEY_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, str(tmp_path / "mine.py")]
    subprocess.run(command, env=environment, capture_output=True, check=True)
    for ending, length in cuts:
        (file,) = (tmp_path / "cache").rglob(f"*twice_{ending}_{length}*.{ending}")
        file.write_bytes(file.read_bytes()[:length])
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "20.0 20.0 20.0 20.0\n", done.stderr


COUNTED = """
import sys

from numba.core import event

from covey.kernel import kernel

@kernel
def roots(x):
    return (x + 1.0) ** 0.5 + (x + 2.0) ** 0.25

print("ready", flush=True)
sys.stdin.readline()
with event.install_recorder("numba:compile") as compiled:
    print(roots(3.0), len(compiled.buffer) // 2, flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no flock")
def test_processes_that_need_a_kernel_at_the_same_time_compile_it_once(tmp_path):
    (tmp_path / "counted.py").write_text(COUNTED)
    environment = HERE | {"COVEY_CACHE_DIR": str(tmp_path / "cache")}
    command, pipe = [sys.executable, str(tmp_path / "counted.py")], subprocess.PIPE
    processes = [subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) for _ in range(3)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=240)[0].split() for process in processes]
    assert [float(value) for value, _ in said] == [2.0 + 5.0**0.25] * 3
    assert sum(int(count) for _, count in said) == 1
    assert not list((tmp_path / "cache").rglob("*.lock"))


def imported(path):
    """Yield what a file imports from, and the names that it imports there."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from (node.module, *(f"{node.module}.{name.name}" for name in node.names))


@pytest.mark.slow
def test_every_module_with_kernels_is_imported_by_a_test():
    package, tests = Path(covey.__file__).parent, Path(__file__).parent
    tested = {name for path in tests.rglob("test_*.py") for name in imported(path)}
    modules = [path for path in package.rglob("*.py") if "\n@kernel" in path.read_text(encoding="utf-8")]
    names = {".".join(path.relative_to(package.parent).with_suffix("").parts) for path in modules}
    assert len(names) > 50
    assert names <= tested
