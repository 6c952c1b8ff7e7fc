"""Connectivity and communication of the team. Every metric is None if nothing was sent.

Source: MAES 2.0 ("agents interconnected", "biggest cluster"); Yan 2017 and Linardakis 2024 (communication volume);
age of information: S. Kaul, R. Yates, M. Gruteser: Real-time status: how often should one update? INFOCOM 2012.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from covey.results.metrics.registry import metrics
from covey.results.radio_tables import DROPS

if TYPE_CHECKING:
    from covey.results.run import Run


def _samples(run: "Run", name: str) -> np.ndarray | None:
    return run.column("radio", name) if run.has("radio") else None


def _total(run: "Run", name: str) -> Any:
    totals = run.traffic_totals
    return sum(row[name] for row in totals.values()) if totals else None


def _mean(values: np.ndarray | None) -> float | None:
    return None if values is None or np.isnan(values).all() else float(np.nanmean(values))


@metrics.register("connected_share")
def connected_share(run: "Run") -> float | None:
    """Share of the samples at which all working radios are one group (MAES "agents interconnected")."""
    groups = _samples(run, "groups")
    return None if groups is None else _mean(groups <= 1)


@metrics.register("groups_mean")
def groups_mean(run: "Run") -> float | None:
    """Mean number of connected groups over the samples."""
    return _mean(_samples(run, "groups"))


@metrics.register("largest_group_share")
def largest_group_share(run: "Run") -> float | None:
    """Mean share of the team in the largest connected group (MAES "biggest cluster")."""
    largest = _samples(run, "largest_group")
    return None if largest is None else _mean(largest / len(run.names))


@metrics.register("links_mean")
def links_mean(run: "Run") -> float | None:
    """Mean number of links over the samples."""
    return _mean(_samples(run, "links"))


@metrics.register("news_age_mean_s")
def news_age_mean_s(run: "Run") -> float | None:
    """Mean over samples and ordered pairs (i, j) of the age of the newest message of j at i [s] (Kaul 2012)."""
    return _mean(_samples(run, "news_mean_s"))


@metrics.register("news_age_max_s")
def news_age_max_s(run: "Run") -> float | None:
    """Largest age of the newest message of j at i, over samples and ordered pairs [s]."""
    oldest = _samples(run, "news_max_s")
    return None if oldest is None or np.isnan(oldest).all() else float(np.nanmax(oldest))


@metrics.register("messages_sent")
def messages_sent(run: "Run") -> int | None:
    """Number of messages that robots wrote; a broadcast counts once."""
    return _total(run, "messages_sent")


@metrics.register("bytes_sent")
def bytes_sent(run: "Run") -> int | None:
    """Bytes transmitted by all robots, including repetitions and confirmations (Yan 2017; Linardakis 2024)."""
    return _total(run, "bytes_sent")


@metrics.register("bytes_received")
def bytes_received(run: "Run") -> int | None:
    """Bytes that radios received; a broadcast counts for each receiver."""
    return _total(run, "bytes_received")


@metrics.register("kbytes_sent_per_s")
def kbytes_sent_per_s(run: "Run") -> float | None:
    """Data sent by a robot's radio per second of simulated time, mean over robots [kB/s] (Yan et al. 2017)."""
    return _rate(run, bytes_sent(run))


@metrics.register("kbytes_received_per_s")
def kbytes_received_per_s(run: "Run") -> float | None:
    """Data received by a robot's radio per second of simulated time, mean over robots [kB/s] (Yan et al. 2017)."""
    return _rate(run, bytes_received(run))


@metrics.register("delivery_ratio")
def delivery_ratio(run: "Run") -> float | None:
    """Delivered messages over intended deliveries; a broadcast is intended for all other robots."""
    wanted, got = _total(run, "messages_wanted"), _total(run, "messages_received")
    return None if not wanted or got is None else got / wanted


@metrics.register("message_delay_s")
def message_delay_s(run: "Run") -> float | None:
    """Mean time from writing a message to its arrival [s]: waiting, transmission, latency and jitter."""
    delay, got = _total(run, "delay_s"), _total(run, "messages_received")
    return None if not got or delay is None else delay / got


@metrics.register("bytes_sent_by_robot")
def bytes_sent_by_robot(run: "Run") -> dict[str, int] | None:
    """Bytes transmitted by each robot."""
    return _by(run, 0, "bytes_sent")


@metrics.register("bytes_sent_by_kind")
def bytes_sent_by_kind(run: "Run") -> dict[str, int] | None:
    """Bytes transmitted, by kind of message."""
    return _by(run, 1, "bytes_sent")


@metrics.register("dropped_by_cause")
def dropped_by_cause(run: "Run") -> dict[str, int] | None:
    """Packets that did not arrive, by cause; a packet counts once for each robot that does not get it."""
    return {name.removeprefix("dropped_"): _total(run, name) for name in DROPS} if run.traffic_totals else None


def _by(run: "Run", place: int, name: str) -> dict[str, int] | None:
    found: dict[str, int] = {}
    for key, row in run.traffic_totals.items():
        found[key[place]] = found.get(key[place], 0) + int(row[name])
    return dict(sorted(found.items())) or None


def _rate(run: "Run", total: int | None) -> float | None:
    return None if total is None else total / 1000.0 / len(run.names) / float(run.times[-1])
