"""What the page knows of messages, events and their data is made from the records of the server."""

import runpy
from pathlib import Path

GENERATE = Path(__file__).parents[2] / "web" / "generate.py"


def test_the_pages_messages_and_events_are_those_of_the_server():
    made = runpy.run_path(str(GENERATE))
    assert made["TARGET"].read_text() == made["text"](), "run: python web/generate.py"


def test_types_are_those_of_the_schemas():
    kind = runpy.run_path(str(GENERATE))["_type"]
    pair = {"type": "array", "prefixItems": [{"type": "number"}, {"type": "integer"}]}
    assert kind({"anyOf": [pair, {"type": "null"}]}) == "[number, number] | null"
    assert kind({"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}}) == (
        "Record<string, string[]>"
    )
    assert kind({"const": "step", "type": "string"}) == '"step"'
    assert kind({}) == "unknown"
