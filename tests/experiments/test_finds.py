"""The finds of the runs of a study, and their figures in its report."""

import numpy as np
import polars as pl
import pytest

import covey
from covey.experiments.design.axes import Axes
from covey.experiments.report.figures import overview_figures
from covey.experiments.report.finds import finds, left, shares
from covey.missions import Rescue
from covey.results.run import Run
from covey.results.statistics.sample import sample

TARGETS = [
    {"kind": "victim", "at": (2.0, 0.0), "on": "floor"},
    {"kind": "victim", "at": (-2.0, 0.0), "on": "floor"},
    {"kind": "big_fire", "at": (0.0, 3.0), "on": "floor"},
]


def reporter(*reports):
    """Return a controller that reports (time [s], identity) with true places."""

    async def report(robot):
        for time_s, identity in reports:
            await robot.sleep(time_s - robot.time)
            await robot.report(identity, TARGETS[identity]["at"])

    return report


def recorded(folder, controller, timeout_s=9):
    mission = Rescue(clock="start", time_limit_s=6.0, kinds={"victim": {}, "big_fire": {}})
    group = covey.Group("robot", covey.robots.disc(), [(0.0, 0.0, 0.0)], controller)
    stop = covey.Stop(timeout_s=timeout_s)
    world = covey.World.empty(10, 10)
    covey.Simulation(world, [group], targets=TARGETS, mission=mission, stop=stop, recording=folder).run()


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Two strategies, two runs of one and one of the other; of a fourth run nothing was kept."""
    folder = tmp_path_factory.mktemp("study")
    controllers = [reporter((1.0, 0), (2.0, 2), (4.0, 1)), reporter((3.0, 1)), reporter((2.0, 2), (5.0, 0))]
    for k, controller in enumerate(controllers):
        recorded(folder / "runs" / f"r{k}", controller)
    table = pl.DataFrame(
        {
            "run_id": ["r0", "r1", "r2", "r3"],
            "vector": [0, 0, 1, 1],
            "seed": [0, 1, 0, 1],
            "strategy": ["a", "a", "b", "b"],
            "status": ["reached", "exhausted", "exhausted", "failed"],
        }
    )
    return table, folder


def test_a_target_is_found_at_its_accepted_report_or_searched_until_the_time_limit(study):
    table, folder = study
    found = finds(table, folder, ("strategy",))
    assert [len(runs) for runs in found.values()] == [2, 1]
    times, reached, runs = left(found, "victim")["a"]
    assert times == pytest.approx([1.0, 4.0, 3.0, 6.0], abs=0.11)  # a report is judged in the next step
    assert (reached, runs) == ([True, True, True, False], [0, 0, 1, 1])
    times, reached, runs = left(found, "big_fire")["b"]
    assert times == pytest.approx([2.0], abs=0.11)
    assert left(found, "gas_leak") == {}


def test_the_share_found_is_a_step_at_each_report(study):
    table, folder = study
    times, curves = shares(finds(table, folder, ("strategy",)))["a"]
    assert times[[0, -1]].tolist() == [0.0, 6.0]
    at = [np.searchsorted(times, t) for t in (0.5, 1.5, 2.5, 5.0)]
    np.testing.assert_allclose(curves[:, at], [[0, 1 / 3, 2 / 3, 1], [0, 0, 0, 1 / 3]])


def test_a_run_in_which_nobody_reports_anything_counts_with_no_finds(study, tmp_path):
    table, _ = study
    recorded(tmp_path / "runs" / "r0", reporter((1.0, 0), (2.0, 2), (4.0, 1)))
    recorded(tmp_path / "runs" / "r1", "still")
    found = finds(table, tmp_path, ("strategy",))
    _, curves = shares(found)["a"]
    assert curves[:, -1].tolist() == [1.0, 0.0]
    times, reached, _ = left(found, "big_fire")["a"]
    assert (times[1], reached) == (6.0, [True, False])


@pytest.mark.usefixtures("undrawn")
def test_the_report_of_a_rescue_has_curves_of_finds_by_kind(study):
    table, folder = study
    figures = [*overview_figures(table, folder, Axes("strategy", None, None, ()))]
    assert {"found", "victim_left", "big_fire_left"} <= {one.name for one in figures if one.draw()}
    captions = [one.caption for one in figures]
    assert any(c.startswith("Targets of the kind big_fire that are not found yet.") for c in captions)


def test_targets_and_times_to_a_goal_are_given_up_at_the_same_time(tmp_path):
    """A robot that is busy until the mission is over, at 6 s of a design's 9 s; its targets were searched until then."""
    recorded(tmp_path / "runs" / "r0", reporter((1.0, 0), (8.0, 1)))
    run = Run(tmp_path / "runs" / "r0")
    row = {"run_id": "r0", "vector": 0, "seed": 0, "status": run.status, "timeout_s": 9.0}
    table = pl.DataFrame([row | {"simulated_time_s": run.metrics["simulated_time_s"], "all_targets_s": None}])
    times, reached, _ = left(finds(table, tmp_path, ()), "victim")["all runs"]
    assert reached == [True, False]
    assert run.status == "timeout"
    assert times[1] == sample(table, "all_targets_s").values[0] == pytest.approx(6.0, abs=0.11)


@pytest.mark.parametrize(("reports", "status"), [([(1.0, 0)], "exhausted"), ([(1.0, 0), (8.0, 1)], "timeout")])
def test_where_the_timeout_comes_first_no_target_was_searched_longer(reports, status, tmp_path):
    recorded(tmp_path / "runs" / "r0", reporter(*reports), timeout_s=4)
    assert Run(tmp_path / "runs" / "r0").status == status
    found = finds(pl.DataFrame({"run_id": ["r0"], "vector": 0, "seed": 0}), tmp_path, ())
    assert left(found, "victim")["all runs"][0] == pytest.approx([1.0, 4.0], abs=0.11)
    assert shares(found)["all runs"][0][-1] == pytest.approx(4.0)
