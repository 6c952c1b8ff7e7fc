"""Vectors of worlds in a batch: the same bytes as environments one by one, however their episodes end."""

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.learning import vector_env
from covey.scenario.records import Scenario

RING = {"kind": "proximity", "sectors": 6, "range_m": 2, "sigma_m": 0.02, "dropout": 0.1}


def room(timeout_s=0.7, mission="exploration", **group):
    """Return a scenario of three robots that learn among two that stand."""
    robot = {"base": "disc", "sensors": [RING], "command_delay_s": 0.05}
    learning = {"name": "r", "robot": robot, "count": 3, "start": {"apart": {}}, "controller": "still"} | group
    still = {"name": "s", "robot": "disc", "count": 2, "start": {"apart": {}}}
    return Scenario.model_validate(
        {
            "world": {"empty_m": [4, 4]},
            "robots": [still, learning],
            "mission": mission,
            "stop": {"timeout_s": timeout_s},
        }
    )


def floor(**stop):
    """Return a scenario of two robots that explore and one that stands and looks."""
    lidar = {"kind": "lidar", "rays": 30, "range_m": 3, "sigma_m": 0.02}
    robot = {"base": "disc", "sensors": [lidar, {"kind": "neighbours"}], "mapping": {"resolution_m": 0.1}}
    robots = [
        {"name": "s", "robot": robot, "start": {"apart": {}}, "controller": "still"},
        {"name": "r", "robot": robot, "count": 2, "start": {"apart": {}}, "controller": "still"},
    ]
    world = {"generate": "office", "size_m": [11, 9], "resolution_m": 0.1, "seed": 2}
    return Scenario.model_validate({"world": world, "robots": robots, "stop": {"timeout_s": 0.9, **stop}})


SEEN = ["pose", "velocity", "ranges", "neighbours"]
REWARD = {"distance_m": 1.0, "collisions_robot": -0.5, "collisions_wall": -0.25, "energy_j": -0.01}


def pair(scenario, worlds=3, **settings):
    """Return a vector in a batch, and the same apart, as it is rendered."""
    settings = {"learn": "r", "observe": SEEN, "reward": REWARD} | settings
    both = vector_env(scenario, worlds, **settings), vector_env(scenario, worlds, render_mode="rgb_array", **settings)
    return both


def same(ours, theirs):
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert type(a) is type(b)
        if isinstance(a, dict):
            assert a.keys() == b.keys()
            same(list(a.values()), list(b.values()))
        else:
            assert a.dtype == b.dtype
            assert a.shape == b.shape
            assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize(
    ("scenario", "settings"),
    [
        (room(), {}),
        (room(), {"every_s": 0.3}),
        (room(), {"action": "headings"}),
        (floor(explored=0.3), {"reward": None, "observe": [{"patch": {"cells": 9}}, "map", "frontiers"]}),
        (floor(), {"reward": {"explored_share": 1.0}, "observe": "patch", "every_s": 0.2}),
        (room(timeout_s=1, mission="navigation"), {"reward": None, "observe": ["goal", "ranges"], "every_s": 0.1}),
        (
            room(timeout_s=2.4, mission={"dispersion": {"within_m": 1.2}}),
            {"reward": None, "observe": ["places", "pose"], "every_s": 0.2},
        ),
        (room(timeout_s=4, count=1), {"goals": True, "reward": None, "observe": ["goal", "ranges"], "every_s": 0.2}),
    ],
    ids=["twist", "every third step", "headings", "maps", "a map", "navigation", "dispersion", "goals"],
)
def test_a_batch_has_the_bytes_of_worlds_apart(scenario, settings, mode):
    together, apart = pair(scenario, autoreset=mode, **settings)
    same(together.reset(seed=4), apart.reset(seed=4))
    assert together.batch is not None
    assert apart.batch is None
    random, over, ended = np.random.default_rng(0), 0, False
    found = together.reset(seed=5)
    same(found, apart.reset(seed=5))
    for step in range(24):
        if "goals" in settings:  # drive there
            _, cosine, sine = found[0]["goal"].T
            actions = np.column_stack((np.maximum(cosine, 0), sine))
        elif together.single_action_space.shape:
            actions = random.uniform(-1, 1, (together.num_envs, 2)).astype(np.float32)
        else:
            actions = random.integers(9, size=together.num_envs)
        found, expected = together.step(actions), apart.step(actions)
        same(found, expected)
        ended |= bool(found[2].any())
        over += int(found[2].sum()) + int(found[3].sum())
        if step == 9:  # one world begins anew while the others go on
            options = {"reset_mask": np.repeat([False, True, False], together.robots)}
            same(together.reset(options=options), apart.reset(options=options))
    assert over >= together.num_envs
    assert not (settings.get("goals") or together.worlds[0].scenario.stop.explored) or ended
    for one in (together, apart):
        one.close()


def test_a_wrong_seed_is_refused_in_a_batch_and_apart():
    wrong = [float("nan"), True, "ab", b"ab", np.array(3), 2**63, [1, 2**63], [1, True], [1, -1], [1, [2]]]
    for worlds in pair(room(), 2):
        for seed in wrong:
            with pytest.raises(InvalidValueError, match="seed is "):
                worlds.reset(seed=seed)
        worlds.close()


def test_wrong_options_are_refused_in_a_batch_and_apart():
    for worlds in pair(room(), 2):
        for mask in ([True], "x", np.ones(7, bool), np.full(6, np.nan), np.ones((2, 3), bool)):
            with pytest.raises(
                InvalidValueError, match=r"reset_mask has the shape .* a truth value for each of 6 agents"
            ):
                worlds.reset(options={"reset_mask": mask})
        for options, name in ((5, "options"), ({"scenario": 3}, "scenario")):
            with pytest.raises(InvalidValueError, match=f"{name} is .; give a mapping"):
                worlds.reset(options=options)
        worlds.close()
