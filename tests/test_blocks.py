"""The blocks of code on the pages: what they call is there and takes what they give, definitions work, files are valid."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import covey
from covey.registry import looking
from covey.scenario.load import parse_scenario

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DEFINES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom


def blocks(page, language):
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def parsed(code):
    """Return the tree of a block; it may wait, as in a controller."""
    compile(code, "block", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return ast.parse(code)


def wrong(code):
    """Return what a block takes from `covey` that is not there, and keywords that it gives to what does not take them."""
    found = set()
    for node in ast.walk(parsed(code)):
        call = node if isinstance(node, ast.Call) else None
        chain = ast.unparse(call.func if call else node) if isinstance(node, ast.Call | ast.Attribute) else ""
        if not re.fullmatch(r"covey(\.\w+)+", chain):
            continue
        value: Any = covey
        try:
            for name in chain.split(".")[1:]:
                value = getattr(value, name)
        except AttributeError:
            found.add(chain)
            continue
        known = inspect.signature(value).parameters if call else {}
        if call and not any(each.kind is each.VAR_KEYWORD and each.name != "unknown" for each in known.values()):
            found |= {f"{chain}({given.arg}=)" for given in call.keywords if given.arg and given.arg not in known}
    return sorted(found)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.stem)
def test_what_python_on_a_page_calls_is_there(page):
    assert [wrong(code) for code in blocks(page, "python") if wrong(code)] == []


def test_a_call_of_what_is_not_there_is_seen():
    assert wrong("covey.Wrld(1)\ncovey.Simulation(world, sed=3, seed=3)") == ["covey.Simulation(sed=)", "covey.Wrld"]


@pytest.mark.slow
def test_definitions_on_the_pages_work(tmp_path):
    """Each block that only defines something is run, all in a process of their own, as some register names."""
    codes = [
        code
        for page in PAGES
        for code in blocks(page, "python")
        if all(isinstance(each, DEFINES) for each in parsed(code).body) and "from vane" not in code
    ]
    assert len(codes) > 10
    run = "\n".join(f"exec({code!r}, {{'covey': covey, 'np': np}})" for code in codes)
    command = [sys.executable, "-c", f"import covey\nimport numpy as np\n{run}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_scenarios_on_the_pages_are_valid():
    count = 0
    for page in PAGES:
        for text in blocks(page, "yaml"):
            data = yaml.safe_load(text) if "…" not in text else None
            if isinstance(data, dict) and {"world", "robots"} <= data.keys():
                with looking():  # files that they name are not there
                    parse_scenario(text)
                count += 1
    assert count > 3
