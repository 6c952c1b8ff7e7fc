"""Environments: PettingZoo's own tests, the bytes of a run, rewards, ends, distributions, and wrong use in words."""

import gc
import warnings
import weakref

import numpy as np
import pytest
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test
from pettingzoo.utils import parallel_to_aec

import covey
from covey.controllers.policies.observations import MapPatch, observed
from covey.errors import CoveyError, InvalidValueError, RunFolderError, UnknownNameError
from covey.learning import Knowledge
from covey.learning.varied import drawn
from covey.scenario.build import build
from covey.scenario.load import load_scenario
from covey.scenario.records import Scenario
from covey.scenario.shipped import library

ROOM = {
    "world": {"empty_m": [8, 6]},
    "robots": [
        {
            "name": "r",
            "robot": {"base": "disc", "sensors": [{"kind": "proximity", "sectors": 8, "range_m": 2}]},
            "count": 3,
            "start": [[-2, 0, 0], [0, 0, 90], [2, 0, 180]],
            "controller": "still",
        }
    ],
    "mission": "coverage",
    "stop": {"timeout_s": 3},
}


def room(**changes):
    return Scenario.model_validate(ROOM | changes)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(library()))
def test_each_scenario_that_ships_passes_the_tests_of_pettingzoo(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(covey.env(name, every_s=1.0), num_cycles=4)
    parallel_seed_test(lambda: covey.env(name, every_s=1.0), num_cycles=2)


def test_with_the_wrapper_of_pettingzoo_agents_act_one_after_another():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(agents to be named|Observation).*")
        api_test(parallel_to_aec(covey.env(room(), observe="ranges")), num_cycles=20)


def test_an_episode_has_the_bytes_of_the_run_in_which_a_law_decides_so(tmp_path):
    twists = np.random.default_rng(1).uniform(-1, 1, (30, 3, 2))

    @covey.controller(scope="group", sees=("pose", "proximity"))
    class Law:
        def __init__(self):
            self.step_number = 0

        def step(self, group):
            chosen = twists[self.step_number].astype(np.float32).astype(float)
            self.step_number += 1
            return np.column_stack(
                (chosen[:, 0] * group.robot.max_speed_m_s, chosen[:, 1] * group.robot.max_turn_rad_s)
            )

    world = covey.env(room(), record=tmp_path / "episodes")
    world.reset(seed=5)
    for chosen in twists:
        world.step(dict(zip(world.agents, chosen, strict=True)))
    assert world.agents == []
    world.close()
    robots = [{**ROOM["robots"][0], "controller": Law}]
    run = build(room(robots=robots, seed=5), folder=tmp_path / "run").run()
    assert run.status == covey.Run(tmp_path / "episodes" / "episode-0000").status == "timeout"
    for name in ("measurements", "team", "events"):
        left, right = (tmp_path / f / f"{name}.parquet" for f in ("run", "episodes/episode-0000"))
        assert left.read_bytes() == right.read_bytes(), name


def test_what_is_observed_belongs_to_the_time_of_the_action():
    world = covey.env(room(), observe=["pose", "velocity", "ranges", "neighbours"])
    shown, _ = world.reset(seed=0)
    np.testing.assert_allclose(shown["r0"]["ranges"], [0.925, *[1] * 7])  # walls are farther than the range
    np.testing.assert_allclose(shown["r1"]["pose"], [0, 0, 0, 1], atol=1e-6)
    near = shown["r1"]["neighbours"]  # it looks north: the others are to its left, and to its right
    np.testing.assert_allclose(near[:2, :3], [[1, 0, 0.4], [1, 0, -0.4]], atol=1e-6)
    assert not near[2].any()
    for _ in range(10):
        shown, *_ = world.step({name: [1.0, 0.0] for name in world.agents})
    place = world.sim.state.pose[0, :2]
    np.testing.assert_allclose(shown["r0"]["pose"][:2] * (4, 3), place, atol=1e-6)
    assert shown["r0"]["velocity"][0] == pytest.approx(1.0, abs=1e-6)
    world.close()


def test_rewards_add_up_to_the_progress_of_the_mission():
    world = covey.env(room(), every_s=0.5)
    world.reset(seed=0)
    total = 0.0
    while world.agents:
        _, rewards, _, truncated, infos = world.step({name: [1.0, 0.5] for name in world.agents})
        total += rewards["r0"]
    assert total == pytest.approx(world.sim.scoring.values["covered_share"])
    assert all(truncated.values())
    assert infos["r0"] == {"status": "timeout"}
    world.close()


def test_own_rewards_are_measurements_or_a_function():
    def beside(known: Knowledge):
        return known.pose[:, 0]

    weighed = covey.env(room(), reward={"distance_m": 2.0, "collisions_robot": -1.0})
    weighed.reset(seed=0)
    before = weighed.sim.state.distance_m.copy()
    _, rewards, *_ = weighed.step({name: [1.0, 0.0] for name in weighed.agents})
    np.testing.assert_allclose(list(rewards.values()), 2 * (weighed.sim.state.distance_m - before))
    own = covey.env(room(), reward=beside)
    own.reset(seed=0)
    _, rewards, *_ = own.step({name: [0.0, 0.0] for name in own.agents})
    assert list(rewards.values()) == [-2.0, 0.0, 2.0]
    with pytest.raises(UnknownNameError, match=r"measurement to reward 'distance'.*did you mean 'distance_m'"):
        covey.env(room(), reward={"distance": 1.0})
    weighed.close()
    own.close()


def test_a_reward_that_is_never_measured_is_refused():
    world = covey.env(room(), reward={"explored_share_union": 1.0})
    world.reset(seed=0)
    with pytest.raises(InvalidValueError, match="explored_share_union, which is not measured"):
        world.step({one: [0.0, 0.0] for one in world.agents})
    world.close()


def test_who_reaches_its_goal_ends_the_episode_and_is_paid_for_the_way():
    world = covey.env(room(stop={"timeout_s": 60}), goals=True, observe="goal")
    shown, _ = world.reset(seed=3)
    away = dict(zip(world.agents, world._distances().tolist(), strict=True))
    total = dict.fromkeys(world.agents, 0.0)
    while world.agents:
        goal = {name: np.arctan2(shown[name][2], shown[name][1]) for name in world.agents}
        near = {name: shown[name][0] * 10 < 0.2 for name in world.agents}
        chosen = {n: [0.0 if near[n] else max(np.cos(a), 0), np.clip(a, -1, 1)] for n, a in goal.items()}
        shown, rewards, terminated, _, infos = world.step(chosen)
        total = {name: total[name] + rewards[name] for name in total}
    assert all(terminated.values())
    assert infos["r0"] == {"status": "reached"}
    touched = world.sim.scoring.collisions_robot + world.sim.scoring.collisions_wall
    for i, name in enumerate(total):
        assert total[name] == pytest.approx(away[name] - world._distances()[i] - touched[i])
    world.close()


def test_a_robot_that_fails_for_good_is_no_agent_any_more():
    world = covey.env(room(faults=[{"kind": "dies", "robot": "r1", "at_s": 1.0}]))
    world.reset(seed=0)
    gone = None
    while world.agents:
        _, _, terminated, *_ = world.step({name: [0.0, 0.0] for name in world.agents})
        if terminated.get("r1") and gone is None:
            gone = world.sim.time
            assert world.agents == ["r0", "r2"]
    assert gone == pytest.approx(1.0)
    world.close()


def test_a_choice_of_frontiers_explores_by_the_navigator():
    robots = [{"name": "s", "robot": "turtlebot3_waffle", "count": 2, "start": {"together": {}}, "controller": "still"}]
    scenario = room(world={"generate": "office", "size_m": [12, 10], "seed": 3}, robots=robots, stop={"timeout_s": 60})
    world = covey.env(scenario, action="frontiers")
    shown, _ = world.reset(seed=0)
    assert shown["s0"]["frontiers"][0, 0] == 1.0
    first = world.sim.scoring.values["explored_share_union"]
    for _ in range(8):
        shown, *_ = world.step(dict.fromkeys(world.agents, 0))
    assert world.sim.time == pytest.approx(40.0)
    assert world.sim.scoring.values["explored_share_union"] > max(first, 0.5)
    assert (world.sim.state.distance_m > 2.0).all()
    world.close()


def test_a_patch_of_the_map_is_what_a_plain_loop_cuts():
    scenario = room(
        robots=[{**ROOM["robots"][0], "robot": "turtlebot3_waffle", "count": 2, "start": [[-1, 0, 30], [0, 1, 0]]}]
    )
    world = covey.env(scenario, observe={"patch": {"cells": 9, "cell_m": 0.4}})
    world.reset(seed=0)
    for _ in range(5):
        shown, *_ = world.step({one: [0.3, 0.4] for one in world.agents})
    known = world._shown[0]
    for i, name in enumerate(world.agents):
        occupancy, grid, (x, y, heading) = known.beliefs[i].occupancy(), known.beliefs[i].grid, known.pose[i]
        expected = np.zeros((4, 9, 9), np.uint8)
        for row, column in np.ndindex(9, 9):
            ahead, left = (4 - row) * 0.4, (4 - column) * 0.4
            at = (
                x + np.cos(heading) * ahead - np.sin(heading) * left,
                y + np.sin(heading) * ahead + np.cos(heading) * left,
            )
            cell = tuple(grid.to_cells(at))
            if not grid.inside(cell) or occupancy[cell] < 0:
                continue
            expected[int(occupancy[cell] > 0), row, column] = 1
            beside = [(cell[0] + 1, cell[1]), (cell[0] - 1, cell[1]), (cell[0], cell[1] + 1), (cell[0], cell[1] - 1)]
            unknown = any(grid.inside(b) and occupancy[b] < 0 for b in beside)
            expected[3, row, column] = occupancy[cell] == 0 and unknown
        (other,) = [k for k in range(2) if k != i]
        dx, dy = known.pose[other, :2] - (x, y)
        ahead, left = np.cos(heading) * dx + np.sin(heading) * dy, np.cos(heading) * dy - np.sin(heading) * dx
        expected[2, int(np.floor(4.5 - ahead / 0.4)), int(np.floor(4.5 - left / 0.4))] = 1
        np.testing.assert_array_equal(shown[name], expected)
        assert expected[0].any()
        assert expected[1].any()
    world.close()


def test_the_coarse_map_holds_shares_of_the_map():
    scenario = room(robots=[{**ROOM["robots"][0], "robot": "turtlebot3_waffle", "count": 1, "start": [[0, 0, 0]]}])
    world = covey.env(scenario, observe={"map": {"cells": 2}})
    shown, _ = world.reset(seed=0)
    occupancy = world._shown[0].beliefs[0].occupancy()
    np.testing.assert_allclose(shown["r0"].sum(axis=0), 1.0, atol=1e-6)
    rows, columns = (np.arange(n) * 2 // n for n in occupancy.shape)
    for i, j in np.ndindex(2, 2):
        part = occupancy[np.ix_(rows == i, columns == j)]
        np.testing.assert_allclose(
            shown["r0"][:, i, j], [(part == 0).mean(), (part > 0).mean(), (part < 0).mean()], atol=1e-6
        )
    world.close()


def test_scenarios_vary_from_episode_to_episode_by_the_seed():
    vary = {"robots.r.robot.max_speed_m_s": {"uniform": [0.2, 0.6]}, "stop.timeout_s": {"integers": [1, 9]}}
    world = covey.env(room(), vary=vary)
    drawn_ = []
    for seed in (1, 2, 1):
        world.reset(seed=seed)
        drawn_.append((world.sim.groups[0].robot.max_speed_m_s, world.sim.stop.timeout_s))
    assert drawn_[0] == drawn_[2] != drawn_[1]
    assert all(0.2 <= speed <= 0.6 and 1 <= end <= 9 for speed, end in drawn_)
    world.reset(seed=1, options={"scenario": {"stop.timeout_s": 2.5}})
    assert world.sim.stop.timeout_s == 2.5
    world.close()


@pytest.mark.parametrize("kind", ["uniform", "log_uniform", "integers"])
def test_distributions_fill_their_range(kind):
    values = [drawn({"x": {kind: [2, 5]}}, seed)["x"] for seed in range(200)]
    assert 2 <= min(values) < 2.2
    assert 4.7 < max(values) <= 5
    with pytest.raises(InvalidValueError, match=rf"x: {kind} is \[5, 2\]"):
        drawn({"x": {kind: [5, 2]}}, 0)


WRONG = [
    ({}, "there is no action for 'r0'"),
    ({"r0": [0.0, 0.0], "r1": [np.nan, 0.0], "r2": [0.0, 0.0]}, r"the action of 'r1' is \[nan, 0.0\]"),
    ({"r0": [0.0, 0.0], "r1": [0.0], "r2": [0.0, 0.0]}, r"the action of 'r1' is \[0.0\]; give one of Box"),
    ({"r0": [0.0, 0.0], "r1": "fast", "r2": [0.0, 0.0]}, "the action of 'r1' is 'fast'"),
    ({"r0": [0.0, 0.0], "r1": [0.0, 0.0], "r2": [0.0, 0.0], "r9": [0.0, 0.0]}, "agent 'r9'"),
]


@pytest.mark.parametrize(("actions", "words"), WRONG)
def test_wrong_actions_are_named_and_change_nothing(actions, words):
    world = covey.env(room())
    world.reset(seed=0)
    with pytest.raises(CoveyError, match=words):
        world.step(actions)
    assert world.sim.time == 0.0
    world.close()


def test_steps_without_an_episode_say_what_to_do():
    world = covey.env(room())
    with pytest.raises(InvalidValueError, match="call reset"):
        world.step({})
    with pytest.raises(InvalidValueError, match="call reset"):
        world.render()
    world.reset(seed=0)
    world.close()
    with pytest.raises(InvalidValueError, match="call reset"):
        world.step({})
    with pytest.raises(InvalidValueError, match="seed is -1"):
        world.reset(seed=-1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"observe": "rangs"}, "did you mean 'ranges'"),
        ({"observe": ["pose", "pose"]}, "names pose twice"),
        ({"observe": {"neighbours": {"most": 0}}}, "observe.neighbours.most"),
        ({"observe": "goal"}, "goals=True"),
        ({"observe": "patch"}, "keep no map"),
        ({"observe": {"ranges": {"sensor": "eye"}}}, "proximity"),
        ({"action": "jump"}, "action"),
        ({"action": "frontiers"}, "keep no map"),
        ({"learn": "scouts"}, "group of robots 'scouts'"),
        ({"every_s": 0.25}, "a multiple of the control step, 0.1 s"),
        ({"every_s": "fast"}, "every_s is 'fast'"),
        ({"every_s": True}, "every_s is True"),
        ({"action": "twst"}, "^action: unknown action 'twst', did you mean 'twist'"),
        ({"render_mode": "human"}, "rgb_array"),
        ({"vary": {"robots.r.count": {"uniform": 3}}}, "robots.r.count: uniform is 3"),
        ({"vary": {"robots.s.count": 3}}, "robots.s"),
    ],
)
def test_wrong_arguments_are_refused_with_what_is_allowed(arguments, words):
    with pytest.raises(CoveyError, match=words):
        covey.env(room(), **arguments)


def test_a_picture_shows_walls_robots_and_goals():
    world = covey.env(room(), goals=True, render_mode="rgb_array")
    world.reset(seed=0)
    shown = world.render()
    assert shown.dtype == np.uint8
    assert shown.shape[2] == 3
    colours = {tuple(colour) for colour in shown.reshape(-1, 3).tolist()}
    assert {(60, 60, 60), (0, 114, 178), (230, 159, 0)} <= colours
    world.close()


def test_episodes_without_a_folder_write_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    world = covey.env(room(), every_s=0.5)
    for _ in range(2):
        world.reset()
        while world.agents:
            world.step({one: [0.5, 0.3] for one in world.agents})
        with pytest.raises(RunFolderError, match="this run is not recorded"):
            world.sim.close()
    world.close()
    assert not list(tmp_path.iterdir())


def test_an_episode_that_is_over_takes_no_memory():
    world = covey.env(room())
    past = []
    for _ in range(3):
        world.reset()
        past.append(weakref.ref(world.sim))
        world.step({one: [0.0, 0.0] for one in world.agents})
    gc.collect()
    assert [one() is None for one in past] == [True, True, False]
    del world  # whoever does not close it
    gc.collect()
    assert past[-1]() is None


def test_an_episode_says_what_its_run_is_though_nothing_is_written():
    world = covey.env(room())
    world.reset()
    assert world.sim.manifest["world"]["name"] == world.sim.world.name, "its page shows it"
    assert world.sim.manifest["robots"] == world.possible_agents
    world.close()


def test_a_function_is_observed_by_its_name():
    def height(known: Knowledge):
        return known.pose[:, 1:2]

    (one,) = observed(height)
    assert one.key == "height"
    assert isinstance(observed({"patch": {"cells": 5}})[0], MapPatch)
    world = covey.env(room(), observe=["velocity", height])
    shown, _ = world.reset(seed=0)
    assert shown["r1"]["height"].tolist() == [0.0]
    world.close()
    with pytest.raises(InvalidValueError, match=r"first axis is the robot"):
        covey.env(room(), observe=lambda known: np.zeros(2))


def test_other_groups_keep_their_controllers():
    robots = [ROOM["robots"][0], {"name": "w", "robot": "disc", "start": [[0, 2, 0]], "controller": "wander"}]
    world = covey.env(room(robots=robots), learn="r")
    shown, _ = world.reset(seed=0)
    assert sorted(shown) == ["r0", "r1", "r2"]
    for _ in range(10):
        world.step({one: [0.0, 0.0] for one in world.agents})
    assert world.sim.state.distance_m[3] > 0.2
    assert world.sim.state.distance_m[:3].max() == 0.0
    world.close()
    assert load_scenario("hello").robots[0].name == "robot"


TALK = {"action": {"twist": {"message": 2}}, "observe": {"messages": {"size": 2, "most": 2}}}


def talk(world, steps=3, seed=1):
    """Let all robots stand and say their number and the step; return what they observe after each step."""
    shown, _ = world.reset(seed=seed)
    assert not any(rows.any() for rows in shown.values())
    found = []
    for step in range(steps):
        said = {name: [0, 0, 0.25 * i, 0.125 * step] for i, name in enumerate(world.agents)}
        shown, *_ = world.step(said)
        found.append({name: rows.tolist() for name, rows in shown.items()})
    return found


def test_robots_send_vectors_over_the_radio_to_those_in_reach():
    world = covey.env(room(radio={"range_m": 3}), **TALK)
    assert world.action_space("r0").shape == (4,)
    first, second, _ = talk(world)
    assert first["r0"] == [[1, 0.25, 0], [0, 0, 0]]  # r2 is 4 m away
    assert sorted(first["r1"]) == [[1, 0, 0], [1, 0.5, 0]]
    assert sorted(second["r1"]) == [[1, 0, 0.125], [1, 0.5, 0.125]]
    world.close()
    longer = covey.env(room(radio={"range_m": 3}), every_s=0.3, **TALK)
    assert talk(longer)[0]["r0"] == [[1, 0.25, 0], [0, 0, 0]]  # one message for a decision
    longer.close()
    apart = covey.env(room(radio={"range_m": 1}), **TALK)
    assert not any(np.any(rows) for shown in talk(apart) for rows in shown.values())
    apart.close()


def test_messages_are_lost_by_the_seed_and_cost_the_bytes_of_the_same_run():
    radio = {"range_m": 9, "loss": 0.5}
    world, same = (covey.env(room(radio=radio), **TALK) for _ in range(2))
    heard = talk(world, 20)
    assert heard == talk(same, 20)
    assert heard != talk(same, 20, seed=2)
    count = sum(int(rows[0][0] + rows[1][0]) for shown in heard for rows in shown.values())
    assert 30 < count < 90  # of 120

    class Says:
        def step(self, robot):
            step = round(robot.time / 0.1)
            robot.send(np.array([0.25 * int(robot.name[1]), 0.125 * step], np.float32), kind="policy")
            return 0.0, 0.0

    alone = build(room(radio=radio, seed=1, robots=[{**ROOM["robots"][0], "controller": Says}]))
    for _ in range(20):
        alone.step()
    alone.sense()
    ours, theirs = (sim.communication.network.received_bytes for sim in (talk(world, 20) and world.sim, alone))
    assert ours.tolist() == theirs.tolist()
    assert ours.sum() > 0
    for one in (world, same):
        one.close()
    alone.discard()


def test_robots_that_talk_or_do_not_know_the_starts_move_as_others():
    lidar = {"base": "disc", "sensors": [{"kind": "lidar", "rays": 8, "range_m": 2}], "mapping": {}}
    unknown = room(robots=[{**ROOM["robots"][0], "robot": lidar}], share_maps={"start_poses": "unknown"})
    kinds = [(room(), {}, []), (room(), TALK, [0.0, 0.0]), (unknown, {"reward": {"distance_m": 1}}, [])]
    poses = []
    for scenario, settings, said in kinds:
        world = covey.env(scenario, **settings)
        world.reset(seed=1)
        for _ in range(5):
            world.step({name: [1.0, 0.5, *said] for name in world.agents})
        poses.append(world.sim.state.pose.copy())
        world.close()
    assert (np.hypot(*(poses[0] - np.array([[-2, 0, 0], [0, 0, 0], [2, 0, 0]]))[:, :2].T) > 0.3).all()
    assert poses[0].tobytes() == poses[1].tobytes() == poses[2].tobytes()


def test_what_robots_say_is_checked():
    with pytest.raises(InvalidValueError, match=r"only an action that sends has them; give one, \{twist: \{message: 4"):
        covey.env(room(), observe={"messages": {"size": 2}})
    world = covey.env(room(), action={"twist": {"message": 3}}, observe={"messages": {"size": 2}})
    world.reset(seed=1)
    with pytest.raises(InvalidValueError, match=r"the action of 'r0' is \[0, 0\]"):
        world.step({name: [0, 0] for name in world.agents})
    with pytest.raises(InvalidValueError, match="size is 2, and a message has 3 numbers"):
        world.step({name: [0] * 5 for name in world.agents})
    with pytest.raises(InvalidValueError, match="sends nothing; train without message"):
        world.save_record("never.onnx")
    world.close()
    assert "messages" in covey.env(room(), action={"twist": {"message": 3}}).observation_space("r0").spaces


def test_a_reward_cannot_change_what_it_is_given():
    def reward(known):
        for array in (known.pose, known.team, known.velocity, known.goals):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
        return 0.0

    world = covey.env(room(), reward=reward, goals=True, observe="goal")
    world.reset(seed=1)
    world.step({name: np.zeros(2) for name in world.agents})
    world.close()


def test_a_truth_value_is_no_number_of_a_parameter():
    for given in ({"twist": {"message": True}}, {"twist": {"message": "1"}}):
        with pytest.raises(InvalidValueError, match=r"action.twist.message: must be a number; given: "):
            covey.env(room(), action=given)
