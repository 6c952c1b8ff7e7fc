import numpy as np
import pytest

import covey

SQUARE = [(0, 0), (10, 0), (10, 10), (0, 10)]


def play(law, robots=3, **settings):
    return covey.play(law, **({"robots": robots, "workspace": SQUARE, "stop_s": 1.0, "speed": "max"} | settings))


def test_cyclic_pursuit_settles_on_the_circle_of_theory():
    def law(team):
        return 0.2, 0.8 * team.bearing_to(team.after(1))

    out = play(law, 6, stop_s=60, seed=0)
    centre = out.poses[-1, :, :2].mean(axis=0)
    # Marshall, Broucke, Francis 2004: r = s / (k pi d / n) with d = 1
    assert np.hypot(*(out.poses[-1, :, :2] - centre).T) == pytest.approx(0.2 * 6 / (0.8 * np.pi), abs=0.01)


def test_arrays_of_a_run():
    out = play(lambda team: (0.5, 0.0), starts=[(1, 1, 0), (1, 3, np.pi / 2), (1, 5, 0)], sampling_s=0.2)
    assert out.time == pytest.approx(np.arange(6) * 0.2)
    assert out.poses.shape == (6, 3, 3)
    assert out.commands.shape == (5, 3, 3)
    assert out.poses[0].tolist() == [[1, 1, 0], [1, 3, np.pi / 2], [1, 5, 0]]
    assert out.poses[-1] == pytest.approx(np.array([[1.5, 1, 0], [1, 3.5, np.pi / 2], [1.5, 5, 0]]))
    assert (out.commands == [0.5, 0, 0]).all()
    assert out.workspace.tolist() == [list(map(float, p)) for p in SQUARE]


def test_the_team_in_its_own_words():
    seen = {}

    def law(team):
        seen["after"], seen["before"] = team.after(1).tolist(), team.before(1).tolist()
        seen["bearing"], seen["distance"] = team.bearing_to((1, 5)), team.distance_to(team.after(1))
        seen["offset"] = team.offset_to(0)
        seen["named"] = team.distance_to("robot2")
        seen["dt"], seen["workspace"] = team.dt, team.workspace.tolist()
        return 0.0, 0.0

    # robot 0 looks east, robot 1 north, robot 2 west
    play(law, starts=[(1, 1, 0), (4, 5, np.pi / 2), (1, 8, np.pi)], stop_s=0.1)
    assert seen["after"] == [1, 2, 0]
    assert seen["before"] == [2, 0, 1]
    assert seen["bearing"] == pytest.approx([np.pi / 2, np.pi / 2, np.pi / 2])
    assert seen["distance"] == pytest.approx([5, np.sqrt(18), 7])
    assert seen["offset"] == pytest.approx(np.array([[0, 0], [-4, 3], [0, 7]]), abs=1e-12)
    assert seen["named"] == pytest.approx([7, np.sqrt(18), 0])
    assert (seen["dt"], seen["workspace"]) == (0.1, [list(map(float, p)) for p in SQUARE])


def test_bearings_are_above_minus_pi_and_up_to_pi():
    seen = []

    def law(team):
        seen.append(team.bearing_to((1.0, 1.0)))
        return 0, 0

    play(law, starts=[(3, 1, 0), (5, 1, 0.5), (7, 1, -0.5)], stop_s=0.1)
    assert seen[0] == pytest.approx([np.pi, np.pi - 0.5, -np.pi + 0.5])


@pytest.mark.parametrize(
    ("answer", "twist"),
    [
        (lambda n: (0.3, 0.1), (0.3, 0, 0.1)),
        (lambda n: (np.full(n, 0.3), 0.1), (0.3, 0, 0.1)),
        (lambda n: [0.3, np.full(n, 0.1)], (0.3, 0, 0.1)),
        (lambda n: np.tile([0.3, 0.1], (n, 1)), (0.3, 0, 0.1)),
        (lambda n: [(0.3, 0.1)] * n, (0.3, 0, 0.1)),
        (lambda n: np.tile([0.3, 0, 0.1], (n, 1)), (0.3, 0, 0.1)),
    ],
)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_answers(answer, twist, n):
    out = play(lambda team: answer(n), n)
    assert (out.commands == twist).all()


def test_holonomic_robots_are_commanded_in_the_world_frame():
    model = covey.robots.disc(kinematics="holonomic")
    out = play(lambda team: (0.3, -0.4), 2, robot=model, starts=[(2, 5, 0.0), (5, 5, 2.0)])
    assert out.poses[-1] == pytest.approx(np.array([[2.3, 4.6, 0], [5.3, 4.6, 2.0]]), abs=1e-9)


def test_leaving_an_open_workspace_is_told_by_its_polygon():
    triangle = [(0, 0), (10, 0), (0, 10)]
    out = play(lambda team: (1.0, 0.0), 1, workspace=triangle, border="open", starts=[(4.05, 5, 0)], stop_s=3)
    (event,) = out.events.to_dicts()
    # it leaves across x + y = 10, after 0.95 m: between 0.9 and 1.0 s
    assert (event["kind"], event["time_s"]) == ("left_world", pytest.approx(1.0))
    assert out.poses[-1, 0] == pytest.approx([7.05, 5, 0])


def test_the_same_seed_gives_the_same_run():
    def law(team):
        return 0.3, team.random.normal(size=team.count)

    first, again, other = (play(law, seed=seed) for seed in (1, 1, 2))
    assert (first.poses == again.poses).all()
    assert not (first.poses[0] == other.poses[0]).any()


def test_memory_lasts_for_one_run():
    counts = []

    def law(team):
        team.memory.calls = getattr(team.memory, "calls", 0) + 1
        counts.append(team.memory.calls)
        return 0, 0

    play(law, stop_s=0.3)
    play(law, stop_s=0.3)
    assert counts == [1, 2, 3, 1, 2, 3]
