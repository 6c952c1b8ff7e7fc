"""The Edit panel: what is done in the page happens in the simulation, and can be taken back and repeated."""

import re

import numpy as np
import pytest
from tests.viewer.browser.conftest import until

import covey
from covey.controllers import controllers
from covey.events.inputs import recorded_inputs
from covey.scenario.load import parse_scenario

ROOMS = """
world: {workspace_m: [[0, 0], [10, 0], [10, 6], [0, 6]], walls_m: [[[5, 0], [5, 6]]], resolution_m: 0.1}
doors: [{name: d, box_m: [4.8, 2, 5.2, 4]}]
robots: [{name: scout, robot: pioneer3dx, count: 2, start: {together: {around: [2, 3]}}, controller: CONTROLLER}]
radio: {range_m: 30}
stop: {timeout_s: 600}
seed: 4
"""
STANDING = ROOMS.replace("CONTROLLER", "wander").replace(
    "robot: pioneer3dx", "robot: {base: pioneer3dx, max_speed_m_s: 0.001}"
)
HILLS = """
world: {generate: hills, size_m: [20, 20], height_m: 2, seed: 3}
robots: [{robot: {base: disc, sensors: []}, count: 2, start: {together: {around: [-7, -7]}}, controller: wander}]
physics: planar
stop: {timeout_s: 600}
"""


@pytest.fixture
def orders(monkeypatch):
    """Let two controllers say that they take orders."""
    for name in ("minpos", "wander"):
        monkeypatch.setattr(controllers.get(name), "takes_orders", True, raising=False)


def opened(page_of, text=ROOMS.replace("CONTROLLER", "minpos"), recording=None, **options):
    return page_of(parse_scenario(text).build(recording), **options)


def tool(shown, name):
    shown.page.get_by_label("Tool", exact=True).select_option(label=name)


def give(shown, label, value):
    field = shown.page.locator(".edit-form").get_by_label(label, exact=True)
    if field.evaluate("e => e.tagName") == "SELECT":
        field.select_option(value)
    else:
        field.fill(str(value))


def press(shown, name):
    shown.page.get_by_role("button", name=name, exact=True).click()


def answer(shown):
    return shown.page.get_by_role("status", name="Answer")


def done(shown, kind, count=1):
    """Wait until something has happened in the simulation that often."""
    shown.until(f"covey.model.events.filter(event => event.kind === '{kind}').length >= {count}")


def told(shown, act):
    """Do something in the page, and wait for the answer of the server; return its words."""
    said = answer(shown)
    said.evaluate("element => { element.textContent = '' }")
    act()
    shown.until("document.querySelector('.edit-said').textContent !== ''")
    return said.text_content()


def do(shown, button, kind, count=1):
    """Press a button, take a step, and wait until it has happened in the simulation."""
    assert told(shown, lambda: press(shown, button)) == "It happens in the next step."
    shown.steps(1)
    done(shown, kind, count)


def draw(shown, a, b, kind, count=1, steps=5):
    """Drag from a place to another [m], take a step, and wait until it has happened in the simulation."""
    assert told(shown, lambda: drag(shown, a, b, steps)) == "It happens in the next step."
    shown.steps(1)
    done(shown, kind, count)


def drag(shown, a, b, steps=5):
    box = shown.page.locator("canvas").first.bounding_box()
    (x0, y0), (x1, y1) = (shown.page.evaluate(f"covey.view.pixel({x}, {y})") for x, y in (a, b))
    mouse = shown.page.mouse
    mouse.move(box["x"] + x0, box["y"] + y0)
    mouse.down()
    mouse.move(box["x"] + x1, box["y"] + y1, steps=steps)
    mouse.up()


def colour_at(shown, x, y):
    """The colour over a place of the scene: red, green, blue, opacity."""
    return shown.page.evaluate(
        """([x, y]) => {
            covey.view.draw();
            return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
                const { g, view } = covey.stage.pen;
                const ratio = view.renderer.getPixelRatio();
                const [u, v] = view.pixel(x, y).map((one) => Math.round(one * ratio));
                done([...g.getImageData(u, v, 1, 1).data]);
            })));
        }""",
        [x, y],
    )


def scene_at(shown, x, y):
    """The colour of a place of the scene: red, green, blue, opacity."""
    return shown.page.evaluate(
        """([x, y]) => {
            const gl = covey.view.renderer.getContext();
            const ratio = covey.view.renderer.getPixelRatio();
            const [u, v] = covey.view.pixel(x, y);
            const colour = new Uint8Array(4);
            gl.readPixels(Math.round(u * ratio), gl.drawingBufferHeight - Math.round(v * ratio), 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, colour);
            return [...colour];
        }""",
        [x, y],
    )


def cell(shown, x, y):
    grid = shown.sim.world.grid
    return int(grid.cells[tuple(grid.to_cells((x, y)))])


def test_a_door_by_its_switch_by_a_click_and_back(page_of):
    shown = opened(page_of, STANDING)
    switch = shown.page.get_by_role("switch", name="Door d")
    assert switch.get_attribute("aria-checked") == "true"
    assert told(shown, switch.click) == "It happens in the next step."
    shown.steps(1)
    done(shown, "door_closed")
    assert cell(shown, 5, 3) == 1
    assert switch.get_attribute("aria-checked") == "false"
    do(shown, "Undo", "door_opened")
    assert cell(shown, 5, 3) == 0
    press(shown, "Draw")
    draw(shown, (5, 3), (5, 3), "door_closed", 2)
    assert cell(shown, 5, 3) == 1


def test_walls_go_up_by_form_and_by_drawing_and_fall_with_undo(page_of):
    shown = opened(page_of, STANDING)
    tool(shown, "Wall")
    for label, value in (("From x [m]", 7), ("From y [m]", 1), ("To x [m]", 7), ("To y [m]", 2)):
        give(shown, label, value)
    do(shown, "Put up wall", "wall_added")
    assert cell(shown, 7, 1.5) == 1
    press(shown, "Draw")
    draw(shown, (8, 1), (8, 3), "wall_added", 2)
    assert cell(shown, 8, 2) == 1
    shown.page.keyboard.press("Escape")
    for count in (1, 2):
        do(shown, "Undo", "wall_removed", count)
    assert cell(shown, 8, 2) == cell(shown, 7, 1.5) == 0
    assert shown.page.get_by_role("button", name="Undo", exact=True).is_disabled()


def test_a_wall_is_seen_where_robots_have_looked_before(page_of):
    shown = opened(page_of, STANDING)
    shown.steps(3)
    assert shown.sim.scoring.exploration.cells.first_step[tuple(shown.sim.world.grid.to_cells((3, 5)))] >= 0
    until(lambda: sum(scene_at(shown, 3, 5)) > 900, "a light ground", page=shown.page)
    tool(shown, "Wall")
    for label, value in (("From x [m]", 2.6), ("From y [m]", 5), ("To x [m]", 3.4), ("To y [m]", 5)):
        give(shown, label, value)
    do(shown, "Put up wall", "wall_added")
    until(lambda: 255 < sum(scene_at(shown, 3, 5)) < 555, "a dark wall, not a scene that is not drawn", page=shown.page)


def test_an_obstacle_and_walls_torn_down_in_a_region(page_of):
    shown = opened(page_of, STANDING)
    tool(shown, "Moving obstacle")
    press(shown, "Draw")
    draw(shown, (8, 1), (8, 4), "obstacle_added")
    assert cell(shown, 8, 1) == 1
    tool(shown, "Tear down walls")
    draw(shown, (4.5, 4.5), (5.5, 5.5), "wall_removed")
    assert cell(shown, 5, 5) == 0
    do(shown, "Undo", "wall_added")
    assert cell(shown, 5, 5) == 1


def test_what_is_refused_is_said_in_words(page_of):
    shown = opened(page_of, STANDING)
    tool(shown, "Wall")
    for label, value in (("From x [m]", 70), ("From y [m]", 1), ("To x [m]", 71), ("To y [m]", 2)):
        give(shown, label, value)
    assert "lies outside the world" in told(shown, lambda: press(shown, "Put up wall"))
    tool(shown, "Place a robot")
    for label, value in (("x [m]", 5), ("y [m]", 1)):
        give(shown, label, value)
    told(shown, lambda: press(shown, "Place robot"))
    shown.steps(1)
    answer(shown).get_by_text("the nearest free place is").wait_for()
    assert shown.sim.state.pose[0, 0] < 4


def test_what_is_refused_is_neither_listed_as_done_nor_copied(page_of):
    shown = opened(page_of, STANDING)
    x, y = shown.sim.state.pose[0, :2].tolist()
    tool(shown, "Wall")
    for ends in ((x - 0.3, y, x + 0.3, y), (8, 1, 8, 3)):
        for label, value in zip(("From x [m]", "From y [m]", "To x [m]", "To y [m]"), ends, strict=True):
            give(shown, label, round(value, 3))
        assert told(shown, lambda: press(shown, "Put up wall")) == "It happens in the next step."
    tool(shown, "Place a robot")
    for label, value in (("x [m]", 5), ("y [m]", 1)):
        give(shown, label, value)
    told(shown, lambda: press(shown, "Place robot"))
    shown.steps(1)
    done(shown, "refused", 2)
    done(shown, "input", 3)
    listed = shown.page.get_by_role("list", name="Done so far").get_by_role("listitem")
    assert [line.split(" s ")[1] for line in listed.all_inner_texts()] == ["put up wall 2 · you"]
    shown.page.get_by_text("Copy as scenario").click()
    text = shown.page.get_by_label("Scenario text").input_value()
    assert text.count("at_step") == 1
    assert "name: wall 2" in text
    do(shown, "Undo", "wall_removed")
    assert cell(shown, 8, 2) == 0


def test_a_robot_is_dragged_before_the_start_and_put_back(page_of):
    shown = opened(page_of, STANDING)
    start = shown.sim.state.pose[0].copy()
    tool(shown, "Place a robot")
    press(shown, "Draw")
    draw(shown, tuple(start[:2]), (7, 2), "placed")
    x, y, heading = shown.sim.state.pose[0]
    assert abs(x - 7) + abs(y - 2) < 0.2
    assert abs(heading - start[2]) < 0.02
    do(shown, "Undo", "placed", 2)
    assert abs(shown.sim.state.pose[0] - start).max() < 0.01


def test_with_any_tool_a_drag_on_a_robot_moves_it_and_a_click_chooses_it(page_of):
    shown = opened(page_of, STANDING)
    column = "covey.shell.right"  # the longest tool says that nobody here takes orders
    assert shown.page.evaluate(f"{column}.scrollWidth <= {column}.clientWidth"), "nothing is cut"
    press(shown, "Draw")
    for count, (name, x) in enumerate((("Wall", 7.0), ("Fault, radio off", 8.0)), 1):
        tool(shown, name)
        draw(shown, tuple(shown.sim.state.pose[1, :2].tolist()), (x, 2.0), "placed", count)
        assert np.hypot(*(shown.sim.state.pose[1, :2] - (x, 2.0))) < 0.2
    at = tuple(shown.sim.state.pose[1, :2].tolist())
    drag(shown, at, at)
    assert shown.page.evaluate("[...covey.model.selected]") == [1]
    assert shown.page.locator(".edit-form").get_by_label("Robot", exact=True).input_value() == "scout1"
    tool(shown, "Wall")
    draw(shown, (8.0, 4.0), (9.0, 4.0), "wall_added")


def test_what_the_menu_removes_is_dashed_until_it_falls(page_of):
    shown = opened(page_of, STANDING)
    tool(shown, "Wall")
    for label, value in (("From x [m]", 7), ("From y [m]", 1), ("To x [m]", 7), ("To y [m]", 3)):
        give(shown, label, value)
    do(shown, "Put up wall", "wall_added")
    box = shown.page.locator("canvas").first.bounding_box()

    def menu(x, y, entry):
        u, v = shown.page.evaluate(f"covey.view.pixel({x}, {y})")
        shown.page.mouse.click(box["x"] + u, box["y"] + v, button="right")
        shown.page.get_by_role("menuitem", name=entry).click()

    until(lambda: colour_at(shown, 7, 1)[3] == 0, "nothing over the wall", page=shown.page)
    assert told(shown, lambda: menu(7, 2.5, "Remove wall 1")) == "It happens in the next step."
    until(lambda: colour_at(shown, 7, 1)[3] > 0, "a dashed wall", page=shown.page)
    assert told(shown, lambda: shown.page.keyboard.press("u")) == "Taken back before it happened."
    until(lambda: colour_at(shown, 7, 1)[3] == 0, "no dashes", page=shown.page)
    assert told(shown, lambda: press(shown, "Undo")) == "It happens in the next step."
    until(lambda: colour_at(shown, 7, 1)[3] > 0, "a dashed wall", page=shown.page)
    shown.steps(1)
    done(shown, "wall_removed")
    assert cell(shown, 7, 2) == 0
    assert told(shown, lambda: menu(5, 3, "Close door d")) == "It happens in the next step."


def test_faults_radio_off_jams_and_orders(page_of, orders):
    shown = opened(page_of, STANDING)
    tool(shown, "Fault, radio off")
    give(shown, "Robot", "scout1")
    give(shown, "For [s]", 1)
    do(shown, "Give fault", "fault")
    assert shown.sim.state.radio_alive.tolist() == [True, False]
    shown.steps(10)
    assert shown.sim.state.radio_alive.tolist() == [True, True]
    tool(shown, "Jam the radio")
    for label, value in (("x [m]", 2), ("y [m]", 3), ("Radius [m]", 4)):
        give(shown, label, value)
    plain = colour_at(shown, 5.7, 3)
    do(shown, "Jam area", "jam")
    assert shown.sim.inputs.jammed(shown.sim.state.pose).all()
    assert colour_at(shown, 5.7, 3) != plain, "the page shows where no radio works"
    do(shown, "Undo", "jam_over")
    assert not shown.sim.inputs.jammed(shown.sim.state.pose).any()
    tool(shown, "Order and formation")
    press(shown, "Draw")
    draw(shown, (8, 3), (8, 3), "order")
    entry = shown.sim.communication.blackboard.entries["order"]
    assert "hexagon" in str(entry)


def test_faults_and_orders_are_taken_back(page_of, orders):
    shown = opened(page_of, STANDING)
    listed = shown.page.get_by_role("list", name="Done so far")
    undo = shown.page.get_by_role("button", name="Undo", exact=True)
    tool(shown, "Fault, radio off")
    give(shown, "Robot", "scout1")
    do(shown, "Give fault", "fault")
    give(shown, "Fault", "sensor")
    do(shown, "Give fault", "fault", 2)
    assert not shown.sim.state.radio_alive[1]
    for kind, left in (("sensor", ["radio_dies"]), ("radio_dies", [])):
        do(shown, "Undo", "recovered", 2 - len(left))
        assert [one.fault.kind for one in shown.sim.inputs.faults.active] == left, kind
    assert shown.sim.state.radio_alive.all()
    assert undo.is_disabled()
    do(shown, "Give fault", "fault", 3)
    tool(shown, "Order and formation")
    for count, x in ((1, 8), (2, 7)):
        give(shown, "x [m]", x)
        give(shown, "y [m]", 3)
        do(shown, "Give order", "order", count)
    first = listed.get_by_role("listitem").filter(has_text="order to [8, 3]")
    assert first.inner_text().endswith("· cannot be taken back"), "there was none before"
    do(shown, "Undo", "order", 3)
    assert tuple(shown.sim.communication.blackboard.entries["order"]["objective_m"]) == (8.0, 3.0)
    do(shown, "Undo", "recovered", 3)  # the fault before the orders
    assert undo.is_disabled()
    assert undo.get_attribute("title") == "Nothing that you have done can be taken back"


def test_the_ground_changes_by_every_tool_and_is_saved(page_of, tmp_path):
    shown = opened(page_of, HILLS, tmp_path / "run")
    ground = shown.sim.world_state.ground
    before = ground.altitude.copy()
    for name, button in (("Crater", "Make crater"), ("Mound", "Make mound")):
        tool(shown, name)
        for label, value in (("x [m]", 0), ("y [m]", 0)):
            give(shown, label, value)
        do(shown, button, "ground_changed", 1 if name == "Crater" else 2)
        assert abs(abs(ground.altitude - before).max() - (0.5 if name == "Crater" else 0)) < 1e-6
    tool(shown, "Trench")
    press(shown, "Draw")
    draw(shown, (-5, 3), (5, 3), "ground_changed", 3)
    assert abs((ground.altitude - before).min() + 0.5) < 1e-6
    tool(shown, "Bank")
    draw(shown, (-5, 3), (5, 3), "ground_changed", 4)
    tool(shown, "Set altitude")
    give(shown, "Altitude [m]", 1.25)
    draw(shown, (4, -4), (6, -6), "ground_changed", 5)
    tool(shown, "Raise or lower")
    draw(shown, (-4, -4), (-3, -3), "ground_changed", 6)
    tool(shown, "Brush")
    draw(shown, (0, 6), (4, 6), "ground_changed", 8, steps=20)  # two dabs at least
    row, column = ((round((v + 10) / ground.spacing_m)) for v in (-5, 5))
    assert ground.altitude[row, column] == 1.25
    tool(shown, "Save as a file")
    do(shown, "Save ground", "ground_saved")
    assert (tmp_path / "run" / "grounds" / "ground.npz").is_file()


@pytest.fixture
def lapse(monkeypatch):
    """Return a function that sets after which time without a message a driven robot is let go: never, at first."""

    def after(seconds):
        monkeypatch.setattr("covey.viewer.live.LAPSE_S", seconds)

    after(1e6)
    return after


def test_a_robot_is_driven_by_keys_and_lapses(page_of, lapse):
    shown = opened(page_of, ROOMS.replace("CONTROLLER", "wander"), playing=True, factor=1.0)
    shown.page.get_by_label("Robot to drive").select_option("scout1")
    press(shown, "Drive")
    shown.page.locator("canvas").first.focus()
    shown.page.keyboard.down("w")
    done(shown, "driven")
    assert shown.sim.inputs.driven(shown.sim.commands)[1].tolist() == [0.5, 0.0, 0.0]
    shown.page.keyboard.down("ArrowLeft")
    done(shown, "driven", 2)
    assert shown.sim.inputs.driven(shown.sim.commands)[1].tolist() == [0.5, 0.0, 1.0]
    lapse(0.5)
    shown.page.keyboard.up("w")
    shown.page.keyboard.up("ArrowLeft")
    done(shown, "drive_over")
    twists = [deed["twist"] for deed in shown.page.evaluate(INPUTS) if deed.get("twist")]
    assert twists[-1] == [0, 0], "it stands, then goes on by itself"


INPUTS = "covey.model.events.filter(e => e.kind === 'input').map(e => e.data)"


GAMEPAD = "window.pads = []; navigator.getGamepads = () => window.pads"


def test_a_robot_is_driven_by_a_gamepad(page_of, lapse):
    shown = opened(page_of, ROOMS.replace("CONTROLLER", "wander"), playing=True, factor=1.0, script=GAMEPAD)
    press(shown, "Drive")
    shown.page.evaluate("pads = [null, { connected: true, axes: [-0.5, -1] }]")
    done(shown, "driven")
    assert shown.sim.inputs.driven(shown.sim.commands)[0].tolist() == [0.5, 0.0, 0.5]
    lapse(0.5)
    shown.page.evaluate("pads[1].axes = [0.05, 0.1]")  # the stick is let go: it rests near its middle
    done(shown, "drive_over")
    lapse(1e6)
    shown.page.evaluate("pads[1].axes = [0, 0.5]")
    done(shown, "driven", 3)
    lapse(0.5)
    shown.page.evaluate("pads = [null, null]")  # the gamepad is unplugged
    done(shown, "drive_over", 2)
    deeds = [deed for deed in shown.page.evaluate(INPUTS) if "drive" in deed]
    assert [(deed["drive"], deed.get("twist")) for deed in deeds] == [
        ("scout0", [0.5, 0.5]),
        ("scout0", [0, 0]),
        ("scout0", None),
        ("scout0", [-0.25, 0]),
        ("scout0", [0, 0]),
        ("scout0", None),
    ]


def test_a_driven_robot_is_let_go_at_once_when_its_page_leaves(page_of, lapse):
    shown = opened(page_of, ROOMS.replace("CONTROLLER", "wander"), playing=True, factor=1.0)
    press(shown, "Drive")
    shown.page.keyboard.down("w")
    done(shown, "driven")
    shown.page.close()
    until(lambda: (shown.sim.inputs.driven(shown.sim.commands) == shown.sim.commands).all(), "letting go")


def test_what_was_done_becomes_a_scenario_that_gives_the_same_run(page_of, tmp_path):
    shown = opened(page_of, recording=tmp_path / "first")
    shown.steps(5)
    told(shown, shown.page.get_by_role("switch", name="Door d").click)
    shown.steps(5)
    tool(shown, "Wall")
    for label, value in (("From x [m]", 7), ("From y [m]", 1), ("To x [m]", 7), ("To y [m]", 2)):
        give(shown, label, value)
    do(shown, "Put up wall", "wall_added")
    tool(shown, "Fault, radio off")
    do(shown, "Give fault", "fault")
    tool(shown, "Place a robot")
    for label, value in (("x [m]", 8), ("y [m]", 4), ("Heading [°]", 90)):
        give(shown, label, value)
    do(shown, "Place robot", "placed")
    do(shown, "Undo", "placed", 2)
    shown.steps(20)
    shown.page.get_by_text("Copy as scenario").click()
    text = shown.page.get_by_label("Scenario text").input_value()
    with shown.page.expect_download() as download:
        shown.page.get_by_role("link", name="Download").click()
    assert download.value.path().read_text() == text
    press(shown, "End run")
    until(lambda: "finished" in (tmp_path / "first" / "manifest.json").read_text(), "the end of the run")
    first = covey.Run(tmp_path / "first")
    steps = len(first.steps)
    assert len(recorded_inputs(first)) == 5
    assert re.search(r"at_step: 5, door: d, to: closed", text)
    again = parse_scenario(ROOMS.replace("CONTROLLER", "minpos") + text).build(tmp_path / "again")
    for _ in range(steps):
        again.step()
    again.close()
    for table in ("measurements.parquet", "team.parquet", "maps.npz"):
        assert (tmp_path / "first" / table).read_bytes() == (tmp_path / "again" / table).read_bytes(), table


def test_who_only_watches_has_no_edit_panel(page_of):
    shown = opened(page_of, STANDING, edits=False)
    assert shown.page.get_by_role("button", name="Put up wall").count() == 0
    assert shown.page.get_by_label("Tool", exact=True).count() == 0


def test_two_viewers_undo_their_own_and_what_waits_is_seen(page_of):
    shown = opened(page_of, STANDING)
    tool(shown, "Wall")
    other = shown.page.context.new_page()
    other.goto(shown.server.url)
    until(lambda: other.evaluate("!!(window.covey && covey.model.frame)"), page=other)
    for x in (6, 7, 8):
        for label, value in zip(("From x [m]", "From y [m]", "To x [m]", "To y [m]"), (x, 1, x, 3), strict=True):
            give(shown, label, value)
        assert told(shown, lambda: press(shown, "Put up wall")) == "It happens in the next step."
    listed = shown.page.get_by_role("list", name="Done so far").get_by_role("listitem")
    assert listed.all_inner_texts() == ["soon put up wall · you · in the next step"] * 3
    seen = other.get_by_role("list", name="Done so far").get_by_role("listitem")
    seen.nth(2).wait_for()
    assert seen.all_inner_texts() == ["soon put up wall · viewer 1 · in the next step"] * 3
    assert colour_at(shown, 6, 1.05)[3] > 0  # dashed
    shown.page.get_by_label("The world and its robots").focus()
    assert told(shown, lambda: shown.page.keyboard.press("u")) == "Taken back before it happened."
    assert listed.count() == 2
    shown.page.keyboard.press("Control+Shift+z")
    listed.nth(2).wait_for()
    shown.steps(1)
    done(shown, "wall_added", 3)
    other.get_by_label("The world and its robots").focus()
    assert other.get_by_role("button", name="Undo", exact=True).is_disabled()
    for _ in range(3):
        told(shown, lambda: shown.page.keyboard.press("Control+z"))
    shown.steps(1)
    done(shown, "wall_removed", 3)
    assert not any(cell(shown, x, 2) for x in (6, 7, 8))
    assert shown.page.locator(".edit-done .undone").count() == 3
    assert "Refused" not in answer(shown).inner_text()
    told(shown, lambda: shown.page.keyboard.press("Control+y"))
    shown.steps(1)
    done(shown, "wall_added", 4)
    assert [cell(shown, x, 2) for x in (6, 7, 8)] == [1, 0, 0]
    before = shown.page.evaluate("document.querySelector('.edit-form button').getBoundingClientRect().top")
    told(shown, lambda: press(shown, "Put up wall"))
    assert shown.page.evaluate("document.querySelector('.edit-form button').getBoundingClientRect().top") == before
    shown.page.reload()  # it is the same viewer as before
    shown.until("!!(window.covey && covey.model.frame)")
    shown.page.get_by_role("button", name="Undo", exact=True).wait_for()
    until(lambda: shown.page.get_by_role("button", name="Undo", exact=True).is_enabled(), page=shown.page)


def test_orders_are_offered_where_they_work_and_a_robot_is_sent_to_a_place(page_of):
    endless = ROOMS.replace("CONTROLLER", "still").replace("timeout_s: 600", "timeout_s: 100000000")
    shown = opened(page_of, endless, until_s=1e9)
    order = shown.page.get_by_label("Tool", exact=True).locator("option", has_text="Order and formation")
    assert order.is_disabled()
    assert order.text_content() == "Order and formation: no controller here takes orders"
    tool(shown, "Go to")
    release = shown.page.get_by_label("Tool", exact=True).locator("option", has_text="Release a robot")
    assert release.text_content() == "Release a robot: no robot is sent or driven"
    shown.page.evaluate("covey.model.select([1])")
    assert shown.page.locator(".edit-form").get_by_label("Robot", exact=True).input_value() == "scout1"
    for label, value in (("x [m]", 4), ("y [m]", 5)):
        give(shown, label, value)
    do(shown, "Send robot", "driven")
    assert release.text_content() == "Release a robot"
    shown.live.gate.speed(None)
    shown.live.gate.play()
    shown.until("covey.model.events.some((event) => event.text === 'is at (4, 5)')")
    press(shown, "Pause")
    shown.between_steps()
    assert abs(shown.sim.state.pose[1, :2] - (4, 5)).max() < 0.1
    tool(shown, "Release a robot")
    give(shown, "Robot", "scout1")
    do(shown, "Release robot", "drive_over")
