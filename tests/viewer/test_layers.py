"""Changed tiles of layers, against a plain comparison of all cells."""

import re
import time
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from covey.geometry.grid import Grid
from covey.plain import unpack
from covey.viewer.hub import Hub, PageClient
from covey.viewer.layers import TILE, Layer
from covey.viewer.messages import Watch
from covey.viewer.past import News


@given(
    st.integers(1, 100), st.integers(1, 100), st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=8)
)
def test_tiles_that_changed_are_found_and_complete_the_copy(rows, columns, places):
    cells = np.zeros((rows, columns), np.int32)
    layer = Layer("a", Grid(cells, 0.1), lambda: cells)
    places = [(r % rows, c % columns) for r, c in places]
    for k, (r, c) in enumerate(places):
        cells[r, c] = k + 1
    across = -(-columns // TILE)
    assert set(layer.changed(1.0).tolist()) == {r // TILE * across + c // TILE for r, c in places}
    np.testing.assert_array_equal(layer.seen, cells)
    assert not len(layer.changed(1e9))


def test_tiles_beyond_the_edge_hold_zeros():
    cells = np.arange(1, 34 * 40 + 1, dtype=np.int32).reshape(34, 40)
    cut = Layer("a", Grid(cells, 0.1), lambda: cells).cut(np.array([3]))
    expected = np.zeros((1, TILE, TILE), np.int32)
    expected[0, :2, :8] = cells[32:34, 32:40]
    np.testing.assert_array_equal(cut, expected)


def test_a_layer_that_takes_long_waits_unless_nothing_follows():
    cells = np.zeros((40, 40), np.int32)

    def slowly():
        time.sleep(0.02)
        return cells

    layer = Layer("a", Grid(cells, 0.1), slowly)
    layer.changed(1.0)
    cells[0, 0] = 1
    assert not len(layer.changed(1.1))
    assert layer.changed(1.1, complete=True).tolist() == [0]


def test_who_watches_a_layer_that_nobody_has_watched_since_is_not_sent_its_old_cells():
    cells = np.zeros((40, 40), np.int32)
    hub, sent = Hub(), []
    hub.describe({"type": "hello"}, {"a": lambda: Layer("a", Grid(cells, 0.1), lambda: cells)})
    for step in (1, 2):
        cells[:] = step
        hub.join(client := PageClient(edits=True))
        hub.publish({"step": step}, {}, set(), News())  # it has not said yet what it watches
        hub.watching(client, Watch(type="watch", layers=("a",), rate_hz=60))
        for wanted in (set(), {"a"}):
            client.due, client.acknowledged = 0.0, client.frame
            sent += [unpack(one) for one in hub.next_for(client)[0] if isinstance(one, bytes)]
            hub.publish({"step": step}, {}, wanted, News())
        client.due, client.acknowledged = 0.0, client.frame
        sent += [unpack(one) for one in hub.next_for(client)[0] if isinstance(one, bytes)]
        hub.leave(client)
    assert [int(arrays["cells"][0, 0]) for header, arrays in sent if header["type"] == "layer"] == [1, 2]


def test_every_layer_of_the_page_has_a_picture_in_the_docs():
    root = Path(__file__).parents[2]
    titles = re.findall(r'^ {4}title: "(.*)",$', (root / "web/src/layers.ts").read_text(), re.MULTILINE)
    shown = dict(re.findall(r"!\[(.*)\]\((.*)\)", (root / "docs/layers.md").read_text()))
    assert len(titles) > 30
    assert set(titles) == set(shown)
    sizes = [(root / "docs" / path).stat().st_size for path in shown.values()]
    assert sum(sizes) < 1_000_000
    assert {Path(path).name for path in shown.values()} == {p.name for p in (root / "docs/images/layers").iterdir()}
