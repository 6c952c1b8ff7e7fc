"""Loss in bursts: each link is good or bad, and changes at random."""

import numpy as np
from pydantic import Field

from covey.comms.links.model import LossModel, links


@links.register("gilbert_elliott")
class GilbertElliott(LossModel):
    """A chain of two states for each link; stationary loss = (p_good h_bad + ...): see `stationary_loss`.

    References: E. Gilbert: Capacity of a burst-noise channel. Bell System Technical Journal 39, 1960. E. Elliott:
    Estimates of error rates for codes on burst-noise channels. Bell System Technical Journal 42, 1963.
    """

    to_bad: float = Field(default=0.05, ge=0, le=1, description="Probability that a good link turns bad in a slot.")
    to_good: float = Field(default=0.3, gt=0, le=1, description="Probability that a bad link turns good in a slot.")
    loss_good: float = Field(default=0.0, ge=0, le=1, description="Share of packets that a good link loses.")
    loss_bad: float = Field(default=1.0, ge=0, le=1, description="Share of packets that a bad link loses.")
    slot_s: float = Field(default=0.1, gt=0, le=3600, description="Length of a slot [s].")

    @property
    def stationary_loss(self) -> float:
        """Share of packets lost in the long run: pi_good h_good + pi_bad h_bad, pi_bad = p_gb / (p_gb + p_bg)."""
        bad = self.to_bad / (self.to_bad + self.to_good)
        return (1.0 - bad) * self.loss_good + bad * self.loss_bad

    def delivered(self, a: np.ndarray, b: np.ndarray, time_s: np.ndarray, key: np.uint64) -> np.ndarray:
        """Return the probability of success in the present state of each link, (m,)."""
        from covey.comms.links.chain import bad_states

        slot = np.floor(time_s / self.slot_s + 1e-9).astype(np.int64)
        bad = bad_states(key, (a << 32) | b, slot, self.to_bad, self.to_good)
        return np.where(bad, 1.0 - self.loss_bad, 1.0 - self.loss_good)
