"""What a new user installs and reads first is true."""

import re
import tomllib
from pathlib import Path

import covey
from covey.scenario.load import parse_scenario

ROOT = Path(__file__).parents[1]


def _pinned(name):
    lines = (ROOT / name).read_text(encoding="utf-8").split()
    return {line.partition("==")[0].lower().replace("_", "-"): line for line in lines}


def test_running_installs_every_dependency_and_no_development_tool():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    running = _pinned("requirements.lock")
    needed = {re.split("[<>=\\[]", d)[0].lower() for d in project["project"]["dependencies"]}
    tools = {re.split("[<>=\\[]", d)[0].lower() for d in project["dependency-groups"]["dev"]} - {"covey"}
    assert needed <= running.keys()
    assert not tools & running.keys()
    assert tools <= _pinned("requirements-dev.lock").keys()


def test_developing_changes_no_version_of_what_running_needs():
    assert _pinned("requirements.lock").items() <= _pinned("requirements-dev.lock").items()


def test_the_command_is_written_alike_on_all_pages():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md")]
    assert ". .venv/bin/activate" in readme
    assert readme.count(".venv/bin/covey") == 1  # where the page says what to write without activation
    assert not [page[:40] for page in pages if "bin/covey" in page]


def test_the_first_scenario_on_the_page_needs_no_other_file():
    page = (ROOT / "docs" / "first_scenario.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert len(parse_scenario(example).build().names) == 3


def test_the_bouncing_controller_on_the_page_touches_a_wall_and_gets_away():
    page = (ROOT / "docs" / "first_controller.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(class Bounce.*?)```", page, re.DOTALL)
    found = {}
    exec(code, found)
    sim = covey.Simulation(covey.World.empty(4, 4), controller=found["Bounce"], stop=covey.Stop(timeout_s=30))
    run = sim.run()
    assert run.status == "timeout"
    assert run.metrics["collisions_wall"] > 1, "it leaves a wall, or it would touch only once"
