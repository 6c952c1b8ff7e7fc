"""Reports of robots to the referee of a mission: at once, or over the radio; in one process or in several."""

import numpy as np
import pytest

import covey
from covey.comms.radio import Radio
from covey.errors import InvalidValueError
from covey.missions import Judgement, Mission, Tracker


class Listen(Mission):
    """Accept the identity 3 at (1, 2)."""

    base: str = ""

    def begin(self, context):
        return Listening(list(context.names).index(self.base) if self.base else None)


class Listening(Tracker):
    columns = ("heard",)

    def __init__(self, base):
        self.base, self.heard = base, []

    def measure(self, time_s, pose, able):
        return []

    def report(self, time_s, robot, identity, place):
        self.heard.append((round(time_s, 1), robot, identity, place[:2]))
        return Judgement("accepted" if identity == 3 and place[:2] == (1.0, 2.0) else "too far", "victim", 0.0, 1.0)

    @property
    def values(self):
        return {"heard": float(len(self.heard))}


async def reports(robot):
    await robot.sleep(1.0)
    for identity in (3, 4):
        robot.note(f"{identity}: {await robot.report(identity, (1, 2), timeout_s=5)} at {robot.time:.1f}")


class Steps:
    """Looks at the outcome of a report that it does not await."""

    def __init__(self):
        self.report = None

    def step(self, robot):
        if self.report is None:
            self.report = robot.report(3, (1.0, 2.0, 0.5))
        robot.note(str(self.report.outcome))


def run(mission=None, controllers="in_process", controller=reports, radio=None, **changes):
    groups = [
        covey.Group("robot", covey.robots.disc(), [(0.0, 0.0, 0.0)], controller),
        covey.Group("base", covey.robots.disc(), [(3.0, 0.0, 0.0)], "still"),
    ]
    sim = covey.Simulation(
        covey.World.empty(10, 10),
        groups,
        seed=1,
        mission=mission,
        stop=covey.Stop(timeout_s=9),
        radio=radio or 100.0,
        execution={"controllers": controllers},
        **changes,
    )
    done = sim.run()
    notes = done.events.filter((done.events["kind"] == "note") & (done.events["robot"] == "robot0"))
    return done, notes["text"].to_list(), sim.tracker


@pytest.mark.slow
@pytest.mark.parametrize("controllers", ["in_process", "processes"])
def test_a_report_is_judged_in_its_step_and_answered_in_the_next(controllers):
    done, notes, tracker = run(Listen(), controllers)
    assert notes == ["3: accepted at 1.1", "4: too far at 1.2"]
    assert tracker.heard == [(1.1, 0, 3, (1.0, 2.0)), (1.2, 0, 4, (1.0, 2.0))]
    rows = done.reports.select("time_s", "robot", "identity", "x_m", "y_m", "height_m", "answer", "points").rows()
    assert [row[1:] for row in rows] == [
        ("robot0", 3, 1.0, 2.0, None, "accepted", 1.0),
        ("robot0", 4, 1.0, 2.0, None, "too far", 1.0),
    ]
    said = done.events.filter(done.events["kind"] == "mission")["text"].to_list()
    assert said[0] == "reports target 3 at (1.0, 2.0): accepted"


@pytest.mark.parametrize("place", [(2.5, -1.5), (-3.0, 1.0)])
def test_the_events_of_reports_and_meetings_are_where_the_robot_stands(place):
    """Not where the target was reported, and x before y."""
    group = covey.Group("robot", covey.robots.disc(), [(*place, 0.5)], reports)
    world, stop = covey.World.empty(10, 10), covey.Stop(timeout_s=3)
    done = covey.Simulation(world, [group], mission=Listen(), stop=stop).run()
    events = done.events.filter(done.events["kind"] == "mission").select("robot", "x_m", "y_m").rows()
    assert events == [("robot0", *place)] * 2


def test_a_report_need_not_be_awaited():
    assert run(Listen(), controller=Steps)[1] == ["None", "accepted"]


def test_a_mission_without_a_referee_says_so():
    _, notes, _ = run()
    assert notes[0] == "3: no referee at 1.1"
    assert not run(controller="still")[0].has("reports")


@pytest.mark.slow
@pytest.mark.parametrize("controllers", ["in_process", "processes"])
def test_by_radio_a_report_takes_a_message_to_the_base_and_one_back(controllers):
    _, notes, tracker = run(Listen(base="base0"), controllers, radio=Radio(range_m=5, latency_s=0.5))
    sent, heard, answered = 1.0, tracker.heard[0][0], float(notes[0].split()[-1])
    assert heard >= sent + 0.5
    assert answered >= heard + 0.5
    assert answered < sent + 2 * 0.5 + 4 * 0.1 + 1e-9  # one step each for writing and hearing
    assert [line.split(" at")[0] for line in notes] == ["3: accepted", "4: too far"]


def test_by_radio_a_report_out_of_reach_has_no_answer():
    _, notes, tracker = run(Listen(base="base0"), radio=Radio(range_m=2))
    assert notes == ["3: no answer at 6.0"]
    assert tracker.heard == []


async def at_the_base(robot):
    robot.note(await robot.report(3, (1, 2)))


def test_the_base_reports_without_its_radio():
    assert run(Listen(base="robot0"), controller=at_the_base, radio=Radio(range_m=0.1))[1] == ["accepted"]


@pytest.mark.parametrize("place", [(1.0,), (1.0, 2.0, 3.0, 4.0), (1.0, float("nan"))])
def test_a_place_is_two_or_three_numbers(place):
    sim = covey.Simulation(covey.World.empty(4, 4), 1, "wander", seed=1)
    with pytest.raises(InvalidValueError, match="a position is x, y, or x, y, height in metres"):
        sim.robot("robot0").report(1, place)
    sim.close()


@pytest.mark.parametrize("identity", [4.7, "4", None, float("nan"), float("inf"), 2**70, (4, 5)])
def test_an_identity_is_a_whole_number(identity):
    sim = covey.Simulation(covey.World.empty(4, 4), 1, "wander", seed=1)
    with pytest.raises(InvalidValueError, match=r"report\(.*\(1, 2\)\): an identity is a whole number"):
        sim.robot("robot0").report(identity, (1, 2))
    sim.close()


@pytest.mark.parametrize("identity", [3, 3.0, np.int64(3), np.float32(3.0)])
def test_a_whole_number_of_any_type_is_an_identity(identity):
    async def reports_it(robot):
        robot.note(await robot.report(identity, (1, 2)))

    _, notes, tracker = run(Listen(base="robot0"), controller=reports_it)
    assert notes == ["accepted"]
    assert [(type(number), number) for _, _, number, _ in tracker.heard] == [(int, 3)]
