"""Files of g2o: read, written, refused; and published pose graphs, where they are on this machine."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.mapping.slam.g2o import read_g2o, write_g2o
from covey.mapping.slam.pose_graph import PoseGraph, optimise

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "slam" / "pose_graphs"

VERTICES = "VERTEX_SE2 3 1.0 2.0 0.5\nVERTEX_SE2 7 4 5 -1e-1\n"
EDGE = "EDGE_SE2 7 3 1 2 1.5707963267948966 4 1 0 9 0 2\n"


def test_a_file_is_read(tmp_path):
    path = tmp_path / "two.g2o"
    path.write_text(f"# made by hand\n\nFIX 3\n{VERTICES}{EDGE}")
    graph = read_g2o(path)
    np.testing.assert_array_equal(graph.poses, [[1, 2, 0.5], [4, 5, -0.1]])
    assert (graph.first.tolist(), graph.second.tolist()) == ([1], [0])
    np.testing.assert_array_equal(graph.motion, [[1, 2, np.pi / 2]])
    # The relation turns left by 90 degrees: x of the measured pose is y of the first.
    np.testing.assert_allclose(graph.information[0], [[9, -1, 0], [-1, 4, 0], [0, 0, 2]], atol=1e-12)


@pytest.mark.parametrize("name", ["graph.g2o", "graph.g2o.gz"])
def test_what_is_written_is_read_back(tmp_path, name):
    rng = np.random.default_rng(0)
    half = rng.normal(size=(5, 3, 3))
    motion, poses = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    graph = PoseGraph(poses, [0, 1, 2, 3, 0], [1, 2, 3, 0, 2], motion, half @ half.transpose(0, 2, 1) + np.eye(3))
    path = tmp_path / name
    write_g2o(path, graph)
    again = read_g2o(path)
    for field in ("poses", "first", "second", "motion"):
        np.testing.assert_array_equal(getattr(again, field), getattr(graph, field))
    np.testing.assert_allclose(again.information, graph.information, rtol=1e-12)
    first = path.read_bytes()
    write_g2o(path, graph)
    assert path.read_bytes() == first


def test_without_vertices_the_poses_follow_the_edges(tmp_path):
    path = tmp_path / "edges.g2o"
    path.write_text("EDGE_SE2 10 20 1 0 1.5707963267948966 1 0 0 1 0 1\nEDGE_SE2 20 30 2 0 0 1 0 0 1 0 1\n")
    np.testing.assert_allclose(read_g2o(path).poses, [[0, 0, 0], [1, 0, np.pi / 2], [1, 2, np.pi / 2]], atol=1e-12)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "neither VERTEX_SE2 nor EDGE_SE2"),
        (VERTICES + EDGE[:-6], "line 3: EDGE_SE2 has 11 numbers, not 8; is the file cut off"),
        ("VERTEX_SE2 1 2 3\n", "line 1: VERTEX_SE2 has 4 numbers, not 3"),
        ("VERTEX_SE2 1 2 3 x\n", "line 1: could not convert"),
        ("VERTEX_SE2 1.5 2 3 4\n", "line 1: invalid literal"),
        ("VERTEX_SE2 1 2 nan 4\n", "line 1: a number is not finite"),
        (VERTICES + VERTICES, "line 3: vertex 3 is there already"),
        ("VERTEX_SE3:QUAT 1 2 3 4 0 0 0 1\n", "line 1: 'VERTEX_SE3:QUAT' is not read"),
        (VERTICES + EDGE.replace("7 3", "7 4"), "line 3: one of its vertices has no line"),
        (VERTICES + EDGE.replace("7 3", "7 7"), "line 3: it connects a vertex with itself"),
        (VERTICES + EDGE + EDGE.replace("9 0 2", "9 0 -2"), "line 4: the information is not positive definite"),
        ("EDGE_SE2 1 2 0 0 0 1 0 0 1 0 1\nEDGE_SE2 3 4 0 0 0 1 0 0 1 0 1\n", "pose 2 of the graph is not connected"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(tmp_path, text, words):
    path = tmp_path / "wrong.g2o"
    path.write_text(text)
    with pytest.raises(InvalidValueError, match=words):
        read_g2o(path)


def test_files_that_are_missing_cut_off_or_no_text_are_refused(tmp_path):
    (tmp_path / "graph.g2o").write_bytes(b"VERTEX_SE2 1 \xff")
    with pytest.raises(InvalidValueError, match=r"there is no file .*did you mean .*graph\.g2o"):
        read_g2o(tmp_path / "grap.g2o")
    with pytest.raises(InvalidValueError, match="cannot be read after line 0"):
        read_g2o(tmp_path / "graph.g2o")
    rng = np.random.default_rng(0)
    lines = "".join(f"VERTEX_SE2 {k} {rng.normal()} 0 0\n" for k in range(5000))
    (tmp_path / "cut.g2o.gz").write_bytes(gzip.compress(lines.encode())[:-2000])
    with pytest.raises(InvalidValueError, match=r"is cut off after line \d{4}"):
        read_g2o(tmp_path / "cut.g2o.gz")
    (tmp_path / "plain.g2o.gz").write_text(lines)
    with pytest.raises(InvalidValueError, match="cannot be read after line 0"):
        read_g2o(tmp_path / "plain.g2o.gz")


def chordal(graph):
    """Return the graph of SE-Sync's objective: Σ κ‖R_j - R_i R_ij‖² + τ‖t_j - t_i - R_i t_ij‖²; the first is 8 κ sin² e/2."""
    xy = np.linalg.inv(graph.information[:, :2, :2])
    information = np.zeros_like(graph.information)
    information[:, 0, 0] = information[:, 1, 1] = 2.0 / np.trace(xy, axis1=1, axis2=2)
    information[:, 2, 2] = 2.0 * graph.information[:, 2, 2]
    return PoseGraph(graph.poses, graph.first, graph.second, graph.motion, information)


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published pose graphs are not on this machine")
@pytest.mark.parametrize(
    ("name", "optimum"),
    [
        ("manhattan", 6431.4),
        ("city10000", 638.62),
        ("csail", 31.704),
        ("intel", 52.348),
        ("ais2klinik", 188.50),
    ],
)
def test_the_optimum_of_se_sync_is_reached(name, optimum):
    """Rosen et al. 2019, table 1, to its digits; proven to be the global ones."""
    found = optimise(chordal(read_g2o(PUBLISHED / f"{name}.g2o.gz")), chordal=True)
    assert found.converged
    assert found.cost == pytest.approx(optimum, rel=2e-5)


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published pose graphs are not on this machine")
@pytest.mark.parametrize(
    ("name", "optimum"),
    [
        ("intel", 44.4178),
        ("manhattan", 3533.46),
        ("city10000", 511.985),
        ("ais2klinik", 172.654),
        ("csail", 61.143),
    ],
)
def test_the_optimum_with_the_full_information_is_reached(name, optimum):
    """Found by another implementation, which takes the information of the file for the numbers of the relation."""
    graph = read_g2o(PUBLISHED / f"{name}.g2o.gz")
    c, s = np.cos(graph.motion[:, 2]), np.sin(graph.motion[:, 2])
    zero, one = np.zeros_like(c), np.ones_like(c)
    back = np.array([[c, s, zero], [-s, c, zero], [zero, zero, one]]).transpose(2, 0, 1)
    information = back @ graph.information @ back.transpose(0, 2, 1)
    found = optimise(PoseGraph(graph.poses, graph.first, graph.second, graph.motion, information))
    assert found.converged
    assert found.cost == pytest.approx(optimum, rel=2e-5)
