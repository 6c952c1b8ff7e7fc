"""Several drives through one place, and several lidars on one robot, become one map."""

from dataclasses import replace

import numpy as np
import pytest
from tests.mapping.slam.test_hard_cases import LASER, RING, SETTINGS, WALLS, away, noisy, odometry, seen, way, world_of

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose, inverse
from covey.mapping.map_of_scans import explained_by, map_of
from covey.mapping.slam.following import follow, follow_with_particles
from covey.mapping.slam.log import Laser, Log, load_log, save_log
from covey.mapping.slam.particle_settings import ParticleSettings
from covey.mapping.slam.saved_graph import graph_as_bytes, load_graph
from covey.mapping.slam.sessions import together

WORLD = world_of(12, 10, *WALLS)


def recorded(name, truth, seed, at=(0.0, 0.0, 0.0)):
    """Return the log of a drive along poses (n, 3); its odometry begins at ``at``, and drifts."""
    rng = np.random.default_rng(seed)
    moved = [np.array(at)]
    for motion in odometry(rng, truth)[1:]:
        moved.append(compose(moved[-1], motion))
    scans = np.array([noisy(rng, seen(WORLD, pose)) for pose in truth])
    driven = np.array(moved)
    return Log(name, LASER, scans, driven, np.arange(len(truth), dtype=float), driven, np.arange(len(truth)))


@pytest.fixture(scope="module")
def drives():
    """Return the true poses and the log of two drives; the second begins elsewhere, with an odometry of its own."""
    first, second = way(RING), way([(0.5, -2.6), (3.8, -2.9), (4.1, 1.0)])
    return (first, recorded("monday", first, 0)), (second, recorded("tuesday", second, 1, (70.0, -8.0, 2.0)))


@pytest.fixture(scope="module")
def alone(drives):
    """Return what SLAM finds along the first drive."""
    return follow(drives[0][1], SETTINGS)


def in_first(truth, first):
    return compose(inverse(first[0]), truth)


def test_two_logs_with_unknown_starts_become_one_map(drives):
    (first, monday), (second, tuesday) = drives
    log = together([monday, tuesday])
    assert (log.name, log.begins, len(log)) == ("monday+tuesday", (0, len(first)), len(first) + len(second))
    found = follow(log, SETTINGS)
    assert found.slam.pieces.joined == [True, True]
    assert found.slam.pieces.bridges == [], "nobody was carried"
    assert away(found.poses, in_first(np.vstack((first, second)), first)).max() < 0.25


def test_a_saved_graph_is_read_back_to_the_same_bytes_and_continued(drives, alone, tmp_path):
    (first, monday), (second, tuesday) = drives
    held = graph_as_bytes(monday, alone.slam)
    (tmp_path / "graph.npz").write_bytes(held)
    log, slam = load_graph(tmp_path)
    assert graph_as_bytes(log, slam) == held
    np.testing.assert_array_equal(slam.poses, alone.slam.poses)
    for one, other in zip(slam.frames, alone.slam.frames, strict=True):
        np.testing.assert_array_equal(one.points, other.points)
        np.testing.assert_array_equal(one.normals, other.normals)
    found = follow(together([log, tuesday]), continued=slam)
    assert found.known == len(log)
    assert found.slam.pieces.joined == [True, True]
    truth = np.vstack((first[alone.key_rows], second))
    assert away(found.poses, in_first(truth, first)).max() < 0.25


def test_a_graph_of_another_version_or_none_is_refused(drives, alone, tmp_path):
    path = tmp_path / "graph.npz"
    path.write_bytes(graph_as_bytes(drives[0][1], alone.slam))
    arrays = dict(np.load(path))
    np.savez(tmp_path / "newer.npz", **arrays | {"format": 2})
    with pytest.raises(InvalidValueError, match="has format 2; this Covey reads format 1"):
        load_graph(tmp_path / "newer.npz")
    save_log(tmp_path / "log.npz", drives[0][1])
    with pytest.raises(InvalidValueError, match=r"is no graph of covey slam.*take the file graph\.npz"):
        load_graph(tmp_path / "log.npz")
    (tmp_path / "cut.npz").write_bytes(path.read_bytes()[:500])
    with pytest.raises(InvalidValueError, match="cannot be read as a graph"):
        load_graph(tmp_path / "cut.npz")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("ends", lambda a: a + 10**6),  # kernels would read beyond their arrays
        ("ends", lambda a: -a),
        ("ends", lambda a: a.astype(complex)),
        ("poses", lambda a: a[:-1]),
        ("poses", lambda a: a * np.nan),
        ("motion", lambda a: a[:, :2]),
        ("information", lambda a: a * np.inf),
        ("piece_begins", lambda a: a + 1),
        ("piece_begins", lambda a: a[:0]),
        ("piece_joined", lambda a: np.append(a, a)),
        ("noise", lambda a: a * 0.0),
        ("rows", lambda a: a[::-1]),
        ("angles", lambda a: a > 0),
        ("range_max", lambda a: a * 1e300),
        ("begins", lambda a: a - 1),
    ],
)
def test_a_graph_that_contradicts_itself_is_refused(drives, alone, tmp_path, name, change):
    (tmp_path / "graph.npz").write_bytes(graph_as_bytes(drives[0][1], alone.slam))
    arrays = dict(np.load(tmp_path / "graph.npz"))
    with np.errstate(invalid="ignore"):
        np.savez(tmp_path / "graph.npz", **arrays | {name: change(arrays[name])})
    with pytest.raises(InvalidValueError):
        load_graph(tmp_path)


def test_a_session_at_a_place_never_seen_stays_apart_and_does_not_mislead_the_next(drives):
    (first, monday), (second, tuesday) = drives
    other = world_of(20, 7, (-5, -1, -4.5, 2), (3, -2, 6, -1.5), (0, 0.5, 0.3, 3.5))
    rng, further = np.random.default_rng(2), way([(-7, -2.5), (-2, -2.2)])
    elsewhere = recorded("elsewhere", further, 3)
    elsewhere = replace(elsewhere, ranges=np.array([noisy(rng, seen(other, pose)) for pose in further]))
    found = follow(together([monday, elsewhere, tuesday]), SETTINGS)
    assert found.slam.pieces.joined == [True, False, True]
    assert away(found.poses[-len(second) :], in_first(second, first)).max() < 0.25


def two_lidars(truth, log):
    """Return the log of a robot with two lidars: one looks ahead, one back, half a metre apart; they take turns."""
    rng, mounts = np.random.default_rng(5), np.array([[0.2, 0.0, 0.0], [-0.3, 0.05, np.pi]])
    half = np.flatnonzero(np.abs(LASER.angles) < 1.4)
    each = mounts[np.arange(len(truth)) % 2]
    eyes = compose(truth, each)
    scans = np.array([noisy(rng, seen(WORLD, eye))[half] for eye in eyes])
    laser = Laser(LASER.angles[half], LASER.range_max, tuple(mounts[0].tolist()))
    return replace(log, name="two", laser=laser, ranges=scans, mounts=each)


def test_two_lidars_of_a_log_are_used_each_with_its_own_mount(drives, tmp_path):
    (first, monday), _ = drives
    save_log(tmp_path / "two.npz", two_lidars(first, monday))
    log = load_log(tmp_path / "two.npz")
    found = follow(log, SETTINGS)
    assert away(found.poses, in_first(first, first)).max() < 0.2
    assert {tuple(frame.eye) for frame in found.slam.frames} == {(0.2, 0.0), (-0.3, 0.05)}
    rows = found.key_rows
    grid = map_of(log[rows], found.poses[rows], 0.05, 8.0)
    assert explained_by(log, found.poses, grid, 8.0).share() > 0.95
    one = replace(log, mounts=None)
    assert explained_by(one, found.poses, map_of(one[rows], found.poses[rows], 0.05, 8.0), 8.0).share() < 0.9, (
        "both ahead"
    )


def test_particles_refuse_what_they_cannot_take(drives):
    (first, monday), (_, tuesday) = drives
    with pytest.raises(InvalidValueError, match="several sessions; particles take one of them"):
        follow_with_particles(together([monday, tuesday]), ParticleSettings())
    with pytest.raises(InvalidValueError, match="several lidars"):
        follow_with_particles(two_lidars(first, monday), ParticleSettings())


def test_logs_of_other_lidars_keep_their_beams_and_their_reach(drives):
    (_, monday), (_, tuesday) = drives
    laser = Laser(LASER.angles[:90], 5.0, (0.1, 0.0, 0.5))
    short = replace(tuesday, laser=laser, ranges=tuesday.ranges[:, :90])
    log = together([monday, short])
    for row in (0, len(monday) - 1):
        np.testing.assert_allclose(log.points(row), monday.points(row), atol=1e-9)
    for row in (0, len(short) - 1):
        np.testing.assert_allclose(log.points(len(monday) + row), short.points(row), atol=1e-6)
