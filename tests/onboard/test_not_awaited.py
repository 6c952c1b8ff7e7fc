"""Motions that nobody awaits: what a controller that forgot `await` is told."""

import covey


def run(controller, until_s=4.0):
    return covey.Simulation(covey.World.empty(8, 8), 1, controller, seed=1).run(until_s=until_s)


def test_a_controller_that_ends_before_its_motion_began_has_not_reached_anything(caplog):
    async def go(robot):
        robot.goto((2.0, 0.0))
        robot.goto((1.0, 0.0))

    run_of_it = run(go)
    assert run_of_it.status == "failed"
    second = go.__code__.co_firstlineno + 2
    assert f"robot0 at 0 s: {__file__}:{second}: this motion replaces one that has not begun" in caplog.text
    assert "it returned before its last motion began; await that motion" in caplog.text


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
