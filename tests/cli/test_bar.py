"""The bar of work in stages."""

import io

from covey.cli import bar
from covey.cli.bar import StageBar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(monkeypatch, stream, stages):
    """Return what a bar writes when stages are observed, each at a time [s]."""
    now = [0.0]
    monkeypatch.setattr(bar.time, "monotonic", lambda: now[0])
    with StageBar(stream) as one:
        for now[0], *stage in stages:
            one.observe(*stage)
    return stream.getvalue()


def test_a_file_gets_a_line_every_ten_seconds(monkeypatch):
    lines = [(0.1, "lines", 1, 9000), (10.0, "lines", 4000, 9000), (19.0, "walls", 0, 0), (20.0, "cells", 0, 0)]
    assert shown(monkeypatch, io.StringIO(), lines) == "lines: 4,000 of 9,000\ncells\n"


def test_a_terminal_gets_a_bar_when_it_takes_longer_than_a_second(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    assert shown(monkeypatch, Terminal(), [(0.5, "lines", 3, 7), (0.9, "walls", 0, 0)]).strip() == ""
    late = shown(monkeypatch, Terminal(), [(0.5, "lines", 3, 7), (1.1, "lines", 5, 7), (1.15, "walls", 0, 0)])
    assert "3 of 7" not in late
    assert "lines: 5 of 7" in late
    assert "walls" in late
