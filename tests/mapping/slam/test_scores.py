"""Scores of trajectories: worked by hand, and the rows of the public logs, where they are on this machine."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose
from covey.mapping.slam.log import load_log
from covey.mapping.slam.scores import (
    Relations,
    absolute_errors,
    alignment,
    consistency,
    displacement_errors,
    load_relations,
    load_stamped_relations,
    nees,
    relations_of,
    relative_errors,
    save_relations,
)

LOGS = Path(__file__).parents[4] / "shared" / "data" / "slam"


def test_displacements_by_hand():
    """Two motions of 1 m ahead: one measured in the frame of a robot that looks up, one 3 m, 4 m and 90 deg off."""
    poses = np.array([[5.0, 5.0, np.pi / 2], [5.0, 6.0, np.pi / 2], [10.0, 10.0, 0.0], [14.0, 14.0, -np.pi / 2]])
    relations = Relations(np.array([0, 2]), np.array([1, 3]), np.array([[1.0, 0, 0], [1.0, 0, 0]]))
    errors = displacement_errors(poses, relations)
    np.testing.assert_allclose(errors.translation.each, [0, 5], atol=1e-12)
    np.testing.assert_allclose(errors.rotation.each, [0, np.pi / 2], atol=1e-12)
    assert (errors.translation.mean, errors.translation.deviation) == pytest.approx((2.5, 2.5))
    assert (errors.translation.mean_square, errors.translation.rms) == pytest.approx((12.5, 12.5**0.5))
    assert str(errors) == "2.5000 ± 2.5000 m, 45.000 ± 45.000 deg over 2"
    assert displacement_errors(poses, relations[:1]).translation.mean == pytest.approx(0.0, abs=1e-12)


def test_angles_are_compared_around_the_circle():
    poses = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 3.1]])
    errors = displacement_errors(poses, Relations(np.array([0]), np.array([1]), np.array([[0.0, 0.0, -3.1]])))
    assert errors.rotation.mean == pytest.approx(2 * np.pi - 6.2)


def test_displacements_do_not_depend_on_the_frame():
    rng = np.random.default_rng(0)
    poses, motion = rng.normal(size=(9, 3)), rng.normal(size=(5, 3))
    relations = Relations(rng.integers(0, 9, 5), rng.integers(0, 9, 5), motion)
    here = displacement_errors(poses, relations)
    there = displacement_errors(compose(np.array([7.0, -3.0, 2.0]), poses), relations)
    np.testing.assert_allclose(there.translation.each, here.translation.each)
    np.testing.assert_allclose(there.rotation.each, here.rotation.each)


def test_relations_that_are_missing_or_out_of_range_are_refused():
    with pytest.raises(InvalidValueError, match="no relations are left"):
        displacement_errors(np.zeros((2, 3)), Relations(np.zeros(0, int), np.zeros(0, int), np.zeros((0, 3))))
    with pytest.raises(InvalidValueError, match="rows 0 … 2 of a trajectory of 2"):
        displacement_errors(np.zeros((2, 3)), Relations(np.array([0]), np.array([2]), np.zeros((1, 3))))


def test_relations_are_read_and_those_without_a_place_left_out(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("t1,t2,dx,dy,dtheta,stream1,stream2\n1,2,0.5,-1,0.25,4,9\n1,2,1,1,1,-1,9\n")
    relations = load_relations(path)
    assert (relations.first.tolist(), relations.second.tolist()) == ([4], [9])
    np.testing.assert_array_equal(relations.motion, [[0.5, -1, 0.25]])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t1,t2,dx,dy\n", "has no column stream1, stream2, dtheta; relations need"),
        ("dx,dy,dtheta,stream1,stream2\n1,2,x,3,4\n", "line 2: could not convert"),
        ("dx,dy,dtheta,stream1,stream2\n1,2,3,3,4\n1,2,3\n", "line 3: int"),
        ("dx,dy,dtheta,stream1,stream2\n1,nan,3,3,4\n", "line 2: a number is not finite"),
        ("dx,dy,dtheta,stream1,stream2\n1,2,3,-1,4\n", "has no relation whose rows are known"),
        ("", "has no column"),
    ],
)
def test_wrong_relations_are_refused(tmp_path, text, words):
    path = tmp_path / "r.csv"
    path.write_text(text)
    with pytest.raises(InvalidValueError, match=words):
        load_relations(path)
    with pytest.raises(InvalidValueError, match="there is no file"):
        load_relations(tmp_path / "s.csv")


def test_a_moved_trajectory_is_aligned_exactly():
    rng = np.random.default_rng(1)
    truth, away = rng.normal(0, 5, (30, 3)), np.array([3.0, -4.0, 2.5])
    np.testing.assert_allclose(alignment(truth[:, :2], compose(away, truth)[:, :2]), away)
    errors = absolute_errors(truth, compose(away, truth))
    np.testing.assert_allclose(errors.translation.each, 0.0, atol=1e-12)
    np.testing.assert_allclose(errors.rotation.each, 0.0, atol=1e-12)


def test_the_alignment_has_no_scale_and_no_mirror():
    """A square twice as large keeps its corners √2 / 2 away; a mirrored one is not turned into the other."""
    corners = np.array([[1.0, 1], [-1, 1], [-1, -1], [1, -1]]) / 2
    np.testing.assert_allclose(alignment(corners, 2 * corners + [5, 5]), [5, 5, 0], atol=1e-12)
    poses = np.column_stack((corners, np.zeros(4)))
    twice = np.column_stack((2 * corners, np.zeros(4)))
    np.testing.assert_allclose(absolute_errors(poses, twice).translation.each, 0.5**0.5)
    rectangle = np.column_stack((corners * [1, 4], np.zeros(4)))
    order = [1, 0, 3, 2]  # corners named as seen in a mirror
    assert absolute_errors(rectangle, rectangle[order]).translation.rms == pytest.approx(1.0)
    with pytest.raises(InvalidValueError, match="2 points cannot be aligned with 3"):
        alignment(np.zeros((2, 2)), np.zeros((3, 2)))


def test_relative_errors_over_a_distance_and_over_a_time():
    """An odometer that measures 1.1 m for each metre is 0.2 m off after 2 m, and 0.1 m after a second at 1 m/s."""
    truth = np.column_stack((np.arange(6.0), np.zeros((6, 2))))
    poses = truth * [1.1, 1, 1]
    errors = relative_errors(poses, truth, metres=2.0)
    np.testing.assert_allclose(errors.translation.each, [0.2] * 4)
    errors = relative_errors(poses, truth, seconds=1.0, times=np.arange(6.0))
    np.testing.assert_allclose(errors.translation.each, [0.1] * 5)
    for arguments, words in (
        ({}, "need either"),
        ({"seconds": 1.0}, "need either"),
        ({"seconds": 1.0, "times": np.array([0.0, 1, 2, 1, 3, 4])}, "step back"),
        ({"metres": 9.0}, "no relations are left"),
        ({"metres": 0.0}, "must be above 0"),
    ):
        with pytest.raises(InvalidValueError, match=words):
            relative_errors(poses, truth, **arguments)


def test_errors_drawn_from_their_covariance_are_consistent():
    """Bar-Shalom et al. 2001, 5.4.2: 50 runs of a state of 2 dimensions are in [1.5, 2.6] with 95 %."""
    interval = consistency(np.full(50, 2.0), dimensions=2)
    assert (interval.low, interval.high) == pytest.approx((1.484, 2.591), abs=1e-3)
    rng = np.random.default_rng(3)
    half = rng.normal(size=(50, 3, 3))
    error = (half @ rng.normal(size=(50, 3, 1)))[..., 0]
    truth = rng.normal(size=(50, 3))
    values = nees(truth + error, truth, half @ half.transpose(0, 2, 1))
    assert consistency(values).consistent
    assert not consistency(2.0 * values).consistent
    assert not consistency(0.5 * values).consistent
    np.testing.assert_allclose(
        nees(np.array([2.0, 1, 3.1]), np.array([0, 0, -3.1]), np.diag([4, 1, 0.01])), 2 + 100 * (2 * np.pi - 6.2) ** 2
    )


logs = pytest.mark.skipif(not LOGS.is_dir(), reason="the public logs are not on this machine")


@logs
@pytest.mark.parametrize(
    ("name", "translation", "rotation", "digits", "count"),
    [
        ("intel", (6.50, 12.43), (41.0, 54.5), 2, 2396),
        ("fr079", (6.55, 13.69), (30.3, 45.6), 2, 1616),
        ("mit_csail", (1.80, 5.50), (5.2, 8.3), 2, 1189),
    ],
)
def test_raw_odometry_of_public_logs(name, translation, rotation, digits, count):
    relations = load_relations(LOGS / f"{name}_relations.csv")
    assert len(relations) == count
    check(displacement_errors(load_log(LOGS / f"{name}.npz").stream, relations), translation, rotation, digits)


@logs
@pytest.mark.parametrize(
    ("name", "reference", "translation", "rotation", "digits"),
    [
        ("fr079", "ref_rbpf", (0.058, 0.042), (0.71, 0.69), 3),
        ("mit_csail", "ref_graph", (0.0046, 0.0094), (0.048, 0.088), 4),
    ],
)
def test_references_of_public_logs_with_odometry_between(name, reference, translation, rotation, digits):
    log, poses = load_log(LOGS / f"{name}.npz"), np.load(LOGS / f"{name}.npz")[reference]
    held = np.isfinite(poses).all(axis=1)
    part = log[held]
    relations = load_relations(LOGS / f"{name}_relations.csv")
    check(displacement_errors(part.along_stream(poses[held]), relations), translation, rotation, digits)


def check(errors, translation, rotation, digits):
    degrees = replace(errors.rotation, each=np.degrees(errors.rotation.each))
    half = 0.5001 * 10.0**-digits
    assert (errors.translation.mean, errors.translation.deviation) == pytest.approx(translation, abs=half)
    half = 0.5001 * 10.0 ** (1 - digits)
    assert (degrees.mean, degrees.deviation) == pytest.approx(rotation, abs=half)


STAMPED = "# t1 t2 x y z roll pitch yaw\n10.04 30.0 1.5 -0.5 0 0 0 0.25\n\n20 30.2 1 0 0 0 0 0\n29.96 20.05 2 0 0.5 0.1 0.1 -3\n"


def test_stamped_relations_mean_the_nearest_poses(tmp_path):
    (tmp_path / "a.relations").write_text(STAMPED)
    stamps = np.array([30.0, np.nan, 10.0, 20.0, 30.0])  # they step back, one is lost, two are equal
    relations = load_stamped_relations(tmp_path / "a.relations", stamps)
    assert (relations.first.tolist(), relations.second.tolist(), relations.left_out) == ([2, 0], [0, 3], 1)
    np.testing.assert_array_equal(relations.motion, [[1.5, -0.5, 0.25], [2, 0, -3]])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 2 3 4 5 6 7\n", "line 1: it has 7 numbers; it needs t1 t2 x y z roll pitch yaw"),
        ("# a\n1 2 3 4 5 6 x 8\n", "line 2: could not convert"),
        ("1 nan 3 4 5 6 7 8\n", "line 1: a number is not finite"),
        ("1 2 3 4 5 6 7 1e99\n", "line 1: a number is not finite, or beyond 1e"),
        ("1 2 3 4 5 6 7 8\n", "has 1 relations, and none between stamps of the log"),
        ("", "has 0 relations, and none"),
    ],
)
def test_wrong_stamped_relations_are_refused(tmp_path, text, words):
    (tmp_path / "a.relations").write_text(text)
    with pytest.raises(InvalidValueError, match=re.escape(words)):
        load_stamped_relations(tmp_path / "a.relations", np.array([10.0, np.nan]))
    with pytest.raises(InvalidValueError, match="there is no file"):
        load_stamped_relations(tmp_path / "b.relations", np.array([10.0]))
    with pytest.raises(InvalidValueError, match="none between stamps"):  # nothing has a stamp
        (tmp_path / "a.relations").write_text(STAMPED)
        load_stamped_relations(tmp_path / "a.relations", np.full(3, np.nan))


def test_relations_that_are_saved_are_read_again(tmp_path):
    truth = np.random.default_rng(2).normal(size=(6, 3))
    relations = relations_of(truth, np.array([0, 3]), np.array([5, 1]))
    save_relations(tmp_path / "r.csv", relations)
    again = load_relations(tmp_path / "r.csv")
    for name in ("first", "second", "motion"):
        np.testing.assert_array_equal(getattr(again, name), getattr(relations, name))
    assert again.left_out == 0


@logs
def test_stamps_of_public_relations_mean_the_rows_that_were_found_for_them(tmp_path):
    """The rows of fr079 whose both stamps are exact."""
    rows = np.genfromtxt(LOGS / "fr079_relations.csv", delimiter=",", names=True)
    rows = rows[rows["stamp_exact"] == 1]
    nothing = np.zeros(len(rows))
    table = [rows["t1"], rows["t2"], rows["dx"], rows["dy"], nothing, nothing, nothing, rows["dtheta"]]
    np.savetxt(tmp_path / "fr079.relations", np.column_stack(table), "%.9f")
    found = load_stamped_relations(tmp_path / "fr079.relations", load_log(LOGS / "fr079.npz").stamps)
    assert len(found) == len(rows) == 136
    np.testing.assert_array_equal(found.first, rows["stream1"])
    np.testing.assert_array_equal(found.second, rows["stream2"])
    np.testing.assert_allclose(found.motion[:, 2], rows["dtheta"])
