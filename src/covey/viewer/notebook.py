"""A run or a simulation in a cell of a notebook: the offline page in a frame, which the saved notebook keeps."""

import html
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from covey.plain import dumps, pack
from covey.results.run import Run
from covey.runtime.simulation import Simulation
from covey.viewer.description import description_of
from covey.viewer.exports.html import html_of
from covey.viewer.layers import layers_of
from covey.viewer.recorded import blocks_of, layer_message, messages_of


class Page:
    """A page that a notebook shows in a cell.

    Args:
        html: the whole page.
        height: height of the frame [pixel].
    """

    def __init__(self, html: str, height: int):
        self.html, self.height = html, height

    def _repr_html_(self) -> str:
        # The frame has no access to the notebook: it may only run its own script, and offer files for download.
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" title="Covey" sandbox="allow-scripts allow-downloads" '
            f'style="width:100%;height:{self.height}px;border:0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<page of {len(self.html) / 1e6:.1f} MB; a notebook shows it>"


def view(shown: Run | Simulation, height: int = 600) -> Page:
    """Show a run, or a simulation as it is now, in a cell of a notebook: a page to play, zoom and click.

    The saved notebook holds the page, and shows it without Covey and without a network.

    Args:
        shown: a `Run`, or a `Simulation` that has not ended.
        height: height of the frame [pixel].

    Examples:
        >>> import covey
        >>> sim = covey.Simulation(covey.World.empty(6, 6), robots=1)
        >>> covey.view(sim)
        <page of ... MB; a notebook shows it>
    """
    messages = _from_its_end(messages_of(shown)) if isinstance(shown, Run) else _messages_of(shown)
    return Page(html_of(messages).decode(), height)


def _from_its_end(messages: Iterator[bytes]) -> Iterator[bytes]:
    """Yield a recording that shows its end at first, and plays from its beginning."""
    first = next(messages)
    yield dumps(json.loads(first) | {"shows_end": True}).encode()
    yield from messages


def _messages_of(sim: Simulation) -> Iterator[bytes]:
    """Yield a recording of one step: the present one."""
    layers = {name: make() for name, make in layers_of(sim).items()}
    hello: dict[str, Any] = description_of(sim, list(layers)) | {"mode": "replay", "edits": False}
    yield dumps(hello).encode()
    arrays = {"step": np.array([sim.clock.step], np.int32), "time_s": np.array([sim.time])}
    yield pack({"type": "recording", "status": sim.status, "events": []}, arrays)
    yield from blocks_of("pose", sim.state.pose[None])
    for name, layer in layers.items():
        yield layer_message(name, layer.grid, layer.seen)
