import numpy as np
import pytest

import covey
from covey.testing.boundary import named_from, reachable_from

SQUARE = [(0, 0), (10, 0), (10, 10), (0, 10)]


def play(law, robots=3, **settings):
    return covey.play(law, **({"robots": robots, "workspace": SQUARE, "stop_s": 0.2, "speed": "max"} | settings))


def held_by(item):
    """Return all numbers of the arrays that can be reached from an object by public names."""
    arrays = [a for a in named_from(item) if isinstance(a, np.ndarray) and a.dtype.kind == "f"]
    return np.concatenate([np.zeros(0), *(a.ravel() for a in arrays)])


def test_a_law_that_sees_positions_sees_nothing_else():
    missing = []

    @covey.law(sees=("position",))
    def law(team):
        for name in ("pose", "heading", "velocity", "true_pose", "collided", "pose_covariance", "proximity"):
            try:
                getattr(team, name)
            except AttributeError:
                missing.append(name)
        for call in (lambda: team.bearing_to(0), lambda: team.offset_to(0)):
            with pytest.raises(AttributeError, match="does not see 'heading'"):
                call()
        assert team.distance_to(0)[0] == 0
        missing.append(len(set(held_by(team).tolist()) & {0.7, 0.8, 0.9}))
        return 0, 0

    out = play(law, starts=[(1, 1, 0.7), (2, 2, 0.8), (3, 3, 0.9)], stop_s=0.1)
    assert out.status == "timeout"
    assert missing == ["pose", "heading", "velocity", "true_pose", "collided", "pose_covariance", "proximity", 0]


def test_the_law_of_a_robot_sees_itself_and_its_neighbours_from_its_own_place():
    seen = {}

    @covey.law(graph=covey.graphs.proximity(3))
    def law(me):
        seen[me.name] = (me.pose.tolist(), me.neighbours)
        return 0, 0

    # robot 0 looks north and sees robot 1, 2 m to the east: on its right
    play(law, starts=[(1, 1, np.pi / 2), (3, 1, np.pi), (9, 9, 0)], stop_s=0.1)
    pose, near = seen["robot0"]
    assert pose == [1, 1, np.pi / 2]
    assert near.names == ["robot1"]
    assert near.distance == pytest.approx([2])
    assert near.bearing == pytest.approx([-np.pi / 2])
    assert near.offset == pytest.approx(np.array([[0, -2]]), abs=1e-12)
    assert near.heading == pytest.approx([np.pi / 2])
    assert len(seen["robot1"][1]) == 1
    assert seen["robot1"][1].bearing == pytest.approx([0], abs=1e-12)
    assert len(seen["robot2"][1]) == 0


def test_the_law_of_a_robot_reaches_no_other():
    numbers, kinds = [], set()

    @covey.law(graph=covey.graphs.k_nearest(1))
    def law(me):
        if me.name == "robot0":
            numbers.append(held_by(me))
            kinds.update(type(item).__name__ for item in reachable_from(vars(me)))
            with pytest.raises(AttributeError, match="does not see 'team'"):
                me.team  # noqa: B018
        return 0, 0

    play(law, starts=[(1.25, 1.5, 0.7), (2.375, 2.625, 0.8), (7.0625, 8.03125, 0.9)], stop_s=0.1)
    (held,) = numbers
    assert 1.25 in held
    assert not set(held.tolist()) & {2.375, 2.625, 0.8, 7.0625, 8.03125, 0.9}
    assert "GroupView" not in kinds


def test_without_its_pose_a_robot_sees_only_offsets():
    held = []

    @covey.law(graph=covey.graphs.complete(), sees=())
    def law(me):
        held.extend(held_by(me))
        with pytest.raises(AttributeError, match="does not see 'position'"):
            me.position  # noqa: B018
        return 0, 0

    out = play(law, 2, starts=[(1.25, 1.5, 0.7), (2.375, 2.625, 0.8)], stop_s=0.1)
    assert out.status == "timeout"
    assert not set(held) & {1.25, 1.5, 0.7, 2.375, 2.625}


def test_a_law_that_sees_a_sensor_sees_nothing_else():
    seen = []

    @covey.law(sees=("proximity",))
    def law(team):
        seen.append(team.proximity.presence.tolist())
        assert (team.reading("proximity").presence == team.proximity.presence).all()
        for name in ("pose", "position", "heading", "velocity"):
            with pytest.raises(AttributeError):
                getattr(team, name)
        return 0, 0

    ring = covey.RobotModel(radius_m=0.1, sensors=({"kind": "proximity", "sectors": 4, "range_m": 1},))
    play(law, 2, robot=ring, starts=[(0.5, 5, 0), (5, 5, 0)], stop_s=0.1)
    assert seen == [[[False, False, True, False], [False] * 4]]  # the wall in the west is behind robot 0


def test_a_law_of_one_robot_keeps_its_own_memory_and_random_numbers():
    drawn = {}

    @covey.law(graph=covey.graphs.complete())
    def law(me):
        me.memory.steps = getattr(me.memory, "steps", 0) + 1
        drawn.setdefault(me.name, []).append((me.memory.steps, me.random.uniform()))
        return 0, 0

    play(law, 2)
    first, second = drawn.values()
    assert [step for step, _ in first] == [step for step, _ in second] == [1, 2]
    assert len({value for _, value in first + second}) == 4


def test_robots_that_hear_each_other_are_neighbours_by_radio():
    seen = []

    @covey.law(graph=covey.graphs.radio())
    def law(me):
        seen.append((me.name, me.neighbours.names))
        return 0, 0

    group = covey.Group("r", covey.robots.disc(), [(1, 1, 0), (3, 1, 0), (9, 1, 0)], law)
    sim = covey.Simulation(covey.World.polygons(SQUARE), [group], radio=4.0)
    sim.step()
    assert seen == [("r0", ["r1"]), ("r1", ["r0"]), ("r2", [])]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "the law returned nothing for robot0; end it with: return speed, turn"),
        (0.5, "the law returned 0.5 for robot0"),
        ((1, 2, 3, 4), r"the law returned \(1, 2, 3, 4\) for robot0"),
        ((1, "fast"), r"the law returned \(1, 'fast'\) for robot0"),
    ],
)
def test_wrong_answers_of_one_robot(answer, said, caplog):
    @covey.law(graph=covey.graphs.complete())
    def law(me):
        return answer

    with pytest.raises(covey.ControllerError, match=said) as caught:
        play(law, 2)
    assert f"test_law.py:{law.__wrapped__.__code__.co_firstlineno + 2} in law" in str(caught.value)
