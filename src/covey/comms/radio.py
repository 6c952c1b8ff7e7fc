"""`Radio`: a radio as users declare it."""

import math
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import (
    AfterValidator,
    Field,
    model_validator,
)

from covey.comms.links import Disc, LinkModel, PowerModel, Unlimited
from covey.comms.presets import PRESETS
from covey.comms.protocols.protocol import Direct, Protocol
from covey.errors import InvalidValueError, did_you_mean
from covey.lazy import special
from covey.records import Record

DEFAULT_RANGE_M = 200.0


class Radio(Record):
    """A radio that every robot of the team carries; ``preset`` names one of `PRESETS`, which other keys change."""

    name: str = Field(default="radio", min_length=1, description="Name of the radio, for robot.send(..., radio=...).")
    range_m: float | None = Field(
        default=None,
        ge=0,
        description="Largest distance at which robots hear each other [m]; null: 200 m, unless there are `links`.",
    )
    links: tuple[LinkModel, ...] = Field(
        default=(), description="Link models, see radio.md. A packet must pass all of them."
    )
    latency_s: float = Field(
        default=0.0, ge=0, le=3600, description="Delay in addition to queueing and transmission [s]."
    )
    jitter_s: float = Field(
        default=0.0, ge=0, le=3600, description="Additional random delay, uniform from 0 to this value [s]."
    )
    loss: float = Field(default=0.0, ge=0, le=1, description="Share of packets that are lost at random.")
    tx_power_dbm: float = Field(default=15.0, ge=-100, le=100, description="Transmit power, for power models [dBm].")
    receiver: Literal["threshold", "qpsk"] = Field(
        default="threshold",
        description=(
            "threshold: decodes packets at sensitivity_dbm or above; qpsk: has the bit errors of QPSK over noise_dbm."
        ),
    )
    sensitivity_dbm: float = Field(default=-82.0, ge=-200, le=100, description="Weakest power that is decoded [dBm].")
    noise_dbm: float = Field(default=-90.0, ge=-200, le=100, description="Power of the noise at the receiver [dBm].")
    bandwidth_kbit_s: float | None = Field(
        default=None, gt=0, description="Bandwidth of each transmitter [1000 bit/s]; null: unlimited."
    )
    channel: str = Field(default="1", min_length=1, description="Radios on the same channel can disturb each other.")
    interference: bool = Field(
        default=False, description="Whether packets on the same channel at the same time disturb each other."
    )
    sinr_db: float = Field(
        default=10.0,
        ge=-100,
        le=100,
        description="With receiver threshold: smallest ratio of a packet's power to noise and other packets [dB].",
    )
    protocol: Protocol = Field(
        default=Direct(),
        description="Protocol: direct, acknowledged, store_and_forward, …; see radio.md.",
    )
    queue_bytes: int | None = Field(
        default=None,
        ge=0,
        description="Size of the transmit queue [bytes]; a packet that does not fit is dropped; null: unlimited.",
    )

    @model_validator(mode="before")
    @classmethod
    def _from_preset(cls, value: Any) -> Any:
        given = {"preset": value} if isinstance(value, str) else value
        if not isinstance(given, dict) or "preset" not in given:
            return given
        name = given["preset"]
        if name not in PRESETS:
            raise ValueError(f"unknown preset {name!r}{did_you_mean(str(name), PRESETS)}")
        return PRESETS[name] | {key: item for key, item in given.items() if key != "preset"}

    @property
    def models(self) -> tuple[LinkModel, ...]:
        """The link models, with those that use walls last."""
        models = list(self.links)
        if self.range_m is not None or not models:
            models.insert(0, Disc(range_m=DEFAULT_RANGE_M if self.range_m is None else self.range_m))
        return tuple(sorted(models, key=lambda m: m.by_walls))

    @property
    def floor_dbm(self) -> float:
        """The power below which nothing is decoded [dBm]."""
        return self.sensitivity_dbm if self.receiver == "threshold" else self.noise_dbm

    def reach_m(self, floor_dbm: float | None = None) -> float:
        """Return the distance beyond which no robot hears another one [m]; infinite if there is none.

        Args:
            floor_dbm: weakest power that counts [dBm]; None: the weakest that is decoded.
        """
        spare_db = self.tx_power_dbm - (self.floor_dbm if floor_dbm is None else floor_dbm)
        reaches = [m.reach_m() for m in self.models]
        reaches += [m.reach_db(spare_db) for m in self.models if isinstance(m, PowerModel)]
        return min(reaches, default=math.inf)

    def decoded(self, power_dbm: np.ndarray, size: np.ndarray, noise_dbm: np.ndarray | None = None) -> np.ndarray:
        """Return the probability that packets are decoded, float64 (m,).

        ``qpsk``: a bit is wrong with probability erfc(sqrt(P/N)), as in gz-sim's RFComms; a packet is right if all of
        its bits are: (1 - BER) ** bits.

        Args:
            power_dbm: received power, (m,).
            size: sizes of the packets [bytes], (m,).
            noise_dbm: noise and interference, (m,); None: the noise of the receiver.
        """
        if self.receiver == "threshold":
            return (power_dbm >= self.sensitivity_dbm).astype(float)
        noise = self.noise_dbm if noise_dbm is None else noise_dbm
        wrong = np.minimum(special.erfc(np.sqrt(10.0 ** ((power_dbm - noise) / 10.0))), 1.0)
        return (1.0 - wrong) ** (8.0 * size)


def _names_differ(radios: Any) -> Any:
    if isinstance(radios, tuple):
        radios_of(radios)
    return radios


Radios = Annotated[Radio | tuple[Radio, ...], AfterValidator(_names_differ)]
"""Field type of the radios of a team in a file: one, or a list of several."""


def radios_of(given: float | Radio | Sequence[Radio]) -> list[Radio]:
    """Return the radios of a team, given a range [m] (infinite: unlimited), a radio, or several.

    Raises:
        InvalidValueError: there is no radio, or two have the same name.
    """
    if isinstance(given, Radio):
        return [given]
    if isinstance(given, (int, float)):
        return [Radio(links=(Unlimited(),)) if given == np.inf else Radio(range_m=given)]
    if isinstance(given, str) or not isinstance(given, Iterable) or not all(isinstance(r, Radio) for r in given):
        raise InvalidValueError(f"radio is {given!r}; give a range [m], a covey.comms.radio.Radio, or a list of them")
    names = [radio.name for radio in given]
    twice = [name for name in names if names.count(name) > 1]
    if twice or not names:
        what = f"two radios are called {twice[0]!r}" if twice else "the list of radios is empty"
        raise InvalidValueError(f"{what}; give one radio, or several with different names")
    return list(given)
