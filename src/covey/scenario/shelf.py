"""The names for use in files: scenarios, robots, sensors, controllers and so on, each with a one-line summary."""

import importlib
import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from covey.errors import CoveyError, UnknownNameError
from covey.registry import looking, registry_of
from covey.scenario.shipped import find_scenario, library

if TYPE_CHECKING:
    from covey.scenario.fields import Row

_MODULES = {
    "robots": "covey.robots.catalogue",
    "sensors": "covey.sensors.sensor",
    "localizers": "covey.mapping.localizer",
    "mappers": "covey.mapping.records",
    "missions": "covey.missions",
    "worlds": "covey.world.records.world_record",
    "starts": "covey.world.records.starts",
    "targets": "covey.world.records.targets",
    "events": "covey.events.records",
    "faults": "covey.events.records",
    "links": "covey.comms.links.model",
    "protocols": "covey.comms.protocols.protocol",
    "mergers": "covey.mapping.exchange.merge_rules",
    "physics": "covey.physics.records",
    "planners": "covey.planning.planner",
    "controllers": "covey.controllers",
    "metrics": "covey.results.metrics",
}
"""The module of each registry."""
KINDS = ("scenarios", *_MODULES)

_PARTICLES = ("da", "de", "del", "della", "den", "der", "di", "du", "la", "le", "ten", "ter", "van", "von")
"""Words that begin family names."""


def names(kind: str) -> list[str]:
    """Return the names of one of `KINDS`."""
    return sorted(library()) if kind == "scenarios" else _registry(kind).names()


def summaries(kind: str) -> dict[str, str]:
    """Return the names of one of `KINDS`, each with a one-line summary."""
    if kind == "scenarios":
        return {name: _first_comment(path.read_text(encoding="utf-8")) for name, path in library().items()}
    found = {}
    for name in names(kind):
        try:
            item = _registry(kind).get(name)
            found[name] = _first_line(item) + (f" [{paper}]" if (paper := paper_of(item)) else "")
        except (CoveyError, ImportError) as error:
            found[name] = f"cannot be loaded: {error}"
    return found


def describe(name: str, *, trusted_only: bool = False) -> str:
    """Return a full description of a scenario (also by its path), or of what has a name of one of `KINDS`.

    The path of a record of a scenario, such as ``robots[].robot``, is a name, too; ``fields`` are those at the top.

    Raises:
        ScenarioError: the scenario is invalid.
        UnknownNameError: nothing has this name.
    """
    records = {kind: partial(_record, kind) for kind in _MODULES}
    writers: dict[str, Callable[[str], str]] = {
        **records,
        "robots": _robot,
        "controllers": _controller,
        "metrics": _metric,
    }
    parts = [f"# {singular(kind)} {name}\n{write(name)}" for kind, write in writers.items() if name in names(kind)]
    if name in library() or name.endswith((".yaml", ".yml")):
        from covey.scenario.dump import to_yaml
        from covey.scenario.load import load_scenario

        path = find_scenario(name)
        with looking() as seen:
            scenario = load_scenario(name, trusted_only=trusted_only)
            text = path.read_text(encoding="utf-8").rstrip()
            if not seen.stand_ins:  # code that was not run cannot be described in full
                full = to_yaml(scenario, full=True).rstrip().replace("\n", "\n# ")
                text += f"\n\n# Every setting, also those that the file leaves as they are:\n#\n# {full}"
        parts.insert(0, f"# scenario {name} ({path})\n{text}")
    from covey.scenario.fields import fields

    paths = {path or "fields": rows for path, rows in fields().items()}
    if name in paths:
        parts.append(f"# fields {name}\n{_rows({'': paths[name]})}")
    if not parts:
        raise UnknownNameError("name", name, [*paths, *(known for kind in KINDS for known in names(kind))])
    return "\n\n".join(part.rstrip() for part in parts)


def paper_of(item: Any) -> str:
    """Return authors and year of the first paper in an object's docstring; empty if there is none."""
    block = re.search(r"^References:\n(.*?)(?:\n\n|\Z)", _doc(item), re.MULTILINE | re.DOTALL)
    year = r"(?<![\d:-])\b((?:19|20)\d\d)\b(?!-\d)"  # no page number
    found = block and re.match(rf"\s*([^:()\d]+?): .*?{year}", block[1], re.DOTALL)
    if not found:
        return ""
    names = [_family(author.removesuffix(" et al.").split()) for author in found[1].split(",")]
    many = len(names) > 2 or found[1].endswith(" et al.")
    return f"{names[0]} et al. {found[2]}" if many else f"{' and '.join(names)} {found[2]}"


def _family(words: list[str]) -> str:
    """Return the family name of an author, with its particles.

    Examples:
        >>> _family(["J.", "van", "den", "Berg"]), _family(["De", "Rango"]), _family(["W.", "Burgard"])
        ('van den Berg', 'De Rango', 'Burgard')
    """
    first = len(words) - 1
    while first > 0 and words[first - 1].lower() in _PARTICLES:
        first -= 1
    return " ".join(words[first:])


def _registry(kind: str) -> Any:
    importlib.import_module(_MODULES[kind])
    return registry_of(singular(kind))


def singular(kind: str) -> str:
    """Return what one of a kind of `KINDS` is called, as its registry."""
    return kind if kind == "physics" else kind.removesuffix("s")


def _robot(name: str) -> str:
    make = _registry("robots").get(name)
    return f"{_doc(make)}\n\n{_text(make())}"


def _record(kind: str, name: str) -> str:
    record = _registry(kind).get(name)
    if not hasattr(record, "model_fields"):
        return f"{_doc(record)}\n\n{_text(record())}"
    from covey.scenario.fields import fields

    return f"{_doc(record)}\n\n{_rows(fields(record))}"


def _rows(lists: "dict[str, list[Row]]") -> str:
    """Return the lines of lists of fields."""
    rows = [(".".join(filter(None, [path, row.key])), row) for path, found in lists.items() for row in found]
    lines = [
        f"  {key}{f' = {row.default}' if row.default else ''}{f' ({row.kind})' if row.kind else ''}: {row.meaning}"
        for key, row in rows
    ]
    return "\n".join(lines).replace("`", "").replace("\\|", "|")


def _metric(name: str) -> str:
    from covey.results.metrics import is_time_to_goal, is_until_goal

    marks = {
        "Time to a goal: none means not within the timeout": is_time_to_goal,
        "Counts only if the goal was reached": is_until_goal,
    }
    said = [f"{text}." for text, marked in marks.items() if marked(name)]
    return "\n\n".join([_doc(_registry("metrics").get(name)), *said])


def _controller(name: str) -> str:
    from covey.onboard.controller import parameters_of, types_of

    target = _registry("controllers").get(name)
    types = types_of(target)
    known = (parameters_of(target) or {}).values()
    parameters = [f"  {p.replace(annotation=types.get(p.name, p.annotation))}" for p in known]
    sees: Any = getattr(target, "covey_sees", None)
    sees = sees() if callable(sees) else sees
    sight = "sees: " + ("everything that a robot can" if sees is None else ", ".join(sees) or "nothing")
    return "\n".join([_doc(target), "", sight, "parameters:" if parameters else "no parameters", *parameters])


def _text(record: Any) -> str:
    import yaml

    from covey.scenario.dump import plain

    return yaml.safe_dump(plain(record, full=True), sort_keys=False, width=120, default_flow_style=None)


def _doc(item: Any) -> str:
    return inspect.getdoc(item) or "(no description)"


def _first_line(item: Any) -> str:
    line = _doc(item).splitlines()[0].removeprefix("Return ")
    return line[:1].upper() + line[1:]


def _first_comment(text: str) -> str:
    lines = text.splitlines()
    return lines[0].removeprefix("#").strip() if lines and lines[0].startswith("#") else ""
