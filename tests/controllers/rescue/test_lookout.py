"""What a lookout makes of samples and of what mates tell: its belief moves as it should, and no further."""

import numpy as np
import pytest

import covey
from covey.controllers.rescue.lookout import Lookout
from covey.controllers.teammates import Mate
from covey.geometry import Pose
from covey.planning.existence import CandidateSums
from covey.sensors.tag_camera import TagCameraReading


@pytest.fixture
def robot():
    group = covey.Group("robot", covey.robots.turtlebot3_waffle_pi(), [(0.0, 0.0, 0.0)], "still")
    sim = covey.Simulation(covey.World.empty(12, 6), [group], seed=1)
    yield sim.robot("robot0")
    sim.close()


def reading(*markers):
    """A sample with markers of some identities, straight ahead at some distances [m]."""
    ranges = np.array([away for _, away in markers], float)
    places = np.column_stack((ranges, np.zeros((len(markers), 2))))
    identities = np.array([identity for identity, _ in markers], np.int64)
    return TagCameraReading(identities, np.full(len(markers), "victim"), ranges, np.zeros(len(markers)), places)


def test_a_marker_that_a_camera_holds_counts_once(robot):
    lookout = Lookout(robot, 5, 0.99)
    held = reading((7, 1.5))
    for _ in range(20):
        lookout._look(robot, held)
    assert not lookout.belief.candidates  # all but the first have shown nothing
    for k in range(20):
        lookout._look(robot, reading((7, 1.5 + 1e-3 * k)))  # what is seen anew moves by the noise
    assert lookout.belief.candidates[0].probability > 0.99


def test_a_sample_that_should_have_shown_a_candidate_makes_it_less_likely(robot):
    lookout = Lookout(robot, 5, 0.99)
    lookout._look(robot, reading((7, 1.5)))
    before = lookout.belief.candidates[0].log_odds
    lookout._look(robot, reading())
    missed = lookout.belief.candidates[0].log_odds
    assert missed == pytest.approx(before + np.log1p(-lookout.chance(1.5)))
    for _ in range(20):
        lookout._look(robot, reading())
    assert not lookout.belief.candidates  # a false alarm, most likely


def test_what_a_mate_has_seen_makes_a_candidate_more_likely_once(robot):
    lookout = Lookout(robot, 5, 0.99)
    lookout._look(robot, reading((7, 1.5)))
    own = lookout.belief.candidates[0].log_odds
    told = tuple(CandidateSums(7, "victim", 1.5, 0.0, 100.0, 2.5, 1, 0.0, 2.0))
    for time_s in (0.0, 1.0):  # told again, as reports are
        lookout.hear(robot, {"robot1": Mate(time_s, Pose(0.0, 1.0, 0.0), None, {"seen": (told,)})})
        assert lookout.belief.candidates[0].log_odds == pytest.approx(own + 2.5)
