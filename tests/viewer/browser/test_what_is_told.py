"""What the page tells without being asked: that a run gets ready, how far it is, and why something has failed."""

import threading

import pytest
from tests.viewer.browser.conftest import _running, until
from tests.viewer.browser.test_editing import ROOMS, colour_at
from tests.viewer.browser.test_gallery import opened
from tests.viewer.browser.test_replay import opened as replayed

import covey
from covey.onboard.group import Group
from covey.scenario.load import parse_scenario
from covey.viewer import Live, Server
from covey.viewer.gallery import Gallery


def state(page):
    return page.get_by_role("status", name="State of the run")


def test_while_a_run_gets_ready_the_page_says_so_and_has_its_speed(browser, lingering):
    live, go, ended = Live(5.0, True), threading.Event(), threading.Event()

    def run():
        sim = covey.Simulation(covey.World.empty(6, 6), robots=1, controller="still", observers=[live.observe])
        go.wait(240)
        sim.run(until_s=1.0, before_step=live.before_step)
        ended.set()
        live.linger()

    with _running(live, run, ended, lingering) as server, opened(browser, server.url) as page:
        page.get_by_text("Getting ready …").wait_for()
        assert page.get_by_label("Speed", exact=True).input_value() == "5"
        assert page.get_by_role("button", name="Pause", exact=True).is_disabled()
        go.set()
        until(lambda: page.evaluate("covey.model.frame?.step"), "a step", page=page)
        assert page.get_by_text("Getting ready …").count() == 0


def test_the_header_says_how_far_the_mission_is_at_the_time_that_is_shown(browser, recorded):
    run = recorded[0]
    with replayed(browser, run) as page:
        for step in (10, 79):
            page.evaluate(f"covey.player.seek({step})")
            first = run.maps.first_explored[run.maps.explorable]
            share = ((first >= 0) & (first <= step)).mean()
            told = page.get_by_role("status", name="What the team has achieved").inner_text()
            assert told.startswith("explored ")
            assert float(told.split()[1]) == pytest.approx(100 * share, abs=0.06)
        assert state(page).count() == 0  # it is empty
        page.evaluate("covey.player.seek(null)")
        assert "ended" in state(page).inner_text()


def test_the_scale_of_a_heat_map_ends_with_the_run(browser, recorded):
    with replayed(browser, recorded[0]) as page:
        page.get_by_label("First seen", exact=True).check()
        until(lambda: page.locator(".layers .ends").all_inner_texts() == ["0 s\n8 s"], "the scale", page=page)


def test_a_failed_controller_has_a_reason(page_of):
    def fails(robot):
        robot.drive(0.1)
        if robot.name == "robot0" and robot.time > 0.25:
            raise ValueError("out of ideas")

    shown = page_of(covey.Simulation(covey.World.empty(6, 6), robots=2, controller=fails))
    shown.steps(5)
    assert shown.page.locator(".notice").inner_text().endswith("ValueError: out of ideas")
    shown.page.get_by_role("listbox", name="Robots").get_by_role("option", name="robot0").click()
    reason = shown.page.get_by_role("region", name="Failed")
    until(lambda: "ValueError: out of ideas" in reason.inner_text(), "the reason", page=shown.page)
    shown.page.evaluate("covey.player.seek(1)")
    until(lambda: reason.count() == 0, "the time before", page=shown.page)


def test_a_file_that_cannot_be_read_says_why_on_its_card(browser, tmp_path):
    text = "world: {terrain: nowhere}\nrobots: [{count: 1}]\nstop: {timeout_s: 20}\n"
    (tmp_path / "bad.yaml").write_text(text)
    with Gallery(tmp_path) as gallery, Server(gallery) as server, opened(browser, server.url) as page:
        said = page.get_by_role("listitem").filter(has_text="bad.yaml").get_by_role("status")
        until(said.inner_text, "the problem", page=page)
        assert "world.terrain: must be 'loop'" in said.inner_text()
        assert "given: 'nowhere'" in said.inner_text()


def test_doors_with_long_names_say_whether_they_are_open(page_of):
    text = ROOMS.replace("CONTROLLER", "still").replace("name: d,", "name: south_west_gate,")
    shown = page_of(parse_scenario(text).build())
    button = shown.page.get_by_role("switch", name="Door south_west_gate")
    assert button.inner_text().split() == ["south_west_gate", "open"]
    assert button.evaluate("one => [...one.children].every((part) => part.scrollWidth <= part.clientWidth)")
    right = button.evaluate("one => one.getBoundingClientRect().right - one.lastChild.getBoundingClientRect().right")
    assert right > 0


def test_a_robot_that_has_died_has_no_path(page_of):
    async def goes(robot):
        await robot.goto((4.0, 0.0))

    groups = [Group("s", covey.robots.disc(), [(-4.0, 0.0, 0.0)])]
    shown = page_of(covey.Simulation(covey.World.empty(12, 6), groups, goes))
    shown.steps(5)
    shown.until("covey.model.arrays.get('path')?.data.length > 0")
    assert colour_at(shown, 4.0, 0.0)[3] > 100
    shown.sim.do({"kind": "dies", "robot": "s0"})
    shown.steps(1)
    until(lambda: colour_at(shown, 4.0, 0.0)[3] == 0, "no goal", page=shown.page)


def test_of_a_wall_it_is_not_said_that_nobody_has_seen_it(page_of):
    shown = page_of(parse_scenario(ROOMS.replace("CONTROLLER", "still")).build())
    shown.steps(2)
    x, y = shown.page.evaluate("covey.view.pixel(5, 1)")
    box = shown.page.locator("canvas").first.bounding_box()
    shown.page.mouse.move(box["x"] + x, box["y"] + y)
    said = shown.page.get_by_role("status", name="Under the pointer")
    until(lambda: ", wall" in said.inner_text() or "wall" in said.inner_text(), "the wall", page=shown.page)
    assert "not seen yet" not in said.inner_text()


def test_robots_side_by_side_all_have_their_numbers(page_of):
    starts = [(0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.6, 0.0, 0.0)]
    shown = page_of(covey.Simulation(covey.World.empty(30, 30), [Group("s", covey.robots.disc(), starts)], "still"))
    shown.page.evaluate(
        """new Promise((done) => {
            window.said = [];
            const { g } = covey.stage.pen, say = g.fillText.bind(g);
            g.fillText = (text, ...rest) => { window.said.push(text); say(text, ...rest); };
            covey.view.draw();
            requestAnimationFrame(() => requestAnimationFrame(done));
        })"""
    )
    assert {"0", "1", "2"} <= set(shown.page.evaluate("window.said"))
