"""Write ``src/generated.ts``: messages of the page, layers, details and data of events, from the records of the server.

Run: python web/generate.py    # after a change of covey/viewer/messages.py, cell_layers.py or results/event_data.py
"""

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

from pydantic import TypeAdapter

from covey.results import event_data
from covey.results.event_data import EVENT_KINDS, Data
from covey.viewer.cell_layers import OF_PARTS, OF_TEAM
from covey.viewer.details import DETAILS
from covey.viewer.messages import PROTOCOL, AnyMessage

TARGET = Path(__file__).parent / "src" / "generated.ts"
_PLAIN = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}
_BY_NAME = {event_data.Settings, event_data.Ordered}  # their data are the fields of other records


def text() -> str:
    """Return the contents of the file."""
    messages = "\n".join(f"  | {_object(_schema(kind))}" for kind in get_args(get_args(AnyMessage)[0]))
    said = [kind for kind in vars(event_data).values() if _is_said(kind)]
    interfaces = "\n\n".join(map(_interface, said))
    return f"""/** Made by web/generate.py from the records of covey/viewer and covey/results/event_data.py. */

export const PROTOCOL = "{PROTOCOL}";

/** What a page may send. */
export type ToServer =
{messages};

/** Layers of cells of the team. */
export type TeamLayer ={_words(OF_TEAM)};

/** Kinds of layers of a robot or a group. */
export type PartLayer ={_words(OF_PARTS)};

/** What a page can watch beside layers of cells. */
export type Detail ={_words(DETAILS)};

/** The kinds of events. */
export type EventKind ={_words(EVENT_KINDS)};

{interfaces}

/** What an event says, by name: which names there are depends on its kind; those of an input are its own. */
export type EventData = Partial<{" & ".join(kind.__name__ for kind in said)}> & Record<string, unknown>;
"""


def _words(words: Iterable[str]) -> str:
    return "".join(f'\n  | "{word}"' for word in sorted(words))


def _is_said(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Data) and kind not in {Data, *_BY_NAME}


def _schema(kind: Any) -> dict[str, Any]:
    return TypeAdapter(kind).json_schema()


def _object(schema: dict[str, Any]) -> str:
    """Return the type of a message; the connection adds its number."""
    needed = {"type", *schema.get("required", ())}
    parts = [
        f"{name}{'' if name in needed else '?'}: {_type(part)}"
        for name, part in sorted(schema["properties"].items(), key=lambda item: item[0] != "type")
        if name != "id"
    ]
    return "{ " + "; ".join(parts) + " }"


def _interface(kind: type[Data]) -> str:
    """Return the interface of what an event says."""
    lines = [f"  {f.name}{'?' if f.default is None else ''}: {_type(_said_schema(f.type))};" for f in fields(kind)]
    first = (kind.__doc__ or "").splitlines()[0]
    return "\n".join([f"/** {first} */", f"export interface {kind.__name__} {{", *lines, "}"])


def _said_schema(annotation: Any) -> dict[str, Any]:
    """Return the schema of a field; of one that may be missing, that of its value."""
    schema = {} if "Hashable" in str(annotation) else _schema(annotation)
    values = [part for part in schema.get("anyOf", ()) if part.get("type") != "null"]
    return values[0] if values else schema


def _type(schema: dict[str, Any]) -> str:
    """Return the type of what a JSON schema describes."""
    if "const" in schema:
        return f'"{schema["const"]}"'
    if "anyOf" in schema:
        return " | ".join(map(_type, schema["anyOf"]))
    kind = schema.get("type")
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(map(_type, schema['prefixItems']))}]"
        return f"{_type(schema['items'])}[]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"Record<string, {_type(values) if isinstance(values, dict) else 'unknown'}>"
    return _PLAIN.get(str(kind), "unknown")


if __name__ == "__main__":
    TARGET.write_text(text())
    print(f"wrote {TARGET}")
