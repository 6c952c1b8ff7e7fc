"""Robots are added by mouse before the first step; the run, and the scenario's text with them, repeat to the same bytes."""

from tests.viewer.browser.conftest import until
from tests.viewer.browser.test_editing import ROOMS, answer, do, done, drag, give, press, told, tool

import covey
from covey.experiments.repeating import Repeated, recorded_scenario
from covey.scenario.load import parse_scenario

TEXT = ROOMS.replace("CONTROLLER", "minpos")
FILES = ("measurements.parquet", "team.parquet", "maps.npz")


def robots(shown, count):
    """Wait until the page shows so many robots; return what it knows of them."""
    shown.until(f"covey.model.hello.robots.length === {count} && covey.model.frame !== null")
    assert len(shown.sim.names) == count
    return shown.page.evaluate("covey.model.hello.robots")


def test_robots_are_added_by_mouse_and_the_run_repeats(page_of, tmp_path):
    shown = page_of(parse_scenario(TEXT), folder=tmp_path / "first")
    before = shown.sim.state.pose.copy()
    assert told(shown, shown.page.get_by_role("switch", name="Door d").click) == "It happens in the next step."
    tool(shown, "Add a robot")
    press(shown, "Draw")
    drag(shown, (8, 2), (8, 4))  # it looks north
    assert [one["name"] for one in robots(shown, 3)] == ["scout0", "scout1", "scout2"]
    drag(shown, (7, 5), (7, 5))
    assert abs(robots(shown, 4)[3]["start"][0] - 7) < 0.02
    assert abs(shown.sim.state.pose[:2] - before).max() < 1e-12, "the others stay where they are"
    assert abs(shown.sim.state.pose[2] - (8, 2, 1.5708)).max() < 0.02
    shown.page.keyboard.press("u")
    robots(shown, 3)
    assert shown.page.get_by_role("list", name="Done so far").inner_text().startswith("0.0 s add scout2")
    shown.steps(1)
    done(shown, "door_closed")  # asked for before robots were added
    tool(shown, "Fault, radio off")
    give(shown, "Robot", "scout2")
    do(shown, "Give fault", "fault")
    shown.steps(20)
    shown.page.get_by_text("Copy as scenario").click()
    text = shown.page.get_by_label("Scenario text").input_value()
    press(shown, "End run")
    until(lambda: "finished" in (tmp_path / "first" / "manifest.json").read_text(), "the end of the run")
    first = covey.Run(tmp_path / "first")
    recorded_scenario(first).build(tmp_path / "again").run(before_step=Repeated(first))
    pasted = "\n".join(line for line in TEXT.splitlines() if not line.startswith("robots:")) + "\n" + text
    typed = parse_scenario(pasted).build(tmp_path / "typed")
    for _ in range(len(first.steps)):
        typed.step()
    typed.close()
    for other in ("again", "typed"):
        for table in FILES:
            assert (tmp_path / "first" / table).read_bytes() == (tmp_path / other / table).read_bytes(), (other, table)


def test_a_robot_is_refused_in_walls_on_robots_and_after_the_start(page_of, tmp_path):
    shown = page_of(parse_scenario(TEXT), folder=tmp_path / "run")
    x, y, _ = shown.sim.state.pose[1]
    tool(shown, "Add a robot")
    for place, why in (((5, 1), "inside a wall"), ((x, y), "scout1"), ((20, 1), "outside the world")):
        give(shown, "x [m]", place[0])
        give(shown, "y [m]", place[1])
        assert why in told(shown, lambda: press(shown, "Add robot"))
        assert "bad" in answer(shown).get_attribute("class")
    shown.steps(1)
    assert shown.page.get_by_role("button", name="Add robot", exact=True).is_disabled()
    tools = shown.page.get_by_label("Tool", exact=True).locator("option", has_text="Add a robot")
    assert tools.text_content() == "Add a robot: only before the first step"
    add = "covey.connection.ask({ type: 'add', group: 'scout', pose: [8, 1, 0] }).catch((error) => error.message)"
    assert "the run has begun" in shown.page.evaluate(add)
    assert len(shown.sim.names) == 2
