import pytest


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write files into an empty folder, which becomes the current one."""
    monkeypatch.chdir(tmp_path)

    def writer(**texts):
        for name, text in texts.items():
            (tmp_path / name.replace("_yaml", ".yaml").replace("_py", ".py")).write_text(text, encoding="utf-8")
        return tmp_path

    return writer
