"""What the shell offers at TAB: names of scenarios, and the fields and values of ``-s``."""

import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from covey.errors import CoveyError

if TYPE_CHECKING:
    from typing import Literal

    from cyclopts import App
    from cyclopts.completion import CompletionContext

_LONGEST = 60


def sources(context: "CompletionContext") -> dict[str, str]:
    """Return what `covey run` takes: files of this folder, and the names of what ships, each with what it is."""
    from covey.experiments.design.shipped import designs
    from covey.scenario.shipped import library

    above, slash, _ = context.incomplete.rpartition("/")
    folder = Path(above or slash)
    inside = [path for path in sorted(folder.glob("[!.]*")) if path.is_dir() or path.suffix == ".yaml"]
    files = {f"{path}/" if path.is_dir() else str(path): "file" for path in inside}
    return files | dict.fromkeys(library(), "scenario") | dict.fromkeys(designs(), "design")


def changes(context: "CompletionContext") -> dict[str, str]:
    """Return what may follow ``-s``, as far as it is typed: fields of the scenario, or after ``=`` values of one."""
    from covey.registry import looking
    from covey.scenario.load import load_scenario

    typed = context.get("source") or context.get("scenario")
    if typed is None or not typed.raw:
        return {}
    try:
        with looking():
            return completed(load_scenario(typed.raw), context.incomplete)
    except CoveyError:
        return {}


def completed(scenario: Any, typed: str) -> dict[str, str]:
    """Return the ways to go on with what is typed of ``path=value``, each with what it means.

    Paths are offered part by part; where only one part fits, with those below it.

    Args:
        scenario: the scenario that is changed.
        typed: as far as it is typed.

    Examples:
        >>> from covey.scenario.load import load_scenario
        >>> maze = load_scenario("maze")
        >>> list(completed(maze, "ro"))[:3]
        ['robots.scout.name=', 'robots.scout.robot=', 'robots.scout.robot.']
        >>> completed(maze, "robots.scout.controller.def")
        {'robots.scout.controller.definition=': 'explore'}
        >>> list(completed(maze, "robots.scout.controller.definition=m"))
        ['robots.scout.controller.definition=m_explore', 'robots.scout.controller.definition=maes']
    """
    from covey.scenario.overrides import value_at

    path, is_value, value = typed.partition("=")
    if is_value:
        found = {one: said for one, said in _values(scenario, path).items() if one.startswith(value)}
        return {f"{path}={one}": said for one, said in found.items()}
    *above, begun = path.split(".")
    while True:
        below = [
            one
            for one in _below(value_at(scenario, ".".join(above)) if above else scenario)
            if one.name.startswith(begun)
        ]
        if len({one.name for one in below}) == 1 and below[0].is_record:
            above, begun = [*above, below[0].name], ""
            continue
        head = "".join(f"{part}." for part in above)
        return {f"{head}{one.name}{end}": one.said for one in below for end in one.ends}


def install(app: "App", shell: "Literal['bash', 'zsh', 'fish'] | None") -> Path:
    """Install the completion for a shell, and return its file.

    Args:
        app: the commands.
        shell: name of the shell; None: the present one.
    """
    path = app.install_completion(shell=shell)
    if path.name == app.name[0] and path.suffix == "":  # Bash
        path.write_text(path.read_text(encoding="utf-8") + BASH, encoding="utf-8")
    return path


class _Part:
    """A part of a path: its name, whether it can be set and gone into, and what it means."""

    def __init__(self, name: str, value: Any, said: str, *, is_settable: bool = True):
        from covey.scenario.controller import ControllerReference

        self.name, self.said = name, said
        self.is_record = _is_named_list(value) or (isinstance(value, BaseModel) and not is_settable)
        goes_on = self.is_record or isinstance(value, (BaseModel, ControllerReference))
        self.ends = [*(["="] if is_settable and not _is_named_list(value) else []), *(["."] if goes_on else [])]


def _below(node: Any) -> Iterator[_Part]:
    """Yield the parts that may follow those that lead to a value."""
    from covey.scenario.controller import ControllerReference

    if isinstance(node, ControllerReference):
        for name, value in _parameters(node).items():
            yield _Part(name, None, _shown(value))
    elif isinstance(node, BaseModel):
        for name, field in type(node).model_fields.items():
            if name not in ("format", "kind"):
                yield _Part(field.alias or name, getattr(node, name), _sentence(field))
    elif isinstance(node, (list, tuple)):
        for number, item in enumerate(node):
            yield _Part(getattr(item, "name", None) or str(number), item, "", is_settable=False)
    elif isinstance(node, Mapping):
        for name, item in node.items():
            yield _Part(str(name), item, _shown(item))


def _values(scenario: Any, path: str) -> dict[str, str]:
    """Return the values that are known of a path, with the present one."""
    from covey.scenario.controller import ControllerReference
    from covey.scenario.overrides import value_at

    above, _, name = path.rpartition(".")
    owner = value_at(scenario, above) if above else scenario
    if isinstance(owner, ControllerReference):
        from covey.onboard.controller import types_of

        known = _parameters(owner)
        found = {shown: "now"} if name in known and (shown := _shown(known[name])) else {}
        return found | {one: "" for one in _words(types_of(owner.target).get(name)) if one not in found}
    fields: dict[str, FieldInfo] = {}
    if isinstance(owner, BaseModel):
        fields = {field.alias or key: field for key, field in type(owner).model_fields.items()}
    if name not in fields and not (isinstance(owner, Mapping) and name in owner):
        return {}
    found = {present: "now"} if (present := _shown(value_at(scenario, path))) else {}
    words = _words(fields[name].annotation) if name in fields else ()
    return found | {one: "" for one in words if one not in found}


def _words(annotation: Any) -> Iterator[str]:
    """Yield the values that a type names: words, truth values, and what is registered and needs no parameter."""
    from covey.controllers import controllers
    from covey.named import Named
    from covey.records import members
    from covey.robots.catalogue import robots
    from covey.robots.model import RobotModel
    from covey.scenario.controller import ControllerReference

    for _, kind in members(annotation):
        if typing.get_origin(kind) is typing.Literal:
            yield from map(str, typing.get_args(kind))
        elif kind is bool:
            yield from ("true", "false")
        elif kind is type(None):
            yield "null"
        elif kind is ControllerReference:
            yield from controllers.names()
        elif kind is RobotModel:
            yield from robots.names()
        elif isinstance(kind, type) and issubclass(kind, Named) and "registry" in vars(kind):
            yield from (name for name, one in kind.registered().items() if not _needs_more(one))


def _needs_more(record: type[BaseModel]) -> bool:
    """Return whether the name of a record is not enough."""
    from covey.named import ByKey

    return issubclass(record, ByKey) or any(field.is_required() for field in record.model_fields.values())


def _parameters(node: Any) -> dict[str, Any]:
    """Return the parameters of a controller with their values; of code that is not run only those that are given."""
    from covey.onboard.controller import parameters_of

    try:
        known = parameters_of(node.target) or {}
    except (TypeError, ValueError, CoveyError):
        known = {}
    return {name: parameter.default for name, parameter in known.items()} | node.parameters


def _is_named_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(one, BaseModel) for one in value)


def _sentence(field: FieldInfo) -> str:
    said = " ".join((field.description or "").split())
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST].rpartition(' ')[0]} …"


def _shown(value: Any) -> str:
    """Return a value as it is typed; nothing for a long one, and for one that no file can write."""
    from covey.experiments.workers.rows import text_of
    from covey.scenario.dump import plain

    try:
        text = text_of(plain(value))
    except (CoveyError, TypeError, ValueError):
        return ""
    return text if len(text) <= _LONGEST and "\n" not in text and " " not in text else ""


BASH = r"""
# Bash splits words at = and :, so what follows -s is put together here, and no space follows a field.
_covey_changes() {
  local words=("${COMP_WORDS[@]}") at=$COMP_CWORD joined=() here=0 i word
  for ((i = 0; i < ${#words[@]}; i++)); do
    word=${words[i]}
    if ((i > 1)) && [[ $word == "=" || $word == ":" || ${words[i-1]} == "=" || ${words[i-1]} == ":" ]] \
      && [[ ${joined[${#joined[@]}-1]} != "-s" && ${joined[${#joined[@]}-1]} != "--set" ]]; then
      joined[${#joined[@]}-1]+=$word
    else
      joined+=("$word")
    fi
    ((i == at)) && here=$((${#joined[@]} - 1))
  done
  COMP_WORDS=("${joined[@]}")
  COMP_CWORD=$here
  _covey
  local typed=${joined[here]} before=""
  [[ $typed == *=* && $typed != -* ]] && before=${typed%"${typed##*[=:]}"}
  for i in "${!COMPREPLY[@]}"; do
    [[ ${COMPREPLY[i]} == *= || ${COMPREPLY[i]} == *. ]] && compopt -o nospace 2>/dev/null
    COMPREPLY[i]=${COMPREPLY[i]#"$before"}
  done
}
complete -F _covey_changes covey
"""
"""What is added to the completion of Bash."""
