"""The pages of the site that are written when it is built, from Covey's records: nothing of them can grow old."""

import importlib
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from covey.cli.app import app
from covey.controllers import controllers
from covey.experiments.design.load import design_summaries
from covey.experiments.design.quantities import quantity_summaries
from covey.experiments.design.shipped import designs
from covey.results.metrics import metrics
from covey.scenario.fields import page as fields_of_scenarios
from covey.scenario.shelf import KINDS, describe, paper_of, singular, summaries
from covey.scenario.shipped import library

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "covey"


def written() -> dict[str, str]:
    """Return the pages that are written when the site is built, by their paths in it."""
    homes = {id(target): f"../controllers.md#{name}" for name, target in controllers.items().items()}
    api = {f"reference/api/{name}.md": _module(name, homes) for name in public_modules()}
    kinds = [kind for kind in KINDS if kind not in ("scenarios", "controllers", "metrics")]
    names = {f"reference/names/{kind}.md": _kind(kind) for kind in kinds}
    return {
        "reference/commands.md": _commands(),
        "reference/controllers.md": _controllers(),
        "reference/all-metrics.md": _metrics(),
        "reference/fields.md": _fields(),
        "reference/schemas.md": _schemas(),
        "reference/scenario.schema.json": _schema("scenario"),
        "reference/design.schema.json": _schema("design"),
        "reference/names/scenarios.md": _files("Scenarios", summaries("scenarios"), library(), "covey run"),
        "reference/names/quantities.md": _quantities(),
        "reference/names/designs.md": _files("Designs", design_summaries(), designs(), "covey check"),
        **names,
        **api,
        "decisions/index.md": _decisions(),
    }


# -- Python -----------------------------------------------------------------------------------------------------------


def public_names(name: str) -> list[str]:
    """Return what is public of a module: what it lists, else what it defines; nothing of other packages."""
    module = importlib.import_module(name)
    defined = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == name]
    listed = getattr(module, "__all__", None) or [key for key in defined if not key.startswith("_")]
    return [key for key in listed if _home(_value(module, key)).partition(".")[0] == "covey"]


def _value(module: ModuleType, name: str) -> Any:
    try:
        return getattr(module, name)
    except AttributeError:
        return importlib.import_module(f"{module.__name__}.{name}")


def _home(value: Any) -> str:
    """Return the module of a function or class, the name of a module, and ``covey`` of other values."""
    if isinstance(value, ModuleType):
        return value.__name__
    return value.__module__ if inspect.isroutine(value) or inspect.isclass(value) else "covey"


def public_modules() -> list[str]:
    """Return all modules that list what is public, and the modules in these lists."""
    listing = (
        path for path in PACKAGE.rglob("*.py") if re.search("^__all__ = ", path.read_text("utf-8"), re.MULTILINE)
    )
    found = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__") for path in listing
    }
    found -= {"covey.lazy", "covey.ros.libraries", "covey.controllers.shelf"}  # names of others; and covey.controllers
    for name in list(found):
        module = importlib.import_module(name)
        found |= {v.__name__ for key in public_names(name) if isinstance(v := _value(module, key), ModuleType)}
    return sorted(found)


def _module(name: str, homes: dict[int, str]) -> str:
    """Return the page of a module: its docstring, and what is public in it; what is in ``homes`` is only linked."""
    module = importlib.import_module(name)
    parts = [f"# {name}", _prose(inspect.getdoc(module) or "")]
    for key in sorted(public_names(name), key=str.lower):
        value, head = _value(module, key), f"## `{key}` {{ #{name}.{key.strip('_')} }}"
        if isinstance(value, ModuleType):
            parts.append(f"{head}\n\nThe module [{value.__name__}]({value.__name__}.md).")
        elif not (inspect.isroutine(value) or inspect.isclass(value)):
            parts.append(f"{head}\n\nOf the type `{type(value).__name__}`.")
        elif home := homes.get(id(value)):
            parts.append(f"{head}\n\nSee [`{key}`]({home}).")
        else:
            homes[id(value)] = f"{name}.md#{_code(value)}"
            parts.append(f'::: {_code(value)}\n    options:\n      heading: "{key}"')
    return "\n\n".join(parts) + "\n"


def _code(value: Any) -> str:
    """Return where a function or a class is defined, as mkdocstrings finds it."""
    return f"{value.__module__}.{value.__qualname__}"


_SECTION = re.compile(r"^(\w+):\n((?:(?:    .*)?\n)*(?:    .*))", re.MULTILINE)


def _prose(doc: str) -> str:
    """Return a docstring as Markdown: its sections become lists, its examples code."""

    def section(found: re.Match[str]) -> str:
        title, lines = found[1], inspect.cleandoc("\n" + found[2])
        if ">>>" in lines:
            return f"**{title}**\n\n```pycon\n{lines}\n```"
        items = re.split(r"\n(?! )", lines) if title != "References" else re.split(r"\n(?=[A-Z]\. )", lines)
        return f"**{title}**\n\n" + "\n".join(f"- {' '.join(item.split())}" for item in items)

    return _SECTION.sub(section, doc).replace("``", "`")


def _controllers() -> str:
    """Return the page with the card of every controller: what it does, its paper, what it sees, and its parameters."""
    rooms: dict[str, list[str]] = {}
    for name, target in sorted(controllers.items().items()):
        text = next(text for what, text in _described(name) if what == "controller")
        ((sees, parameters),) = re.findall(r"^sees: (.*)\n(?:no )?parameters:?((?:\n  .*)*)\Z", text, re.MULTILINE)
        listed = ", ".join(f"`{line.strip()}`" for line in parameters.splitlines() if line)
        facts = {"Paper": paper_of(target), "Sees": sees, "Parameters": listed or "none"}
        card = [f"### `{name}` {{ #{name} }}", *(f"{key}: {value}  " for key, value in facts.items() if value)]
        options = ("show_root_heading", "show_root_toc_entry", "members")
        card += [f"\n::: {_code(target)}", "    options:", *(f"      {option}: false" for option in options)]
        rooms.setdefault(target.__module__.split(".")[2], []).append("\n".join(card))
    lines = [
        "# All controllers",
        "What `covey show NAME` prints of each. [Strategies](../strategies.md) compares them.",
    ]
    for room, cards in sorted(rooms.items()):
        lines += [f"## {room.capitalize()}", *cards]
    return "\n\n".join(lines) + "\n"


# -- names, metrics, commands -----------------------------------------------------------------------------------------


def _kind(kind: str) -> str:
    """Return the page of all names of a kind: what `covey show` prints of each."""
    lines = [f"# {kind.capitalize()}", f"What `covey list {kind}` names, and `covey show NAME` prints of each."]
    one = singular(kind)
    for name in summaries(kind):
        text = next(text for what, text in _described(name) if what == one)
        lines += [f"## {name} {{ #{_slug(name)} }}", *_entry(text)]
    return "\n\n".join(lines) + "\n"


def _described(name: str) -> Iterator[tuple[str, str]]:
    """Yield each kind of object with a name, and its description."""
    kinds = "|".join(map(singular, KINDS))
    for part in re.split(rf"^# (?=(?:{kinds}) {re.escape(name)}\n)", describe(name), flags=re.MULTILINE)[1:]:
        head, _, text = part.partition("\n")
        yield head.partition(" ")[0], text.rstrip()


def _entry(text: str) -> Iterator[str]:
    """Yield the paragraphs of one name: its docstring, then its fields or its settings."""
    prose, _, rest = text.rpartition("\n\n")
    fields = (
        re.findall(r"^  ([\w.[\]]+)(?: = (.*?))?: (.*)$", f"{rest}\n", re.MULTILINE) if rest.startswith("  ") else []
    )
    settings = rest if re.match(r"[a-z]\w*: ", rest) else ""
    said = (prose if fields or settings else text).removeprefix("Return ")
    yield _prose(said[:1].upper() + said[1:])
    if fields:
        rows = ((key, f" (`{value}`)" if value else "", f": {said}" if said else "") for key, value, said in fields)
        yield "\n".join(f"- `{key}`{value}{said}" for key, value, said in rows)
    elif settings:
        yield f"```yaml\n{settings}\n```"


def _slug(name: str) -> str:
    return re.sub(r"\W+", "-", name).strip("-")


def _files(title: str, said: dict[str, str], files: dict[str, Path], command: str) -> str:
    """Return the page of the scenarios or designs that ship with Covey: what each is, and its file."""
    lines = [
        f"# {title}",
        f"Those that ship with Covey. `{command} NAME` takes each of them, or the path of a file of yours.",
    ]
    for name, path in files.items():
        text = path.read_text(encoding="utf-8").rstrip()
        lines += [f"## {name}", said[name], f"```yaml\n{text}\n```"]
    return "\n\n".join(lines) + "\n"


def _quantities() -> str:
    """Return the page of what the measurements of a design can record."""
    rows = [f"- `{name}`: {said}" for name, said in quantity_summaries().items()]
    return "\n\n".join(["# Quantities", "What `covey list quantities` prints.", "\n".join(rows)]) + "\n"


def _metrics() -> str:
    """Return the page of all metrics."""
    rooms: dict[str, list[str]] = {}
    for name, metric in metrics.items().items():
        text = next(text for what, text in _described(name) if what == "metric")
        said = " ".join(" ".join(part for part in text.split("\n\n") if not part.startswith("Args:")).split())
        rooms.setdefault(metric.__module__.rpartition(".")[2], []).append(f"- `{name}`{{ #{name} }}: {said}")
    lines = [
        "# All metrics",
        "Every metric of `metrics.json`. [Metrics](../metrics.md) explains their symbols and sources.",
    ]
    for room, rows in sorted(rooms.items()):
        lines += [f"## {room.replace('_', ' ').capitalize()}", "\n".join(rows)]
    return "\n\n".join(lines) + "\n"


def _commands() -> str:
    """Return the page of all commands, from their help."""
    text = app.generate_docs(output_format="markdown")
    return text.replace("# covey\n", "# Commands\n", 1).replace("(#covey-", "(#covey-")


def _schema(kind: str) -> str:
    from covey.experiments.design.records import Design
    from covey.scenario.records import Scenario

    return json.dumps({"scenario": Scenario, "design": Design}[kind].model_json_schema(), indent=2) + "\n"


def _fields() -> str:
    """Return the page of all fields of a scenario."""
    return f"""# Fields of a scenario

What `covey show fields`, `covey show "robots[].robot"` and their like print. [Scenario files](../scenario.md) explains
them. A heading is the path of a record, `[]` each item of a list. Brackets hold the default, and the kinds that have
the field.

{fields_of_scenarios()}"""


def _schemas() -> str:
    return """# Schemas

Editors complete and check files with these JSON schemas: [scenario](scenario.schema.json) and
[design](design.schema.json).
`covey schema` and `covey schema design` print the same.
"""


def _decisions() -> str:
    """Return the list of decisions."""
    pages = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    rows = [f"- [{page.read_text(encoding='utf-8').partition(chr(10))[0].lstrip('# ')}]({page.name})" for page in pages]
    return "\n".join(["# Decisions", "", "Why Covey is as it is, where that was not obvious.", "", *rows, ""])
