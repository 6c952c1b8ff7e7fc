"""What robots claim of the floor, and auction, in selective spiraling: by their messages, without a simulation."""

from types import SimpleNamespace

import numpy as np

from covey.controllers.coverage.ssb_auction import Auction
from covey.controllers.coverage.ssb_claims import Claims
from covey.geometry import Grid

TEAM = ("a", "b")


class OnAir:
    """A robot in a hall of 4 m x 4 m with tiles of half a metre, and the messages that it sends."""

    def __init__(self, name):
        grid = Grid(np.zeros((80, 80), np.int8), 0.05)
        self.map = SimpleNamespace(version=1, grid=grid, occupancy=lambda: grid.cells)
        self.name, self.team, self.time, self.sent = name, TEAM, 0.0, []
        self.model = SimpleNamespace(outer_radius_m=0.2)

    def reachable(self):
        return np.ones(self.map.grid.shape, bool)

    def send(self, payload, to=None, kind=""):
        self.sent.append((to, payload))


def hear(claims, robot, other, sender):
    claims.hear(robot, sender, *other.sent[-1][1][1:])


def test_a_tile_that_two_reserve_is_the_later_robots_and_is_free_again_when_that_is_lost():
    a, b = OnAir("a"), OnAir("b")
    of_a, of_b = Claims(a, 0.5, (3, 3)), Claims(b, 0.5, (5, 5))
    of_a.mine, of_b.mine = {(3, 3), (4, 4)}, {(5, 5), (4, 4)}
    of_a.tell(a)
    of_b.tell(b)
    hear(of_a, a, b, "b")
    hear(of_b, b, a, "a")
    of_a.forget(0.0, True)
    of_b.forget(0.0, True)
    assert of_a.mine == {(3, 3)}
    assert (of_a.free((4, 4)), of_a.free((2, 2))) == (False, True)
    assert of_b.mine == {(5, 5), (4, 4)}
    assert of_b.free((4, 4))
    of_a.forget(10.1, False)
    assert of_a.free((4, 4))
    assert not of_a.company


def test_who_is_met_anew_is_told_all_that_is_covered_and_others_only_what_is_new():
    a, b = OnAir("a"), OnAir("b")
    of_a, of_b = Claims(a, 0.5, (3, 3)), Claims(b, 0.5, (5, 5))
    of_a.points = {(2, 3)}
    for tile in [(3, 3), (3, 2)]:
        of_a.cover(tile)
    of_a.tell(a)
    hear(of_b, b, a, "a")
    assert of_b.covered == {(3, 3), (3, 2)}
    of_a.cover((2, 3))
    assert of_a.open_points() == []
    of_a.tell(a)
    assert a.sent[-1][1][2].tolist() == [[2, 3]]
    of_b.tell(b)
    hear(of_a, a, b, "b")
    of_a.tell(a)
    assert a.sent[-1][1][2].tolist() == [[2, 3], [3, 2], [3, 3]]


def test_a_tile_that_cannot_be_reached_is_tried_three_times():
    claims = Claims(OnAir("a"), 0.5, (3, 3))
    for _ in range(2):
        claims.refuse((2, 2))
        assert not claims.free((2, 2))
        claims.try_again()
        assert claims.free((2, 2))
    claims.refuse((2, 2))
    claims.try_again()
    assert not claims.free((2, 2))


def test_who_hears_a_call_tells_its_points_then_its_bids_and_takes_what_it_won():
    b = OnAir("b")
    claims = Claims(b, 0.5, (5, 5))
    claims.points = {(1, 2)}
    auction = Auction(b, claims, lambda pool: [(p, 7) for p in sorted(pool)])
    auction.hear(b, "a", "request", [(2, 2)])
    assert b.sent == [(None, ("points", [(1, 2)]))]
    auction.hear(b, "c", "points", [(3, 3)])
    auction.step(b)
    assert len(b.sent) == 1  # the others have 0.3 s to tell theirs
    b.time = 0.4
    auction.step(b)
    assert b.sent[-1] == ("a", ("bids", [((2, 2), 7), ((3, 3), 7)]))
    auction.hear(b, "c", "result", [("b", (9, 9))])
    assert auction.won is None  # not who has called
    auction.hear(b, "a", "result", [("b", (3, 3))])
    assert auction.won == (3, 3)
