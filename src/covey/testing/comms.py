"""Checks of link models and protocols."""

import pickle
from collections import Counter
from typing import Any

import numpy as np

from covey.comms.links import LinkModel, Unlimited
from covey.comms.links.geometry import Pairs
from covey.comms.mailbox import Mailbox
from covey.comms.network import Network
from covey.comms.propagation import Propagation
from covey.comms.protocols import Protocol
from covey.comms.radio import Radio
from covey.geometry.grid import Grid
from covey.world.world import World


def check_link(model: LinkModel) -> None:
    """Check a link model: a probability or a loss for each pair, repeatable, symmetric, independent of other pairs."""
    world, xy = _scene()
    name = type(model).__name__
    a, b = np.triu_indices(len(xy), 1)
    first, again = (_answers(model, world, xy, a, b) for _ in range(2))
    assert np.array_equal(first, again), f"{name} answers differently when asked again; draw from covey.random"
    assert first.shape == (3, len(a)), (
        f"{name} returns shape {first.shape[1:]} for {len(a)} pairs; return one number each"
    )
    assert np.isfinite(first[0]).all(), f"{name} returns NaN or infinite probabilities"
    assert ((first[0] >= 0.0) & (first[0] <= 1.0)).all(), f"{name} returns probabilities outside 0 … 1"
    some = np.arange(0, len(a), 3)
    part = _answers(model, world, xy, a[some], b[some])
    assert np.array_equal(part, first[:, some], equal_nan=True), f"{name} depends on which other pairs are asked about"
    last = len(xy) - 1
    back = _answers(model, world, xy[::-1].copy(), last - b, last - a)
    assert np.allclose(back[:2], first[:2], equal_nan=True), f"{name} is not the same in both directions"
    beyond = np.hypot(*(xy[a] - xy[b]).T) > model.reach_m()
    assert not (first[0][beyond] > 0.0).any(), f"{name} lets something through beyond its reach_m()"
    _pickles(model)


def check_protocol(protocol: Protocol) -> None:
    """Check a protocol: over perfect links each message arrives once, at its receiver; repeatable; own state."""
    name = type(protocol).__name__
    first, again = (_delivered(protocol) for _ in range(2))
    assert first == again, f"{name} does not repeat itself; draw from station.uniform()"
    twice = [key for key, times in Counter(first).items() if times > 1]
    assert not twice, f"{name} delivers a message twice: (receiver, content) {twice[0]}"
    wanted = {(1, "to r1"), (2, "to r2"), (0, "to all"), (2, "to all"), (3, "to all")}
    missing, more = wanted - set(first), set(first) - wanted
    assert not missing, f"{name} loses messages over perfect links: (receiver, content) {sorted(missing)[0]}"
    assert not more, f"{name} delivers a message to a wrong receiver: (receiver, content) {sorted(more)[0]}"
    _pickles(protocol)


def _pickles(item: Any) -> None:
    try:
        pickle.loads(pickle.dumps(item))
    except Exception as error:
        raise AssertionError(
            f"{type(item).__name__} does not pickle ({error}); define it at the top level of a module, so that it can "
            "be sent to another process"
        ) from error


def _answers(model: LinkModel, world: World, xy: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return probability, received power (0 without) and chance of a packet, (3, m)."""
    air = Propagation(Radio(links=(model,), sensitivity_dbm=-150.0), 3, "check")
    links = air.links(Pairs.of(world, xy, a, b))
    everyone = np.arange(len(a))
    chance, _ = air.success(links, everyone, np.full(len(a), 100), np.full(len(a), 1.0), 7 * a + b)
    power = np.zeros(len(a)) if links.power_dbm is None else links.power_dbm
    power = np.where(links.cause == 0, power, 0.0)  # a model may stop counting
    return np.stack([np.asarray(row, float) for row in (links.probability, power, chance)])


def _scene() -> tuple[World, np.ndarray]:
    """Return three rooms with walls of brick and wood, and robots in and around them."""
    cells = np.zeros((60, 90), np.uint8)
    made_of = np.zeros_like(cells)
    cells[20:50, 30], cells[10:40, 60:63] = 1, 1
    made_of[:, 45:] = 1
    world = World(Grid(cells, 0.5, (-5.0, 2.0, 0.2)), materials=made_of, material_names=("brick", "wood"))
    k = np.arange(24)
    return world, np.column_stack(((k * 7.3) % 44.0 - 6.0, (k * 11.9) % 33.0))


def _delivered(protocol: Protocol) -> list[tuple[int, Any]]:
    names = ["r0", "r1", "r2", "r3"]
    network = Network([Mailbox(n, names) for n in names], [Radio(links=(Unlimited(),), protocol=protocol)], 5)
    world, pose, got = World.empty(10, 10, resolution_m=1.0), np.zeros((4, 3)), []
    pose[:, 0] = np.arange(4)
    network.mailboxes[0].send("to r1", "r1", "", None)
    network.mailboxes[3].send("to r2", "r2", "", None)
    network.mailboxes[1].send("to all", None, "", None)
    for step in range(600):
        network.deliver(world, pose, np.ones(4, bool), 0.1 * step)
        got += [(i, m.payload) for i, box in enumerate(network.mailboxes) for m in box.pop(None)]
    return got
