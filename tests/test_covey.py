"""The façade: quick to import, and every name leads somewhere."""

import subprocess
import sys

import pytest

import covey

HEAVY = ("numba", "scipy", "polars", "pyarrow", "numpy", "pydantic", "matplotlib")


def loaded_after(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*[m for m in {HEAVY} if m in sys.modules])"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_importing_covey_imports_nothing_heavy():
    assert loaded_after("import covey") == set()


def test_help_imports_nothing_heavy():
    statement = (
        "import contextlib, io, covey.cli\nwith contextlib.redirect_stdout(io.StringIO()): covey.cli.main(['--help'])"
    )
    code = f"import sys\n{statement}\nprint(*[m for m in {HEAVY} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []


@pytest.mark.parametrize("name", covey.__all__)
def test_every_name_of_the_facade_leads_somewhere(name):
    assert getattr(covey, name) is not None
    assert name in dir(covey)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'covey' has no attribute 'Simulatoin'"):
        covey.Simulatoin  # noqa: B018


def test_errors_share_one_base():
    assert all(issubclass(getattr(covey, n), covey.CoveyError) for n in covey.__all__ if n.endswith("Error"))
