"""Propagation between robots: the combined link models of a radio."""

import math
from typing import Any

import numpy as np

from covey.comms.links.disc import Unlimited
from covey.comms.links.geometry import Pairs
from covey.comms.links.model import Links, LossModel, PowerModel
from covey.comms.radio import Radio
from covey.comms.traffic import OUT_OF_RANGE, WALLS
from covey.random import stream_key
from covey.world.state import AnyWorld

_DEVIATIONS = 6.0
"""Largest gain from shadowing that is considered [standard deviations]."""
_FAINT_DB = 60.0
"""Signals this far below the noise are ignored [dB]: a thousand of them add 0.004 dB to the noise."""


class Propagation:
    """The link models of a radio, together.

    Args:
        radio: its record.
        seed: root of the random streams.
        stream: name of the stream of this radio.

    Attributes:
        reach_m: no robot hears another one beyond this distance [m].
    """

    def __init__(self, radio: Radio, seed: int, stream: str):
        self.radio = radio
        self.models = [m for m in radio.models if not isinstance(m, LossModel)]
        self.losses = [m for m in radio.models if isinstance(m, LossModel)]
        self.powers = [m for m in self.models if isinstance(m, PowerModel)]
        self._shadow_key = stream_key(seed, f"{stream}/shadowing")
        self._loss_keys = [stream_key(seed, f"{stream}/loss/{k}") for k in range(len(self.losses))]
        self._shadows = [m.shadowing() for m in self.powers]
        gain_db = _DEVIATIONS * sum(shadow.sigma_db for shadow in self._shadows)
        self._floor = radio.floor_dbm - gain_db
        self._faintest = min(self._floor, radio.noise_dbm - _FAINT_DB - gain_db)
        self.reach_m = radio.reach_m(self._floor)
        self._everybody = all(isinstance(m, Unlimited) for m in self.models) and radio.loss <= 0.5

    def links(self, pairs: Pairs, disturbing: bool = False) -> Links:
        """Return the results of the models for pairs of robots, with powers too low to decode if they can disturb."""
        floor = self._faintest if disturbing else self._floor
        reach_m = self.radio.reach_m(floor) if disturbing else self.reach_m
        m = len(pairs)
        left: Any = slice(None)
        sub = pairs
        probability, cause = np.ones(m), np.zeros(m, np.int8)
        power = np.full(m, self.radio.tx_power_dbm) if self.powers else None
        if math.isfinite(reach_m):
            left, sub = self._keep(left, sub, sub.distance_m <= reach_m, cause, OUT_OF_RANGE)
        for model in self.models:
            if isinstance(model, PowerModel):
                assert power is not None
                power[left] -= model.loss_db(sub, power[left] - floor)
                heard = power[left] >= floor
            else:
                probability[left] *= model.probability(sub)
                heard = probability[left] > 0.0
            left, sub = self._keep(left, sub, heard, cause, WALLS if model.by_walls else OUT_OF_RANGE)
        if power is not None:
            power[left] += self._lasting_shadows(sub)
        if sub is not pairs:
            probability[cause > 0] = 0.0
        return Links(pairs.a, pairs.b, probability, power, cause, pairs.distance_m)

    def all_links(self, world: AnyWorld, xy: np.ndarray) -> Links:
        """Return the links of all pairs of robots within reach; positions [m], float64 (n, 2)."""
        return self.links(Pairs.near(world, xy, self.reach_m))

    def hears(self, world: AnyWorld, pose: np.ndarray, alive: np.ndarray) -> np.ndarray:
        """Return which robots hear each other, bool (n, n), symmetric; no robot hears itself.

        Args:
            world: the world with its walls.
            pose: true poses, float64 (n, 3).
            alive: robots whose radio works, bool (n,).
        """
        if self._everybody:
            return ~np.eye(len(pose), dtype=bool) & alive[:, None] & alive[None]
        found = self.all_links(world, pose[:, :2])
        up = self.up(found)
        hears = np.zeros((len(pose), len(pose)), bool)
        hears[found.a[up], found.b[up]] = hears[found.b[up], found.a[up]] = True
        return hears & alive[:, None] & alive[None]

    def up(self, links: Links) -> np.ndarray:
        """Return which links are up, bool (m,): whether at least half of all packets of 100 bytes get through."""
        return self.chance(links) >= 0.5

    def chance(self, links: Links) -> np.ndarray:
        """Return the probability that a packet of 100 bytes gets through, without lapses in time, float64 (m,)."""
        chance = links.probability * (1.0 - self.radio.loss)
        if links.power_dbm is not None:
            chance = chance * self.radio.decoded(links.power_dbm, np.full(len(chance), 100.0))
        return chance

    def success(self, links: Links, row: np.ndarray, size: np.ndarray, time_s: np.ndarray, transmission: np.ndarray):
        """Return the probability that packets get through, and their power.

        Args:
            links: links of some pairs.
            row: link of each packet, int64 (m,).
            size: sizes of the packets [bytes], (m,).
            time_s: times of transmission [s], (m,).
            transmission: see `Packets.transmission`, int64 (m,).

        Returns:
            probability, float64 (m,), and received power [dBm], (m,), or None without power models.
        """
        chance = links.probability[row] * (1.0 - self.radio.loss)
        for model, key in zip(self.losses, self._loss_keys, strict=True):
            chance *= model.delivered(links.a[row], links.b[row], time_s, key)
        if links.power_dbm is None:
            return chance, None
        power = self.received(links, row, transmission)
        return chance * self.radio.decoded(power, size), power

    def received(self, links: Links, row: np.ndarray, transmission: np.ndarray) -> np.ndarray:
        """Return the power with which packets arrive, wanted or not, with the shadow that each draws [dBm], (m,).

        Args:
            links: links of some pairs, with powers.
            row: link of each packet, int64 (m,).
            transmission: see `Packets.transmission`, int64 (m,).
        """
        assert links.power_dbm is not None
        return links.power_dbm[row] + self._passing_shadows(links.a[row], links.b[row], transmission)

    def _passing_shadows(self, a: np.ndarray, b: np.ndarray, transmission: np.ndarray) -> np.ndarray | float:
        sigmas = [s.sigma_db for s in self._shadows if s.sigma_db and not (s.same_within_m or s.correlation_m)]
        if not sigmas:
            return 0.0
        from covey.comms.draws import normals

        return float(np.hypot.reduce(sigmas)) * normals(self._shadow_key, transmission, (a << 32) | b)

    def _lasting_shadows(self, pairs: Pairs) -> np.ndarray | float:
        total: np.ndarray | float = 0.0
        for k, (sigma, cell_m, correlation_m) in enumerate(self._shadows):
            if sigma and correlation_m:
                from covey.comms.links.shadowing import shadows

                ends = pairs.x[pairs.a], pairs.y[pairs.a], pairs.x[pairs.b], pairs.y[pairs.b]
                total = total + sigma * shadows(self._shadow_key + np.uint64(k), correlation_m, *ends)
            elif sigma and cell_m:
                from covey.comms.draws import normals

                cells = np.floor(np.stack((pairs.x, pairs.y)) / cell_m).astype(np.int64) & 0xFFFF
                place = (cells[0] << 16) | cells[1]
                low, high = np.minimum(place[pairs.a], place[pairs.b]), np.maximum(place[pairs.a], place[pairs.b])
                total = total + sigma * normals(self._shadow_key + np.uint64(k), low, high)
        return total

    def _keep(self, left: Any, sub: Pairs, heard: np.ndarray, cause: np.ndarray, why: int):
        if np.count_nonzero(heard) == len(heard):
            return left, sub
        here = np.flatnonzero(heard)
        if isinstance(left, slice):  # all
            cause[~heard] = why
            return here, sub.select(here)
        cause[left[~heard]] = why
        return left[here], sub.select(here)
