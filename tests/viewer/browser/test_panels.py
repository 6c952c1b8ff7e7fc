"""Inspector, plots, themes, keys, columns, and what a screen reader needs."""

import pytest
from tests.viewer.browser.conftest import barriers, needs_axe, until
from tests.viewer.browser.test_editing import HILLS, STANDING, scene_at, tool

import covey
from covey.lab.play import simulation_of
from covey.lab.settings import settings_of
from covey.scenario.load import parse_scenario


def maze(**options):
    world = covey.World.maze(size_m=(20, 14), seed=1)
    return covey.Simulation(world, robots=3, controller="nearest_frontier", share_maps=1.0, seed=3, **options)


def test_the_inspector_shows_what_the_simulation_has(page_of):
    shown = page_of(maze())
    shown.page.get_by_role("listbox", name="Robots").get_by_role("option", name="robot1").click()
    shown.steps(15)
    inspector = shown.page.get_by_role("region", name="Motion")
    x, y, _ = shown.sim.state.pose[1]
    shown.until(f"document.querySelector('.inspector').innerText.includes('{x:.2f} m, {y:.2f} m')")
    assert f"{shown.sim.state.distance_m[1]:.2f} m" in inspector.inner_text()
    software = shown.page.get_by_role("region", name="Software").inner_text()
    assert shown.sim.robot("robot1").status in software
    assert "ranges" in shown.page.get_by_role("region", name="Readings").inner_text()
    shown.page.get_by_role("checkbox", name="Show its map").check()
    shown.until("covey.model.layers.has('map:robot1')")


def test_a_plot_shows_what_was_measured(page_of):
    shown = page_of(maze())
    shown.steps(20)
    figure = shown.page.get_by_role("figure", name="explored share union")
    shown.until("Number(document.querySelector('figure[aria-label=\"explored share union\"]')?.dataset.value) > 0")
    shown.steps(5)
    share = shown.sim.scoring.values["explored_share_union"]
    shown.until(
        f"Math.abs(document.querySelector('figure[aria-label=\"explored share union\"]').dataset.value - {share}) < 1e-6"
    )
    shown.page.get_by_role("button", name="Remove explored share union").click()
    assert figure.count() == 0
    choice = shown.page.get_by_role("combobox", name="Plot to add")
    for plot, name in (("links", "links"), ("robot distance_m", "distance [m], each robot")):
        choice.select_option(plot)
        shown.page.get_by_role("button", name="Add plot").click()
        assert shown.page.get_by_role("figure", name=name).is_visible()


def test_the_plot_of_traffic_is_what_was_sent(page_of):
    """Two robots send 50 bytes, and what their radio adds, in each step of 0.1 s: more than 1 kB/s."""

    async def tell(robot):
        while True:
            robot.send(b"x" * 50)
            await robot.sleep(0.1)

    shown = page_of(covey.Simulation(covey.World.empty(8, 8), robots=2, controller=tell, radio=covey.Radio(range_m=20)))
    shown.steps(30)
    add_plot(shown, "traffic")
    before = sent(shown)
    shown.steps(10)
    kB_s = (sent(shown) - before) / 1000 / 1.0
    assert kB_s > 1.0
    figure = shown.page.get_by_role("figure", name="traffic [kB/s]")
    shown.until(f"Math.abs({VALUE.format('traffic [kB/s]')} - {kB_s}) < 1e-3 * {kB_s}")
    until(lambda: curve_pixels(figure, "#d55e00") > 20, "the curve", page=shown.page)


def test_the_plot_of_processor_time_has_the_phases_of_the_step(page_of):
    shown = page_of(maze())
    shown.steps(5)
    add_plot(shown, "cpu")
    for _ in range(3):
        shown.steps(5)
    figure = shown.page.get_by_role("figure", name="processor by phase [s/s]")
    phases = [name for name in shown.sim.stopwatch.seconds if name != "outside"]
    assert {"sense", "decide", "act"} <= set(phases)
    shown.until(f"document.querySelector('figure[aria-label^=processor] .plot-key').childElementCount >= {len(phases)}")
    assert sorted(figure.locator(".plot-key .key").all_inner_texts()) == sorted(phases)
    shown.steps(1)  # of steps 1, 6, 11 … there are samples
    shown.until("covey.model.measured.times.at(-1) > 2.05")
    kept = shown.page.evaluate("covey.model.measured.team.get('cpu_sense_s').at(-1)")
    shown.between_steps()
    assert kept == pytest.approx(shown.sim.stopwatch.seconds["sense"])
    slowest = phases.index(max(phases, key=shown.sim.stopwatch.seconds.get))
    colour = shown.page.evaluate(
        f"getComputedStyle([...document.querySelectorAll('figure[aria-label^=processor] .swatch')][{slowest}]).backgroundColor"
    )
    until(lambda: curve_pixels(figure, colour) > 20, "the curve", page=shown.page)


VALUE = "Number(document.querySelector('figure[aria-label=\"{}\"]').dataset.value)"


def add_plot(shown, name):
    shown.page.get_by_role("combobox", name="Plot to add").select_option(name)
    shown.page.get_by_role("button", name="Add plot").click()


def sent(shown):
    return shown.sim.communication.network.sent_bytes.sum()


def curve_pixels(figure, colour):
    """Return how many pixels of a plot have a colour, given as CSS."""
    return figure.locator("canvas").evaluate(
        """(canvas, colour) => {
            const one = new OffscreenCanvas(1, 1).getContext("2d");
            one.fillStyle = colour;
            one.fillRect(0, 0, 1, 1);
            const wanted = one.getImageData(0, 0, 1, 1).data;
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            let count = 0;
            for (let k = 0; k < data.length; k += 4)
                if (data[k + 3] > 150 && [0, 1, 2].every((c) => Math.abs(data[k + c] - wanted[c]) < 12)) count++;
            return count;
        }""",
        colour,
    )


def test_what_the_maps_say_is_told_under_the_pointer(page_of):
    shown = page_of(maze())
    shown.steps(15)
    x, y, _ = shown.sim.state.pose[0]
    u, v = shown.page.evaluate(f"covey.view.pixel({x}, {y})")
    shown.page.get_by_label("The world and its robots").hover(position={"x": u, "y": v})
    told = "document.querySelector('.cursor').innerText"
    shown.until(f"{told}.includes('free to ')")
    assert "first seen at" in shown.page.evaluate(told)


def test_light_and_dark(page_of):
    shown = page_of(maze(), color_scheme="light")
    background = "getComputedStyle(document.querySelector('header')).backgroundColor"
    assert shown.page.evaluate(background) == "rgb(255, 255, 255)"
    shown.page.get_by_role("button", name="Dark colours").click()
    red = int(shown.page.evaluate(background).split("(")[1].split(",")[0])
    assert red < 60
    shown.page.reload()
    shown.until("!!(window.covey && covey.model.frame)")
    assert shown.page.evaluate("covey.theme") == "dark"


def test_the_dialog_lists_the_keys(page_of):
    shown = page_of(maze(), viewport={"width": 400, "height": 600})
    shown.page.keyboard.press("?")
    dialog = shown.page.get_by_role("dialog", name="Keys")
    assert "Measure a distance" in dialog.inner_text()
    assert dialog.evaluate("one => [one.scrollTop, one.scrollHeight > one.clientHeight]") == [0, True]
    dialog.get_by_role("button", name="Close").click()
    assert not dialog.is_visible()


def test_columns_fold_and_nothing_is_cut_off(page_of):
    shown = page_of(maze())
    for width in (400, 980, 1400):
        shown.page.set_viewport_size({"width": width, "height": 800})
        shown.page.reload()
        shown.until("!!(window.covey && covey.model.frame)")
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
        robots = shown.page.get_by_role("complementary", name="Robots")
        button = shown.page.get_by_role("button", name="Robots", exact=True)
        assert robots.is_visible() == (width > 800)
        button.click()
        assert robots.is_visible() == (width <= 800)
        assert button.get_attribute("aria-expanded") == str(width <= 800).lower()
        for name in ("Play", "Step", "Fit all", "Keys", "Next event"):
            box = shown.page.get_by_role("button", name=name, exact=True).bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
        button.click()


def test_at_twice_the_size_nothing_lies_over_the_robots_and_the_scene_stays(page_of):
    shown = page_of(maze(), viewport={"width": 640, "height": 400})
    shown.page.get_by_role("button", name="Robots", exact=True).click()
    shown.page.evaluate("covey.model.select([0])")
    inspector = shown.page.locator("#left > .panel")
    inspector.wait_for()
    listed, top = (one.bounding_box() for one in (shown.page.get_by_role("listbox", name="Robots"), inspector))
    assert listed["y"] + listed["height"] <= top["y"]
    shown.page.get_by_role("button", name="List of events").click()
    assert shown.page.get_by_label("The world and its robots").bounding_box()["height"] >= 100


@needs_axe
@pytest.mark.parametrize(("width", "theme"), [(980, "light"), (400, "dark")])
def test_a_screen_reader_finds_its_way(page_of, width, theme):
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": theme, "bypass_csp": True}
    shown = page_of(maze(), **options)
    if width == 400:
        shown.page.get_by_role("button", name="Robots", exact=True).click()
    shown.page.get_by_role("listbox", name="Robots").get_by_role("option", name="robot0").click()
    shown.page.get_by_role("button", name="List of events").click()
    shown.page.get_by_role("button", name="Filter events").click()
    shown.steps(10)
    shown.page.get_by_role("slider", name="Time").fill("4")
    assert not barriers(shown.page)


@needs_axe
@pytest.mark.parametrize(("text", "width", "theme"), [(STANDING, 980, "light"), (HILLS, 400, "dark")])
def test_a_screen_reader_finds_its_way_in_the_edit_panel(page_of, text, width, theme):
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": theme, "bypass_csp": True}
    shown = page_of(parse_scenario(text).build(), **options)
    if width == 400:
        shown.page.get_by_role("button", name="Layers, editing and plots", exact=True).click()
    tools = shown.page.get_by_label("Tool", exact=True).locator("option:not([disabled])").all_inner_texts()
    assert "Wall" in tools
    assert ("Crater" in tools) == (text == HILLS)
    assert not barriers(shown.page)
    for name in tools:
        tool(shown, name)
        assert not barriers(shown.page, "document.querySelector('#right')"), name


def test_a_law_has_a_light_floor_a_plot_of_its_speed_and_of_its_links(page_of):
    settings = settings_of(
        {"robots": {"count": 3, "starts": [[2, 2, 0], [4, 2, 0], [8, 8, 0]]}, "radio": 3, "stop_s": 600}
    )
    shown = page_of(simulation_of(lambda team: (0.2, 0.0), settings)[0])
    shown.steps(12)
    shown.page.get_by_role("figure", name="speed [m/s], each robot").wait_for()
    assert shown.page.get_by_role("figure").count() == 1
    add_plot(shown, "links")
    shown.until(
        "Number(document.querySelector('figure[aria-label=\"links\"]').dataset.value) === 1"
    )  # 2 m and more than 7 m
    assert scene_at(shown, 1, 9)[:3] == [255, 255, 255]
