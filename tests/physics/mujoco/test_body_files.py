"""Bodies from files: what the engine cannot read to its end is refused, and a wheel turns on a hinge."""

import math

import pytest

pytest.importorskip("mujoco")


from attacks.mjcf import cart

from covey.errors import InvalidValueError
from covey.physics.mujoco import trial
from covey.physics.mujoco.physics import TerrainPhysics
from covey.robots.catalogue import skid_steer
from covey.robots.chassis import FileChassis
from covey.robots.team import TeamModel
from covey.world.world import World


def physics_of(tmp_path, text):
    path = tmp_path / "cart.xml"
    path.write_text(text)
    chassis = FileChassis(
        kind="file", file=str(path), left=("left",), right=("right",), wheel_radius_m=0.1, half_track_m=0.2,
        max_torque_n_m=5.0,
    )  # fmt: skip
    return TerrainPhysics(World.empty(9, 9), TeamModel.of([skid_steer().model_copy(update={"chassis": chassis})]))


def test_a_cart_from_a_file_can_be_built(tmp_path):
    masses = physics_of(tmp_path, cart())._engine.body_mass
    box, wheel = 0.4 * 0.3 * 0.1, math.pi * 0.1**2 * 0.04  # m3, of 1000 kg/m3
    assert sorted(masses[masses > 0]) == pytest.approx([1000 * wheel, 1000 * wheel, 1000 * box])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (cart(left="slide"), "joint 'left' of .* is a slide joint; a wheel turns on a hinge"),
        (cart(right="ball"), "joint 'right' of .* is a ball joint; a wheel turns on a hinge"),
        (cart('<replicate count="3000" offset="0 0 .01"><geom size=".01"/></replicate>'), "at most 1000"),
        (cart('<geom size="0"/>'), "MuJoCo cannot read"),
    ],
)
def test_a_body_that_is_no_cart_is_refused_by_name(tmp_path, text, message):
    with pytest.raises(InvalidValueError, match=message):
        physics_of(tmp_path, text)


@pytest.mark.slow
def test_a_body_that_the_engine_does_not_come_to_an_end_with_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(trial, "_WAIT_S", 4)
    thousand = '<replicate count="1000" offset="0 0 .01">{}</replicate>'
    endless = cart(thousand.format(thousand.format('<geom size=".01"/>')))
    with pytest.raises(InvalidValueError, match=r"longer than 4 s|takes more than 5 s"):
        physics_of(tmp_path, endless)
