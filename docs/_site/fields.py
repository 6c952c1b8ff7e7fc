"""What Griffe, which reads the code for the site, does not know of records: their sentences are docstrings."""

import ast
from typing import Any

import griffe


class Fields(griffe.Extension):
    """Shows a field as its default and its description, not as ``Field(default=..., description=...)``."""

    def on_attribute(self, *, attr: griffe.Attribute, **_: Any) -> None:
        value = attr.value
        if not isinstance(value, griffe.ExprCall) or value.canonical_path.rpartition(".")[2] != "Field":
            return
        given = {each.name: each.value for each in value.arguments if isinstance(each, griffe.ExprKeyword)}
        first = next((each for each in value.arguments if not isinstance(each, griffe.ExprKeyword)), None)
        default = given.get("default", first)
        attr.value = None if str(default) == "..." else default
        if "default_factory" in given:
            attr.value = f"{given['default_factory']}()"
        if "description" in given and not attr.docstring:
            text = ast.literal_eval(str(given["description"]))
            attr.docstring = griffe.Docstring(text, parent=attr, lineno=attr.lineno)
