"""The tables about the radio in a run folder; they exist if a robot has sent something."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from covey.comms.samples import RadioSample
from covey.comms.traffic import CAUSES, COUNTERS, LOG_COLUMNS
from covey.results.table import FileEnd, Table

_ROWS = 8192
DROPS = tuple(f"dropped_{cause}" for cause in CAUSES[1:])
_INT, _FLOAT, _TEXT = pa.int64(), pa.float64(), pa.string()
_LOG_TYPES = (_INT, _TEXT, _TEXT, _TEXT, _TEXT, _INT, _FLOAT, _FLOAT, _TEXT)
SCHEMAS: dict[str, list[tuple[str, pa.DataType]]] = {
    "radio": [
        ("step", _INT),
        ("time_s", _FLOAT),
        ("links", _INT),
        ("groups", _INT),
        ("largest_group", _INT),
        ("news_mean_s", _FLOAT),
        ("news_max_s", _FLOAT),
    ],
    "links": [("step", _INT), ("time_s", _FLOAT), ("robot", _TEXT), ("other", _TEXT), ("up", pa.bool_())],
    "traffic": [
        ("step", _INT),
        ("time_s", _FLOAT),
        ("robot", _TEXT),
        ("kind", _TEXT),
        *((name, _FLOAT if name == "delay_s" else _INT) for name in COUNTERS),
        *((name, _INT) for name in DROPS),
    ],
    "messages": [("step", _INT), *zip(LOG_COLUMNS, _LOG_TYPES, strict=True)],
}


class RadioTables:
    """Writes samples of the radio as tables, block by block.

    Args:
        folder: the run folder.
        names: robots in the order of the team.
    """

    def __init__(self, folder: Path, names: Sequence[str]):
        self.folder, self.names = folder, names
        self.tables: dict[str, Table] = {}
        self._rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in SCHEMAS}

    def add(self, step: int, sample: RadioSample) -> None:
        """Record one sample."""
        at, names, rows = (step, sample.time_s), self.names, self._rows
        if not self.tables:
            self._open("radio")
            self._open("links")
            self._open("traffic")
        team = sample.links, sample.groups, sample.largest_group, sample.news_mean_s, sample.news_max_s
        rows["radio"].append((*at, *team))
        rows["links"] += [(*at, names[i], names[j], bool(up)) for i, j, up in sample.changes.tolist()]
        for robot, kind, numbers in sample.traffic:
            counts, drops = numbers[: len(COUNTERS)].tolist(), numbers[len(COUNTERS) + 1 :].tolist()
            whole = [c if name == "delay_s" else int(c) for name, c in zip(COUNTERS, counts, strict=True)]
            rows["traffic"].append((*at, names[robot], kind, *whole, *map(int, drops)))
        for number, author, sender, receiver, *rest in sample.packets:
            to = names[receiver] if receiver >= 0 else None
            rows["messages"].append((step, number, names[author], names[sender], to, *rest))
        for name, waiting in rows.items():
            if len(waiting) >= _ROWS:
                self._flush(name)

    def ends(self) -> dict[str, FileEnd]:
        """Return what makes whole tables of all rows up to now, by name; see `Table.end`."""
        for name, rows in self._rows.items():
            if rows and name not in self.tables:
                self._open(name)
        return {
            name: table.end(_columns(name, self._rows[name]) if self._rows[name] else None)
            for name, table in self.tables.items()
        }

    def finish(self) -> None:
        """Write the rest, and give the tables their final names."""
        for name in SCHEMAS:
            self._flush(name)
        for table in self.tables.values():
            table.finish()
        self.tables = {}

    def abandon(self) -> None:
        """Remove the tables."""
        for table in self.tables.values():
            table.abandon()
        self.tables = {}

    def _open(self, name: str) -> None:
        self.tables[name] = Table(self.folder / f"{name}.parquet", pa.schema(SCHEMAS[name]))

    def _flush(self, name: str) -> None:
        rows, self._rows[name] = self._rows[name], []
        if not rows:
            return
        if name not in self.tables:
            self._open(name)
        self.tables[name].write(_columns(name, rows))


def _columns(name: str, rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    columns = zip(*rows, strict=True)
    return {key: list(c) for (key, _), c in zip(SCHEMAS[name], columns, strict=True)}
