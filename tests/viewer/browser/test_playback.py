"""The page's playback and time line steer the simulation, and show its past."""

import covey


def maze(**options):
    world = covey.World.maze(size_m=(20, 14), seed=1)
    return covey.Simulation(world, robots=3, controller="nearest_frontier", share_maps=1.0, seed=3, **options)


def endless():
    """A run that lasts until somebody ends it, however fast it is and however slow the page."""
    world = covey.World.maze(size_m=(20, 14), seed=1)
    return covey.Simulation(world, robots=3, controller=stand, seed=3, stop=covey.Stop(timeout_s=1e9))


def stand(robot):
    robot.drive(0.0)


def button(shown, name):
    return shown.page.get_by_role("button", name=name, exact=True)


def test_play_and_pause(page_of):
    shown = page_of(endless(), until_s=1e9)
    assert shown.sim.clock.step == 0
    button(shown, "Play").click()
    shown.until("covey.model.newestStep() > 5")
    button(shown, "Pause").click()
    shown.until("!covey.model.frame.playing")
    shown.between_steps()
    step = shown.sim.clock.step
    for _ in range(10):
        shown.between_steps()
    assert shown.sim.clock.step == step


def test_steps_and_the_keys_of_playback(page_of):
    shown = page_of(maze())
    button(shown, "Step").click()
    shown.until("covey.model.newestStep() == 1")
    shown.page.get_by_role("spinbutton", name="Steps at once").fill("12")
    button(shown, "Step").click()
    shown.until("covey.model.newestStep() == 13")
    assert shown.sim.clock.step == 13
    shown.page.get_by_label("The world and its robots").focus()
    shown.page.keyboard.press(".")
    shown.until("covey.model.newestStep() == 25")
    shown.page.keyboard.press(" ")
    shown.until("covey.model.frame.playing && covey.model.newestStep() > 26")


def test_back_shows_the_poses_that_the_simulation_had(page_of):
    sim, poses = maze(), []
    sim.observers.append(lambda snapshot: poses.append(snapshot.pose.copy()))
    shown = page_of(sim)
    shown.steps(20)
    button(shown, "Step back").click()
    button(shown, "Step back").click()
    assert shown.page.evaluate("covey.model.step()") == 18
    pose = shown.page.evaluate("[...covey.model.poses()]")
    assert max(abs(a - b) for a, b in zip(pose, poses[17].ravel(), strict=True)) < 1e-5
    button(shown, "Step on in the past").click()
    assert shown.page.evaluate("covey.model.step()") == 19
    assert shown.sim.clock.step == 20
    button(shown, "Now").click()
    assert shown.page.evaluate("covey.model.shown") is None


def test_the_speed_is_that_of_the_gate(page_of):
    shown = page_of(maze())
    speed = shown.page.get_by_role("combobox", name="Speed")
    factors = speed.locator("option").evaluate_all("all => all.map((one) => one.value)")
    assert (float(factors[0]), float(factors[-2]), factors[-1]) == (0.1, 1000.0, "max")
    speed.select_option("0.5")
    shown.until("covey.model.frame.factor === 0.5")
    assert shown.live.gate.state["factor"] == 0.5
    speed.focus()
    speed.dispatch_event("pointerdown")  # as the mouse does, before it chooses
    speed.select_option("0.25")
    shown.until("covey.model.frame.factor === 0.25")
    for factor in ("0.5", "1"):
        shown.page.keyboard.press("]")
        shown.until(f"covey.model.frame.factor === {factor}")
    speed.select_option("max")
    shown.until("covey.model.frame.factor === null")
    assert shown.live.gate.state["factor"] is None


def test_ten_clicks_are_ten_steps(page_of):
    shown = page_of(endless(), until_s=1e9)
    for _ in range(10):
        button(shown, "Step").click()
    shown.page.get_by_label("The world and its robots").focus()
    for _ in range(5):
        shown.page.keyboard.press(".")
    shown.until("covey.model.newestStep() === 15 && covey.model.frame.steps === 0")
    assert shown.sim.clock.step == 15
    shown.page.get_by_role("spinbutton", name="Steps at once").fill("500000")
    button(shown, "Step").click()
    button(shown, "Pause").wait_for()
    assert "to go" in shown.page.get_by_role("status", name="Steps to go").inner_text()
    shown.until("covey.model.frame.steps < 500000 && covey.model.newestStep() > 16")
    button(shown, "Pause").click()
    shown.until("!covey.model.frame.steps")
    shown.between_steps()
    assert shown.live.gate.stands


def test_while_looking_back_play_step_and_speed_are_those_of_the_past(page_of):
    shown = page_of(maze(), factor=0.5)
    shown.steps(30)
    shown.page.get_by_role("slider", name="Time").fill("20")
    whose = shown.page.locator(".whose")
    assert whose.inner_text() == "the past; the run waits at 3.0 s"
    shown.page.get_by_role("combobox", name="Speed of the past").select_option("50")
    button(shown, "Step on in the past").click()
    assert shown.page.evaluate("covey.model.step()") == 21
    shown.page.get_by_role("combobox", name="Speed of the past").select_option("10")
    button(shown, "Play the past").click()
    shown.until("covey.model.shown === null")  # it has been played up to the present
    shown.between_steps()
    assert shown.sim.clock.step == 30
    assert shown.live.gate.state == {"playing": False, "factor": 0.5, "steps": 0}
    assert shown.page.get_by_role("combobox", name="Speed", exact=True).input_value() == "0.5"
    shown.page.get_by_role("slider", name="Time").fill("20")
    button(shown, "Now").click()
    assert whose.is_hidden()
    shown.page.get_by_role("combobox", name="Speed", exact=True).select_option("2")
    shown.until("covey.model.frame.factor === 2")


def test_the_end_keeps_the_run_and_its_past_can_be_played(page_of):
    shown = page_of(maze())
    shown.steps(30)
    button(shown, "End run").click()
    shown.until("covey.model.frame.status === 'stopped'")
    assert shown.page.get_by_role("status", name="State of the run").inner_text() == "ended"
    assert button(shown, "End run").is_disabled()
    button(shown, "Play").click()
    shown.until("covey.model.shown !== null && covey.model.step() < 30")
    shown.until("covey.model.shown === null")
    assert shown.sim.clock.step == 30


def test_who_only_watches_looks_at_the_past_and_cannot_steer(page_of):
    shown = page_of(maze(), edits=False)
    shown.steps(5)
    assert button(shown, "Step").is_disabled()
    assert button(shown, "End run").is_disabled()
    assert shown.page.get_by_role("status", name="State of the run").inner_text() == "only watching"
    button(shown, "Step back").click()
    assert shown.page.evaluate("covey.model.step()") == 4


def test_the_time_line_seeks(page_of):
    shown = page_of(maze())
    shown.steps(40)
    slider = shown.page.get_by_role("slider", name="Time")
    slider.fill("17")
    assert shown.page.evaluate("covey.model.step()") == 17
    assert shown.page.get_by_role("status", name="Simulated time").inner_text() == "1.7 s of 4.0 s"
    slider.focus()
    shown.page.keyboard.press("ArrowLeft")
    assert shown.page.evaluate("covey.model.step()") == 16
    shown.page.keyboard.press("End")
    assert shown.page.evaluate("covey.model.shown") is None


def test_events_are_found_filtered_and_listed(page_of):
    faults = [
        {"kind": "radio_dies", "robot": "robot1", "at_s": 1.0},
        {"kind": "radio_dies", "robot": "robot2", "at_s": 2.0},
    ]
    shown = page_of(maze(faults=faults))
    shown.steps(40)
    events = shown.page.evaluate("covey.model.events.map((one) => [one.step, one.kind, one.robot])")
    assert ["fault", "robot1"] in [event[1:] for event in events]
    steps = [step for step, kind, _ in events if kind == "fault"]
    button(shown, "Filter events").click()
    for kind in {kind for _, kind, _ in events} - {"fault"}:
        shown.page.get_by_role("checkbox", name=kind.replace("_", " "), exact=True).uncheck()
    button(shown, "Previous event").click()
    assert shown.page.evaluate("covey.model.step()") == steps[-1]
    button(shown, "Previous event").click()
    assert shown.page.evaluate("covey.model.step()") == steps[0]
    button(shown, "Next event").click()
    assert shown.page.evaluate("covey.model.step()") == steps[1]
    assert "robot2" in shown.page.get_by_role("status", name="Event", exact=True).inner_text()
    shown.page.get_by_role("combobox", name="Events of").select_option("robot1")
    button(shown, "List of events").click()
    listed = shown.page.get_by_role("list", name="Events", exact=True).get_by_role("button")
    assert listed.count() == 1
    listed.click()
    assert shown.page.evaluate("covey.model.step()") == steps[0]
