"""Motions that nobody awaits: what a controller that forgot `await` is told."""

import asyncio
import math

import numpy as np
import pytest

import covey
from covey.onboard.controller import Program


def run(controller, until_s=4.0):
    return covey.Simulation(covey.World.empty(8, 8), 1, controller, seed=1).run(until_s=until_s)


def test_a_controller_that_ends_before_its_motion_began_has_not_reached_anything(caplog):
    async def go(robot):
        robot.goto((2.0, 0.0))
        robot.goto((1.0, 0.0))

    run_of_it = run(go)
    assert run_of_it.status == "failed"
    first = go.__code__.co_firstlineno + 1
    said = f"nobody awaits this motion, so line {first + 1} replaced it before it began; write await robot.goto(…)"
    assert f"robot0 at 0 s: {__file__}:{first}: {said}" in caplog.text
    assert "it returned before its last motion began; await that motion" in caplog.text


def test_a_motion_that_is_begun_and_forgotten_is_told_once_when_the_next_replaces_it(caplog):
    async def go(robot):
        for x in (3.0, -3.0, 3.0):
            robot.goto((x, 0.0))
            await robot.sleep(0.5)
        robot.stop()

    assert covey.Simulation(covey.World.empty(8, 8), 2, go, seed=1).run(until_s=4.0).status == "reached"
    line = go.__code__.co_firstlineno + 2
    said = f"nobody awaits this motion, so line {line} replaced it; write await robot.goto(…)"
    assert [record.getMessage() for record in caplog.records] == [f"robot0 at 0.5 s: {__file__}:{line}: {said}"]


def test_a_forgotten_motion_is_told_of_when_the_controller_ends(caplog):
    async def go(robot):
        robot.forward(3.0)
        await robot.sleep(0.5)

    assert run(go).status == "reached"
    line = go.__code__.co_firstlineno + 1
    said = "nobody awaits this motion, so the controller ended first; write await robot.forward(…)"
    assert [record.getMessage() for record in caplog.records] == [f"robot0 at 0.5 s: {__file__}:{line}: {said}"]


def test_one_line_may_be_told_of_for_two_reasons(caplog):
    async def go(robot):
        robot.turn(90)
        await robot.sleep(0.2)
        robot.turn(1.0)
        await robot.sleep(0.2)
        robot.stop()

    run(go)
    line = f"{__file__}:{go.__code__.co_firstlineno + 1}: "
    first, second = (record.getMessage().partition(line)[2] for record in caplog.records)
    assert first.startswith("turn(90): an angle is in radians")
    assert second.startswith(f"nobody awaits this motion, so line {go.__code__.co_firstlineno + 3} replaced it")


def test_a_wait_for_a_message_that_nobody_awaits_is_told_of(caplog):
    async def go(robot):
        robot.receive("news", timeout_s=1.0)
        await robot.sleep(0.2)

    run(go)
    line = go.__code__.co_firstlineno + 1
    said = "nobody awaits this wait for a message, so it does nothing; write message = await robot.receive(…)"
    assert caplog.text.count(f"{__file__}:{line}: {said}") == 1


def test_a_reactive_strategy_that_a_sequential_one_runs_may_change_its_motion_at_any_time(caplog):
    def swings(robot):
        robot.goto((3.0 if int(robot.time) % 2 else -3.0, 0.0))

    strategy = {"name": "with_lookout", "strategy": swings}
    run(Program.of(strategy), until_s=2.5)
    assert caplog.text == ""


def test_of_two_motions_that_a_step_begins_only_the_last_counts(caplog):
    def both(robot):
        robot.forward(1.0)
        robot.goto((1.0, 0.0))

    run(both, until_s=0.5)
    line = both.__code__.co_firstlineno + 2
    assert caplog.text.count("this motion replaces one that has not begun; of one step, only the last counts") == 1
    assert f"{__file__}:{line}: this motion replaces" in caplog.text


def test_a_motion_whose_place_was_taken_is_cancelled_and_says_why():
    seen = []

    async def go(robot):
        first = robot.goto((2.0, 0.0))
        robot.goto((1.0, 0.0))
        seen.append(await first)
        begun = robot.goto((-2.0, 0.0))
        await robot.sleep(0.3)
        robot.stop()
        seen.append(await begun)

    run(go)
    assert [(outcome.state, outcome.reason) for outcome in seen] == [
        ("cancelled", "another motion replaced it before it began"),
        ("cancelled", "another motion replaced it"),
    ]


def test_an_outcome_says_why():
    seen = []

    async def go(robot):
        seen.append(await robot.goto((30.0, 0.0)))
        seen.append(await robot.goto((1.0, 0.0), until=lambda r: r.time > 0.5))
        seen.append(await robot.forward(50.0))

    waffle = covey.robots.turtlebot3_waffle()
    team = [covey.Group("a", waffle, [(0.0, 0.0, 0.0)], go)]
    covey.Simulation(covey.World.empty(4, 4), team, seed=1).run(until_s=60.0)
    assert [(outcome.state, outcome.reason) for outcome in seen] == [
        ("unreachable", "the goal is outside the map, in a wall, or too close to one"),
        ("cancelled", "its `until` became true"),
        ("stuck", "it made no progress: something is in the way"),
    ]


def test_what_is_right_is_not_warned_of(caplog):
    async def go(robot):
        robot.drive(0.2)
        robot.stop()
        await robot.goto((0.3, 0.0))
        robot.goto((1.0, 0.0))
        await robot.sleep(0.3)
        robot.stop()

    class Bumps:
        def step(self, robot):
            robot.drive(0.3)
            robot.goto((1.0, 0.0))

    assert run(go).status == "reached"
    run(Bumps, until_s=0.5)
    assert caplog.text == ""


def test_a_controller_that_returns_a_coroutine_instead_of_awaiting_it_is_stopped_and_told_so(caplog):
    async def go(robot):
        await robot.forward(1.0)

    def forgets(robot):
        return go(robot)

    assert run(forgets).status == "failed"
    assert "go(…), that nobody awaits; make it async def and await" in caplog.text


def test_a_controller_that_forgets_its_last_await_is_told_which_function_it_is(caplog):
    async def go(robot):
        robot.goto((1.0, 0.0))

    run(go)
    assert f"{__file__}:{go.__code__.co_firstlineno + 1} in go: ControllerError: it returned before" in caplog.text


def test_a_motion_that_is_asked_whether_it_is_true_is_refused_at_its_line(caplog):
    async def go(robot):
        await robot.sleep(0.1)
        if robot.goto((1.0, 0.0)):
            robot.note("there")

    assert run(go).status == "failed"
    assert (
        f"{__file__}:{go.__code__.co_firstlineno + 2} in go: ControllerError: a motion is neither true" in caplog.text
    )


def test_a_turn_rate_that_looks_like_degrees_per_second_is_warned_of_once(caplog):
    async def degrees(robot):
        for _ in range(3):
            robot.drive(0.2, -45)
            await robot.sleep(0.2)

    async def radians(robot):
        robot.drive(0.2, 4 * math.pi)  # a gain times an error of pi saturates
        await robot.sleep(0.2)
        robot.drive(0.2, 5)
        await robot.sleep(0.2)

    run(radians)
    assert caplog.text == ""
    run(degrees)
    said = (
        f"{__file__}:{degrees.__code__.co_firstlineno + 2}: drive(0.2, -45): a turn rate is in rad/s, and this robot's"
    )
    assert caplog.text.count(said) == 1
    assert "is at most 3; if this is in degrees, write math.radians(-45)" in caplog.text


def test_a_sleep_that_nobody_awaits_is_warned_of_with_its_line(caplog):
    async def go(robot):
        for _ in range(3):
            robot.sleep(2.0)
        await robot.sleep(0.5)
        later = robot.sleep(0.5)
        await later

    assert run(go).times[-1] == pytest.approx(1.0, abs=0.25)
    line = go.__code__.co_firstlineno + 2
    assert caplog.text.count("nobody awaits this sleep") == 1
    assert f"{__file__}:{line}: nobody awaits this sleep" in caplog.text


def test_an_angle_that_looks_like_degrees_is_warned_of(caplog):
    async def degrees(robot):
        await robot.turn(90, until=lambda r: r.time > 0.5)

    async def radians(robot):
        await robot.turn(2 * math.tau, until=lambda r: r.time > 0.5)
        await robot.turn(-3, until=lambda r: r.time > 1.0)

    run(radians)
    assert caplog.text == ""
    run(degrees)
    line = degrees.__code__.co_firstlineno + 1
    assert f"{__file__}:{line}: turn(90): an angle is in radians" in caplog.text


@pytest.mark.parametrize("goal", ["kitchen", 3.0, (1.0,), (1.0, "far"), None, {}])
def test_a_goal_that_is_no_point_is_named(caplog, goal):
    async def go(robot):
        await robot.goto(goal)

    run(go)
    assert f"goto({goal!r}): a goal is two finite numbers, x and y in metres" in caplog.text


def test_a_mistyped_action_is_corrected(caplog):
    def go(robot):
        robot.driv(0.2)

    run(go)
    assert "a robot has no 'driv', did you mean 'drive'?" in caplog.text
    caplog.clear()
    run(lambda robot: robot.zzz)
    assert "a robot has no 'zzz'; its sensors with a reading so far: " in caplog.text


def failed_with(caplog, controller, until_s=2.0):
    """Return what is said of the line after the next one of a controller that fails."""
    assert run(controller, until_s=until_s).status == "failed"
    place = f"{__file__}:{controller.__code__.co_firstlineno + 1} in {controller.__name__}: "
    assert place in caplog.text
    return caplog.text.partition(place)[2]


def test_a_report_that_is_compared_instead_of_awaited_is_refused_at_its_line(caplog):
    async def go(robot):
        if robot.report(4, (1, 0)) == "accepted":
            robot.note("found")

    said = failed_with(caplog, go)
    assert "a report is not its outcome" in said
    assert "await it, as in: if await robot.report(…) == 'accepted'" in said


def test_what_is_waited_for_is_named_where_it_is_taken_for_true(caplog):
    async def go(robot):
        if robot.receive("news"):
            robot.note("news")

    said = failed_with(caplog, go)
    assert "a wait for a message is neither true nor false: await it, as in: message = await robot.receive" in said


def test_waits_are_equal_to_themselves_only():
    async def go(robot):
        one, other = robot.sleep(0.1), robot.receive()
        assert one == one
        assert one != other
        assert len({one, other, one}) == 2
        await one

    assert run(go).status != "failed"


@pytest.mark.parametrize("until", [True, 3.0, "collided"])
def test_an_until_that_is_no_function_is_refused_where_it_is_given(until, caplog):
    async def go(robot):
        await robot.goto((1.0, 0.0), until=until)

    assert f"until is {until!r}; give a plain function of the robot" in failed_with(caplog, go)


def test_an_until_that_would_have_to_be_awaited_is_refused(caplog):
    async def near(robot):
        return True

    async def go(robot):
        await robot.sleep(1.0, until=near)

    assert "give a plain function of the robot" in failed_with(caplog, go)


@pytest.mark.parametrize("found", [[1.0, 2.0], []])
def test_an_until_that_returns_an_array_is_refused_at_its_line(found, caplog):
    async def go(robot):
        await robot.sleep(1.0, until=lambda robot: np.array(found) < 3)

    assert run(go).status == "failed"
    line = go.__code__.co_firstlineno + 1
    assert f"{__file__}:{line} in <lambda>: ControllerError: this `until` returned array(" in caplog.text
    assert "write, for example, (…).any() or len(…) > 0" in caplog.text


def test_an_async_function_with_a_yield_is_refused():
    async def go(robot):
        yield robot.goto((1.0, 0.0))

    with pytest.raises(covey.InvalidValueError, match="has a yield; write async def, and await instead of yield"):
        run(go)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda robot: robot.sleep(math.nan), "sleep(nan): a duration is a number of seconds"),
        (lambda robot: robot.sleep(None), "sleep(None): a duration"),
        (lambda robot: robot.drive(0.1, for_s="soon"), "drive(…, for_s='soon'): a duration"),
        (lambda robot: robot.receive(timeout_s=math.nan), "receive(…, timeout_s=nan): a duration"),
        (lambda robot: robot.goto((1, 0), tolerance_m=-1), "goto(…, tolerance_m=-1): a tolerance is more than 0 m"),
        (lambda robot: robot.goto((1, 0, math.nan)), "goto(…, heading=nan): a heading is a finite number of radians"),
        (lambda robot: robot.follow([(1, 0)], tolerance_m=math.nan), "follow(…, tolerance_m=nan): a tolerance"),
        (lambda robot: robot.forward(math.nan), "forward(nan): a distance is a number of metres"),
        (lambda robot: robot.turn("left"), "turn('left'): an angle is a number of radians"),
        (lambda robot: robot.report(4, None), "report(4, None): a position is x, y, or x, y, height in metres"),
        (lambda robot: robot.report(4, 3.0), "report(4, 3.0): a position"),
    ],
)
def test_numbers_that_would_be_waited_for_without_an_end_are_refused(call, said, caplog):
    async def go(robot):
        await call(robot)

    assert run(go).status == "failed"
    assert f"InvalidValueError: {said}" in caplog.text
    assert f"{__file__}:" in caplog.text


def test_a_sleep_of_asyncio_names_that_of_the_robot(caplog):
    async def go(robot):
        await asyncio.sleep(1)

    assert "to wait for simulated time write await robot.sleep(seconds)" in failed_with(caplog, go)


def test_what_a_reading_does_not_have_is_answered_with_what_it_has(caplog):
    def go(robot):
        return robot.odometry.banana

    assert "; it has " in failed_with(caplog, go)


def test_motions_may_be_compared_with_what_is_no_outcome():
    async def go(robot):
        last = None
        for _ in range(2):
            motion = robot.goto((1.0, 0.0))
            assert motion != last
            assert motion not in (None, 3)
            last = motion
            await robot.sleep(0.2)
            robot.stop()

    assert run(go).status != "failed"


def test_an_until_that_returns_a_coroutine_is_refused(caplog):
    async def near(robot):
        return True

    async def go(robot):
        await robot.sleep(1.0, until=lambda robot: near(robot))

    assert run(go).status == "failed"
    assert "this `until` returned a coroutine" in caplog.text


def test_a_controller_whose_goals_are_where_the_robot_is_hears_that_it_stands(caplog):
    async def go(robot):
        await robot.goto((1.0, 0.0))
        while robot.time < 9.0:
            await robot.goto(robot.pose)

    assert run(go, until_s=10.0).status == "reached"
    line = go.__code__.co_firstlineno + 3
    (said,) = [record.getMessage() for record in caplog.records]
    assert f"{__file__}:{line}: the robot is at this goal already, as at the 49 before, so it stands; choose" in said


def test_a_controller_that_waits_at_its_goal_in_steps_of_a_function_or_by_sleep_hears_nothing(caplog):
    def holds(robot):
        robot.goto((0.0, 0.0))

    async def waits(robot):
        while robot.time < 12.0:
            await robot.goto(robot.pose)
            await robot.sleep(0.1)

    async def turns(robot):
        while robot.time < 20.0:
            await robot.goto(robot.pose)
            await robot.turn(0.3)

    run(holds, until_s=8.0), run(waits, until_s=13.0), run(turns, until_s=21.0)
    assert not caplog.records
