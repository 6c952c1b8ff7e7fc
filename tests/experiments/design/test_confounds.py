"""What a design does not say by itself: labels, all settings, what a seed changes, and what goes with a controller."""

from covey.experiments.design.confounds import (
    deaf_controllers,
    only_noise,
    unequal_parameters,
    without_one_alone,
)
from covey.experiments.design.describe import as_text, settings, table
from covey.experiments.design.plan import scenarios
from covey.experiments.design.records import Design


def design(start=None, parameters=None, **more):
    robots = [{"name": "scout", "robot": "disc", "controller": "wander", "start": start or {"together": {}}}]
    scenario = {"world": {"empty_m": [8, 8]}, "robots": robots, "stop": {"explored": 0.98, "timeout_s": 60}}
    return Design.model_validate(
        {"design": "d", "scenario": scenario, "parameters": parameters or {}, "iterations": 3, **more}
    )


def test_a_seed_that_changes_only_noise_is_told():
    assert only_noise(design()).startswith("a seed changes only noise")
    assert not only_noise(design({"together": {"around": "random"}}))
    assert not only_noise(design({"apart": {}}))
    assert not only_noise(design(iterations=1)), "one run is not said to be several"


def test_a_place_in_which_a_seed_changes_only_noise_is_named():
    starts = [{"label": name, "value": value} for name, value in (("apart", {"apart": {}}), ("one", {"together": {}}))]
    said = only_noise(design(parameters={"robots.scout.start": starts, "robots.scout.count": [1, 2]}))
    assert said.startswith("in 1 of 2 places, first with robots.scout.start one, robots.scout.count 1, a seed changes")


def test_the_table_says_what_labels_mean():
    radios = [{"label": "far", "value": {"range_m": 99}}, {"label": "near", "value": {"range_m": 9}}]
    places = [
        {"label": "hall", "set": {"world.empty_m": [30, 30], "stop.explored": 0.8}},
        {"label": "room", "set": {"world.empty_m": [8, 8]}},
    ]
    rows = {(row.element, row.name): row.value for row in table(design(parameters={"radio": radios, "place": places}))}
    assert rows["parameters", "radio: far"] == "{range_m: 99}"
    assert rows["parameters", "place: hall"] == "world.empty_m [30, 30], stop.explored 0.8"
    stops = [row.value for row in table(design(parameters={"place": places})) if row.element == "stop"]
    assert stops == [
        "80 % explored by the team together, or 60 s (1 of 2 vectors)",
        "98 % explored by the team together, or 60 s (1 of 2 vectors)",
    ]
    assert "radio: near" in as_text(design(parameters={"radio": radios}))


def test_all_settings_are_there_to_repeat_a_run():
    found = dict(settings(design()))
    assert found["robots.scout.robot.max_speed_m_s"] == "1"
    assert found["robots.scout.robot.mapping.resolution_m"]
    assert found["radio.receiver"] == "threshold"
    assert "seed" not in found
    assert any("sensors.lidar.range_m" in path for path in found)
    assert any("odometry.noise" in path for path in found)


def test_parameters_that_differ_together_with_the_controller_are_told():
    controllers = ["minpos", "cost_utility", {"label": "slow", "value": {"name": "minpos", "replan_s": 9}}]
    said = list(unequal_parameters(design(parameters={"robots.scout.controller": controllers})))
    replan = next(line for line in said if line.startswith("replan_s"))
    assert "9: minpos" in replan
    equal = [
        {"label": n, "value": {"name": n, "replan_s": 5, "piece_m": 4}} for n in ("greedy_assignment", "cost_utility")
    ]
    said = list(unequal_parameters(design(parameters={"robots.scout.controller": equal})))
    assert not any(line.startswith(("replan_s", "piece_m")) for line in said)
    assert not list(unequal_parameters(design(parameters={"radio.range_m": [5, 9]})))
    one = ["minpos", {"label": "slow", "value": {"name": "minpos", "replan_s": 9}}]
    assert not list(unequal_parameters(design(parameters={"robots.scout.controller": one}))), "that is the question"


def test_a_controller_that_believes_in_a_longer_range_than_the_radio_has_is_told():
    robots = {
        "robots.scout.controller": ["connected", {"label": "short", "value": {"name": "connected", "range_m": 7}}]
    }
    (said,) = deaf_controllers(design(parameters=robots | {"radio": [{"range_m": 8}]}))
    assert said.startswith("connected takes robots within range_m 20 m for connected, but the radio reaches 8 m")
    assert not list(deaf_controllers(design(parameters=robots | {"radio": [{"range_m": 30}]})))
    assert not list(deaf_controllers(design(parameters={"radio.range_m": [5]})))


def controllers_of(found):
    return [scenario.robots[0].controller.plain() for _, scenario in scenarios(found)]


def test_all_strategies_of_a_design_can_have_the_same_goals():
    mine = {"label": "mine", "value": {"name": "minpos", "replan_s": 9}}
    controllers = ["nearest_frontier", "cost_utility", "cost_frontier", "wander", mine]
    found = design(parameters={"robots.scout.controller": controllers}, goals={"piece_m": 4})
    assert controllers_of(found) == [
        {"name": "nearest_frontier", "replan_s": 5.0, "piece_m": 4.0},
        {"name": "cost_utility", "replan_s": 5.0, "piece_m": 4.0},
        {"name": "cost_frontier", "replan_s": 5.0},
        "wander",
        {"name": "minpos", "replan_s": 9, "piece_m": 4.0},
    ]
    said = list(unequal_parameters(found))
    assert not any(line.startswith("piece_m") for line in said)
    assert any(line.startswith("replan_s") and "9: minpos" in line for line in said)
    assert any(row.name == "goals of all strategies" and "piece_m: 4" in row.value for row in table(found))


def test_a_goal_is_as_long_as_the_sensor_sees_unless_it_is_said():
    lidar = {"base": "disc", "mapping": {"resolution_m": 0.2}, "sensors": [{"kind": "lidar", "range_m": 6}]}
    parameters = {"robots.scout.controller": ["minpos"], "robots.scout.robot": [{"label": "6 m", "value": lidar}]}
    assert controllers_of(design(parameters=parameters, goals={})) == [
        {"name": "minpos", "replan_s": 5.0, "piece_m": 6.0}
    ]
    assert controllers_of(design(parameters=parameters, goals={"piece_m": None, "replan_s": None})) == ["minpos"]
    assert controllers_of(design(parameters=parameters)) == ["minpos"]


def test_unequal_goals_and_a_missing_robot_alone_are_told_with_the_remedy():
    two = {"robots.scout.controller": ["nearest_frontier", "minpos"], "robots.scout.count": 3}
    assert any(line.endswith("write goals: {}") for line in unequal_parameters(design(parameters=two)))
    (said,) = without_one_alone(design(parameters=two))
    assert said.endswith("write alone: true")
    assert not list(without_one_alone(design(parameters=two, alone=True)))
    assert not list(without_one_alone(design(parameters=two | {"robots.scout.count": [1, 3]})))
    assert not list(without_one_alone(design(parameters=two | {"robots.scout.controller": ["minpos"]})))
