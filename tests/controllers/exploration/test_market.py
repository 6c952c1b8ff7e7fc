"""Auctions of the market: what changes hands, and what does not, by hand."""

import math
from types import SimpleNamespace

import pytest

import covey
from covey.controllers import controllers
from covey.controllers.exploration.market import _Trader
from covey.controllers.teammates import Mate, Teammates
from covey.geometry import Pose

WORTH = 10.0


class Open(_Trader):
    """A trader on open ground where each goal is worth 10 m and ways are straight."""

    def __init__(self, robot, mates, *tour):
        team = Teammates(every_s=math.inf, forget_s=math.inf)
        team.mates = {name: Mate(0.0, Pose(0.0, 0.0, 0.0), None, {}) for name in mates}
        super().__init__(team, 0.5, 5.0, 1.0, 2.0, 10.0)
        self.robot, self.tour, self.queue = robot, list(tour), list(tour)

    def _worth(self, robot, goal):
        return WORTH

    def _way_to(self, robot, goal):
        return math.dist(self.robot.pose[:2], goal)


class Air:
    """Robots that hear each other one step of 0.1 s later; what was sent is kept, and kinds of messages can be lost."""

    def __init__(self, **places):
        self.log, self.boxes, self.robots = [], {name: [] for name in places}, {}
        for name, place in places.items():
            self.robots[name] = SimpleNamespace(
                blind=False,
                name=name,
                pose=(*place, 0.0),
                time=0.0,
                frame_of=lambda sender: None,
                send=lambda payload, to=None, *, kind="", name=name: self.log.append((name, to, kind, payload)),
                messages=lambda kind, name=name: self.take(name, kind),
            )

    def take(self, name, kind):
        mine = [m for m in self.boxes[name] if m.kind == kind]
        self.boxes[name] = [m for m in self.boxes[name] if m.kind != kind]
        return mine

    def run(self, traders, steps, lost=()):
        heard = 0
        for _ in range(steps):
            fresh, heard = self.log[heard:], len(self.log)
            for sender, to, kind, payload in (m for m in fresh if m[2] not in lost):
                for name in self.boxes if to is None else [to]:
                    if name != sender:
                        self.boxes[name].append(SimpleNamespace(sender=sender, kind=kind, payload=payload))
            for name, trader in traders.items():
                self.robots[name].time += 0.1
                trader.step(self.robots[name], None)


def test_what_one_goal_costs_depends_on_the_one_just_sold():
    # The seller at 0 holds goals 4 m to the west and 4 m to the east: each costs it 8 m, there and back. The buyer is
    # 7 m from both: for the first it pays 7 < 8. Then the second costs the seller 4 and the buyer 8 more: it stays.
    # Sold together at the reserves of the beginning both would go: 15 m of way for the team in place of 11.
    west, east = (-4.0, 0.0), (4.0, 0.0)
    air = Air(seller=(0.0, 0.0), buyer=(0.0, math.sqrt(33.0)))
    traders = {
        "seller": Open(air.robots["seller"], ["buyer"], west, east),
        "buyer": Open(air.robots["buyer"], ["seller"]),
    }
    air.run(traders, 30)
    assert traders["seller"].tour == [east]
    assert traders["buyer"].tour == [west]


def test_who_is_awarded_two_goals_buys_the_second_only_if_it_still_pays():
    # Two sellers, 20 m to the west and to the east of the buyer, each with a goal 7 m from the buyer and 13 m from
    # itself. It bids 10 - 7 = 3 for both before it has any; with the first the other one costs it 14: 10 - 14 = -4 is
    # less than the 10 - 13 = -3 that it is worth to its seller.
    goals = {"a": (-7.0, 0.0), "b": (7.0, 0.0)}
    air = Air(a=(-20.0, 0.0), b=(20.0, 0.0), c=(0.0, 0.0))
    traders = {name: Open(air.robots[name], ["c"], goal) for name, goal in goals.items()}
    traders["c"] = Open(air.robots["c"], ["a", "b"])
    air.run(traders, 30)
    assert [m[3][1] for m in air.log if m[2] == "bid" and m[0] == "c"] == [3.0, 3.0]
    assert traders["c"].tour == [goals["a"]]
    assert traders["a"].tour == []
    assert traders["b"].tour == [goals["b"]]  # not lost


def test_a_goal_whose_award_is_lost_stays_with_its_seller():
    air = Air(seller=(20.0, 0.0), buyer=(0.0, 0.0))
    traders = {
        "seller": Open(air.robots["seller"], ["buyer"], (3.0, 0.0)),
        "buyer": Open(air.robots["buyer"], ["seller"]),
    }
    air.run(traders, 30, lost={"award"})
    assert traders["seller"].tour == [(3.0, 0.0)]


@pytest.mark.parametrize("seed", [1, 2])
def test_goals_are_offered_one_at_a_time_and_what_was_bought_is_not_offered_at_once(seed):
    walls = [[(-2.0, -3.0), (-2.0, 0.6)], [(2.0, -0.6), (2.0, 3.0)]]
    world = covey.World.polygons([(-6, -3), (6, -3), (6, 3), (-6, 3)], walls_m=walls, resolution_m=0.1)
    starts = [(-1.0, 0.0, 0.0), (0.0, 0.0, 1.5), (1.0, 0.0, 3.0)]
    program = covey.Program(controllers.get("market"), {"replan_s": 1.0, "min_cells": 1, "piece_m": 2.0})
    group = covey.Group("scout", covey.robots.disc(), starts, program)
    sim = covey.Simulation(
        world, [group], seed=seed, share_maps=1.0, radio=50.0, stop=covey.Stop(explored=0.99, timeout_s=60)
    )
    log = []
    for box in sim.communication.mailboxes:
        box.put = lambda message, put=box.put: (log.append(message), put(message))[1]
    sim.run()
    offers = {(m.sender, m.payload[0]): m for m in log if m.kind == "offer"}
    sold = {(m.sender, m.payload[0]): m.to for m in log if m.kind == "award"}
    answers = [m for m in log if m.kind == "bought"]
    assert offers
    assert all(len(m.payload[1]) == 2 for m in offers.values())  # a goal, not a list of goals
    for answer in (m for m in answers if m.payload[1]):
        sale = (answer.to, answer.payload[0])
        goal, buyer = offers[sale].payload[1], sold[sale]
        later = [
            m for m in offers.values() if m.sender == buyer and answer.sent_s <= m.sent_s < answer.sent_s + 1.0 - 1e-6
        ]
        assert all(math.dist(goal, m.payload[1]) > 1e-9 for m in later)
