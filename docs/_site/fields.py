"""What Griffe, which reads the code for the site, does not know of records: their sentences are docstrings."""

import ast
from typing import Any

import griffe


class Fields(griffe.Extension):
    """Takes ``description`` of ``Field(description=...)`` as the docstring of an attribute."""

    def on_attribute(self, *, attr: griffe.Attribute, **_: Any) -> None:
        value = attr.value
        if attr.docstring or not isinstance(value, griffe.ExprCall) or value.canonical_path.split(".")[-1] != "Field":
            return
        for argument in value.arguments:
            if isinstance(argument, griffe.ExprKeyword) and argument.name == "description":
                attr.docstring = griffe.Docstring(_text(argument.value), parent=attr, lineno=attr.lineno)


def _text(value: Any) -> str:
    """Return the text of a constant, or of several behind one another."""
    return ast.literal_eval(str(value))
