"""Recipes, containers and workflows of a release agree with the project, also where they cannot be run."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from release.in_chroot import instructions

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
CONTAINERS = sorted((ROOT / "release").glob("*Dockerfile"))


def test_conda_needs_what_pip_needs():
    recipe = yaml.safe_load((ROOT / "release/conda/recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == PROJECT["version"]
    python, *packages = map(Requirement, recipe["requirements"]["run"])
    assert (python.name, python.specifier) == ("python", Requirement(f"p{PROJECT['requires-python']}").specifier)
    conda = {one.name.removesuffix("-base"): one.specifier for one in packages}
    assert conda == {one.name.lower(): one.specifier for one in map(Requirement, PROJECT["dependencies"])}


@pytest.mark.parametrize("file", CONTAINERS, ids=lambda file: file.name)
def test_a_container_copies_what_is_there_and_runs_as_a_user(file):
    steps = instructions(file.read_text(encoding="utf-8"))
    assert steps[0][0] == "FROM"
    for word, rest in steps:
        if word == "COPY":
            assert [one for one in rest.split()[:-1] if not (ROOT / one).exists()] == []
    kept = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    copied = {one for word, rest in steps if word == "COPY" for one in rest.split()[:-1]}
    assert "*" in kept
    assert copied <= {line[1:] for line in kept if line.startswith("!")}
    users = [rest for word, rest in steps if word == "USER"]
    assert users == ["covey"]
    extras = re.findall(r"/source\[([\w,]+)\]", file.read_text(encoding="utf-8"))
    assert all({*names.split(",")} <= {*PROJECT["optional-dependencies"]} for names in extras)


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_a_workflow_runs_what_is_there(file):
    text = file.read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [name for name in re.findall(r"make (\w+)", text) if f"\n{name}:" not in makefile] == []
    for job in jobs.values():
        needs = job.get("needs", [])
        assert {*([needs] if isinstance(needs, str) else needs)} <= {*jobs}
        assert "uses" in job or job["steps"]
        assert (ROOT / job["uses"]).is_file() if "uses" in job else True
    versions = re.findall(r'"(3\.\d+)"', text)
    assert versions
    supported = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if "Python :: 3." in one]
    assert {*versions} <= {*supported}


def test_the_package_has_one_version():
    import covey

    assert covey.__version__ == PROJECT["version"]
