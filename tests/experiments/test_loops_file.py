"""``loops.csv`` of a log: each number is in the column of its name."""

import csv
from types import SimpleNamespace

import numpy as np
import pytest

from covey.experiments.logs import scores


def test_each_number_of_a_loop_is_in_the_column_of_its_name(monkeypatch):
    """The motion of the loop is 0.5 m and 10 degrees from what the poses say; another loop was taken back."""
    poses = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    loop = SimpleNamespace(is_loop=True, first=0, second=2, motion=np.array([2.3, 0.4, np.radians(-10.0)]))
    step = SimpleNamespace(is_loop=False, first=0, second=1, motion=poses[1])
    taken_back = SimpleNamespace(taken_back=[(1, 2)])
    slam = SimpleNamespace(key_rows=[3, 40, 500], edges=[step, loop], poses=poses, graph=lambda: None, loops=taken_back)
    monkeypatch.setattr(scores, "chi2_of", lambda graph, poses: [0.0, 7.25])
    kept, lost = csv.DictReader(scores.loops_as_csv(slam).splitlines())
    assert (kept["first_scan"], kept["second_scan"], kept["kept"]) == ("3", "500", "1")
    assert [float(kept[name]) for name in ("residual_m", "residual_deg", "chi2")] == [pytest.approx(0.5), 10.0, 7.25]
    assert lost == {
        "first_scan": "40",
        "second_scan": "500",
        "residual_m": "",
        "residual_deg": "",
        "chi2": "",
        "kept": "0",
    }
