"""How a run is computed: one record for scenarios and Python, and what is said when it is wrong."""

import re

import pytest

import covey
from covey.scenario.load import parse_scenario

SCENARIO = "world: {{empty_m: [6, 6]}}\nrobots: [{{name: scout}}]\nexecution: {execution}\n"
ROOM = covey.World.empty(6, 6)


def test_a_record_and_plain_data_say_the_same():
    for execution in (covey.Execution(step_s=0.25, substep_s=0.05), {"step_s": 0.25, "substep_s": 0.05}):
        sim = covey.Simulation(ROOM, execution=execution)
        sim.step()
        assert (sim.time, sim.clock.now) == (0.25, 5)
        sim.close()


def test_the_simulation_of_a_scenario_has_its_record():
    scenario = parse_scenario(SCENARIO.format(execution="{pose_every: 3, step_s: 0.2}"))
    sim = scenario.build()
    assert sim.execution is scenario.execution
    run = sim.run(until_s=1.8)
    assert len(run.steps) == 9
    assert len(run.poses) == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"stepp_s": 0.2}, "execution: unknown key 'stepp_s', did you mean 'step_s'?"),
        ({"processes": {"pase": "real_time"}}, "execution.processes: unknown key 'pase', did you mean 'pace'?"),
        ({"step_s": -1}, "execution.step_s: must be greater than 0; given: -1"),
        ({"step_s": "0.2"}, "execution.step_s: must be a number; given: '0.2'"),
        (
            {"step_s": 0.25, "substep_s": 0.1},
            "execution.step_s: 0.25 s is not a multiple of substep_s 0.1 s; nearest: 0.2",
        ),
        (
            {"step_budget_s": 1e13},
            "execution.step_budget_s: 1e+13 is too small or too large; give 0, or a magnitude from 1e-12",
        ),
        ({"compute": "fast"}, "execution.compute: must be 'modelled' or 'measured'; given: 'fast'"),
        ({"processes": {"pace": "real_time"}}, "execution.processes: belongs to controllers: processes; leave it out"),
    ],
)
def test_wrong_plain_data_is_refused_where_a_scenario_refuses_it(given, message):
    with pytest.raises(covey.InvalidValueError, match=f"^{re.escape(message)}"):
        covey.Simulation(ROOM, execution=given)
    with pytest.raises(covey.ScenarioError, match=re.escape(message.partition(": ")[0])):
        parse_scenario(SCENARIO.format(execution=given))


@pytest.mark.parametrize(
    ("given", "write"),
    [
        ({"step_s": 0.2}, "takes step_s within execution; write execution=covey.Execution(step_s=0.2)"),
        (
            {"compute": "measured", "pose_every": 5},
            "takes compute and pose_every within execution; write execution=covey.Execution(compute='measured', pose_every=5)",
        ),
        (
            {"folder": "runs/a", "overwrite": True},
            "takes folder and overwrite within recording; write recording=covey.Recording(folder='runs/a', overwrite=True)",
        ),
    ],
)
def test_what_a_record_holds_is_no_argument_and_the_error_says_what_to_write(given, write):
    with pytest.raises(covey.InvalidValueError, match=re.escape(write)):
        covey.Simulation(ROOM, **given)


def test_an_argument_that_nothing_has_names_the_nearest():
    with pytest.raises(covey.UnknownNameError, match="unknown argument of Simulation 'sed', did you mean 'seed'"):
        covey.Simulation(ROOM, sed=3)
