"""What the shell offers at TAB, without a shell; and what is added for Bash, in it."""

import shutil
import subprocess

import pytest
from cyclopts.completion._engine import compute_completions

from covey.cli.app import app
from covey.cli.completing import completed, install
from covey.scenario.load import load_scenario, parse_scenario
from covey.scenario.overrides import parse_override


def offered(*words):
    return [one.value for one in compute_completions(app, list(words))]


@pytest.mark.parametrize("command", ["run", "check"])
def test_fields_and_values_follow_s(command):
    assert offered(command, "maze", "-s", "robots.scout.cou") == ["robots.scout.count="]
    assert offered(command, "maze", "--set", "execution.step_")[0] == "execution.step_s="
    assert offered(command, "nowhere", "-s", "rob") == []
    assert offered(command, "table4", "-s", "rob") == [], "a design has no -s"


def test_sources_are_offered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inner").mkdir()
    for name in ("mine.yaml", "inner/other.yaml", "notes.txt"):
        (tmp_path / name).touch()
    assert offered("run", "")[:2] == ["inner/", "mine.yaml"]
    assert {"maze", "table4"} < {*offered("run", "")}
    assert offered("run", "inner/")[0] == "inner/other.yaml"


@pytest.mark.parametrize(
    ("typed", "some"),
    [
        ("", {"world=", "world.", "robots.", "seed="}),
        ("robo", {"robots.scout.count=", "robots.scout.controller.", "robots.scout.controller="}),
        ("robots.scout.controller.", {"robots.scout.controller.min_cells="}),
        ("robots.scout.controller=min", {"robots.scout.controller=minpos", "robots.scout.controller=minotaur"}),
        ("robots.scout.controller.definition=m", {"robots.scout.controller.definition=maes"}),
        ("robots.scout.robot=p", {"robots.scout.robot=pioneer3dx"}),
        ("robots.scout.localization=n", {"robots.scout.localization=noise"}),
        ("robots.scout.known_map=", {"robots.scout.known_map=true", "robots.scout.known_map=false"}),
        ("robots.scout.count=", {"robots.scout.count=6"}),
        ("physics=", {"physics=terrain", "physics=null"}),
        ("stop.of=", {"stop.of=union", "stop.of=one_map"}),
        ("world.terrain=", {"world.terrain=maze"}),
    ],
)
def test_what_is_typed_goes_on(typed, some):
    found = completed(load_scenario("maze"), typed)
    assert some <= found.keys()
    assert all(one.startswith(typed) for one in found)


@pytest.mark.parametrize("typed", ["nose", "robots.guide.", "robots.scout.count.", "seed.x=", "robots.scout.nose="])
def test_nothing_follows_what_is_not_there(typed):
    assert completed(load_scenario("maze"), typed) == {}


def test_every_value_that_is_offered_is_taken():
    scenario = load_scenario("maze")
    for path in ("robots.scout.localization", "robots.scout.known_map", "stop.of", "physics"):
        found = completed(scenario, f"{path}=")
        assert len(found) > 1
        for one in found:
            scenario.replace(path, parse_override(one)[1])


def test_no_code_of_a_file_is_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("raise SystemExit('run')\ndef drive(robot, *, speed=1.0): ...\n")
    (tmp_path / "mine.yaml").write_text(
        'world: {empty_m: [8, 8]}\nrobots: [{name: a, controller: {name: "./mine.py:drive", speed: 2.0}}]\n'
    )
    assert offered("run", "mine.yaml", "-s", "robots.a.controller.") == ["robots.a.controller.speed="]
    assert offered("run", "mine.yaml", "-s", "robots.a.controller.speed=") == ["robots.a.controller.speed=2.0"]


def test_items_without_a_name_have_numbers():
    scenario = parse_scenario(
        "world: {empty_m: [8, 8]}\nrobots: [{controller: wander}]\nevents: [{at_s: 1, wall: {from: [0, 0], to: [1, 0]}}]\n"
    )
    assert completed(scenario, "events")
    assert all(one.startswith("events.0.") for one in completed(scenario, "events."))


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_goes_on_after_an_equals_sign(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    script = install(app, "bash")
    (tmp_path / "covey").write_text(
        '#!/bin/bash\nprintf \'%s\\n\' "$@" > "$HOME/asked"\n'
        "printf '\\n\\x1fbegin\\nrobots.a.controller=minpos\\nrobots.a.controller=market\\nrobots.a.count=\\n'\n"
    )
    (tmp_path / "covey").chmod(0o755)

    def tab(*words):
        typed = " ".join(f"'{word}'" for word in words)
        code = f"source '{script}'; COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _covey_changes; "
        run = ["bash", "--norc", "-c", code + 'printf "%s\\n" "${COMPREPLY[@]}"']
        done = subprocess.run(
            run, env={"PATH": f"{tmp_path}:/bin:/usr/bin", "HOME": str(tmp_path)}, capture_output=True
        )
        asked = (tmp_path / "asked").read_text().splitlines() if (tmp_path / "asked").exists() else []
        return done.stdout.decode().split(), asked

    assert tab("covey", "run", "maze", "-s", "robots.a.controller", "=", "m") == (
        ["minpos", "market"],
        ["__complete", "run", "maze", "-s", "robots.a.controller=m"],
    )
    found, asked = tab("covey", "run", "maze", "-s", "robots.a.controller", "=")
    assert found == ["minpos", "market"]
    assert asked[-1] == "robots.a.controller="
    assert tab("covey", "run", "maze", "-s", "robots.a.cou")[0] == ["robots.a.count="]
