"""Without MuJoCo there is one clear error, and with it no log files."""

import subprocess
import sys

import numpy as np
import pytest

import covey
from covey.errors import CoveyError
from covey.physics.mujoco.engine import mujoco


def test_without_mujoco_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    mujoco.cache_clear()
    try:
        with pytest.raises(CoveyError, match=r"pip install 'covey\[terrain\]'"):
            covey.Simulation(covey.World.empty(3, 3), physics="terrain")
    finally:
        mujoco.cache_clear()


@pytest.mark.slow
def test_planar_worlds_do_without_mujoco():
    code = "import covey, sys; covey.Simulation(covey.World.empty(3, 3)).close(); print('mujoco' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert told.stdout.split() == ["False"]


def test_a_warning_of_the_engine_leaves_no_file_behind(tmp_path, monkeypatch):
    pytest.importorskip("mujoco", reason="MuJoCo, of the extra covey[terrain], is not installed")
    monkeypatch.chdir(tmp_path)
    engine = mujoco()
    spec = engine.MjSpec()
    body = spec.worldbody.add_body()
    body.add_freejoint()
    body.add_geom(size=[0.1, 0, 0])
    model = spec.compile()
    data = engine.MjData(model)
    data.qvel[0] = np.inf
    engine.mj_step(model, data)
    assert not list(tmp_path.iterdir())
