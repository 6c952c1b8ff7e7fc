"""Environments of one robot pass Gymnasium's own tests; what libraries exchange is taken and given without copies."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import max_cycles_test, render_test
from pettingzoo.utils import parallel_to_aec

import covey
from covey.errors import CoveyError, InvalidValueError
from covey.learning import single_env, vector_env
from covey.scenario.records import Scenario


def room(count=1, **changes):
    robot = {"base": "disc", "sensors": [{"kind": "proximity", "sectors": 4, "range_m": 2}]}
    group = {"name": "r", "robot": robot, "count": count, "start": [[2 * k, 0, 0] for k in range(count)]}
    given = {"world": {"empty_m": [8, 6]}, "robots": [group], "mission": "coverage", "stop": {"timeout_s": 1}}
    return Scenario.model_validate(given | changes)


class OnlyDlpack:
    """An array of a library that NumPy knows only by DLPack."""

    def __init__(self, values, device=1):
        self.values, self.device = np.asarray(values), device

    def __dlpack__(self, **how):
        if self.device != 1:
            raise BufferError("it lies on another device")
        return self.values.__dlpack__(**how)

    def __dlpack_device__(self):
        return (self.device, 0)


@pytest.mark.parametrize("settings", [{"observe": "pose"}, {"observe": ["velocity", "ranges"]}, {"goals": True}])
def test_one_robot_passes_the_checks_of_gymnasium(settings):
    world = single_env(room(), render_mode="rgb_array", **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*not within the observation space.*infinity")
        warnings.filterwarnings("ignore", message=".*(minimum|maximum) value is.*infinity")
        warnings.filterwarnings("ignore", message=".*has no `?spec`?.*")
        warnings.filterwarnings("ignore", message=".*alternative render modes.*")
        check_env(world)


def test_one_robot_is_the_agent_of_its_world():
    alone, world = single_env(room(), observe="pose"), covey.env(room(), observe="pose")
    np.testing.assert_array_equal(alone.reset(seed=3)[0], world.reset(seed=3)[0]["r0"])
    for _ in range(9):
        shown, reward, *ends, _ = alone.step([1.0, 0.5])
        theirs = world.step({"r0": [1.0, 0.5]})
        np.testing.assert_array_equal(shown, theirs[0]["r0"])
        assert [reward, *ends] == [part["r0"] for part in theirs[1:4]]
        assert ends == [False, False]
    assert alone.step([1.0, 0.5])[2:4] == (False, True), "its time is over"
    assert alone.render() is None
    for use in (lambda: alone.step([0, 0]), lambda: (alone.close(), alone.step([0, 0]))):
        with pytest.raises(InvalidValueError, match=r"call reset\(\)"):
            use()
    world.close()


@pytest.mark.parametrize(
    ("action", "words"),
    [([np.nan, 0], "the action of 'r0' is"), ([1.0], "give one of Box"), (None, "the action of 'r0' is None")],
)
def test_a_wrong_action_of_one_robot_is_named(action, words):
    alone = single_env(room())
    with pytest.raises(InvalidValueError, match=r"call reset\(\) before the first step"):
        alone.step([0, 0])
    alone.reset(seed=0)
    with pytest.raises(InvalidValueError, match=words):
        alone.step(action)
    alone.close()


def test_several_robots_are_no_single_one():
    with pytest.raises(InvalidValueError, match=r"2 robots learn: r0, r1; let a group of one robot learn"):
        single_env(room(2))
    with pytest.raises(CoveyError, match="did you mean 'ranges'"):
        single_env(room(), observe="rangs")


def test_episodes_have_the_length_that_pettingzoo_expects():
    def made(max_cycles):
        return covey.env(room(2, stop={"timeout_s": 0.1 * max_cycles}), observe="pose")

    max_cycles_test(SimpleNamespace(parallel_env=made, env=lambda max_cycles: parallel_to_aec(made(max_cycles))))


def test_pictures_pass_the_test_of_pettingzoo():
    def made(render_mode):  # it begins with a window, which it does not use
        mode = "rgb_array" if render_mode == "human" else render_mode
        return parallel_to_aec(covey.env(room(2), observe="pose", render_mode=mode))

    render_test(made)


def test_actions_of_agents_that_do_not_act_are_refused():
    world = covey.env(room(2, faults=[{"robot": "r0", "at_s": 0.1, "kind": "dies"}]))
    world.reset(seed=0)
    with pytest.raises(InvalidValueError, match=r"actions is list; give a mapping, \{'r0': …\}"):
        world.step([[0, 0], [0, 0]])
    while "r0" in world.agents:
        world.step({name: [0.0, 0.0] for name in world.agents})
    before = world.sim.time
    with pytest.raises(InvalidValueError, match=r"'r0' does not act now; give actions only for \['r1'\]"):
        world.step({"r0": [0.0, 0.0], "r1": [0.0, 0.0]})
    assert world.sim.time == before
    world.close()


def test_arrays_are_exchanged_by_dlpack_without_copies():
    both, same = vector_env(room(2), 2, observe="pose"), vector_env(room(2), 2, observe="pose")
    shown, _ = both.reset(seed=1)
    same.reset(seed=1)
    chosen = np.random.default_rng(0).uniform(-1, 1, (4, 2)).astype(np.float32)
    shown, rewards, terminated, truncated, _ = both.step(OnlyDlpack(chosen))
    for given, wanted in zip((shown, rewards, terminated, truncated), same.step(chosen), strict=False):
        taken = np.from_dlpack(given)
        assert np.shares_memory(taken, given)
        np.testing.assert_array_equal(taken, wanted)
    with pytest.raises(InvalidValueError, match=r"give \(4, 2\)"):
        both.step(OnlyDlpack(chosen, device=2))
    alone = single_env(room())
    alone.reset(seed=0)
    alone.step(OnlyDlpack(chosen[0]))
    for world in (both, same, alone):
        world.close()
