"""The team as arrays."""

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.robots.catalogue import disc, maes, pioneer3dx
from covey.robots.team import TeamModel, TeamState


def test_mixed_team_has_one_row_per_robot():
    team = TeamModel.of([disc(), pioneer3dx(), disc("holonomic"), disc()])
    assert team.model_id.tolist() == [0, 1, 2, 0]
    assert len(team.models) == 3
    assert team.kinematics.tolist() == [0, 0, 2, 0]
    assert team.disc_count.tolist() == [1, len(pioneer3dx().body_discs), 1, 1]
    assert team.discs[0, 0].tolist() == [0.0, 0.0, 0.15]
    assert (team.discs[0, 1:] == 0.0).all()
    assert team.max_speed.tolist() == [1.0, 1.2, 1.0, 1.0]
    assert team.radius[1] == pytest.approx(0.254, abs=0.036)
    assert team.radius[1] >= 0.254
    assert team.inscribed[[0, 2, 3]] == pytest.approx([0.15] * 3)
    for array in (team.discs, team.limits, team.kinematics, team.disc_count):
        assert array.flags["C_CONTIGUOUS"]


def test_no_limit_is_infinite_and_braking_falls_back_to_acceleration():
    team = TeamModel.of([maes(), pioneer3dx()])
    assert np.isinf(team.limits[0, 5:8]).all()
    assert team.limits[1, 5:8].tolist() == [2.5, 2.5, 3.2]
    assert team.limits[0, 8:10].tolist() == [1 / 20, 1 / 30]


def test_team_of_nobody():
    team = TeamModel.of([])
    assert team.discs.shape[0] == team.limits.shape[0] == len(team) == 0


def test_state_starts_at_rest_and_owns_its_arrays():
    poses = np.zeros((2, 3))
    state = TeamState.at(poses)
    state.pose[0, 0] = 1.0
    assert poses[0, 0] == 0.0
    assert not state.twist.any()
    assert np.isnan(state.contact_bearing).all()


@pytest.mark.parametrize("poses", [[[0, 0]], [0, 0, 0], [[0, 0, np.nan]]])
def test_poses_of_another_shape_are_refused(poses):
    with pytest.raises(InvalidValueError, match="shape"):
        TeamState.at(poses)
