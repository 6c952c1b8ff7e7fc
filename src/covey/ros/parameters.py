"""`Parameters`: what ``ros2 param list``, ``get`` and ``describe`` show of Covey's nodes. All are read-only."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from covey.onboard.controller import Program
from covey.robots.model import RobotModel
from covey.ros.dds import Node, Participant
from covey.ros.services import Service
from covey.scenario.dump import plain

_PACKAGE = "rcl_interfaces/srv"
_REFUSED = "parameters of Covey are read-only; they are those of the scenario, which -s changes before the start"
_NOT_SET = {"type": 0}
_FIELDS = {bool: (1, "bool_value"), int: (2, "integer_value"), float: (3, "double_value"), str: (4, "string_value")}
_ROWS = {
    bool: (6, "bool_array_value"),
    int: (7, "integer_array_value"),
    float: (8, "double_array_value"),
    str: (9, "string_array_value"),
}


@dataclass
class _Offer:
    """The services of one node, and what each answers."""

    values: Mapping[str, Any]
    services: list[tuple[Service, Callable[[Any], dict[str, Any]]]]


class Parameters:
    """The parameters of all nodes of a process.

    Without these services, ``ros2 param list`` waits seconds for each node.

    Args:
        participant: of the process.
    """

    def __init__(self, participant: Participant):
        self._participant = participant
        self._offers: list[_Offer] = []
        self._news: Callable[[float], bool] | None = None

    def offer(self, node: Node, values: Mapping[str, Any]) -> None:
        """Offer the parameters of a node.

        Args:
            node: the node.
            values: plain data, such as ``{"robot": {"radius_m": 0.2}}``, which is shown as ``robot.radius_m``.
        """
        known = dict(sorted(_flat(values)))
        answers = {
            "list_parameters": ("ListParameters", _listed),
            "get_parameters": ("GetParameters", _got),
            "get_parameter_types": ("GetParameterTypes", _types),
            "describe_parameters": ("DescribeParameters", _described),
            "set_parameters": ("SetParameters", _refused_each),
            "set_parameters_atomically": ("SetParametersAtomically", _refused),
        }
        services = [
            (Service(node, f"~/{name}", f"{_PACKAGE}/{kind}"), partial(answer, known))
            for name, (kind, answer) in answers.items()
        ]
        self._offers.append(_Offer(known, services))
        self._news = None

    def serve(self) -> None:
        """Answer what was asked since the last call."""
        if self._news is None:
            readers = [service.requests for offer in self._offers for service, _ in offer.services]
            self._news = self._participant.waiter(*readers)
        if not (self._news(0.0) or self._participant.delayed):
            return
        for offer in self._offers:
            for service, answer in offer.services:
                for request, asked in service.asked():
                    service.answer(request, answer(asked))


def known_of(model: RobotModel, program: Program | None) -> dict[str, Any]:
    """Return what the nodes of a robot offer: its record, and its controller with the parameters that were given."""
    known: dict[str, Any] = {"robot": plain(model, full=True)}
    if program is not None:
        known["controller"] = {"name": program.name, **program.parameters}
    return known


def _flat(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield names with dots, and values that a parameter can have; a list of other things is numbered."""
    for key, value in values.items():
        name = _text(f"{before}{key}")
        if isinstance(value, Mapping):
            yield from _flat(value, f"{name}.")
        elif isinstance(value, (list, tuple)) and _row_of(value) is None:
            yield from _flat({str(k): one for k, one in enumerate(value)}, f"{name}.")
        elif value is not None:
            yield name, value


def _fits(value: Any) -> bool:
    """Return whether a whole number has a place in a message; others are shown as text."""
    return type(value) is not int or -(2**63) <= value < 2**63


def _row_of(values: Any) -> type | None:
    """Return what a list consists of, if a parameter can hold it; whole numbers among others count as such."""
    if not all(map(_fits, values)):
        return None
    kinds = {type(value) for value in values}
    if kinds == {int, float}:
        return float
    return kinds.pop() if len(kinds) == 1 and kinds <= _ROWS.keys() else None


def _value(value: Any) -> dict[str, Any]:
    """Return a value as an rcl_interfaces/ParameterValue."""
    if isinstance(value, (list, tuple)):
        kind = _row_of(value)
        assert kind is not None
        number, field = _ROWS[kind]
        as_kind = _text if kind is str else kind
        return {"type": number, field: [as_kind(one) for one in value]}
    if type(value) in _FIELDS and type(value) is not str and _fits(value):
        number, field = _FIELDS[type(value)]
        return {"type": number, field: value}
    number, field = _FIELDS[str]
    return {"type": number, field: _text(value)}


def _text(value: Any) -> str:
    """Return a value as text that a message can hold."""
    return str(value).encode(errors="replace").decode().replace("\0", "?")


def _listed(known: Mapping[str, Any], asked: Any) -> dict[str, Any]:
    """Return the names below some prefixes (all, if there are none) to a depth (0: any), and their prefixes."""
    prefixes, depth = [str(one) for one in asked.prefixes], int(asked.depth)
    names = []
    for name in known:
        below = [name[len(one) + 1 :] for one in prefixes if name == one or name.startswith(f"{one}.")]
        rests = below if prefixes else [name]
        if any(not depth or rest.count(".") < depth for rest in rests):
            names.append(name)
    parents = dict.fromkeys(name.rpartition(".")[0] for name in names if "." in name)
    return {"result": {"names": names, "prefixes": list(parents)}}


def _got(known: Mapping[str, Any], asked: Any) -> dict[str, Any]:
    return {"values": [_value(known[name]) if name in known else _NOT_SET for name in asked.names]}


def _types(known: Mapping[str, Any], asked: Any) -> dict[str, Any]:
    return {"types": [_value(known[name])["type"] if name in known else 0 for name in asked.names]}


def _described(known: Mapping[str, Any], asked: Any) -> dict[str, Any]:
    found = [
        {"name": name, "type": _value(known[name])["type"] if name in known else 0, "read_only": True}
        for name in asked.names
    ]
    return {"descriptors": found}


def _refused(_known: Mapping[str, Any], _asked: Any) -> dict[str, Any]:
    return {"result": {"successful": False, "reason": _REFUSED}}


def _refused_each(_known: Mapping[str, Any], asked: Any) -> dict[str, Any]:
    return {"results": [{"successful": False, "reason": _REFUSED} for _ in asked.parameters]}
