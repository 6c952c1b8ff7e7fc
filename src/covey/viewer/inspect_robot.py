"""What viewers see of single robots as numbers and words: measurements, the inspector, what is known of a place."""

import dataclasses
import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from covey.comms.traffic import COUNTERS
from covey.errors import printable
from covey.runtime.local.host import LocalHost
from covey.runtime.simulation import Simulation

Arrays = dict[str, np.ndarray]
Plain = dict[str, Any]

_MOST_ROBOTS = 8  # inspected at once
_MOST_TEXT = 200
_PROBE_S = 0.02
"""Longest time that asking all maps about a place may take [s]."""
_KNOWN = {0: "free", 100: "wall"}


def measures(sim: Simulation, robots: list[int], arrays: Arrays, plain: Plain) -> None:
    """``measures`` (k, n): a row for each name in the list ``measures``; ``team_measures``: numbers by name."""
    found, plain["team_measures"] = measured(sim, sim.scoring.values)
    arrays["measures"] = np.array([*found.values()], np.float32).reshape(len(found), len(sim.names))
    plain["measures"] = [*found]


def measured(sim: Simulation, mission: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Return measurements of the robots, float32 (n,) each, and of the team, by name.

    Args:
        mission: measurements of the missions by column.
    """
    n, state, scoring, network = len(sim.names), sim.state, sim.scoring, sim.communication.network
    found: dict[str, Any] = {
        "distance_m": state.distance_m,
        "speed_m_s": np.hypot(state.twist[:, 0], state.twist[:, 1]),
        "energy_j": scoring.energy_j,
        "collisions_robot": scoring.collisions_robot,
        "collisions_wall": scoring.collisions_wall,
    }
    found |= {
        name: value for name, value in mission.items() if not isinstance(value, float) and np.shape(value) == (n,)
    }
    team = {f"cpu_{phase}_s": seconds for phase, seconds in sim.stopwatch.seconds.items()}
    if network.used:
        found |= {"traffic_out_bytes": network.sent_bytes, "traffic_in_bytes": network.received_bytes}
        team |= {"traffic_bytes": float(network.sent_bytes.sum())}
    return dict(zip(found, np.array(list(found.values()), np.float32), strict=True)), team


def inspector(sim: Simulation, robots: list[int], arrays: Arrays, plain: Plain) -> None:
    """``inspector``: for each selected robot, sections of pairs of a name and a value, both text."""
    plain["inspector"] = [{"robot": i, "sections": _sections(sim, i)} for i in robots[-_MOST_ROBOTS:]]


def _sections(sim: Simulation, i: int) -> dict[str, list[tuple[str, str]]]:
    state, scoring = sim.state, sim.scoring
    pose, estimate = state.pose[i], sim.localization.carried[i]
    motion = [
        ("pose", _pose(pose)),
        ("estimate", _pose(estimate)),
        ("twist", _twist(state.twist[i])),
        ("commanded", _twist(sim.commands[i])),
        ("distance", f"{state.distance_m[i]:.2f} m"),
        ("energy", f"{scoring.energy_j[i]:.0f} J"),
        ("contacts", f"{scoring.collisions_robot[i]} with robots, {scoring.collisions_wall[i]} with walls"),
    ]
    sections = {"Motion": motion, "Software": _software(sim, i), "Readings": _readings(sim, i)}
    sections |= {"Messages": _messages(sim, i), "Computer": _computer(sim, i)}
    return {name: pairs for name, pairs in sections.items() if pairs}


def _pose(pose: np.ndarray) -> str:
    x, y, heading = pose.tolist()
    return f"{x:.2f} m, {y:.2f} m, {round(math.degrees(heading))}°"


def _twist(twist: np.ndarray) -> str:
    vx, vy, omega = twist.tolist()
    return f"{vx:.2f} m/s, " + (f"{vy:.2f} m/s, " if vy else "") + f"{round(math.degrees(omega))}°/s"


def _software(sim: Simulation, i: int) -> list[tuple[str, str]]:
    answered = sim.deciding.answered
    if i not in answered:
        return []
    status = "stopped by an error" if i in sim.deciding.failed else answered[i].status
    pairs = [("status", status)]
    host = sim.deciding.host
    if isinstance(host, LocalHost) and i in host.onboard:
        state = host.onboard[i].state
        pairs += [("note", state.text or "–"), *([("finished", "yes")] if state.finished else [])]
    share = sim.scoring.values.get("known_share")
    if share is not None and math.isfinite(share[i]):
        pairs.append(("its map", f"{100 * share[i]:.1f} % of what can be explored"))
    return pairs


def _readings(sim: Simulation, i: int) -> list[tuple[str, str]]:
    pairs = []
    for bank in sim.sensing.banks:
        if i not in bank.row_of:
            continue
        name = type(bank.record).__name__
        pairs.append((name, "none yet" if bank.readings is None else _reading(bank.readings.row(bank.row_of[i]))))
    return pairs


def _reading(reading: Any) -> str:
    """Return a reading in a few words."""
    ranges = getattr(reading, "ranges", None)
    if ranges is not None:
        hit = ranges[np.isfinite(ranges)]
        near = f", {hit.min():.2f} to {hit.max():.2f} m" if len(hit) else ""
        return f"{ranges.size} ranges, {len(hit)} hit{near}"
    names = [field.name for field in dataclasses.fields(reading)] if dataclasses.is_dataclass(reading) else []
    values = {name: getattr(reading, name) for name in names or getattr(reading, "_fields", ())}
    words = [f"{name} {_value(value)}" for name, value in values.items() if name != "mount" and np.size(value)]
    return ", ".join(words)[:_MOST_TEXT] or printable(repr(reading))[:_MOST_TEXT]


def _value(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return f"{value:.3g}"
    if isinstance(value, np.ndarray) and value.size > 4:
        return f"{value.shape}"
    return printable(str(value))[:40]


def _messages(sim: Simulation, i: int) -> list[tuple[str, str]]:
    traffic = sim.communication.network.traffic
    at = [COUNTERS.index(name) for name in ("messages_sent", "messages_received", "bytes_sent", "bytes_received")]
    pairs = []
    for k, kind in enumerate(traffic.kinds):
        sent, received, out, into = traffic.counts[i, k, at].astype(int).tolist()
        if sent or received or out or into:
            pairs.append((kind or "any", f"{sent} out ({_size(out)}), {received} in ({_size(into)})"))
    waiting = sim.communication.network.mailboxes[i].inbox
    for message in list(waiting)[-3:]:
        pairs.append((f"unread, of {message.sender}", printable(repr(message.payload))[:_MOST_TEXT]))
    return pairs


def _size(count: int) -> str:
    return (
        f"{count} B" if count < 10_000 else f"{count / 1000:.1f} kB" if count < 10_000_000 else f"{count / 1e6:.1f} MB"
    )


def _computer(sim: Simulation, i: int) -> list[tuple[str, str]]:
    machine = sim.computing.machines.get(i)
    if machine is None:
        return []
    busy = machine.free_s - sim.time
    return [
        ("name", str(getattr(machine.computer, "name", "") or type(machine.computer).__name__)),
        ("busy", f"for {busy:.2f} s, {machine.rate:.1f} processors" if busy > 0 else "no"),
        ("memory", f"{machine.ram_mib:.0f} of {machine.computer.ram_mib:.0f} MiB"),
        ("since the last sample", f"{machine.scans} scans, {machine.dropped} dropped, {machine.decisions} decisions"),
    ]


def known_of(sim: Simulation, x: float, y: float) -> str:
    """Return in words what the robots' maps say of a place [m]; robots without a map are left out."""
    said: dict[str, list[str]] = {}
    end, left = time.perf_counter() + _PROBE_S, 0
    for i, belief in sim.localization.belief_of.items():
        if time.perf_counter() > end:
            left += 1
            continue
        occupancy = getattr(belief, "occupancy", None)
        if occupancy is None:
            continue
        place = sim.localization.map_in_world(i)
        row, column = place.cell_at(x, y)
        cells = np.asarray(occupancy())
        inside = 0 <= row < cells.shape[0] and 0 <= column < cells.shape[1]
        known = _KNOWN.get(int(cells[row, column]), "unknown") if inside else "unknown"
        said.setdefault(known, []).append(sim.names[i])
    words = [f"{cell} to {_names(names)}" for cell, names in sorted(said.items())]
    return "; ".join(words) + (f"; {left} robots not asked" if left else "")


def _names(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} robots"
