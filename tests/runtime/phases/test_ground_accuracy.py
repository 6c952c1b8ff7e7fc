"""What a run on a ground tells about beliefs: errors against the truth, and who noticed that the ground changed."""

import numpy as np
import pytest

import covey
from covey.robots.catalogue import skid_steer
from covey.world.ground import Ground


def run_of(events=(), seconds=3.0, sigma_m=0.02, **options):
    """A robot that turns on the spot on a plain, so that it sees all around it, in the plane's physics."""
    model = skid_steer()
    wedge = model.sensors[0].model_copy(update={"sigma_m": sigma_m})
    model = model.model_copy(update={"sensors": (wedge, *model.sensors[1:])} | options)
    group = covey.Group("rover", model, [(0.0, 0.0, 0.0)], lambda robot: robot.drive(0.0, 2.0))
    world = Ground.of(np.zeros((31, 31))).world()
    return covey.Simulation(world, [group], events=events, stop=covey.Stop(timeout_s=seconds), seed=4).run()


def test_beliefs_are_compared_with_the_truth():
    run = run_of()
    ground = run.landscape
    believed = ground.beliefs["rover0"]
    measured = believed.marks == 1
    # all vertices within 5 m that can be seen: none nearer than where the wedge meets the ground, 0.346 m ahead of it
    x, y = np.meshgrid(np.arange(-15, 16), np.arange(-15, 16))
    far = np.hypot(x, y)
    assert measured[(far > 0.6) & (far < 4.8)].all()
    assert not measured[far > 5.2].any()
    error = believed.altitude[measured]  # the truth is 0
    assert run.metrics["belief_rmse_m"] == pytest.approx(np.sqrt(np.mean(error.astype(float) ** 2)))
    assert run.metrics["belief_max_error_m"] == pytest.approx(np.abs(error).max())
    assert run.metrics["measured_share"] == pytest.approx(measured.mean())
    assert run.metrics["belief_rmse_m"] < 0.02
    assert run.series("belief_rmse_m")[-1] == pytest.approx(run.metrics["belief_rmse_m"], rel=0.5)
    assert run.metrics["changes_noticed_share"] is None


def test_a_mound_in_sight_is_noticed_and_the_run_says_where_and_when():
    run = run_of([{"at_s": 5, "mound": {"centre_m": [4, 0], "height_m": 0.5, "radius_m": 2}}], seconds=9)
    (event,) = run.events.filter(run.events["kind"] == "change_noticed").iter_rows(named=True)
    assert (event["robot"], event["other"]) == ("rover0", "change 0")
    assert np.hypot(event["x_m"] - 4, event["y_m"]) < 2
    assert 5 < event["time_s"] < 5 + np.pi + 0.2  # it turns once in pi seconds
    assert run.metrics["changes_noticed_share"] == 1
    assert run.metrics["change_delay_s"] == pytest.approx(event["time_s"] - 5, abs=0.11)
    assert run.landscape.at(49).max() == run.landscape.at(49).min() == 0
    assert run.landscape.altitude.max() == 0.5


def test_what_nobody_knew_is_noticed_by_nobody():
    run = run_of([{"at_s": 2, "mound": {"centre_m": [-12, -12], "height_m": 1, "radius_m": 2}}])
    assert run.metrics["changes_noticed_share"] == 0
    assert run.metrics["change_delay_s"] is None


def test_without_noise_nothing_is_reset():
    assert run_of(sigma_m=0.0).metrics["false_resets"] == 0


def test_a_plain_world_says_nothing_of_grounds():
    run = covey.Simulation(covey.World.empty(4, 4), stop=covey.Stop(timeout_s=0.3)).run()
    assert run.landscape is None
    assert {run.metrics[name] for name in ("belief_rmse_m", "false_resets", "robots_stuck", "change_delay_s")} == {None}
    assert "altitude_m" not in run.measurements.columns
