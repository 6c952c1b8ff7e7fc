"""What viewers are sent about robots and cells, against cases worked by hand and against the run's own record."""

import numpy as np
import pytest

import covey
from covey.comms.radio import Radio
from covey.mapping.localization import Noise
from covey.mapping.records import ElevationMapping
from covey.missions import Formation, Patrolling
from covey.onboard.group import Group
from covey.runtime.execution import Execution
from covey.sensors import Lidar, TagCamera, Wedge
from covey.viewer.cell_layers import layer_of
from covey.viewer.description import description_of
from covey.viewer.details import DETAILS, details_of
from covey.viewer.layers import layers_of
from covey.world.generators.grounds import hills

ROOM = covey.World.empty(10, 10)  # from -5 to 5 m


async def still(robot):
    await robot.sleep(1e9)


async def go(robot):
    robot.leave_tag("here")
    await robot.goto((3.0, 0.0))


def simulate(starts, controller=still, steps=1, model=None, world=ROOM, group=None, **options):
    sim = covey.Simulation(
        world, [Group("s", model or covey.robots.disc(), starts, **group or {})], controller, **options
    )
    for _ in range(steps):
        sim.step()
    return sim


def detail(sim, name, *robots):
    return details_of(sim, {name}, set(robots))


def test_a_path_ends_at_the_goal_and_is_straight_in_an_empty_room():
    sim = simulate([(-3.0, 0.0, 0.0), (0.0, 3.0, 0.0)], go, steps=3)
    arrays, plain = detail(sim, "paths")
    assert arrays["path_of"].tolist()[0] == 0
    assert arrays["path_of"][2] == len(arrays["path"])
    first = arrays["path"][: arrays["path_of"][1]]
    np.testing.assert_allclose(first[-1], (3.0, 0.0), atol=1e-6)
    np.testing.assert_allclose(first[:, 1], 0.0, atol=0.15)
    assert not plain


def test_robots_without_a_goal_have_no_path():
    arrays, _ = detail(simulate([(0.0, 0.0, 0.0), (2.0, 0.0, 0.0)]), "paths")
    assert arrays["path"].shape == (0, 2)
    assert arrays["path_of"].tolist() == [0, 0, 0]


def test_paths_of_robots_in_processes_are_not_known_and_the_page_is_told():
    sim = simulate([(0.0, 0.0, 0.0)], "still", steps=0, execution=Execution(controllers="processes"))
    try:
        arrays, plain = detail(sim, "paths")
    finally:
        sim.close()
    assert not arrays
    assert "processes" in plain["lacks_paths"]


def test_rays_end_at_the_walls():
    lidar = Lidar(rays=4, fov_deg=270, range_m=4.5, mount_x_m=0.5)  # at -135, -45, 45, 135 degrees or so
    model = covey.robots.disc().model_copy(update={"sensors": (lidar,), "mapping": None})
    sim = simulate([(2.0, 0.0, 0.0), (0.0, -3.0, 0.0)], model=model)
    arrays, _ = detail(sim, "lidar", 0)
    np.testing.assert_allclose(arrays["lidar_at"], [(0, 2.5, 0.0)], atol=1e-6)
    angles = lidar.angles
    for (x, y, hit), angle in zip(arrays["lidar"], angles, strict=True):
        c, s = np.cos(angle), np.sin(angle)
        wall = min(2.5 / c if c > 0 else np.inf, 5.0 / abs(s) if s else np.inf, 7.5 / -c if c < 0 else np.inf)
        length = min(wall, 4.5)
        np.testing.assert_allclose((x, y), (2.5 + length * c, length * s), atol=1e-4)
        assert hit == (wall < 4.5)


def test_the_visible_area_is_the_room_within_range():
    lidar = Lidar(rays=4, range_m=4.0)
    model = covey.robots.disc().model_copy(update={"sensors": (lidar,), "mapping": None})
    arrays, _ = detail(simulate([(3.0, 0.0, 0.0)], model=model), "visible", 0)
    (x, y), away = arrays["visible"][0].T, np.hypot(*(arrays["visible"][0] - (3.0, 0.0)).T)
    assert x.max() == pytest.approx(5.0, abs=1e-4)
    far = x < 4.9
    np.testing.assert_allclose(away[far], 4.0, atol=1e-4)
    assert np.abs(y).max() == pytest.approx(4.0, abs=1e-3)


def test_the_view_of_a_tag_camera_is_a_cone():
    camera = TagCamera(fov_deg=60, range_m=3.0, mount_x_m=0.1)
    model = covey.robots.disc().model_copy(update={"sensors": (camera,), "mapping": None})
    arrays, _ = detail(simulate([(0.0, 0.0, np.pi / 2), (3.0, 3.0, 0.0)], model=model), "visible", 0)
    np.testing.assert_allclose(arrays["visible_at"], [(0, 0.0, 0.1)], atol=1e-6)
    ends = [(3.0 * np.sin(a), 0.1 + 3.0 * np.cos(a)) for a in np.radians([30, 0, -30])]
    np.testing.assert_allclose(arrays["visible"][0, [0, 180, 360]], ends, atol=1e-4)


def test_links_are_the_pairs_in_range_with_the_share_of_packets_that_get_through():
    sim = simulate([(-4.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (4.0, 0.0, 0.0)], radio=Radio(range_m=4.0, loss=0.25))
    arrays, plain = detail(sim, "links")
    assert arrays["link"].tolist() == [[0, 1]]
    assert arrays["link_chance"].tolist() == [0.75]
    assert plain["links_in_all"] == 1
    sim.state.radio_alive[1] = False
    assert detail(sim, "links")[0]["link"].shape == (0, 2)


def test_tags_are_where_they_were_left():
    sim = simulate([(-3.0, 1.0, 0.0)], go, steps=3)
    arrays, plain = detail(sim, "tags")
    np.testing.assert_allclose(arrays["tag"], [(-3.0, 1.0)], atol=0.1)
    assert plain["tags"][0][0] == "s0"
    assert plain["tags"][0][2] == "here"


def test_waypoints_that_nobody_visits_are_idle_since_the_start():
    mission = Patrolling(waypoints_m=((2.0, 0.0), (-2.0, 0.0)))
    sim = simulate([(2.0, 0.0, 0.0)], steps=30, mission=mission)
    arrays, _ = detail(sim, "waypoints")
    np.testing.assert_allclose(arrays["idleness_s"], (0.0, 3.0), atol=1e-6)
    assert arrays["visits"].tolist() == [1, 0]


def test_targets_are_the_places_of_the_order():
    mission = Formation(objective_m=(1.0, 0.0), formation="rank", spacing_m=2.0)
    sim = simulate([(-3.0, -1.0, 0.0), (-3.0, 0.0, 0.0), (-3.0, 1.0, 0.0)], mission=mission)
    arrays, plain = detail(sim, "targets")
    np.testing.assert_allclose(sorted(arrays["target"].tolist()), [(1.0, -2.0), (1.0, 0.0), (1.0, 2.0)], atol=1e-6)
    assert plain["order"]["formation"] == "rank"


def test_estimates_are_those_of_the_robots():
    sim = simulate([(0.0, 0.0, 0.0)], group={"localization": Noise(sigma_m=0.3)})
    arrays, _ = detail(sim, "estimates")
    np.testing.assert_allclose(arrays["estimate"], sim.localization.carried, atol=1e-6)


def test_statuses():
    sim = simulate([(-3.0, 0.0, 0.0), (3.0, 3.0, 0.0)], go, steps=3)
    assert detail(sim, "statuses")[1]["statuses"] == ["going", "going"]


async def tell(robot):
    if robot.name == "s0":
        robot.send("hello", to="s1")  # 5 letters and 2 bytes, and a header of 28 bytes
    await robot.sleep(1e9)


@pytest.mark.parametrize(
    ("radio", "lasts_s", "cause"),
    [
        (Radio(latency_s=1.0), 1.0, ""),
        (Radio(bandwidth_kbit_s=0.28), 1.0, ""),  # 280 bits
        (Radio(bandwidth_kbit_s=0.28, latency_s=0.5), 1.5, ""),
        (Radio(bandwidth_kbit_s=0.28, loss=1.0), 1.0, "loss"),
        (Radio(range_m=2.0), 0.0, "out of range"),
    ],
)
def test_a_message_is_on_its_way_as_long_as_its_radio_takes(radio, lasts_s, cause):
    sim = simulate([(-3.0, 0.0, 0.0), (3.0, 0.0, 0.0)], tell, steps=0, radio=radio)
    assert detail(sim, "messages")[1]["messages"] == 0
    seen = {}
    for _ in range(20):
        sim.step()
        arrays, plain = detail(sim, "messages")
        for (number, sender, receiver, size, why), part in zip(
            arrays["message"].tolist(), arrays["message_part"].tolist(), strict=True
        ):
            assert (number, sender, receiver, size) == (1, 0, 1, 35)
            assert plain["message_causes"][why] == (cause if part == 1.0 else "")
            seen[round(sim.time, 1)] = part
    lasts = round(10 * lasts_s)  # steps; it is written in the first one, and ends in the first one after its time
    expected = {k / 10: pytest.approx(k / lasts, abs=1e-5) for k in range(2, lasts + 1)}
    assert seen == expected | {max(lasts + 1, 2) / 10: 1.0}


def test_a_broadcast_is_missed_by_who_could_hear_it():
    async def all_of_them(robot):
        if robot.name == "s0":
            robot.send("hello")
        await robot.sleep(1e9)

    sim = simulate([(0.0, 0.0, 0.0), (3.0, 0.0, 0.0), (0.0, 4.5, 0.0)], all_of_them, steps=0, radio=Radio(range_m=4.0))
    detail(sim, "messages")
    sim.step()
    sim.step()
    assert detail(sim, "messages")[0]["message"].tolist() == [[1, 0, 1, 35, 0]]  # s2 is out of reach
    assert not len(detail(sim, "messages")[0]["message"]), "each is told once"


def test_each_detail_can_be_watched_in_any_run():
    assert "arrays" not in details_of(simulate([(0.0, 0.0, 0.0)]), set(DETAILS) | {"unknown"}, {0, 7})[1]


def test_the_page_is_told_groups_and_starts():
    sim = simulate([(1.0, 2.0, 0.5)], steps=0)
    robot = description_of(sim, [])["robots"][0]
    assert (robot["group"], robot["start"]) == ("s", [1.0, 2.0, 0.5])


def test_layers_of_cells_are_those_of_the_record():
    sim = simulate([(-3.0, 0.0, 0.0), (3.0, 3.0, 0.0)], go, steps=40)
    made = {name: make().seen for name, make in layers_of(sim).items()}
    assert {name: str(cells.dtype) for name, cells in made.items()} == {name: layer_of(name).type for name in made}
    maps = sim.scoring.maps(sim.world_state.changed)
    for name, expected in {
        "truth": maps.truth.cells,
        "first_explored": maps.first_explored,
        "seen_by": maps.explored_by,
        "passed_by": maps.covered_by,
        "last_covered": maps.last_covered,
        "union": maps.union.cells,
        "map:s1": maps.robots[1].cells,
    }.items():
        np.testing.assert_array_equal(made[name], expected, err_msg=name)
    np.testing.assert_array_equal(made["explored:s0"] + made["explored:s1"].astype(int), maps.explored_by)


def test_layers_of_a_landscape():
    ground = hills(size_m=(30.0, 30.0), height_m=2.0, wavelength_m=20.0, seed=4)
    model = covey.robots.disc().model_copy(update={"sensors": (Wedge(),), "mapping": ElevationMapping()})
    sim = simulate([(0.0, 0.0, 0.0)], model=model, world=ground.world(), steps=10)
    made = {name: make() for name, make in layers_of(sim).items()}
    assert all(str(layer.seen.dtype) == layer_of(name).type for name, layer in made.items())
    np.testing.assert_array_equal(made["ground"].seen, ground.altitude.astype(np.float32))
    x, y, _ = made["ground"].grid.origin
    assert (x + 0.5 * ground.spacing_m, y + 0.5 * ground.spacing_m) == pytest.approx(ground.origin)
    altitude, error = made["altitude:s0"].seen, made["error:s0"].seen
    known = np.isfinite(altitude)
    assert known.any()
    np.testing.assert_array_equal(known, np.isfinite(error))
    truth = ground.altitude_at(made["altitude:s0"].grid.to_world(np.argwhere(known)))
    np.testing.assert_allclose(error[known], altitude[known] - truth, atol=1e-5)
    assert (made["interval:s0"].seen[known] > 0).all()
    assert not len(made["altitude:s0"].changed(1.0))  # NaN does not differ from NaN
