"""What people know from other editors: Esc, a work without a mouse, a menu at the pointer, a reload that forgets nothing."""

import pytest
from tests.viewer.browser.conftest import until
from tests.viewer.browser.test_editing import STANDING, done, opened, tool
from tests.viewer.browser.test_playback import maze

from covey.viewer import Server
from covey.viewer.gallery import Gallery


def pressed(shown, name):
    return shown.page.get_by_role("button", name=name, exact=True).get_attribute("aria-pressed") == "true"


def selected(shown):
    return shown.page.evaluate("[...covey.model.selected]")


def test_esc_closes_one_thing_at_a_time(page_of):
    shown = opened(page_of, STANDING)
    shown.page.evaluate("covey.model.select([0])")
    tool(shown, "Wall")
    shown.page.get_by_role("button", name="Draw", exact=True).click()
    shown.page.get_by_role("button", name="Measure a distance").click()
    shown.page.get_by_role("button", name="Save a picture or a film").click()
    shown.until("document.querySelector('#capture:popover-open') !== null")
    shown.page.keyboard.press("Escape")
    shown.until("document.querySelector('#capture:popover-open') === null")
    assert (pressed(shown, "Draw"), pressed(shown, "Measure a distance"), selected(shown)) == (True, True, [0])
    shown.page.keyboard.press("Escape")
    assert (pressed(shown, "Draw"), pressed(shown, "Measure a distance"), selected(shown)) == (False, True, [0])
    shown.page.keyboard.press("Escape")
    assert (pressed(shown, "Measure a distance"), selected(shown)) == (False, [0])
    shown.page.keyboard.press("Escape")
    assert selected(shown) == []


def test_esc_leaves_the_list_of_events_and_a_column_over_the_scene_before_the_selection(page_of):
    shown = opened(page_of, STANDING, viewport={"width": 400, "height": 800})
    shown.page.evaluate("covey.model.select([0])")
    keys = shown.page.keyboard
    for name, part in (("Filter events", "#event-filter"), ("List of events", "#event-list"), ("Robots", "#left")):
        button = shown.page.get_by_role("button", name=name, exact=True)
        button.click()
        assert shown.page.locator(part).is_visible()
        keys.press("Escape")
        assert shown.page.locator(part).is_hidden(), name
        assert button.evaluate("one => one === document.activeElement")
        assert selected(shown) == [0]
    keys.press("Escape")
    assert selected(shown) == []


def tab_to(shown, name, most=120):
    """Press Tab until what has a name has the focus."""
    label = "(one => one && (one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent).trim())"
    for _ in range(most):
        if shown.page.evaluate(f"{label}(document.activeElement)") == name:
            return
        shown.page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {name}")


def test_the_work_of_an_hour_needs_no_mouse(page_of):
    shown = opened(page_of, STANDING)
    keys = shown.page.keyboard
    tab_to(shown, "Step")
    keys.press("Enter")
    shown.until("covey.model.newestStep() === 1")
    keys.press("/")
    keys.type("scout1")
    keys.press("Enter")
    assert selected(shown) == [1]
    tab_to(shown, "Links")
    keys.press(" ")
    assert shown.page.evaluate("covey.stage.shown.has('links')")
    tab_to(shown, "Tool")
    keys.type("Wall")
    for field, value in (("From x [m]", 7), ("From y [m]", 1), ("To x [m]", 7), ("To y [m]", 3)):
        tab_to(shown, field)
        keys.press("Control+a")
        keys.type(str(value))
    keys.press("Enter")
    shown.page.get_by_text("It happens in the next step.").wait_for()
    tab_to(shown, "The world and its robots", 200)
    keys.press(".")
    done(shown, "wall_added")
    tab_to(shown, "Tool", 200)
    keys.press("Control+z")
    shown.page.get_by_text("It happens in the next step.").wait_for()
    tab_to(shown, "The world and its robots", 200)
    keys.press(".")
    done(shown, "wall_removed")
    tab_to(shown, "Time")
    keys.press("ArrowLeft")
    shown.until("covey.model.shown !== null")
    keys.press("End")
    shown.until("covey.model.shown === null")
    keys.press(" ")  # the time line has the focus
    shown.until("covey.model.frame.playing && covey.model.newestStep() > 5")
    keys.press(" ")
    shown.until("!covey.model.frame.playing")
    keys.press("l")
    events = shown.page.get_by_role("list", name="Events", exact=True)
    events.wait_for()
    keys.press("Escape")
    assert (events.is_visible(), selected(shown)) == (False, [1])
    keys.press("Escape")
    assert selected(shown) == []


SPOKEN = """(() => {
    window.spoken = {};
    const live = (one) => one.closest("[aria-live], output, [role=status], [role=alert], [role=log]");
    new MutationObserver((list) => {
        const regions = new Set(list.map(({ target }) => live(target.nodeType === 3 ? target.parentElement : target)));
        for (const one of regions)
            if (one && one.getAttribute("aria-live") !== "off") spoken[one.className] = (spoken[one.className] ?? 0) + 1;
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
})()"""


@pytest.mark.parametrize("looks_back", [False, True])
def test_what_changes_all_the_time_is_not_read_aloud(page_of, looks_back):
    shown = opened(page_of, STANDING, factor=1.0)
    shown.steps(3)
    shown.page.evaluate("covey.model.select([0])")
    if looks_back:
        shown.page.get_by_role("slider", name="Time").fill("1")
    shown.page.get_by_label("The world and its robots").hover(position={"x": 60, "y": 60})
    shown.page.evaluate(SPOKEN)
    shown.live.gate.play()
    first = shown.page.evaluate("covey.model.frame.frame")
    for k in range(10):
        shown.page.mouse.move(300 + 10 * k, 300)
    shown.until(f"covey.model.frame.frame > {first + 10}")
    assert max(shown.page.evaluate("Object.values(spoken)"), default=0) <= 2, shown.page.evaluate("spoken")


def test_places_of_the_scene_need_no_mouse(page_of):
    shown = opened(page_of, STANDING)
    keys = shown.page.keyboard
    x, y = shown.sim.state.pose[1, :2].tolist()
    shown.page.evaluate(f"covey.view.lookAt({x}, {y})")
    tab_to(shown, "The world and its robots", 200)
    keys.press("Enter")
    assert selected(shown) == [1]
    keys.press("m")
    keys.press("Enter")
    keys.press("ArrowRight")
    keys.press("Enter")
    told = float(shown.page.get_by_role("status", name="Measured").inner_text().removesuffix(" m"))
    assert told == pytest.approx(60 * shown.page.evaluate("covey.view.pixel_m"), abs=0.01)
    under = shown.page.get_by_role("status", name="Under the pointer")
    until(lambda: f"y {y:.2f} m" in under.inner_text(), "the place of the cross", page=shown.page)


def test_borders_of_controls_are_seen(page_of):
    shown = page_of(maze())
    for theme in ("light", "dark"):
        shown.page.evaluate(f"covey.setTheme('{theme}')")
        ratio = shown.page.evaluate(
            """() => {
                const light = (color) => {
                    const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map((one) => one / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
                    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
                };
                const style = getComputedStyle(document.querySelector('.playback select'));
                const [a, b] = [light(style.borderTopColor), light(style.backgroundColor)].sort();
                return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            }"""
        )
        assert ratio >= 3, theme  # WCAG 2.2, 1.4.11


def test_the_menu_at_the_pointer_sends_a_robot_and_a_double_click_follows(page_of):
    shown = opened(page_of, STANDING)
    box = shown.page.locator("canvas").first.bounding_box()

    def at(x, y):
        u, v = shown.page.evaluate(f"covey.view.pixel({x}, {y})")
        return box["x"] + u, box["y"] + v

    x, y = shown.sim.state.pose[0, :2].tolist()
    shown.page.mouse.dblclick(*at(x, y))
    shown.until("covey.model.selected.has(0)")
    assert pressed(shown, "Follow")
    shown.page.evaluate("covey.fit()")
    shown.page.get_by_role("button", name="Follow", exact=True).click()
    shown.page.evaluate("covey.fit()")
    shown.page.mouse.click(*at(8, 3), button="right")
    shown.page.get_by_role("menuitem", name="Send scout0 here").click()
    menu = shown.page.get_by_role("menu").get_by_role("menuitem")
    shown.page.mouse.click(*at(x, y), button="right")
    assert menu.all_inner_texts()[:2] == ["Select scout0", "Follow scout0"]
    assert "Release scout0" not in menu.all_inner_texts()
    shown.page.keyboard.press("Escape")
    shown.steps(1)
    done(shown, "driven")
    shown.page.mouse.click(*at(*shown.sim.state.pose[0, :2]), button="right")
    assert "Release scout0" in menu.all_inner_texts()
    shown.page.keyboard.press("Escape")
    shown.page.mouse.click(*at(8, 3), button="right")
    names = shown.page.get_by_role("menu").get_by_role("menuitem").all_inner_texts()
    assert names[:2] == ["Send scout0 here", "Place scout0 here"]
    assert names[-1].startswith("Copy 8.0")
    shown.page.keyboard.press("Escape")
    shown.until("document.querySelector('.context:popover-open') === null")
    assert selected(shown) == [0]
    u, v = at(8, 3)
    shown.page.locator("canvas").first.evaluate(  # as a long touch does
        "(one, [clientX, clientY]) => one.dispatchEvent(new PointerEvent('contextmenu', { clientX, clientY, button: 0, pointerType: 'touch' }))",
        [u, v],
    )
    menu.first.wait_for()
    assert menu.last.inner_text() == names[-1]
    opened_at = shown.page.get_by_role("menu").bounding_box()
    assert (opened_at["x"], opened_at["y"]) == pytest.approx((u, v), abs=2)


def test_a_reload_keeps_layers_selection_plots_and_camera(page_of):
    shown = page_of(maze())
    shown.steps(3)
    shown.page.get_by_label("Names", exact=True).check()
    shown.page.get_by_label("Trails", exact=True).uncheck()
    shown.page.get_by_role("combobox", name="Plot to add").select_option("links")
    shown.page.get_by_role("button", name="Add plot").click()
    shown.page.get_by_label("Length of the trails").select_option("60")
    figures = shown.page.get_by_role("figure")
    figures.nth(1).wait_for()
    titles = [one.get_attribute("aria-label") for one in figures.all()]
    shown.page.evaluate(
        "(covey.model.select([2]), covey.view.zoom(0.5), covey.view.pan(40, 10), covey.setTheme('dark'))"
    )
    state = "[covey.view.state.middle, covey.view.state.pixel_m]"
    before = shown.page.evaluate(state)
    shown.page.reload()
    until(lambda: shown.page.evaluate("!!(window.covey && covey.model.frame)"), page=shown.page)
    assert shown.page.evaluate(state) == before
    assert selected(shown) == [2]
    assert shown.page.get_by_label("Names", exact=True).is_checked()
    assert not shown.page.get_by_label("Trails", exact=True).is_checked()
    assert shown.page.get_by_label("Length of the trails").input_value() == "60"
    figures.nth(1).wait_for()
    assert [one.get_attribute("aria-label") for one in figures.all()] == titles == ["explored share union", "links"]


def test_the_theme_holds_on_other_ports(page_of, tmp_path):
    shown = opened(page_of, STANDING)
    theme = "document.documentElement.dataset.theme"
    before = shown.page.evaluate(theme)
    shown.page.get_by_role("button", name="Dark colours" if before == "light" else "Light colours").click()
    after = shown.page.evaluate(theme)
    assert after != before
    with Gallery(tmp_path) as gallery, Server(gallery) as other:
        page = shown.page.context.new_page()
        page.goto(other.url)
        until(lambda: page.evaluate("!!window.covey"), page=page)
        assert page.evaluate(theme) == after
        page.close()
