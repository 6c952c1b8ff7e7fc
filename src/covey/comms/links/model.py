"""Link models: which robots hear each other, as a probability or as a loss of power."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from covey.comms.links.geometry import Pairs
from covey.named import Named
from covey.registry import Registry

links: Registry[type["LinkModel"]] = Registry("link", shelf="covey.comms.links")
"""Link models by name; packages add theirs under the entry-point group ``covey.link``."""


class LinkModel(Named):
    """A success probability for each pair of robots, the same in both directions.

    If a radio has several models, their probabilities multiply. A subclass overrides `probability`.

    Attributes:
        by_walls: whether the model uses walls; then it runs after the others, only for the pairs that these left.
    """

    registry = links
    by_walls: ClassVar[bool] = False

    @classmethod
    def of_function(cls, function: Any, reference: str) -> "LinkModel":
        """Return the model of a function of distance and length of wall, see `WallLength`."""
        return links.get("wall_length").of_function(function, reference)

    def reach_m(self) -> float:
        """Return the distance [m] beyond which the probability is 0; infinite if there is none."""
        return float("inf")

    def probability(self, pairs: Pairs) -> np.ndarray:
        """Return the probability that a packet gets through between each pair, float64 (m,) in 0 … 1."""
        return np.ones(len(pairs))


class Shadowing(NamedTuple):
    """A random loss: its standard deviation [dB] and its correlation in space.

    Attributes:
        sigma_db: standard deviation [dB].
        same_within_m: side of the squares within which it is the same [m]; 0: it is drawn for each packet.
        correlation_m: distance at which its correlation is 1/e [m]; 0: uncorrelated.
    """

    sigma_db: float = 0.0
    same_within_m: float = 0.0
    correlation_m: float = 0.0


class PowerModel(LinkModel):
    """A loss of power along the link. The losses of a radio's power models add up; the receiver decides."""

    def loss_db(self, pairs: Pairs, spare_db: np.ndarray) -> np.ndarray:
        """Return the loss of power [dB] between each pair, float64 (m,).

        Args:
            pairs: the pairs.
            spare_db: loss at which the receiver hears nothing, (m,); a model may stop there and return infinity.
        """
        raise TypeError(f"{type(self).__name__} is a power model without loss_db(pairs, spare_db)")

    def reach_db(self, loss_db: float) -> float:
        """Return the distance [m] beyond which the mean loss is above ``loss_db``; infinite if there is none."""
        return float("inf")

    def shadowing(self) -> "Shadowing":
        """Return the shadowing; without a random loss its deviation is 0."""
        return Shadowing()


class LossModel(LinkModel):
    """Loss of packets independent of distance: a probability that depends on time."""

    def delivered(self, a: np.ndarray, b: np.ndarray, time_s: np.ndarray, key: np.uint64) -> np.ndarray:
        """Return the probability of success of packets between robots ``a`` and ``b``, (m,), at times [s], (m,)."""
        raise TypeError(f"{type(self).__name__} is a loss model without delivered(a, b, time_s, key)")


@dataclass(frozen=True, eq=False)
class Links:
    """The results of the link models for pairs of robots at one time.

    Attributes:
        a, b: the robots, int64 (m,), a < b.
        probability: probability that a packet gets through, before effects of its size and of time, float64 (m,).
        power_dbm: mean received power [dBm], float64 (m,); None without power models.
        cause: 0 if there is a link, else the cause as an index into `covey.comms.traffic.CAUSES`, int8 (m,).
        distance_m: distance of the pair [m], float64 (m,).
    """

    a: np.ndarray
    b: np.ndarray
    probability: np.ndarray
    power_dbm: np.ndarray | None
    cause: np.ndarray
    distance_m: np.ndarray
