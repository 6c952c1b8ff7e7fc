"""Conversion of the records of a step to the parts of letters, and back: by field names, without default values.

After the first reading of a sensor, only its variable fields are sent; a status and a covariance are sent only if they
have changed.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from covey.geometry import Pose
from covey.mapping.exchange.apart import Changes
from covey.onboard.step import (
    Failed,
    GroupInput,
    GroupOutput,
    Located,
    MapInput,
    Requests,
    SenseInput,
    StepInput,
    StepOutput,
    TeamUpdate,
)
from covey.plain import fields_of
from covey.runtime.phases.sensing import SensorBank
from covey.runtime.transport.transport import Parts

_MONITOR = ("notes", "status", "failure", "gave_up")
_TEAM = ("maps", "messages", "entries", "taken")
"""Fields of answers by class of traffic; all others go to the simulator."""
_OWN = ("mount",)
"""Constant fields of readings that each reading copies."""


def changed(record: Any) -> dict[str, Any]:
    """Return the fields of a named tuple that differ from their defaults, by name.

    Examples:
        >>> changed(Requests(notes=("north",)))
        {'notes': ('north',)}
    """
    defaults = record._field_defaults
    values = zip(record._fields, record, strict=True)
    return {k: v for k, v in values if not (k in defaults and (v is defaults[k] or v is None or _is_empty(v)))}


def _is_empty(value: Any) -> bool:
    return isinstance(value, (tuple, list, dict, bool)) and not value


def encoded_sensed(sensed: SenseInput) -> Parts:
    """Return the letter that holds what a robot has sensed."""
    return changed(sensed), None, None


def decoded_sensed(parts: Parts) -> SenseInput:
    """Return what a robot has sensed from a letter."""
    return SenseInput(**parts[0])


def encoded_located(located: Located, changes: Changes | None) -> Parts:
    """Return the letter that says where a robot is, and what that has changed in its map."""
    return changed(located), changes, None


def decoded_located(parts: Parts) -> tuple[Located, Changes | None]:
    """Return where a robot is, and what that has changed in its map, from a letter."""
    return Located(**parts[0]), parts[1]


def encoded_scan(given: MapInput) -> Parts:
    """Return the letter that holds a scan for the map."""
    fields = changed(given)
    return fields, None, fields.pop("tiles", None)


def decoded_scan(parts: Parts) -> MapInput:
    """Return the scan for the map that a letter holds."""
    return MapInput(**parts[0], tiles=parts[2] or ())


def encoded_changes(changes: Changes | None) -> Parts:
    """Return the letter that holds the changes of a map."""
    return None, changes, None


def decoded_changes(parts: Parts) -> Changes | None:
    """Return the changes of a map from a letter."""
    return parts[1]


class SimulatorEnd:
    """Encodes the inputs of one robot, and decodes its outputs.

    Args:
        banks: banks of the sensors that its program reads, by name.
    """

    def __init__(self, banks: Mapping[str, SensorBank]):
        self._banks, self._told = banks, set[str]()
        self._status = StepOutput().status
        self._covariance: Sequence[float] = ()
        self._silent: Sequence[str] = ()

    def encode(self, shown: StepInput) -> Parts:
        """Return the letter that holds a robot's input."""
        fields = changed(shown._replace(readings=(), times_s=(), older=(), received=None, pose=tuple(shown.pose)))
        come: list[tuple[str, float | None, bool, Any]] = [
            (name, taken_s, *self._reading(name, reading))
            for k, name in enumerate(self._banks)
            for taken_s, reading in zip(shown.times_s[k], shown.come(k), strict=True)
        ]
        if shown.silent != self._silent:  # the reading of nothing that a silent sensor holds is no sample
            for k, name in enumerate(self._banks):
                if name in shown.silent and name not in self._silent:
                    come.append((name, None, *self._reading(name, shown.readings[k])))
            self._silent = shown.silent
        if come:
            fields["samples"] = come
        if fields.get("covariance", ()) == self._covariance:
            fields.pop("covariance", None)
        else:
            fields["covariance"] = self._covariance = shown.covariance
        return fields, None, None if shown.received is None else changed(shown.received)

    def decode(self, parts: Parts) -> StepOutput:
        """Return the robot's output."""
        fields: dict[str, Any] = {k: v for part in parts if part is not None for k, v in part.items()}
        self._status = fields.pop("status", self._status)
        twist = fields.pop("twist")
        if "failure" in fields:
            fields["failure"] = Failed(*fields["failure"])
        return StepOutput(twist, self._status, Requests(**fields) if fields else None)

    def _reading(self, name: str, reading: Any) -> tuple[bool, Any]:
        """Return the whole reading the first time, later only its variable fields."""
        if name not in self._told or not dataclasses.is_dataclass(reading):
            self._told.add(name)
            return True, reading
        constant = self._banks[name].readings.shared
        return False, {f: getattr(reading, f) for f in fields_of(type(reading)) or () if f not in constant}


class RobotEnd:
    """Decodes the inputs of one robot, and encodes its outputs.

    Args:
        sensors: names of the sensors that its program reads.
    """

    def __init__(self, sensors: Sequence[str]):
        self._places = {name: k for k, name in enumerate(sensors)}
        self._newest: list[Any] = [None] * len(sensors)
        self._constant: dict[str, Any] = {}
        self._status = StepOutput().status
        self._covariance: Sequence[float] = ()

    def decode(self, parts: Parts) -> StepInput:
        """Return the robot's input."""
        fields, n = parts[0], len(self._newest)
        times: list[list[float]] = [[] for _ in range(n)]
        come: list[list[Any]] = [[] for _ in range(n)]
        for name, taken_s, whole, sent in fields.pop("samples", ()):
            place, reading = self._places[name], self._reading(name, whole, sent)
            self._newest[place] = reading
            if taken_s is not None:
                times[place].append(taken_s)
                come[place].append(reading)
        self._covariance = fields.pop("covariance", self._covariance)
        return StepInput(
            fields.pop("time_s"),
            Pose(*fields.pop("pose")),
            readings=tuple(self._newest),
            times_s=tuple(map(tuple, times)),
            older=tuple(tuple(own[:-1]) for own in come),
            received=None if parts[2] is None else TeamUpdate(**parts[2]),
            covariance=self._covariance,
            **fields,
        )

    def encode(self, answer: StepOutput) -> Parts:
        """Return the letter that holds the robot's output."""
        fields: dict[str, Any] = {"twist": answer.twist} | ({} if answer.requests is None else changed(answer.requests))
        if answer.status != self._status:
            self._status = fields["status"] = answer.status
        if "failure" in fields:
            fields["failure"] = tuple(fields["failure"]._replace(error=None))
        monitor = {name: fields.pop(name) for name in _MONITOR if name in fields}
        team = {name: fields.pop(name) for name in _TEAM if name in fields}
        return fields, monitor or None, team or None

    def _reading(self, name: str, whole: bool, sent: Any) -> Any:
        if whole:
            self._constant[name] = sent
            return sent
        before = self._constant[name]
        own = {f: getattr(before, f).copy() for f in fields_of(type(before)) or () if f in _OWN}
        return dataclasses.replace(before, **own, **sent)


def encoded_groups(shown: Sequence[GroupInput]) -> Parts:
    """Return the letter that holds the input of a controller of several robots."""
    return [given._asdict() for given in shown], None, None


def decoded_groups(parts: Parts) -> list[GroupInput]:
    """Return the input of a controller of several robots."""
    return [GroupInput(**fields) for fields in parts[0]]


def encoded_twists(answer: GroupOutput) -> Parts:
    """Return the letter that holds the output of a controller of several robots."""
    failure = None if answer.failure is None else tuple(answer.failure._replace(error=None))
    monitor = (failure, list(answer.notes), answer.is_done) if failure or answer.notes or answer.is_done else None
    return answer.twists or None, monitor, None


def decoded_twists(parts: Parts) -> GroupOutput:
    """Return the output of a controller of several robots."""
    failure, notes, is_done = parts[1] or (None, (), False)
    return GroupOutput(parts[0] or {}, None if failure is None else Failed(*failure), notes, bool(is_done))
