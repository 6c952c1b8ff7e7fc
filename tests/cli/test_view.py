"""`covey view` and `covey export`, as they are typed."""

import signal
import subprocess
import sys
import urllib.request

import pytest

import covey
from covey.cli import main


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("viewed") / "runs" / "room" / "20300101-120000"
    return covey.Simulation(covey.World.empty(4, 4), recording=folder).run(until_s=0.5)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT")
@pytest.mark.parametrize("looked_at", [False, True])
def test_ctrl_c_ends_the_page_of_a_run_with_one_word(recorded, looked_at):
    command = [sys.executable, "-m", "covey", "view", str(recorded.folder)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        watch, url = process.stderr.readline().split()
        assert watch == "watch"
        assert url.startswith("http://127.0.0.1:")
        assert process.stderr.readline() == "end    Ctrl-C\n"
        if looked_at:
            assert urllib.request.urlopen(url.partition("#")[0], timeout=240).status == 200
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=240) == ("", "interrupted\n")
        assert process.returncode == 130
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("form", "out", "said"),
    [
        ("html", "a.gif", "--out a.gif: a file of --format html ends with .html"),
        ("html", "a.mcap", "--out a.mcap: a file of --format html ends with .html; for .mcap add --format mcap"),
        ("map", "a.html", "--out a.html: a file of --format map ends with .yaml; for .html add --format html"),
    ],
)
def test_a_file_that_ends_like_another_format_is_refused(recorded, form, out, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["export", str(recorded.folder), "--format", form, "--out", out]) == 2
    assert capsys.readouterr().err == f"{said}\n"
    assert not list(tmp_path.iterdir())


def test_the_current_folder_is_no_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["view", "."]) == 2
    assert capsys.readouterr().err.startswith("'.' is not a run folder: it has no manifest.json; covey run NAME writes")
