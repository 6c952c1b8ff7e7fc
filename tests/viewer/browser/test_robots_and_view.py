"""Robots are found, sorted, selected and followed; the view moves; distances and areas are measured."""

import math

import pytest
from tests.viewer.browser.conftest import until

import covey


def empty(robots=4, **options):
    return covey.Simulation(covey.World.empty(20, 12), robots=robots, controller=drive, seed=1, **options)


def drive(robot):
    robot.drive(0.05 * int(robot.name[-1]), 0.0)


def option(shown, name):
    return shown.page.get_by_role("listbox", name="Robots").get_by_role("option", name=name)


def selected(shown):
    return shown.page.evaluate("[...covey.model.selected].sort()")


def test_robots_are_found_sorted_and_selected(page_of):
    shown = page_of(empty())
    shown.steps(30)
    option(shown, "robot1").click()
    option(shown, "robot3").click(modifiers=["Control"])
    assert selected(shown) == [1, 3]
    option(shown, "robot0").click()
    option(shown, "robot2").click(modifiers=["Shift"])
    assert selected(shown) == [0, 1, 2]
    shown.until("covey.model.measures.has('distance_m')")
    shown.page.get_by_role("combobox", name="Sort robots by").select_option("distance_m")
    names = shown.page.get_by_role("listbox", name="Robots").get_by_role("option").all_inner_texts()
    assert [name.split()[0] for name in names] == ["robot3", "robot2", "robot1", "robot0"]
    shown.page.keyboard.press("Escape")
    assert selected(shown) == []
    shown.page.keyboard.press("/")
    shown.page.keyboard.type("t2")
    assert shown.page.get_by_role("listbox", name="Robots").get_by_role("option").count() == 1
    shown.page.keyboard.press("Enter")
    assert selected(shown) == [2]


def test_a_click_on_the_scene_and_keys_in_the_list_select_robots(page_of):
    shown = page_of(empty())
    scene = shown.page.get_by_label("The world and its robots")
    x, y = pixel(shown, *shown.sim.state.pose[2, :2])
    scene.click(position={"x": x, "y": y})
    assert selected(shown) == [2]
    x, y = pixel(shown, *shown.sim.state.pose[0, :2])
    scene.click(position={"x": x, "y": y}, modifiers=["Control"])
    assert selected(shown) == [0, 2]
    x, y = pixel(shown, 4.0, 4.0)
    scene.click(position={"x": x, "y": y})
    assert selected(shown) == []
    shown.page.get_by_role("listbox", name="Robots").focus()
    shown.page.keyboard.press("ArrowDown")
    assert selected(shown) == [0]
    shown.page.keyboard.press("Shift+ArrowDown")
    assert selected(shown) == [0, 1]
    shown.page.keyboard.press("Control+a")
    assert selected(shown) == [0, 1, 2, 3]


def test_what_lies_under_the_pointer_is_told_and_distances_and_areas_are_measured(page_of):
    shown = page_of(empty())
    told = shown.page.get_by_role("status", name="Under the pointer")
    x, y = pixel(shown, 4.0, 3.0)
    shown.page.get_by_label("The world and its robots").hover(position={"x": x, "y": y})
    at = shown.page.evaluate(f"(({{x, y}}) => [x, y])(covey.view.ground({math.floor(x)}, {math.floor(y)}))")
    text = told.inner_text()
    assert text.startswith(f"x {at[0]:.2f} m, y {at[1]:.2f} m") or abs(at[0] - 4.0) < 0.1
    grid = shown.sim.world.grid
    row, column = (math.floor((v - o) / grid.resolution) for v, o in ((at[1], grid.origin[1]), (at[0], grid.origin[0])))
    assert f"row {row}, column {column}" in text
    assert "free" in text
    measured = shown.page.get_by_role("status", name="Measured")
    shown.page.get_by_role("button", name="Measure a distance").click()
    for point in ((-3.0, -2.0), (0.0, -2.0), (0.0, 2.0)):
        click(shown, *point)
    assert float(measured.inner_text().split()[0]) == pytest.approx(3.0 + 4.0, abs=0.1)
    assert selected(shown) == []
    shown.page.keyboard.press("Escape")
    shown.page.keyboard.press("a")
    for point in ((-3.0, -2.0), (0.0, -2.0), (0.0, 2.0)):
        click(shown, *point)
    assert measured.inner_text().endswith("m²")
    assert float(measured.inner_text().split()[0]) == pytest.approx(0.5 * 3 * 4, abs=0.15)


def test_the_view_fits_turns_and_follows(page_of):
    shown = page_of(empty())
    scene = shown.page.get_by_label("The world and its robots")
    width = shown.page.evaluate("covey.view.canvas.clientWidth")
    option(shown, "robot1").click()
    shown.page.get_by_role("button", name="Fit selection").click()
    assert pixel(shown, *shown.sim.state.pose[1, :2])[0] == pytest.approx(width / 2, abs=1)
    assert pixel(shown, 10.0, 0.0)[0] > width
    scene.focus()
    shown.page.keyboard.press("f")
    for corner in (-10.0, 10.0):
        assert 0 <= pixel(shown, corner, 0.0)[0] <= width
    button = shown.page.get_by_role("button", name="Perspective", exact=True)
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    far, near = (pixel(shown, 0.5, y)[0] - pixel(shown, -0.5, y)[0] for y in (5.0, -5.0))
    assert far < 0.9 * near  # what is further away is smaller
    scene.focus()
    turn = shown.page.evaluate("covey.view.turn")
    shown.page.keyboard.press("Shift+ArrowRight")
    assert shown.page.evaluate("covey.view.turn") != turn
    shown.page.keyboard.press("v")
    assert not shown.page.evaluate("covey.view.perspective")
    option(shown, "robot3").click()
    shown.page.get_by_role("button", name="Follow", exact=True).click()
    shown.steps(40)
    x, y, _ = shown.sim.state.pose[3]
    assert shown.page.evaluate("[covey.view.middle.x, covey.view.middle.y]") == pytest.approx([x, y], abs=1e-4)


def test_the_view_moves_by_keys_wheel_and_fingers(page_of):
    shown = page_of(empty(), has_touch=True)
    scene = shown.page.get_by_label("The world and its robots")
    scene.focus()
    before = pixel(shown, 0.0, 0.0)
    shown.page.keyboard.press("ArrowRight")
    assert pixel(shown, 0.0, 0.0)[0] == pytest.approx(before[0] - 60, abs=1)
    length = shown.page.evaluate("covey.view.pixel_m")
    shown.page.keyboard.press("+")
    assert shown.page.evaluate("covey.view.pixel_m") == pytest.approx(length / 1.25)
    box = scene.bounding_box()
    at = (box["x"] + 100, box["y"] + 150)
    shown.page.mouse.move(*at)
    ground = "(({x, y}) => [x, y])(covey.view.ground(100, 150))"
    under = shown.page.evaluate(ground)
    shown.page.mouse.wheel(0, -400)
    shown.until(f"covey.view.pixel_m < {length / 1.5}")
    assert shown.page.evaluate(ground) == pytest.approx(under, abs=1e-3)
    length = shown.page.evaluate("covey.view.pixel_m")
    session = shown.page.context.new_cdp_session(shown.page)
    touch(session, "touchStart", at, (at[0] + 50, at[1]))
    touch(session, "touchMove", at, (at[0] + 100, at[1]))
    touch(session, "touchEnd")
    shown.until(f"Math.abs(covey.view.pixel_m / {length} - 0.5) < 0.02")


def test_the_mouse_moves_the_flat_view_and_turns_the_perspective(page_of):
    shown = page_of(empty())
    before = pixel(shown, 0.0, 0.0)
    drag(shown, 80, -30)
    assert pixel(shown, 0.0, 0.0) == pytest.approx([before[0] + 80, before[1] - 30], abs=1)
    shown.page.get_by_role("button", name="Perspective", exact=True).click()

    def from_the_south():
        middle, side = pixel(shown, 0.0, 0.0), pixel(shown, 5.0, 0.0)
        return side[0] > middle[0] + 50 and side[1] == pytest.approx(middle[1], abs=5)

    until(from_the_south, "the perspective from the south", page=shown.page)
    drag(shown, round(math.pi / 2 / 0.008), 0, button="right")  # 0.008 rad for each pixel
    middle, side = pixel(shown, 0.0, 0.0), pixel(shown, 5.0, 0.0)
    assert side[0] == pytest.approx(middle[0], abs=8)
    assert abs(side[1] - middle[1]) > 20


def drag(shown, dx, dy, button="left"):
    box = shown.page.get_by_label("The world and its robots").bounding_box()
    x, y = box["x"] + 200, box["y"] + 300
    shown.page.mouse.move(x, y)
    shown.page.mouse.down(button=button)
    shown.page.mouse.move(x + dx, y + dy, steps=4)
    shown.page.mouse.up(button=button)


def test_the_perspective_fits_a_phone(page_of):
    shown = page_of(empty(), viewport={"width": 390, "height": 800})
    shown.page.get_by_role("button", name="Perspective", exact=True).click()
    width, height = shown.page.evaluate("[covey.view.canvas.clientWidth, covey.view.canvas.clientHeight]")
    corners = [pixel(shown, x, y) for x in (-10.0, 10.0) for y in (-6.0, 6.0)]
    assert all(0 <= u <= width and 0 <= v <= height for u, v in corners)
    assert max(u for u, _ in corners) - min(u for u, _ in corners) > 0.8 * width


def pixel(shown, x, y):
    return shown.page.evaluate(f"covey.view.pixel({x}, {y})")


def click(shown, x, y):
    u, v = pixel(shown, x, y)
    shown.page.get_by_label("The world and its robots").click(position={"x": u, "y": v})


def touch(session, kind, *points):
    where = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)]
    session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": where})
