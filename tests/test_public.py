"""Pages, examples and templates use only what is public: `covey`, and what a module lists in its ``__all__``."""

import ast
import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
from tests.test_extensions import CODE as EXTENSIONS

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
CODE = sorted([*(ROOT / "examples").rglob("*.py"), *(ROOT / "src/covey").rglob("templates/**/*.py")])


def imported(code):
    """Yield the module and the names of each import from Covey; nothing of code that is only a part."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "covey":
            yield node.module, [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names if alias.name.startswith("covey."))


def private(codes):
    """Return what is imported but listed nowhere."""
    return [
        f"from {module} import {name}"
        for code in codes
        for module, names in imported(code)
        for name in names or [""]
        if not (listed := getattr(import_module(module), "__all__", ())) or (name and name not in listed)
    ]


@pytest.mark.parametrize("file", [*PAGES, *CODE], ids=lambda file: str(file.relative_to(ROOT)))
def test_only_what_is_public_is_shown(file):
    text = file.read_text(encoding="utf-8")
    codes = [text] if file.suffix == ".py" else re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert not private(codes)


def test_a_deep_import_is_seen():
    assert private(["from covey.runtime.simulation import Simulation"]) == [
        "from covey.runtime.simulation import Simulation"
    ]
    assert not private(["from covey.comms import Radio", "from covey import Simulation"])


def listing():
    """Return the modules that list what is public of them."""
    files = (file for file in (ROOT / "src/covey").rglob("*.py") if "\n__all__ = " in file.read_text(encoding="utf-8"))
    return [
        ".".join(file.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__").removesuffix(".shelf")
        for file in files
    ]


def test_the_page_names_the_modules_that_list_something():
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8").partition("Public modules: ")[2]
    assert re.findall(r"`([\w.]+)`", text.partition(".\n\n")[0]) == sorted(listing())


def test_extensions_need_only_what_is_public():
    assert not private([EXTENSIONS])


@pytest.mark.parametrize("name", listing())
def test_what_is_listed_is_there(name):
    module = import_module(name)
    missing = [each for each in module.__all__ if not hasattr(module, each)]
    try:
        for each in missing:
            import_module(f"{name}.{each}")
    except ImportError:
        raise AssertionError(f"{name} lists {missing}, which it lacks") from None


TWICE = {"Communication", "Drive", "Me", "Message"}
"""Class names of two modules: those of messages of the page, as in its TypeScript, and of an add-on."""


def test_the_name_of_a_class_stands_in_one_module():
    names = Counter()
    for file in (ROOT / "src/covey").rglob("*.py"):
        if not {"lessons", "templates"} & set(file.parts):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            names.update({node.name for node in tree.body if isinstance(node, ast.ClassDef)})
    assert {name for name, times in names.items() if times > 1 and not name.startswith("_")} == TWICE
