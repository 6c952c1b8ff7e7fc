"""A design as a table, in the form of Table 4 of the paper that defines its six elements.

References:
    Yan, Fabresse, Laval, Bouraqadi: Building a ROS-based testbed for realistic multi-robot simulation. Robotics
    6(3):21, 2017, Tables 1 and 4 (designs), section 3.2 (families of parameters).
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from covey.experiments.design.parameters import LabelledChanges, LabelledValue, Range
from covey.experiments.design.plan import base_scenario, scenarios
from covey.experiments.design.records import Design, LatinHypercube, Listed, Sobol
from covey.results.metrics import metrics
from covey.runtime.stop import Stop
from covey.scenario.dump import plain
from covey.scenario.records import Scenario

FAMILIES = ("robot", "fleet", "environment")
"""The families of parameters (Yan et al. 2017)."""

_FLEET_KEYS = ("count", "start", "controller", "name")
_ENVIRONMENT = ("world", "damage", "doors", "events")
_MOST_SHOWN = 12


@dataclass(frozen=True)
class TableRow:
    """One line of the table of a design.

    Attributes:
        element: one of the six elements: ``parameters``, ``vectors``, ``iterations``, ``stop``, ``measurements`` or
            ``metrics``.
        family: family of a parameter: ``robot``, ``fleet`` or ``environment``; else empty.
        name: name of a parameter, measurement or metric; else empty.
        value: readable value.
        varies: whether it is a parameter with several values.
    """

    element: str
    family: str
    name: str
    value: str
    varies: bool = False


def table(design: Design) -> list[TableRow]:
    """Return the design as the lines of a table: varied and fixed parameters by family, then the other elements.

    Raises:
        ScenarioError: the scenario of the design is bad.
    """
    scenario = base_scenario(design)
    parameters = [*_varied(design, scenario), *_fixed(design, scenario)]
    if design.goals is not None:
        said = short(design.goals.model_dump(exclude_none=True))
        parameters.append(TableRow("parameters", "fleet", "goals of all strategies", said))
    rows = sorted(parameters, key=lambda row: FAMILIES.index(row.family))
    rows.append(TableRow("vectors", "", "", _ways(design)))
    rows += [TableRow("vectors", "", "", "also each with one robot alone")] * design.alone
    rows.append(TableRow("iterations", "", "", f"{design.iterations} for each vector, seed {design.seed}"))
    rows += [TableRow("stop", "", "", text) for text in _stops(design, scenario)]
    rows += [TableRow("measurements", "", m.timing, ", ".join(m.record)) for m in design.measurements]
    rows += [TableRow("metrics", "", name, _first_line(name)) for name in design.columns]
    return rows if design.metrics else [*rows, TableRow("metrics", "", "all", "")]


def settings(design: Design) -> list[tuple[str, str]]:
    """Return every setting of the scenario of the first vector, also those at their default: its path and its value.

    Raises:
        ScenarioError: the scenario of the design is bad.
    """
    _, scenario = scenarios(design)[0]
    found = leaves(plain(scenario, full=True))
    return [(path, short(value)) for path, value in found if value not in (None, "") and path != "seed"]


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield path and value of every entry of a scenario that is neither a mapping nor a list of mappings."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            name = item.get("name", number) if isinstance(item, dict) else number
            yield from leaves(item, f"{path}.{name}")
    else:
        yield path, value


def _stops(design: Design, scenario: Scenario) -> list[str]:
    """Return the end of the runs, or if parameters change it each end with the number of its vectors."""
    if not any(path.partition(".")[0] == "stop" for path in _paths(design)):
        return [stop_text(scenario.stop)]
    counts = Counter(stop_text(one.stop) for _, one in scenarios(design))
    return [
        f"{text} ({count} of {counts.total()} vectors)" if len(counts) > 1 else text for text, count in counts.items()
    ]


def family_of(path: str) -> str:
    """Return the family of a parameter by its dotted path.

    Examples:
        >>> [family_of(path) for path in ("robots.scout.robot.max_speed_m_s", "radio.range_m", "world.terrain")]
        ['robot', 'fleet', 'environment']
    """
    head, *rest = path.split(".")
    if head in _ENVIRONMENT:
        return "environment"
    if head == "robots" and len(rest) > 1 and rest[1] not in _FLEET_KEYS:
        return "robot"
    return "robot" if head in ("execution", "faults") else "fleet"


def stop_text(stop: Stop) -> str:
    """Return the end of a run as readable text.

    Examples:
        >>> stop_text(Stop(explored=0.99, timeout_s=2000))
        '99 % explored by the team together, or 2000 s'
    """
    whose = {
        "union": "by the team together",
        "any_robot": "by any one robot",
        "all_robots": "by each robot",
        "one_map": "and in the map of one robot",
        "all_maps": "and in the map of each robot",
    }[stop.of]
    goals = [] if stop.explored is None else [f"{stop.explored * 100:g} % explored {whose}"]
    goals += [] if stop.covered is None else [f"{stop.covered * 100:g} % covered"]
    goals += ["every controller is done"] if stop.done else []
    return ", or ".join([*goals, f"{stop.timeout_s:g} s"])


def short(value: Any) -> str:
    """Return a value as short YAML.

    Examples:
        >>> short({"generate": "cave", "seed": 3}), short(200.0), short(None)
        ('{generate: cave, seed: 3}', '200', 'null')
    """
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, (int, float)):
        return f"{value:g}" if abs(value) < 1e6 else str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {short(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(short, value)) + "]"
    return str(value)


def values_text(parameter: Any) -> str:
    """Return the values of a parameter as readable text."""
    if isinstance(parameter, Range):
        every = f", every {parameter.step:g}" if parameter.step not in (None, 1) else ""
        count = f", {parameter.count} values" if parameter.count else ""
        return f"{parameter.from_:g} to {parameter.to:g}{every}{count}{' (equal ratios)' if parameter.log else ''}"
    items = parameter if isinstance(parameter, list) else [parameter]
    shown = [short(i.label if isinstance(i, (LabelledValue, LabelledChanges)) else i) for i in items]
    more = [f"… ({len(shown)} values)"] if len(shown) > _MOST_SHOWN else []
    return ", ".join(shown[:_MOST_SHOWN] + more)


def _varied(design: Design, scenario: Scenario) -> Iterator[TableRow]:
    for name, parameter in design.parameters.items():
        items = parameter if isinstance(parameter, list) else [parameter]
        changes = [item.set_ for item in items if isinstance(item, LabelledChanges)]
        path = next(iter(changes[0]), name) if changes else name
        several = isinstance(parameter, Range) or len(items) > 1
        yield TableRow("parameters", family_of(path), name, values_text(parameter), several)
        for item in items:
            if isinstance(item, LabelledValue):
                yield TableRow("parameters", family_of(path), f"{name}: {item.label}", short(item.value))
            if isinstance(item, LabelledChanges):
                said = ", ".join(f"{where} {short(value)}" for where, value in item.set_.items())
                yield TableRow("parameters", family_of(path), f"{name}: {item.label}", said)


def _fixed(design: Design, scenario: Scenario) -> Iterator[TableRow]:
    """Yield the fields of the scenario that all runs share: those that no parameter replaces."""
    names = [group.name for group in scenario.robots]
    taken = {_by_name(path, names) for path in _paths(design)}
    for path, value in _facts(scenario):
        left = _without(value, path, taken)
        if left not in (None, {}, []):
            yield TableRow("parameters", family_of(path), path, short(left))


def _facts(scenario: Scenario) -> Iterator[tuple[str, Any]]:
    data = plain(scenario)
    for group, full in zip(data["robots"], scenario.robots, strict=True):
        place = f"robots.{full.name}"
        yield f"{place}.robot", group.get("robot", full.robot.name)
        yield f"{place}.localization", group.get("localization", full.localization.kind)
        yield f"{place}.count", full.count
        yield f"{place}.start", plain(full.start)
        yield f"{place}.controller", group.get("controller", "still")
        for key in ("known_map", "control_every"):
            yield f"{place}.{key}", group.get(key)
    yield "radio", data.get("radio", {"range_m": 200})
    yield "share_maps", plain(scenario.share_maps, full=True)
    for key in ("tags", "mission", "faults", "execution", "world", "doors", "events"):
        yield key, data.get(key)


def paths_of(design: Design, name: str) -> list[str]:
    """Return the dotted paths that a parameter sets, each once: those of its values, or its name."""
    parameter = design.parameters.get(name)
    items = parameter if isinstance(parameter, list) else [parameter]
    each = (item.set_ if isinstance(item, LabelledChanges) else [name] for item in items)
    return list(dict.fromkeys(chain.from_iterable(each)))


def _paths(design: Design) -> Iterator[str]:
    for name in design.parameters:
        yield from paths_of(design, name)
    if isinstance(design.vectors, Listed) and not isinstance(design.vectors.list_, str):
        for row in design.vectors.list_:
            yield from row


def _by_name(path: str, names: list[str]) -> str:
    """Return a path with a group's number replaced by its name."""
    head, *rest = path.split(".")
    if head == "robots" and rest and rest[0].isdigit() and int(rest[0]) < len(names):
        rest[0] = names[int(rest[0])]
    return ".".join([head, *rest])


def _without(value: Any, path: str, taken: set[str]) -> Any:
    """Return a value without the paths that are taken; None if nothing is left."""
    if any(path == one or path.startswith(f"{one}.") for one in taken):
        return None
    if not isinstance(value, dict):
        return value
    left = {key: _without(item, f"{path}.{key}", taken) for key, item in value.items()}
    return {key: item for key, item in left.items() if item is not None or value[key] is None}


def _ways(design: Design) -> str:
    ways = design.vectors
    if isinstance(ways, LatinHypercube):
        return f"Latin hypercube of {ways.size}"
    if isinstance(ways, Sobol):
        return f"Sobol sample of {ways.size}"
    if isinstance(ways, Listed):
        return f"listed in {ways.list_}" if isinstance(ways.list_, str) else f"{len(ways.list_)} that are listed"
    return "all combinations" if ways == "full factorial" else f"made by {ways}"


def _first_line(name: str) -> str:
    return (metrics.get(name).__doc__ or "").strip().split("\n")[0]


def as_text(design: Design) -> str:
    """Return the table of a design as plain text."""
    rows = table(design)
    marks = [f"{row.element}: {row.family}" if row.family else row.element for row in rows]
    width, wide = max(map(len, marks)), max(len(row.name) for row in rows)
    lines = [f"{design.design}"]
    for key in ("description", "source", "published"):
        if text := getattr(design, key):
            lines += [f"{key}: {line}" if not i else f"  {line}" for i, line in enumerate(text.strip().splitlines())]
    before = ""
    for mark, row in zip(marks, rows, strict=True):
        star = "*" if row.varies else " "
        lines.append(f"{mark if mark != before else '':{width}} {star} {row.name:{wide}}  {row.value}".rstrip())
        before = mark
    return "\n".join([*lines, "* varies"])
