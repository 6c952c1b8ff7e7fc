import pytest

ROOM = """\
world: {empty_m: [8, 8]}
robots: [{name: scout, count: 2, controller: wander}]
stop: {timeout_s: 3}
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write files into an empty folder, which becomes the current one; room.yaml is there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "room.yaml").write_text(ROOM, encoding="utf-8")

    def writer(**texts):
        for name, text in texts.items():
            (tmp_path / name.replace("_yaml", ".yaml").replace("_py", ".py").replace("_csv", ".csv")).write_text(text)
        return tmp_path

    return writer
