"""Vectors of worlds: the same arrays as their worlds alone, and each way to begin anew."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import covey
from covey.errors import CoveyError, InvalidValueError, UnknownNameError
from covey.learning import vector_env
from covey.scenario.records import Scenario

ROOM = Scenario.model_validate(
    {
        "world": {"empty_m": [8, 6]},
        "robots": [
            {"name": "r", "robot": "disc", "count": 2, "start": [[-2, 0, 0], [2, 0, 180]], "controller": "still"},
        ],
        "mission": "coverage",
        "stop": {"timeout_s": 0.5},
    }
)


def test_each_world_is_what_it_is_alone():
    both = vector_env(ROOM, 2, observe=["pose", "velocity"])
    shown, _ = both.reset(seed=4)
    assert both.num_envs == 4
    alone = [covey.env(ROOM, observe=["pose", "velocity"]) for _ in range(2)]
    for k, one in enumerate(alone):
        one.reset(seed=4 + k)
    chosen = np.random.default_rng(0).uniform(-1, 1, (4, 4, 2)).astype(np.float32)
    for actions in chosen:
        shown, rewards, *_ = both.step(actions)
        for k, one in enumerate(alone):
            part = slice(2 * k, 2 * k + 2)
            theirs, gains, *_ = one.step(dict(zip(one.agents, actions[part], strict=True)))
            for key in ("pose", "velocity"):
                np.testing.assert_array_equal(shown[key][part], [theirs[name][key] for name in one.agents])
            np.testing.assert_array_equal(rewards[part], list(gains.values()))
    for one in (both, *alone):
        one.close()


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_a_world_whose_run_is_over_begins_anew(mode):
    both = vector_env(ROOM, 2, autoreset=mode, observe="pose")
    assert both.metadata["autoreset_mode"] is AutoresetMode[mode.upper()]
    first = both.reset(seed=4)[0].copy()
    still = np.zeros((4, 2), np.float32)
    for _ in range(4):
        _, _, terminated, truncated, infos = both.step(np.ones((4, 2), np.float32))
        assert not (terminated | truncated).any()
        assert infos["acts"].all()
    shown, _, terminated, truncated, infos = both.step(np.ones((4, 2), np.float32))
    assert truncated.all()
    assert not terminated.any()
    if mode == "same_step":
        np.testing.assert_array_equal(shown, first)
        assert infos["_final_obs"].all()
        assert (infos["final_obs"][:, 0] != first[:, 0]).all()
    else:
        assert (shown[:, 0] != first[:, 0]).all()
    if mode == "next_step":
        shown, rewards, terminated, truncated, _ = both.step(still)
        np.testing.assert_array_equal(shown, first)
        assert not rewards.any()
        assert not (terminated | truncated).any()
    if mode == "disabled":
        with pytest.raises(InvalidValueError, match="reset_mask"):
            both.step(still)
        shown, _ = both.reset(options={"reset_mask": np.array([True, True, False, False])})
        np.testing.assert_array_equal(shown[:2], first[:2])
        with pytest.raises(InvalidValueError, match="world 1 is over"):
            both.step(still)
    both.close()


@pytest.mark.parametrize("wrong", [np.zeros((3, 2)), np.full((4, 2), np.inf), "fast", np.zeros(4)])
def test_wrong_actions_are_refused_before_any_world_moves(wrong):
    both = vector_env(ROOM, 2, observe="pose")
    both.reset(seed=1)
    with pytest.raises(InvalidValueError, match=r"give \(4, 2\)"):
        both.step(wrong)
    assert [world.sim.time for world in both.worlds] == [0.0, 0.0]
    both.close()
    with pytest.raises(InvalidValueError, match="call reset"):
        both.step(np.zeros((4, 2)))


def test_what_cannot_be_a_vector_says_why():
    with pytest.raises(InvalidValueError, match="worlds is 0"):
        vector_env(ROOM, 0)
    with pytest.raises(UnknownNameError, match="setting of an environment 'observ', did you mean 'observe'"):
        vector_env(ROOM, 1, observ="pose")
    with pytest.raises(InvalidValueError, match="autoreset is 'later'"):
        vector_env(ROOM, 1, autoreset="later")
    other = {
        "name": "h",
        "robot": {"base": "disc", "kinematics": "holonomic"},
        "start": [[0, 2, 0]],
        "controller": "still",
    }
    mixed = Scenario.model_validate(
        ROOM.model_dump(include={"seed"})
        | {
            "world": {"empty_m": [8, 6]},
            "robots": [{"name": "r", "robot": "disc", "start": [[0, 0, 0]], "controller": "still"}, other],
        }
    )
    with pytest.raises(CoveyError, match="let one kind of robots learn"):
        vector_env(mixed, 1, observe="pose")
    varied = vector_env(ROOM, 2, observe="pose", vary={"robots.r.start": {"choice": [{"spread": {}}]}})
    with pytest.raises(InvalidValueError, match="there are 3 seeds for 2 worlds"):
        varied.reset(seed=[1, 2, 3])
    varied.close()
