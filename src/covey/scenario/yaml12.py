"""YAML 1.2 core schema as plain data, with the line and column of every key and value.

It supports only mappings, sequences and scalars: no tags that build objects, no merge keys. Excessive input (too
long, too deep, multiplying anchors) is refused before it can use much memory.

References:
    YAML Ain't Markup Language, version 1.2.2, section 10.3 (core schema). 2021.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.parser import Parser
from yaml.reader import Reader, ReaderError
from yaml.resolver import BaseResolver
from yaml.scanner import Scanner

from covey.errors import Problem, ScenarioError

MAX_BYTES, MAX_DEPTH, MAX_NODES = 1_000_000, 40, 100_000
_STRING_TAG = "tag:yaml.org,2002:str"
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}

FILES = ("file", "height_map", "known_map", "map", "from")
"""Keys of a scenario whose values name files."""

Path = tuple[str | int, ...]
Place = tuple[int, int]


@dataclass
class Document:
    """Plain data with the 1-based (line, column) of each value and each key, by path from the root.

    ``given`` names what has replaced values of the text, such as ``-s robots.scout.count``, by their paths.
    """

    data: Any
    file: str = ""
    values: dict[Path, Place] = field(default_factory=dict)
    keys: dict[Path, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    given: dict[Path, str] = field(default_factory=dict)

    def problem(self, message: str, path: Path, *, at_key: bool = False) -> Problem:
        """Return a problem at the nearest place of ``path`` in the text, or with what has replaced this value."""
        for place, label in sorted(self.given.items(), key=lambda item: -len(item[0])):
            is_its_file = path and place[-1] in FILES and place[: len(path)] == path
            if is_its_file or path[: len(place)] == place:
                head, _, rest = message.partition(": ")
                is_said = f"{label}.".startswith(f"-s {head}.")
                return Problem(rest if is_said else message.removeprefix(f"{label.removeprefix('-s ')}."), label)
        for length in range(len(path), -1, -1):
            places = (self.keys, self.values) if at_key else (self.values, self.keys)
            place = next((p[path[:length]] for p in places if path[:length] in p), None)
            if place:
                return Problem(message, self.file, *place)
        return Problem(message, self.file)


def cure_of_yaml(message: str) -> str:
    """Return the tail of a message of the parser of YAML: what to write instead; empty if not known."""
    if "'\\t'" in message:
        return "; indent with spaces, not with tabs"
    if "unknown escape character" in message or "expected escape sequence" in message:
        return "; in double quotes a backslash begins an escape: write a path with / or in single quotes"
    return ""


def parse_scalar(text: str) -> Any:
    """Return the value of a plain (unquoted) scalar in the YAML 1.2 core schema.

    Examples:
        >>> parse_scalar("1e4"), parse_scalar("on"), parse_scalar("0o17"), parse_scalar("true")
        (10000.0, 'on', 15, True)
    """
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text) and len(text) <= 100:
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    return float(text) if _FLOAT.fullmatch(text) else text


def parse_yaml(source: bytes | str, file: str = "") -> Document:
    """Parse one YAML document; duplicate keys and similar problems are collected in ``problems``.

    Raises:
        ScenarioError: the text is not YAML, not UTF-8, or beyond the limits of length, depth and number of nodes.
    """
    text = _decode(source, file)
    try:
        node = _Loader(text, file).get_single_node()
    except ReaderError as error:
        line, column = _line_column(text, error.position)
        raise _refuse(f"character {chr(int(error.character))!r} is not allowed in YAML", file, line, column) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        message = " ".join(part for part in (error.context, error.problem) if part)
        raise _refuse(f"not valid YAML: {message}{cure_of_yaml(message)}", file, *place) from None
    except (ValueError, OverflowError) as error:
        raise _refuse(f"not valid YAML: {error}", file, 1, 1) from None
    document = Document(None, file)
    if node is not None:
        document.data = _Builder(document).build(node, (), ())
    return document


class _Loader(Reader, Scanner, Parser, Composer, BaseResolver):
    """The composer of PyYAML without its YAML 1.1 rules for plain scalars."""

    def __init__(self, text: str, file: str):
        self._file, self._depth, self._nodes = file, 0, 0
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)
        BaseResolver.__init__(self)

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Return the next node; raise an error as soon as the text exceeds a limit, without reading the rest."""
        event: Any = self.peek_event()
        mark = event.start_mark
        self._depth, self._nodes = self._depth + 1, self._nodes + 1
        if self._depth > MAX_DEPTH and isinstance(event, yaml.CollectionStartEvent):
            raise _refuse(f"nested deeper than {MAX_DEPTH} levels", self._file, mark.line + 1, mark.column + 1)
        if self._nodes > 2 * MAX_NODES:
            what = f"more than {MAX_NODES} values, the most that a file may have"
            raise _refuse(what, self._file, mark.line + 1, mark.column + 1)
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        """Return the tag of a node without one: empty for a plain scalar, which `parse_scalar` converts."""
        return "" if kind is ScalarNode and implicit[0] else _STRING_TAG if kind is ScalarNode else ""


class _Builder:
    """Turns nodes into data, and records the place of each key and value."""

    def __init__(self, document: Document):
        self.document, self.nodes = document, 0

    def build(self, node: Node, path: Path, parents: tuple[int, ...]) -> Any:
        """Return the data of ``node``, which is at ``path`` within ``parents`` (identities of nodes)."""
        place = node.start_mark.line + 1, node.start_mark.column + 1
        self.document.values[path] = place
        self.nodes += 1
        if self.nodes > MAX_NODES:
            what = f"more than {MAX_NODES} values, the most that a file may have; values behind anchors count too"
            raise _refuse(what, self.document.file, *place)
        if len(parents) > MAX_DEPTH:
            raise _refuse(f"nested deeper than {MAX_DEPTH} levels", self.document.file, *place)
        if id(node) in parents:
            raise _refuse("an anchor that contains itself is not allowed", self.document.file, *place)
        inside = (*parents, id(node))
        if isinstance(node, MappingNode):
            return self._mapping(node, path, inside)
        if isinstance(node, SequenceNode):
            self._refuse_tag(node, path, ("",))
            return [self.build(child, (*path, i), inside) for i, child in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: MappingNode, path: Path, inside: tuple[int, ...]) -> dict[str, Any]:
        self._refuse_tag(node, path, ("",))
        data: dict[str, Any] = {}
        for key_node, value_node in node.value:
            place = key_node.start_mark.line + 1, key_node.start_mark.column + 1
            if not isinstance(key_node, ScalarNode):
                raise _refuse("a key must be a word, not a list or a mapping", self.document.file, *place)
            key = key_node.value
            if key in data:
                line, column = self.document.keys[(*path, key)]
                message = f"{key!r} is given twice; the first is at line {line}, column {column}"
                self.document.problems.append(Problem(message, self.document.file, *place))
                continue
            self.document.keys[(*path, key)] = place
            data[key] = self.build(value_node, (*path, key), inside)
        return data

    def _scalar(self, node: Node, path: Path) -> Any:
        self._refuse_tag(node, path, ("", _STRING_TAG))
        if any("\ud800" <= c <= "\udfff" for c in node.value):
            self.document.problems.append(self.document.problem("half of a surrogate pair is not text", path))
            return ""
        return node.value if node.tag else parse_scalar(node.value)

    def _refuse_tag(self, node: Node, path: Path, allowed: tuple[str, ...]) -> None:
        if node.tag not in allowed:
            message = f"tag {node.tag!r} is not allowed; write plain values"
            self.document.problems.append(self.document.problem(message, path))


def _decode(source: bytes | str, file: str) -> str:
    if len(source) > MAX_BYTES:
        raise _refuse(f"{len(source)} bytes; a scenario file has at most {MAX_BYTES}", file, 1, 1)
    if isinstance(source, str):
        return source
    try:
        return source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = source[: error.start].decode("utf-8-sig", "replace")
        line, column = _line_column(before, len(before))
        raise _refuse(f"byte {source[error.start]:#04x} is not UTF-8 text", file, line, column) from None


def _line_column(text: str, position: int) -> Place:
    before = text[:position]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _refuse(message: str, file: str, line: int, column: int) -> ScenarioError:
    return ScenarioError([Problem(message, file, line, column)])
