"""What a design does not say by itself: labels, all settings, what a seed changes, and what goes with a controller."""

from covey.experiments.design.confounds import changes_only_noise, deaf_controllers, unequal_parameters
from covey.experiments.design.describe import as_text, settings, table
from covey.experiments.design.records import Design


def design(start=None, parameters=None, **more):
    robots = [{"name": "scout", "robot": "disc", "controller": "wander", "start": start or {"together": {}}}]
    scenario = {"world": {"empty_m": [8, 8]}, "robots": robots, "stop": {"explored": 0.98, "timeout_s": 60}}
    return Design.model_validate(
        {"design": "d", "scenario": scenario, "parameters": parameters or {}, "iterations": 3, **more}
    )


def test_a_seed_that_changes_only_noise_is_told():
    assert changes_only_noise(design())
    assert not changes_only_noise(design({"together": {"around": "random"}}))
    assert not changes_only_noise(design({"apart": {}}))
    assert not changes_only_noise(design(iterations=1)), "one run is not said to be several"


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


def test_a_controller_that_believes_in_a_longer_range_than_the_radio_has_is_told():
    robots = {
        "robots.scout.controller": ["connected", {"label": "short", "value": {"name": "connected", "range_m": 7}}]
    }
    (said,) = deaf_controllers(design(parameters=robots | {"radio": [{"range_m": 8}]}))
    assert said.startswith("connected takes robots within range_m 20 m for connected, but the radio reaches 8 m")
    assert not list(deaf_controllers(design(parameters=robots | {"radio": [{"range_m": 30}]})))
    assert not list(deaf_controllers(design(parameters={"radio.range_m": [5]})))
