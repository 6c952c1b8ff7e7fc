"""Inspector, plots, themes, keys, columns, and what a screen reader needs."""

from pathlib import Path

import pytest

import covey

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"


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
    for plot, name in (
        ("links", "links"),
        ("cpu", "processor by phase [s/s]"),
        ("robot distance_m", "distance [m], each robot"),
    ):
        choice.select_option(plot)
        shown.page.get_by_role("button", name="Add plot").click()
        assert shown.page.get_by_role("figure", name=name).is_visible()


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
    shown = page_of(maze())
    shown.page.keyboard.press("?")
    dialog = shown.page.get_by_role("dialog", name="Keys")
    assert "Measure a distance" in dialog.inner_text()
    dialog.get_by_role("button", name="Close").click()
    assert not dialog.is_visible()


@pytest.mark.parametrize("width", [400, 980, 1400])
def test_columns_fold_and_nothing_is_cut_off(page_of, width):
    shown = page_of(maze(), viewport={"width": width, "height": 800})
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


@pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core: cd web && npm ci")
@pytest.mark.parametrize(("width", "theme"), [(980, "light"), (980, "dark"), (400, "light")])
def test_a_screen_reader_finds_its_way(page_of, width, theme):
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": theme, "bypass_csp": True}
    shown = page_of(maze(), **options)
    if width == 400:
        shown.page.get_by_role("button", name="Robots", exact=True).click()
    shown.page.get_by_role("listbox", name="Robots").get_by_role("option", name="robot0").click()
    shown.page.get_by_role("button", name="List of events").click()
    shown.page.get_by_role("button", name="Filter events").click()
    shown.steps(10)
    shown.page.add_script_tag(path=AXE)
    found = shown.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    told = [(one["id"], [node["html"][:200] for node in one["nodes"]][:3]) for one in found["violations"]]
    assert not told, told
