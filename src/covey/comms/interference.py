"""Interference between packets that are on a channel at the same time."""

from typing import TYPE_CHECKING

import numpy as np

from covey.comms.links.geometry import Pairs
from covey.comms.packets import Packets
from covey.world.state import AnyWorld

if TYPE_CHECKING:
    from covey.comms.radio_channel import RadioChannel


def disturbed(
    radio_channel: "RadioChannel",
    others: "list[RadioChannel]",
    packets: Packets,
    row: np.ndarray,
    receiver: np.ndarray,
    power: np.ndarray | None,
    luck: np.ndarray,
    world: AnyWorld,
    xy: np.ndarray,
) -> np.ndarray:
    """Return which receptions are lost to other packets on the channel, bool (m,).

    Two packets collide if their transmissions overlap in time or begin together. A transmitting robot hears nothing.
    Without power models, any other packet that the receiver can hear destroys the wanted one. With power models, the
    powers of the others, even of those too weak to decode, add to the noise: a threshold receiver needs ``sinr_db``,
    and QPSK gets more bit errors. Each draws its shadow as a wanted packet does, and has one power at one receiver.

    Args:
        radio_channel, others: the radio, and the radios on the same channel.
        packets: the packets to decide.
        row, receiver: packet and robot of each reception, int64 (m,).
        power: received power [dBm], (m,); None without power models.
        luck: uniform numbers, (m,); a packet is decoded if its number is below its probability.
        world, xy: walls and true positions.
    """
    active = Packets.join([part for one in (radio_channel, *others) for part in (one.past, one.pending)])
    together = (active.start_s[None] < packets.end_s[:, None]) & (packets.start_s[:, None] < active.end_s[None])
    together |= active.start_s[None] == packets.start_s[:, None]
    together &= active.source[None] != packets.source[:, None]
    reception, other = np.nonzero(together[row])
    lost = np.zeros(len(row), bool)
    if not len(reception):
        return lost
    source, hearer = active.source[other], receiver[reception]
    lost[reception[source == hearer]] = True
    apart = source != hearer
    reception, other, source, hearer = reception[apart], other[apart], source[apart], hearer[apart]
    pairs = Pairs.of(world, xy, np.minimum(source, hearer), np.maximum(source, hearer))
    links = radio_channel.propagation.links(pairs, disturbing=power is not None)
    if power is None:
        lost[reception[links.probability > 0.0]] = True
        return lost
    arriving = radio_channel.propagation.received(links, np.arange(len(other)), active.transmission[other])
    noise = np.full(len(row), 10.0 ** (radio_channel.radio.noise_dbm / 10.0))
    heard = np.where(links.cause == 0, 10.0 ** (arriving / 10.0), 0.0)
    np.add.at(noise, reception, heard)
    met = np.bincount(reception, heard, len(row)) > 0.0
    level = 10.0 * np.log10(noise)
    if radio_channel.radio.receiver == "threshold":
        return lost | (met & (power - level < radio_channel.radio.sinr_db))
    return lost | (met & (luck >= radio_channel.radio.decoded(power, packets.size[row], level)))
