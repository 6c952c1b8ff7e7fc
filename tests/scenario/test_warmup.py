"""The rehearsal of a run: both halves run, and leave nothing behind."""

import tempfile
from pathlib import Path

from covey.scenario import warmup


def test_both_halves_run_and_the_cache_is_warm_then(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    warmup.move()
    warmup.think()
    assert not warmup.is_cold()
    assert not list(Path(tmp_path).rglob("metrics.json"))
