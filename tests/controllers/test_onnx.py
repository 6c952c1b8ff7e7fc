"""A policy in ONNX drives a group as in the environment in which it was trained, in process and in processes."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import covey
from covey.controllers import controllers
from covey.controllers.policies.onnx import read_record
from covey.errors import CoveyError, InvalidValueError, ScenarioError
from covey.scenario.build import build, inputs
from covey.scenario.load import load_scenario, parse_scenario
from covey.testing import check_controller

SCENARIO = """
world: {empty_m: [8, 6]}
robots:
  - name: r
    robot: {base: disc, sensors: [{kind: proximity, sectors: 8, range_m: 2}]}
    count: 2
    start: [[-2, 0.3, 0], [2, -0.4, 180]]
    controller: CONTROLLER
mission: coverage
stop: {timeout_s: 4}
"""


def network(path, weights, inputs_, outputs):
    """Write a network that sums products of its inputs with weights, by input."""
    nodes, made = [], []
    for name, weight in weights.items():
        made.append(numpy_helper.from_array(weight.astype(np.float32), f"w_{name}"))
        nodes.append(helper.make_node("Flatten", [name], [f"f_{name}"]))
        nodes.append(helper.make_node("MatMul", [f"f_{name}", f"w_{name}"], [f"p_{name}"]))
    nodes.append(helper.make_node("Sum", [f"p_{name}" for name in weights], ["action"]))
    graph = helper.make_graph(
        nodes,
        "policy",
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["robots", *(n if isinstance(n, tuple) else (n,))])
            for name, n in inputs_.items()
        ],
        [helper.make_tensor_value_info("action", TensorProto.FLOAT, ["robots", outputs])],
        made,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def trained(folder, action="twist", outputs=2):
    """Write a policy, its record and a scenario that names it; return the environment and the weights."""
    (folder / "s.yaml").write_text(SCENARIO.replace("CONTROLLER", "{name: onnx, file: policy.onnx}"))
    (folder / "still.yaml").write_text(SCENARIO.replace("CONTROLLER", "still"))
    world = covey.env(
        load_scenario(folder / "still.yaml"), action=action, observe=["pose", "velocity", "ranges"], every_s=0.2
    )
    random = np.random.default_rng(2)
    sizes = {"pose": 4, "velocity": 2, "ranges": 8}
    weights = {name: 0.3 * random.normal(size=(n, outputs)) for name, n in sizes.items()}
    network(folder / "policy.onnx", weights, sizes, outputs)
    assert world.save_record(folder / "policy.onnx").name == "policy.onnx.json"
    return world, weights


@pytest.mark.parametrize("hosts", ["in_process", "processes"])
@pytest.mark.parametrize(("action", "outputs"), [("twist", 2), ({"headings": {"count": 3}}, 4)])
def test_a_scenario_with_the_policy_is_what_the_environment_was(action, outputs, hosts, tmp_path):
    world, weights = trained(tmp_path, action, outputs)
    shown, _ = world.reset(seed=0)
    poses = []
    while world.agents:
        rows = {key: np.array([shown[name][key] for name in world.agents], np.float32) for key in weights}
        out = sum(rows[key] @ weights[key].astype(np.float32) for key in weights)
        chosen = out if outputs == 2 else out.argmax(axis=1)
        shown, *_ = world.step(dict(zip(world.agents, chosen, strict=True)))
        poses.append(world.sim.state.pose.copy())
    world.close()
    run = build(load_scenario(tmp_path / "s.yaml", {"execution.controllers": hosts})).run()
    np.testing.assert_allclose(run.poses[1::2], poses, atol=1e-6)
    assert np.ptp(run.poses[:, 0, 0]) > 0.1


EACH = """
world: {workspace_m: [[-3, -2], [3, -2], [3, 2], [-3, 2]], obstacles_m: [[[0, -1], [0.2, -1], [0.2, 2], [0, 2]]]}
robots:
  - {name: r, robot: {base: disc, sensors: [{kind: lidar, rays: 24, range_m: 2}]}, count: 2, start: START,
     controller: CONTROLLER}
mission: navigation
radio: {range_m: 20}
stop: {timeout_s: 4}
"""


@pytest.mark.parametrize(
    ("action", "observe", "hosts"),
    [
        ("twist", {"velocity": (2,), "ranges": (24,), "goal": (3,)}, "in_process"),
        ("twist", {"velocity": (2,), "ranges": (24,), "goal": (3,)}, "processes"),
        ({"frontiers": {"most": 3}}, {"velocity": (2,), "frontiers": (3, 4)}, "in_process"),
    ],
)
def test_each_robot_that_asks_for_itself_does_what_it_did_in_the_environment(action, observe, hosts, tmp_path):
    text = EACH.replace("START", "[[-2, -1, 0], [-1, 1, 90]]")
    (tmp_path / "s.yaml").write_text(text.replace("CONTROLLER", "{name: onnx_each, file: policy.onnx}"))
    (tmp_path / "still.yaml").write_text(text.replace("CONTROLLER", "still"))
    if action != "twist":
        observe = observe | {"frontiers": (8, 4)}
    world = covey.env(tmp_path / "still.yaml", action=action, observe=list(observe), every_s=0.5)
    outputs = 2 if action == "twist" else 3
    random = np.random.default_rng(3)
    weights = {name: random.normal(size=(int(np.prod(shape)), outputs)) for name, shape in observe.items()}
    network(tmp_path / "policy.onnx", weights, observe, outputs)
    world.save_record(tmp_path / "policy.onnx")
    shown, _ = world.reset(seed=0)
    poses = []
    while world.agents:
        rows = {key: np.array([shown[name][key] for name in world.agents], np.float32) for key in weights}
        out = sum(rows[key].reshape(2, -1) @ weights[key].astype(np.float32) for key in weights)
        chosen = out if action == "twist" else out.argmax(axis=1)
        shown, *_ = world.step(dict(zip(world.agents, chosen, strict=True)))
        poses.append(world.sim.state.pose.copy())
    world.close()
    run = build(load_scenario(tmp_path / "s.yaml", {"execution.controllers": hosts})).run()
    np.testing.assert_allclose(run.poses[4::5], poses, atol=1e-6)
    assert np.ptp(run.poses[:, 0, 0]) > 0.1


def test_a_robot_that_asks_for_itself_sees_its_mates_by_radio(tmp_path):
    text = EACH.replace("START", "[[-2, -1, 0], [-1, 1, 90]]")
    (tmp_path / "s.yaml").write_text(text.replace("CONTROLLER", "{name: onnx_each, file: policy.onnx}"))
    weights = np.zeros((15, 2))
    weights[0, 0] = 1.0  # forward if there is anybody
    network(tmp_path / "policy.onnx", {"neighbours": weights}, {"neighbours": (3, 5)}, 2)
    (tmp_path / "policy.onnx.json").write_text('{"observe": ["neighbours"], "action": "twist", "every_s": 0.1}')
    for range_m, moves in ((20, True), (0.1, False)):
        run = build(load_scenario(tmp_path / "s.yaml", {"radio.range_m": range_m, "stop.timeout_s": 0.5})).run()
        assert bool(np.ptp(run.poses[:, 0, 0]) > 0.2) is moves


@pytest.mark.parametrize("name", ["onnx", "onnx_each"])
def test_the_others_of_all_groups_are_neighbours(name, tmp_path):
    text = (
        EACH.replace("START", "[[-2, -1, 0], [-1, 1, 90]]").replace("count: 2", "count: 1").replace(", [-1, 1, 90]", "")
    )
    text = text.replace(
        "mission:", "  - {name: q, robot: disc, start: [[-1, 1, 90]], controller: CONTROLLER}\nmission:"
    )
    (tmp_path / "s.yaml").write_text(text.replace("CONTROLLER", f"{{name: {name}, file: policy.onnx}}"))
    weights = np.zeros((15, 2))
    weights[0, 0] = 1.0
    network(tmp_path / "policy.onnx", {"neighbours": weights}, {"neighbours": (3, 5)}, 2)
    (tmp_path / "policy.onnx.json").write_text('{"observe": ["neighbours"], "action": "twist", "every_s": 0.1}')
    run = build(load_scenario(tmp_path / "s.yaml", {"stop.timeout_s": 0.5})).run()
    assert (np.ptp(run.poses[:, :, :2], axis=0).max(axis=1) > 0.2).all()


def test_the_controller_keeps_to_what_every_controller_must_keep_to(tmp_path):
    sizes = {"pose": 4, "velocity": 2}
    network(tmp_path / "policy.onnx", {key: np.full((n, 2), 0.2) for key, n in sizes.items()}, sizes, 2)
    (tmp_path / "policy.onnx.json").write_text(json.dumps({"observe": [*sizes], "action": "twist", "every_s": 0.1}))
    check_controller(controllers.get("onnx"), seconds=0.5, file=str(tmp_path / "policy.onnx"))


@pytest.mark.parametrize(("key", "value"), [("every_s", "-1"), ("every_s", ".nan"), ("file", "''"), ("file", "3")])
def test_values_that_a_parameter_cannot_have_are_refused_with_key_and_line(key, value):
    given = {"file": "policy.onnx"} | {key: value}
    text = SCENARIO.replace("CONTROLLER", "{name: onnx, " + ", ".join(f"{k}: {v}" for k, v in given.items()) + "}")
    with pytest.raises(ScenarioError, match=rf"s.yaml:8:\d+: .*{key}.*given: "):
        parse_scenario(text, file="s.yaml")


def test_the_policy_and_its_record_are_inputs_of_a_run(tmp_path):
    trained(tmp_path)
    scenario = load_scenario(tmp_path / "s.yaml")
    assert {path.name for path in inputs(scenario)} == {"policy.onnx", "policy.onnx.json"}


def test_what_does_not_fit_is_one_sentence(tmp_path):
    trained(tmp_path)
    record = json.loads((tmp_path / "policy.onnx.json").read_text())

    def failing(**changes):
        (tmp_path / "policy.onnx.json").write_text(json.dumps(record | changes))
        begin()

    def begin():
        sim = build(load_scenario(tmp_path / "s.yaml", {"execution.on_controller_error": "raise"}))
        try:
            sim.step()
        finally:
            sim.discard()

    failing()
    with pytest.raises(CoveyError, match=r"inputs \['pose', 'ranges', 'velocity'\], and its record .* \['pose'\]"):
        failing(observe=["pose"])
    with pytest.raises(CoveyError, match=r"returned \(2, 2\) for 2 robots; its action needs \(2, 9\)"):
        failing(action="headings")
    with pytest.raises(CoveyError, match="needs a robot's map and navigator"):
        failing(action="frontiers")
    with pytest.raises(CoveyError, match="holds observe, action and every_s"):
        failing(layers=3)
    with pytest.raises(CoveyError, match="did you mean 'ranges'"):
        failing(observe=["rangs"])
    (tmp_path / "policy.onnx.json").unlink()
    with pytest.raises(CoveyError, match="save_record of its environment"):
        begin()
    (tmp_path / "policy.onnx.json").write_text(json.dumps(record))
    (tmp_path / "policy.onnx").write_bytes(b"no network")
    with pytest.raises(CoveyError, match=r"cannot read the policy .*policy\.onnx"):
        failing()
    (tmp_path / "policy.onnx").unlink()
    with pytest.raises(
        ScenarioError, match=r"s.yaml:\d+:\d+: robots.r.controller.file: there is no file 'policy.onnx'"
    ):
        build(load_scenario(tmp_path / "s.yaml"))


def test_a_record_runs_no_code(tmp_path):
    """A policy of a stranger is data, whether its scenario is trusted or not."""
    trained(tmp_path)
    (tmp_path / "mine.py").write_text("from pathlib import Path\nPath(__file__).with_name('it_ran').touch()\n")
    record = json.loads((tmp_path / "policy.onnx.json").read_text())
    for key in ("observe", "action"):
        for form in ("./mine.py:Eye", {"./mine.py:Eye": {}}, {"kind": f"{tmp_path}/mine.py:Eye"}):
            changed = record | {key: [form] if key == "observe" else form}
            (tmp_path / "policy.onnx.json").write_text(json.dumps(changed))
            scenario = load_scenario(tmp_path / "s.yaml", {"execution.on_controller_error": "raise"})
            sim = build(scenario)
            with pytest.raises(CoveyError, match="would run code from a file"):
                sim.step()
            sim.discard()
    assert not (tmp_path / "it_ran").exists()


def test_functions_cannot_be_written_into_a_record(tmp_path):
    (tmp_path / "still.yaml").write_text(SCENARIO.replace("CONTROLLER", "still"))
    world = covey.env(tmp_path / "still.yaml", observe=lambda known: known.pose)
    with pytest.raises(InvalidValueError, match="cannot be written to a file"):
        world.save_record(tmp_path / "policy.onnx")


@pytest.mark.parametrize("every_s", ['"x"', "NaN", "-1", "true"])
def test_a_record_without_a_time_between_decisions_is_refused(every_s, tmp_path):
    (tmp_path / "policy.onnx.json").write_text(f'{{"observe": ["ranges"], "action": "twist", "every_s": {every_s}}}')
    with pytest.raises(
        InvalidValueError, match=r"policy.onnx.json: every_s is .*; give the time between two decisions"
    ):
        read_record(tmp_path / "policy.onnx")


def test_a_policy_that_fails_at_its_first_step_ends_the_run_as_failed(tmp_path):
    file = tmp_path / "p.onnx"
    network(file, {"velocity": np.zeros((3, 2))}, {"velocity": 3}, 2)
    record = {"observe": ["velocity"], "action": "twist", "every_s": 0.1}
    (tmp_path / "p.onnx.json").write_text(json.dumps(record))
    for name in ("onnx", "onnx_each"):
        given = {"robots.robot.controller": {"name": name, "file": str(file)}, "stop.timeout_s": 0.5}
        run = build(load_scenario("hello", given)).run()
        assert run.status == "failed"


def test_a_file_with_the_name_of_a_shipped_policy_is_asked_for_by_its_folder(tmp_path):
    (tmp_path / "avoider").write_text("mine")
    path = tmp_path / "a.yaml"
    for file, said in (("avoider", "write ./avoider for the file"), ("./avoider", "no record of the policy")):
        path.write_text(SCENARIO.replace("CONTROLLER", f"{{name: onnx, file: {file}}}"))
        with pytest.raises(CoveyError, match=said):
            build(load_scenario(path, {"execution.on_controller_error": "raise"})).run()
