"""Batches: each world has the bytes of its run alone, and what a batch cannot take says so."""

import numpy as np
import pytest

import covey
from covey.controllers import controllers
from covey.errors import ControllerError, InvalidValueError, UnknownNameError
from covey.missions import Navigation
from covey.scenario.overrides import override
from covey.scenario.shipped import library

RING = {"kind": "proximity", "sectors": 8, "range_m": 1.5, "sigma_m": 0.02, "dropout": 0.1, "outliers": 0.05}
FAN = {"kind": "lidar", "rays": 20, "range_m": 4, "sigma_m": 0.02, "rate_hz": 25}
MATES = {"kind": "neighbours", "range_m": 3, "range_sigma_m": 0.02, "bearing_sigma_deg": 1, "heading": True}
WHEELS = [{"kind": "odometry", "noise": "gmapping"}, {"kind": "imu"}]


def room(*groups, size_m=(6, 5), timeout_s=100.0):
    """Return a scenario with some groups in a room with a wall."""
    given = [{"name": f"g{k}", "robot": "disc", "start": {"apart": {}}, **group} for k, group in enumerate(groups)]
    return covey.Scenario.model_validate(
        {"world": {"empty_m": [*size_m]}, "robots": given, "stop": {"timeout_s": timeout_s}}
    )


def alone(scenario, worlds, seed=3):
    return [scenario.model_copy(update={"seed": seed + k}).build() for k in range(worlds)]


def same_poses(scenario, steps, worlds=3):
    """Check the poses and contacts of each step, and return the batch."""
    batch, sims = covey.Batch(scenario, worlds, seed=3), alone(scenario, worlds)
    for _ in range(steps):
        batch.step()
        for k, sim in enumerate(sims):
            sim.step()
            for ours, theirs in (
                (batch.pose, sim.state.pose),
                (batch.twist, sim.state.twist),
                (batch.distance_m, sim.state.distance_m),
                (batch.collisions_robot, sim.scoring.collisions_robot),
                (batch.collisions_wall, sim.scoring.collisions_wall),
            ):
                assert ours[k].tobytes() == theirs.tobytes()
    for sim in sims:
        sim.discard()
    return batch


LAWS = [
    name
    for name in controllers.names()
    if "onnx" not in name  # needs a file
    and getattr(controllers.get(name), "covey_scope", "") == "group"
    and "links" not in controllers.get(name).covey_sees
]


@pytest.mark.filterwarnings("ignore:overflow")  # of potential_field, where a robot is near
@pytest.mark.parametrize("law", LAWS)
def test_the_shipped_laws_drive_each_world_as_alone(law):
    ring = {"base": "disc", "sensors": [{"kind": "proximity", "range_m": 1}]}
    same_poses(room({"robot": ring, "count": 5, "controller": law}), 15)


SEEN = []


def note(team):
    """Keep the bytes of all that a law sees, by seed; of many worlds that of each."""
    fields = {name: value for name, value in team.fields.items() if isinstance(value, np.ndarray)}
    for sensor in team.robot.sensors:
        for sample in team.samples(sensor.name):
            fields |= {f"{sensor.name}.{name}@{sample.time}": a for name, a in sample.reading.arrays().items()}
    shared, worlds = ("angles", "mount"), getattr(team, "worlds", None)
    for k in range(worlds or 1):
        part = {
            name: (a[k] if worlds and name.partition("@")[0].split(".")[-1] not in shared else a)
            for name, a in fields.items()
        }
        SEEN.append((team.name, team.time, k, {name: np.ascontiguousarray(a).tobytes() for name, a in part.items()}))


class Wander:
    """Drives around by what it sees, and notes it."""

    def step(self, team):
        """Return the commands."""
        note(team)
        near = team.proximity.ranges.min(axis=-1) < 0.4 if team.reading("proximity") is not None else False
        return np.where(near, 0.1, 0.6) + 0.0 * team.heading, np.where(near, 2.0, 0.3 * np.sin(5 * team.heading))


ALL = ("pose", "velocity", "collided", "others", "proximity", "lidar", "neighbours", "odometry", "imu")
Apart = covey.controller(scope="group", sees=ALL)(type("Apart", (Wander,), {}))
Together = covey.controller(scope="group", sees=ALL, many_worlds=True)(type("Together", (Wander,), {}))


@pytest.mark.parametrize("wander", [Apart, Together], ids=["apart", "together"])
def test_controllers_see_and_do_the_same_as_alone(wander):
    equipped = {"base": "disc", "sensors": [RING, FAN, MATES, *WHEELS], "command_delay_s": 0.05}
    scenario = room(
        {"robot": equipped, "count": 3, "controller": wander, "control_every": 2, "control_phase": 1},
        {"robot": {"base": "pioneer3dx", "mapping": None, "sensors": [RING, FAN, MATES, *WHEELS]}, "count": 2,
         "controller": wander},
        {"robot": "disc", "count": 2},
        size_m=(4, 4),
    )  # fmt: skip
    SEEN.clear()
    batch = covey.Batch(scenario, 3, seed=3)
    for _ in range(60):
        batch.step()
    assert batch.collisions_robot.any()
    assert batch.collisions_wall.any()
    together = list(SEEN)
    for k, sim in enumerate(alone(scenario, 3)):
        SEEN.clear()
        for _ in range(60):
            sim.step()
        assert batch.pose[k].tobytes() == sim.state.pose.tobytes()
        ours = [(name, t, seen) for name, t, world, seen in together if wander is Apart or world == k]
        ours = ours[k::3] if wander is Apart else ours
        assert len(ours) == len(SEEN) == 90
        for (name, t, seen), (its, at, _, theirs) in zip(ours, SEEN, strict=True):
            assert (name, t) == (its, at)
            assert seen.keys() == theirs.keys()
            assert [field for field in seen if seen[field] != theirs[field]] == []
        sim.discard()


def test_the_newest_readings_are_those_of_each_run():
    scenario = room({"robot": {"base": "disc", "sensors": [RING]}, "count": 4, "controller": Apart})
    batch, sims = covey.Batch(scenario, 2, seed=3), alone(scenario, 2)
    assert batch.readings("proximity") is None
    batch.step()
    for k, sim in enumerate(sims):
        sim.step()
        assert batch.readings("proximity").ranges[k].tobytes() == sim.sensing.banks[0].readings.ranges.tobytes()
    with pytest.raises(UnknownNameError, match=r"sensor of g0 'ring'"):
        batch.readings("ring")
    with pytest.raises(UnknownNameError, match="group of robots 'h'"):
        batch.readings("proximity", "h")


@covey.controller(scope="group", sees=("bumper",))
class Bumps:
    """Reads a sensor that a batch does not have."""

    def step(self, team):
        """Return the commands."""
        return 0.2, 0.0


@pytest.mark.parametrize("name", sorted(library()))
def test_a_shipped_scenario_is_taken_or_refused_with_what_to_do(name):
    with pytest.raises(InvalidValueError, match=r"^(robots\.\w+: )?[^.].*; (set|leave|write|give|run) ") as refusal:
        covey.Batch(covey.load_scenario(name), 2)
    assert "\n" not in str(refusal.value)


class Elsewhere(Navigation):
    """Another kind of navigation may score otherwise."""


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"events": [{"at_s": 1, "wall": {"from": [0, 0], "to": [1, 0]}}]}, "a batch takes no events"),
        ({"faults": [{"at_s": 1, "kind": "dies"}]}, "a batch takes no faults"),
        ({"share_maps": {}}, "a batch takes no share_maps"),
        ({"mission": {"formation": {"objective_m": [1, 0]}}}, "does not score the mission formation"),
        ({"mission": Elsewhere()}, "does not score the mission Elsewhere"),
        ({"stop": {"covered": 0.9}}, "leave stop.covered out"),
        ({"stop": {"explored": 0.9}}, "with maps=True; set it, leave stop.explored out"),
        ({"physics": "terrain"}, "planar, not terrain"),
        ({"execution": {"controllers": "processes"}}, "set execution.controllers: in_process"),
        ({"world": {"generate": "office"}}, "give it a seed: world.seed=1"),
        ({"robots.g0.localization": "noise"}, "robots.g0: .* set localization: truth"),
        ({"robots.g0.known_map": True}, "leave known_map out"),
        ({"robots.g0.controller": Bumps}, "Bumps reads 'bumper'"),
        ({"robots.g0.controller": "consensus"}, "consensus sees links"),
        ({"robots.g0.controller": "nearest_frontier"}, "nearest_frontier is one of a robot"),
    ],
)
def test_what_a_batch_cannot_take_says_what_to_do(changes, says):
    with pytest.raises(InvalidValueError, match=says):
        covey.Batch(override(room({"controller": "lloyd"}), changes), 2)


@pytest.mark.parametrize("worlds", [0, -1, 1.5, True, float("nan"), "many", 10**9])
def test_a_wrong_number_of_worlds_is_refused(worlds):
    with pytest.raises(InvalidValueError, match="worlds is"):
        covey.Batch(room({"controller": "lloyd"}), worlds)


def test_a_batch_that_does_not_fit_the_memory_is_refused(monkeypatch):
    monkeypatch.setattr("covey.memory.room", lambda: (1e6, "are left"))
    with pytest.raises(
        InvalidValueError, match=r"a batch of 1000 worlds with 1000 robots .* than the 0\.001 GB that are left; take"
    ):
        covey.Batch(room({"controller": "lloyd"}), 1000)


@pytest.mark.parametrize(
    "seed", [-1, 2**63, 1.5, float("nan"), True, "one", b"12", np.array(3), [], [1, -2], [1, 2, 3]]
)
def test_a_wrong_seed_is_refused(seed):
    with pytest.raises(InvalidValueError, match="seed"):
        covey.Batch(room({"controller": "lloyd"}), 2, seed)
    with pytest.raises(InvalidValueError, match="worlds is missing"):
        covey.Batch(room({"controller": "lloyd"}))


@covey.controller(scope="group", sees=("pose",))
class Ends:
    """Drives on; the team whose first robot starts on the right is done at once, the others at 1 s."""

    def step(self, team):
        """Return the commands."""
        if team.time > 0.25 and (team.position[0, 0] > 0 or team.time > 0.95):
            team.finish()
        return 0.2, 0.5


def test_a_world_ends_as_alone_and_stands_still_then():
    for timeout_s, ends in ((100.0, {"reached"}), (0.6, {"reached", "timeout"})):
        scenario = room({"controller": Ends}, timeout_s=timeout_s)
        batch, runs = covey.Batch(scenario, 6, seed=0), []
        batch.run()
        assert batch.done
        for sim in alone(scenario, 6, seed=0):
            while not sim.done:
                sim.step()
            runs.append((sim.status, sim.state.pose.tobytes(), sim.time))
            sim.discard()
        assert len({time for *_, time in runs}) == 2
        assert list(zip(batch.status, [pose.tobytes() for pose in batch.pose], strict=True)) == [r[:2] for r in runs]
        assert set(batch.status) == ends
        with pytest.raises(InvalidValueError, match="all runs have ended"):
            batch.step()


def test_a_run_stops_at_a_time():
    batch = covey.Batch(room({"controller": "lloyd"}), seed=[5, 9])
    batch.run(until_s=0.3)
    assert (batch.time, batch.status, batch.seeds) == (pytest.approx(0.3), [None, None], [5, 9])
    for wrong in (-1, float("nan"), "later", True):
        with pytest.raises(InvalidValueError, match="until_s"):
            batch.run(until_s=wrong)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda team: (np.zeros((2, 3)), 0.0), r"an array of shape \(2, 3\); give \(2, 1\)"),
        (lambda team: (np.full((2, 1), np.nan), 0.0), "speed of g00 is nan"),
        (lambda team: 1 / 0, "ZeroDivisionError"),
        (lambda team: team.random, "leave many_worlds"),
        (lambda team: None, "returned nothing"),
        (lambda team: (team.distance_to("g07"), 0), "robot 'g07'"),
    ],
)
def test_a_controller_that_fails_ends_the_batch_with_its_error(answer, says):
    def wrong(team):
        return answer(team)

    batch = covey.Batch(room({"controller": covey.controller(scope="group", many_worlds=True)(wrong)}), 2)
    with pytest.raises(ControllerError, match=f"the controller of g0 at 0 s: .*{says}"):
        batch.step()


def test_targets_of_many_worlds_are_those_of_each():
    def targets(team):
        n = team.count
        return [
            f(x)
            for f in (team.distance_to, team.bearing_to, team.offset_to)
            for x in (team.after(1), 1, "g02", (1.0, 2.0), np.arange(2.0 * n).reshape(n, 2))
        ] + [team.neighbours(covey.graphs.proximity(2))]

    kept = []

    def once(team):
        kept.append(targets(team))
        return 0.0, 0.0

    for many_worlds in (True, False):
        law = covey.controller(scope="group", sees=("pose",), many_worlds=many_worlds)(once)
        covey.Batch(room({"controller": law, "count": 3}), 2).step()
    for whole, *parts in zip(*kept, strict=True):
        assert whole.tobytes() == np.stack(parts).tobytes()


@pytest.mark.parametrize("count", [2, 3])
def test_each_world_has_its_own_indices_of_targets(count):
    kept = []

    def nearest(team):
        away = np.linalg.norm(team.position[..., :, None, :] - team.position[..., None, :, :], axis=-1)
        whom = (away + 99 * np.eye(team.count)).argmin(axis=-1) + 0 * team.after(0)
        kept.append([f(whom) for f in (team.distance_to, team.bearing_to, team.offset_to)])
        return 0.0, 0.0

    for many_worlds in (True, False):
        law = covey.controller(scope="group", sees=("pose",), many_worlds=many_worlds)(nearest)
        covey.Batch(room({"controller": law, "count": count}), 2).step()
    for whole, *parts in zip(*kept, strict=True):
        assert whole.tobytes() == np.stack(parts).tobytes()
    far = covey.controller(scope="group", sees=("pose",), many_worlds=True)(
        lambda team: (team.distance_to(np.full((2, count), -9)), 0.0)
    )
    with pytest.raises(ControllerError, match="there is no robot -9"):
        covey.Batch(room({"controller": far, "count": count}), 2).step()


def test_many_worlds_are_for_controllers_of_groups():
    with pytest.raises(InvalidValueError, match="scope='group'"):
        covey.controller(many_worlds=True)(lambda robot: None)


FLOOR = {"world": {"generate": "office", "size_m": [11, 9], "resolution_m": 0.1, "seed": 2}}
SCOUT = {
    "base": "disc",
    "sensors": [
        {"kind": "lidar", "rays": 40, "range_m": 3, "sigma_m": 0.02, "rate_hz": 20},
        {"kind": "neighbours", "range_m": 3},
    ],
    "mapping": {"resolution_m": 0.1, "min_motion_m": 0.05},
}
Turns = covey.controller(scope="group", sees=("pose",), many_worlds=True)(
    lambda team: (0.5 + 0.0 * team.heading, 0.8 * np.sin(3 * team.heading + team.time))
)


@pytest.mark.parametrize("of", ["union", "any_robot", "all_robots"])
def test_maps_and_what_is_explored_are_those_of_each_run(of):
    robots = [
        {"name": "a", "robot": SCOUT, "count": 2, "start": {"apart": {}}, "controller": Turns},
        {"name": "s", "robot": {**SCOUT, "radius_m": 0.15}, "count": 1, "start": {"apart": {}}, "controller": "still"},
    ]
    stop = {"explored": {"union": 0.34, "any_robot": 0.25, "all_robots": 0.06}[of], "of": of, "timeout_s": 4}
    scenario = covey.Scenario.model_validate({**FLOOR, "robots": robots, "stop": stop})
    batch, sims = covey.Batch(scenario, 4, seed=3, maps=True), alone(scenario, 4)
    assert batch.explored_share_union.tolist() == [0] * 4
    while not batch.done:
        batch.step()
        for k, sim in enumerate(sims):
            if not sim.done:
                sim.step()
            assert batch.explored_share[k].tobytes() == sim.scoring.exploration.share.tobytes()
            assert batch.explored_share_union[k] == sim.scoring.exploration.share_union
    for k, sim in enumerate(sims):
        assert batch.pose[k].tobytes() == sim.state.pose.tobytes()
        for i, name in enumerate(batch.names):
            ours, theirs = batch.occupancy(k, name), sim.localization.belief_of[i].grid
            assert (ours.cells.tobytes(), ours.origin) == (theirs.cells.tobytes(), theirs.origin)
        sim.discard()
    assert batch.status == [sim.status for sim in sims]
    assert "reached" in batch.status


def test_a_batch_without_maps_says_how_to_get_them():
    batch = covey.Batch(room({"controller": "lloyd"}), 2)
    for ask in (lambda: batch.explored_share, lambda: batch.explored_share_union, lambda: batch.occupancy(0, 0)):
        with pytest.raises(InvalidValueError, match="maps=True"):
            ask()
    batch = covey.Batch(room({"robot": SCOUT, "controller": Turns}), 2, maps=True)
    for world in (-1, 2, True, 0.5):
        with pytest.raises(InvalidValueError, match="world is"):
            batch.occupancy(world, 0)
    for robot in ("g01", 1, -1, [1], True, np.int64(1)):
        with pytest.raises(UnknownNameError, match=r"robot with a map .*g00"):
            batch.occupancy(0, robot)
    np.testing.assert_array_equal(batch.occupancy(0, np.int64(0)).cells, batch.occupancy(0, "g00").cells)


def test_arrays_of_a_batch_that_callers_get_are_theirs():
    batch = covey.Batch(room({"robot": SCOUT, "controller": Turns}), 2, maps=True)
    for name in ("over", "reached", "pose", "collisions", "explored_share", "explored_share_union"):
        if hasattr(batch, name):
            getattr(batch, name)[...] = 1
    assert not batch.done
    assert batch.status == [None, None]
    assert not batch.index.flags.writeable
    assert (batch.explored_share == 0).all()


def test_maps_that_do_not_fit_are_refused_before_they_are_made(monkeypatch):
    scenario = room({"robot": SCOUT, "controller": Turns})
    without = covey.scenario.batch._bytes(scenario)
    monkeypatch.setattr("covey.memory.room", lambda: (1.5 * 50 * without, "are left"))
    assert covey.Batch(scenario, 50).worlds == 50
    with pytest.raises(
        InvalidValueError, match=r"a batch of 50 worlds .* are left; take fewer worlds, or coarser maps"
    ):
        covey.Batch(scenario, 50, maps=True)


def test_controllers_that_end_without_the_goal_are_exhausted():
    scenario = room({"robot": SCOUT, "controller": Ends}, timeout_s=5).model_copy(update={})
    scenario = override(scenario, {"stop.explored": 1.0})
    batch = covey.Batch(scenario, 6, seed=0, maps=True)
    batch.run()
    sims = alone(scenario, 6, seed=0)
    for sim in sims:
        while not sim.done:
            sim.step()
        sim.discard()
    assert batch.status == [sim.status for sim in sims]
    assert "exhausted" in batch.status
