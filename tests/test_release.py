"""Recipes, containers and workflows of a release agree with the project, also where they cannot be run."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from release.container import instructions
from release.readme import absolute, address_of

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


@pytest.mark.parametrize(("tag", "code"), [(f"v{PROJECT['version']}", 0), ("v99.1", 1)])
def test_a_release_is_refused_unless_its_tag_is_the_version(tag, code):
    steps = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))["jobs"]["build"][
        "steps"
    ]
    (command,) = [step["run"] for step in steps if "GITHUB_REF_NAME" in step.get("run", "")]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"GITHUB_REF_NAME": tag, "PATH": path}
    assert subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment).returncode == code


def test_the_package_has_one_version():
    import covey

    assert covey.__version__ == PROJECT["version"]


def test_the_readme_of_a_package_leads_to_its_version_in_the_repository():
    there = "https://github.com/owner/name"
    text = absolute((ROOT / "README.md").read_text(encoding="utf-8"), there, "1.2.3")
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(links) > 40
    assert [link for link in links if not link.startswith("https://")] == [], "an index has no files beside it"
    for link in links:
        kind, _, rest = link.removeprefix(f"{there}/").partition("/v1.2.3/")
        assert not link.startswith(there) or (kind in ("raw", "blob") and (ROOT / rest.partition("#")[0]).exists())
    pictures = re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", text)
    assert pictures
    assert all(link.startswith(f"{there}/raw/v1.2.3/docs/images/") for link in pictures)
    assert absolute("[![a](x.png)](b.md) [c](#d)", "A", "1") == "[![a](A/raw/v1/x.png)](A/blob/v1/b.md) [c](#d)"


def test_the_address_of_the_repository_is_that_of_the_workflow_which_builds():
    assert (
        address_of({"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "a/b"}) == "https://github.com/a/b"
    )
    assert address_of({}) == ""
    assert "readme" in PROJECT["dynamic"], "or the hook would not be asked"
    with (ROOT / "pyproject.toml").open("rb") as file:
        tool = tomllib.load(file)["tool"]["hatch"]
    hook = tool["metadata"]["hooks"]["custom"]["path"]
    assert (ROOT / hook).is_file()
    assert hook in tool["build"]["targets"]["sdist"]["only-include"], "a wheel is built from the source package"
