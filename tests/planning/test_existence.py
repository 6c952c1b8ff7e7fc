"""Existence of targets: the odds by hand, places as weighted means, and how often false alarms win."""

import math

import numpy as np
import pytest

from covey.planning.existence import Existence


def odds(candidate):
    return math.exp(candidate.log_odds)


def test_the_first_detection_has_the_odds_of_targets_to_false_alarms():
    belief = Existence(targets=5, false_alarms=10)
    candidate = belief.detect(2, "victim", (1.0, 2.0), 0.1, 0.8, 1e-4)
    assert odds(candidate) == pytest.approx(0.5)
    assert candidate.probability == pytest.approx(1 / 3)
    assert belief.detect(2, "victim", (3.0, 2.0), 0.1, 0.8, 1e-4) is not candidate  # elsewhere
    assert belief.detect(3, "victim", (1.0, 2.0), 0.1, 0.8, 1e-4) is not candidate  # another identity
    assert len(belief.candidates) == 3


def test_a_second_detection_multiplies_the_odds_by_its_likelihood_ratio():
    belief = Existence(5, 10)
    belief.detect(2, "victim", (0.0, 0.0), 0.3, 0.5, 0.1)
    candidate = belief.detect(2, "victim", (0.3, 0.0), 0.3, 0.5, 0.1)
    # Variance of the difference 2 x 0.09, density exp(-0.09 / 0.36) / (2 pi 0.18); times 0.5 / 0.1.
    assert odds(candidate) == pytest.approx(0.5 * 5 * math.exp(-0.25) / (2 * math.pi * 0.18))
    assert (candidate.x, candidate.y) == pytest.approx((0.15, 0.0))
    assert candidate.sigma_m == pytest.approx(0.3 / math.sqrt(2))


def test_a_better_detection_weighs_more():
    belief = Existence(5, 10)
    belief.detect(2, "victim", (0.0, 0.0), 0.2, 0.5, 0.1)
    candidate = belief.detect(2, "victim", (0.3, 0.0), 0.1, 0.5, 0.1)
    assert candidate.x == pytest.approx(0.3 * 100 / 125)


def test_a_miss_multiplies_the_odds_by_the_chance_to_miss():
    belief = Existence(5, 10)
    candidate = belief.detect(2, "victim", (0.0, 0.0), 0.1, 0.8, 1e-4)
    belief.miss(candidate, 0.6)
    belief.miss(candidate, 0.5)
    assert odds(candidate) == pytest.approx(0.5 * 0.4 * 0.5)


def test_robots_that_tell_each_other_have_the_odds_of_all_their_samples():
    first, second = Existence(5, 10), Existence(5, 10)
    for belief, x, sigma in ((first, 0.0, 0.1), (second, 0.2, 0.2)):
        belief.detect(2, "victim", (x, 0.0), sigma, 0.8, 1e-4).seen_from.append(0.0)
    belief.miss(second.candidates[0], 0.6)
    first.miss(first.candidates[0], 0.5)
    for _ in range(3):  # again and again: the same news count once, and no echo counts
        told = first.own_sums(), second.own_sums()
        first.hear("second", told[1])
        second.hear("first", told[0])
    for belief in (first, second):
        (candidate,) = belief.candidates
        assert odds(candidate) == pytest.approx(0.5 * 0.4 * 0.5)
        assert candidate.x == pytest.approx(0.2 * 25 / 125)  # weights 1 / 0.1^2 and 1 / 0.2^2
        assert (candidate.detections, candidate.own_detections) == (2, 1)


def test_a_robot_that_looks_in_vain_at_what_another_has_seen_lowers_the_odds_of_both():
    first, second = Existence(5, 10), Existence(5, 10)
    for _ in range(3):
        first.detect(2, "victim", (0.0, 0.0), 0.1, 0.8, 1e-4).seen_from.append(0.0)
    before = odds(first.candidates[0])
    second.hear("first", first.own_sums())
    assert odds(second.candidates[0]) == pytest.approx(before)
    assert list(second.worth(0.9, 0.1)) == []  # it reports what it has seen itself
    second.miss(second.candidates[0], 0.9)
    first.hear("second", second.own_sums())
    assert odds(first.candidates[0]) == pytest.approx(0.1 * before)


def test_only_sure_and_well_known_candidates_are_worth_a_report():
    belief = Existence(5, 10)
    for _ in range(4):
        belief.detect(2, "victim", (0.0, 0.0), 0.1, 0.8, 1e-4)
    belief.detect(3, "victim", (0.0, 0.0), 0.1, 0.8, 1e-4)
    assert [c.identity for c in belief.worth(0.99, 0.06)] == [2]
    assert list(belief.worth(0.99, 0.04)) == []  # 0.1 / sqrt(4) = 0.05
    belief.forget(2)
    assert [c.identity for c in belief.candidates] == [3]
    belief.forget(below=0.3)
    assert len(belief.candidates) == 1
    belief.forget(below=0.34)
    assert belief.candidates == []


def test_false_alarms_at_the_usual_rate_are_not_believed_and_targets_are():
    """200 robots stand before a target for 3 s, with one false alarm each; reported at odds of 99 to 1."""
    rng = np.random.default_rng(3)
    reported = {"target": 0, "false": 0}
    for _ in range(200):
        belief = Existence(5, 10)
        false = belief.detect(1, "", tuple(rng.uniform(-4, 4, 2)), 0.1, 0.7, 2e-5)
        for _ in range(30):
            if rng.random() < 0.6:
                belief.detect(2, "", tuple(rng.normal(0, 0.06, 2)), 0.06, 0.6, 2e-5)
            belief.miss(false, 0.6)
        reported["target"] += 2 in {c.identity for c in belief.worth(0.99, 0.1)}
        reported["false"] += 1 in {c.identity for c in belief.worth(0.99, 0.1)}
    assert reported == {"target": 200, "false": 0}


def test_a_candidate_that_its_finder_has_given_up_is_forgotten_by_those_who_heard_of_it():
    """It looks again and again, until it tells no more of it; who has seen it, too, keeps what it has seen itself."""
    finder, hearer, witness = Existence(5, 10), Existence(5, 10), Existence(5, 10)
    finder.detect(2, "victim", (0.0, 0.0), 0.1, 0.8, 1e-4).seen_from.append(0.0)
    witness.detect(2, "victim", (0.1, 0.0), 0.1, 0.8, 1e-4).seen_from.append(0.0)
    for misses in (0, 2, 20):
        for _ in range(misses):
            finder.miss(finder.candidates[0], 0.5)
        finder.forget(below=1e-4)
        for belief in (hearer, witness):
            belief.hear("finder", finder.own_sums())
    assert hearer.candidates == []
    (own,) = witness.candidates
    assert odds(own) == pytest.approx(0.5)
    assert (own.detections, own.x, own.weight) == (1, pytest.approx(0.1), pytest.approx(100.0))
