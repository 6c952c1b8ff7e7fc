"""`covey live`, and `covey run DESIGN --live`."""

import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
import yaml
from tests.viewer.test_live import Viewer
from tests.viewer.test_study import PLAIN

from covey.cli import main
from covey.experiments import run
from covey.experiments.workers.execute import execute


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_the_gallery_serves_until_it_is_told_to_end(tmp_path):
    command = [sys.executable, "-P", "-m", "covey", "live"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        url = process.stderr.readline().split()[-1]
        viewer = Viewer(SimpleNamespace(url=url, port=int(url.split(":")[2].split("/")[0])))
        hello = viewer.until(lambda header: header["type"] == "hello")
        assert (hello["mode"], hello["edits"]) == ("gallery", True)
        viewer.socket.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(240) == 143
        assert "interrupted" not in process.stderr.read()
    assert not list(tmp_path.iterdir())


def test_a_design_prints_its_page_and_ends_if_nobody_looks(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "keep", lambda planned, folder, limits, environment: execute(planned, folder))
    (tmp_path / "sizes.yaml").write_text(yaml.safe_dump({"format": 1, **PLAIN}))
    assert main(["run", "sizes.yaml", "--live", "--quiet"]) == 0
    said = capsys.readouterr()
    assert "watch and steer  http://127.0.0.1:" in said.err
    assert "the page stays" not in said.err
    assert said.out.strip() == "runs/two-sizes"
