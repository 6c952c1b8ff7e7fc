"""Statistics beside those of R, where R with survival and coin is installed: `benchmarks/oracles.py`, fewer cases."""

import runpy
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

ORACLES = Path(__file__).parents[3] / "benchmarks" / "oracles.py"
ROUNDED = 0.02
"""Scores of log-rank tests are rounded before their law is found, and equal sums may then differ."""


def has_r():
    """Return whether R is there with what the script needs."""
    if not shutil.which("Rscript"):
        return False
    asked = ["Rscript", "--vanilla", "-e", "for (each in c('survival', 'coin')) find.package(each)"]
    return not subprocess.run(asked, capture_output=True, check=False).returncode


@pytest.mark.slow
def test_statistics_are_those_of_r(tmp_path):
    """Ties, timeouts and two settings of a seed: each of these and both in turn."""
    if not has_r():
        pytest.skip("R with survival and coin is not installed")
    oracles = runpy.run_path(str(ORACLES))
    cases = [oracles["draw_case"](number, 1) for number in range(8)]
    ours = {
        (number, name): np.atleast_1d(values)
        for number, case in enumerate(cases)
        for name, values in oracles["of_covey"](number, case)
    }
    found = oracles["compared"](ours, oracles["of_r"](cases, tmp_path))
    assert len(found) > 20
    rounded = {name for name in found if name.startswith("log-rank") and ", p" in name}
    assert {name for name, (_, most) in found.items() if most > (ROUNDED if name in rounded else 1e-6)} == set()
