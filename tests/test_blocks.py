"""The blocks of code on the pages: what they call is there and takes what they give, definitions work, files are valid."""

import ast
import inspect
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

import covey
from covey.experiments.design.load import parse_design
from covey.experiments.workers.cluster_file import ClusterFile
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


GROUP = {"name": "scout", "robot": "pioneer3dx", "controller": "wander", "count": 4}
BASE = {"world": {"empty_m": [60, 40]}, "robots": [GROUP], "radio": {"range_m": 10}}
STUDY = {
    "design": "study",
    "scenario": BASE,
    "parameters": {"robots.scout.count": [1, 2], "robots.scout.controller": ["nearest_frontier", "minpos"]},
}


def fragments(text):
    """Yield what a block holds: where a key comes again, another file begins."""
    found = [{}]
    for part in re.split(r"^(?=\w)", textwrap.dedent(text), flags=re.MULTILINE):
        for key, value in (yaml.safe_load(part) or {}).items():
            if key in found[-1]:
                found.append({})
            found[-1][key] = value
    return found


def read(found, folder):
    """Read what a page shows of a scenario, a robot, a design or a cluster, with the rest as it is by default."""
    if "design" in found or {"report", "metrics"} & {*found}:
        return parse_design(yaml.safe_dump(found if "design" in found else STUDY | found), folder=folder)
    if {"slurm", "sge", "ssh"} & {*found}:
        return ClusterFile(**found)
    of_robot = {key: found.pop(key) for key in ("robot", "localization") if key in found}
    if sensors := found.pop("sensors", None):
        of_robot["robot"] = {"base": "turtlebot3_waffle", "sensors": sensors}
    groups = [GROUP | {"name": f"scout{k or ''}"} | one for k, one in enumerate(found.pop("robots", [of_robot]))]
    return parse_scenario(yaml.safe_dump(BASE | found | {"robots": groups}), folder=folder)


YAML = [(page, text) for page in PAGES for text in blocks(page, "yaml")]


@pytest.mark.parametrize(("page", "text"), YAML, ids=[page.stem for page, _ in YAML])
def test_yaml_on_the_pages_is_valid(page, text, tmp_path):
    (tmp_path / "finder.py").write_text("def finder(robot):\n    robot.drive(0.1)\n")
    for found in fragments(text):
        with looking():  # other files that they name are not there
            read(found, tmp_path)


def test_a_wrong_fragment_is_seen(tmp_path):
    first, second = fragments("radio: {range_m: 20}\n\nradio:\n  rang_m: 20\n")
    read(first, tmp_path)
    with pytest.raises(covey.ScenarioError, match="rang_m"):
        read(second, tmp_path)
