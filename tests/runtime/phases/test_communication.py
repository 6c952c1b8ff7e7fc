"""Robots that talk, leave tags and write on the blackboard, in a running simulation."""

import numpy as np
import pytest

import covey
from covey.comms.tags import Tags
from covey.controllers.team_reports import mates_over
from covey.controllers.teammates import Teammates
from covey.onboard.group import Group


def team(controller, starts, **options):
    group = Group("r", covey.robots.disc(), np.array(starts, float), controller)
    return covey.Simulation(covey.World.empty(30, 6, resolution_m=0.1), [group], **options)


def test_a_broadcast_reaches_those_in_range_one_step_later():
    heard = {}

    async def talk(robot):
        if robot.name == "r0":
            robot.send({"x": 1}, kind="hello")
        message = await robot.receive("hello", timeout_s=2.0)
        heard[robot.name] = message and (
            message.sender,
            message.payload,
            message.sent_s,
            message.received_s,
            robot.time,
        )

    sim = team(talk, [(-10, 0, 0), (-2, 0, 0), (12, 0, 0)], radio=10.0)
    sim.run(until_s=3.0)
    assert heard["r0"] is None
    assert heard["r2"] is None
    assert heard["r1"][:2] == ("r0", {"x": 1})
    assert heard["r1"][4] == pytest.approx(0.1)


def test_a_reply_goes_to_the_one_who_asked():
    log = []

    async def ask(robot):
        if robot.name == "r0":
            robot.send("who?", kind="question")
            answers = []
            while (answer := await robot.receive("answer", timeout_s=1.0)) is not None:
                answers.append(answer.sender)
            log.append(sorted(answers))
        else:
            question = await robot.receive("question")
            robot.send(robot.name, question.sender, kind="answer")

    team(ask, [(-3, 0, 0), (0, 0, 0), (3, 0, 0)]).run(until_s=3.0)
    assert log == [["r1", "r2"]]


def test_tags_are_read_near_by_until_they_expire():
    seen = []

    async def drop(robot):
        robot.leave_tag("here", lifetime_s=1.0)
        while True:
            await robot.sleep(0.1)
            if robot.name == "r1":
                seen.append([(t.content, t.owner, round(t.distance_m, 6)) for t in robot.tags])

    sim = team(drop, [(0, 0, 0), (1.5, 0, np.pi)], tags=Tags(range_m=2.0))
    sim.run(until_s=2.0)
    assert seen[1] == [("here", "r1", 0.0), ("here", "r0", 1.5)]
    assert seen[-1] == []


def test_the_blackboard_shows_what_was_written_in_the_step_before():
    read = []

    async def write(robot):
        robot.blackboard[robot.name] = [robot.pose.x]
        read.append(dict(robot.blackboard))
        await robot.sleep(0.1)
        read.append(sorted(robot.blackboard))

    team(write, [(0, 0, 0), (2, 0, 0)]).run(until_s=0.5)
    assert read == [{}, {}, ["r0", "r1"], ["r0", "r1"]]


def test_the_old_name_of_the_blackboard_says_what_to_write(caplog):
    async def write(robot):
        robot.board["door"] = "open"

    team(write, [(0, 0, 0)]).run(until_s=0.5)
    assert "AttributeError: robot.board is now robot.blackboard" in caplog.text
    declared = covey.controller(sees=("board",))(write)
    with pytest.raises(covey.CoveyError, match="did you mean 'blackboard'"):
        team(declared, [(0, 0, 0)]).run(until_s=0.5)
    with pytest.raises(covey.CoveyError, match="did you mean 'blackboard'"):
        mates_over("board")


def test_team_mates_are_known_while_they_are_heard():
    known = {}

    async def roam(robot):
        mates = Teammates(every_s=0.5, forget_s=2.0)
        while robot.time < 6.0:
            mates.step(robot, goal=(1.0, 2.0), role=robot.name)
            if robot.name == "r1" and robot.time > 1.0:
                robot.finish()  # falls silent
            known.setdefault(robot.name, []).append((robot.time, sorted(mates.others(robot))))
            await robot.sleep(0.1)

    team(roam, [(0, 0, 0), (2, 0, 0)]).run(until_s=6.0)
    times = [t for t, mates in known["r0"] if mates == ["r1"]]
    assert times[0] == pytest.approx(0.1)
    assert 2.9 < times[-1] < 3.2


def test_a_controller_gets_only_what_it_declares():
    caught = []

    @covey.controller(sees=("collided",))
    async def blind(robot):
        robot.drive(0.2)
        for name in ("pose", "map", "messages", "tags", "blackboard", "goto", "history"):
            with pytest.raises(AttributeError, match=r"declares sees=.*collided"):
                getattr(robot, name)
        caught.append(robot.collided)

        def until(inner):
            with pytest.raises(AttributeError):
                _ = inner.pose
            caught.append("until")
            return True

        await robot.forward(1.0, until=until)
        caught.append("done")

    sim = team(blind, [(0, 0, 0)])
    sim.run(until_s=1.0)
    assert caught == [False, "until", "done"]


def test_an_unknown_word_in_a_declaration_is_an_error():
    @covey.controller(sees=("maps",))
    async def wrong(robot):
        robot.stop()

    with pytest.raises(covey.InvalidValueError, match="did you mean 'map'"):
        team(wrong, [(0, 0, 0)])
