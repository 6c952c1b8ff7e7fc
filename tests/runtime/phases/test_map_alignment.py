"""Teams that do not know where the others started: what they find out, what they merge, and what is recorded of it."""

import math
from typing import cast

import numpy as np
import pytest
from tests.references.mapping import RULES

import covey
from covey.clock import Clock
from covey.controllers.teammates import Teammates
from covey.errors import InvalidValueError, ScenarioError
from covey.geometry import Pose
from covey.geometry.grid import Grid
from covey.mapping.exchange.share_maps import ShareMaps
from covey.mapping.localization import Noise
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.records import Mapping
from covey.onboard.group import Group
from covey.onboard.map_alignment import MapAlignment
from covey.runtime.phases.team_slam import TeamSlam
from covey.sensors.lidar import Lidar
from covey.testing.boundary import check_boundary
from covey.world.world import World

RING = [(0, 2, 0, 140), (98, 100, 0, 140), (0, 100, 0, 2), (0, 100, 138, 140)]
MARKS = [(2, 50, 40, 43), (30, 33, 80, 138), (70, 75, 100, 105)]
STARTS = np.array([(6.2, 6.4, 0.4), (6.6, 2.4, 2.2)])
UNKNOWN = ShareMaps(start_poses="unknown", align_every_s=1.0)
SEEN: dict[str, dict[str, tuple[Pose, tuple[float, float]]]] = {}


async def tells(robot):
    """Stand still, tell the others, and remember where they are said to be."""
    team = Teammates(every_s=0.5)
    while True:
        team.step(robot, goal=(1.0, 0.0))
        SEEN[robot.name] = {name: (mate.pose, mate.goal) for name, mate in team.others(robot).items()}
        await robot.sleep(0.1)


def world(*walls):
    cells = np.zeros((100, 140), np.uint8)
    for top, bottom, left, right in walls:
        cells[top:bottom, left:right] = 1
    return World(Grid(cells, 0.1))


def group(starts=STARTS, program=tells, **options):
    lidar = Lidar(range_m=15.0, rays=360, fov_deg=360, rate_hz=10, sees_robots=False)
    robot = covey.robots.disc().model_copy(update={"sensors": (lidar,), "mapping": Mapping(resolution_m=0.1)})
    return Group("r", robot, starts, program, Noise(), **options)


def finished(walls, seconds=1.5, **options):
    sim = covey.Simulation(world(*walls), [group()], **{"share_maps": UNKNOWN, "seed": 3} | options)
    while sim.time < seconds - 1e-9:
        sim.step()
    return sim, sim.close()


def aligned(run):
    return run.events.filter(run.events["kind"] == "maps_aligned")


@pytest.fixture(scope="module")
def met():
    sim, run = finished(RING + MARKS)
    SEEN["met"] = dict(SEEN["r0"])
    return sim, run


def true_pose(i, j):
    """The start of robot j in the frame of robot i."""
    return Pose(*STARTS[i]).inverse() @ Pose(*STARTS[j])


def test_robots_think_in_the_frames_of_their_starts(met):
    sim, _ = met
    for i in range(2):
        robot = sim.robot(f"r{i}")
        assert robot.home == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)
        assert robot.pose == pytest.approx((0.0, 0.0, 0.0), abs=0.1)  # noise of 0.022 m and 0.02 rad
        rows, columns = robot.map.grid.to_cells((0.0, 0.0))
        assert robot.map.occupancy()[rows, columns] == 0  # it stands on free floor
    check_boundary(sim)


def test_two_robots_find_each_other(met):
    sim, run = met
    rows = run.events_of("maps_aligned")
    assert {(row["robot"], row["other"]) for row in rows} == {("r0", "r1"), ("r1", "r0")}
    for row in rows:
        told = row["data"]
        i, j = int(row["robot"][1]), int(row["other"][1])
        off = true_pose(i, j).inverse() @ Pose(told["dx_m"], told["dy_m"], math.radians(told["heading_deg"]))
        assert told["verdict"] == "accepted"
        assert math.hypot(off.x, off.y) < 0.5
        assert abs(math.degrees(off.heading)) < 2.0
        assert told["error_m"] == pytest.approx(math.hypot(off.x, off.y), abs=1e-3)
        assert told["error_deg"] == pytest.approx(abs(math.degrees(off.heading)), abs=1e-3)
        assert 0.5 <= told["confidence"] <= 1.0
        assert row["time_s"] == pytest.approx(1.1)  # tried at 1 s, recorded at the end of that step
        assert (row["x_m"], row["y_m"]) == pytest.approx(tuple(STARTS[i][:2]), abs=0.01)
        assert sim.robot(row["robot"]).frame_of(row["other"]) == pytest.approx(true_pose(i, j), abs=0.1)


def test_maps_hold_what_the_other_saw_where_it_is(met):
    _, run = met
    own, _ = finished(RING + MARKS, share_maps=None)
    for i in range(2):
        alone = own.localization.belief_of[i].occupancy()
        joined = run.maps.robots[i]
        theirs = Grid(own.localization.belief_of[1 - i].occupancy(), 0.1, own.localization.belief_of[1 - i].grid.origin)
        assert (joined.cells >= 0).sum() > (alone >= 0).sum()
        points = theirs.to_world(np.argwhere(theirs.cells >= 0))
        at = joined.to_cells(points)
        assert (joined.cells[at[:, 0], at[:, 1]] >= 0).mean() > 0.97
    quality = run.metrics["map_quality_by_robot"]
    assert min(quality.values()) > 0.9 * run.metrics["map_quality"] > 0.5


def test_metrics_say_who_found_whom(met):
    _, run = met
    errors = [row["data"]["error_m"] for row in run.events_of("maps_aligned")]
    assert run.metrics["aligned_share"] == 1.0
    assert run.metrics["first_alignment_s"] == pytest.approx(1.1)
    assert run.metrics["alignment_error_m"] == pytest.approx(sum(errors) / 2, abs=1e-9)
    assert run.metrics["alignment_error_deg"] < 2.0
    assert run.metrics["wrong_alignments"] == 0


def test_mates_are_known_from_the_alignment_on(met):
    assert set(SEEN["met"]) == {"r1"}
    pose, goal = SEEN["met"]["r1"]
    T = true_pose(0, 1)
    assert pose[:2] == pytest.approx(T[:2], abs=0.15)
    assert goal == pytest.approx(T @ (1.0, 0.0), abs=0.15)


def test_nobody_knows_the_others_before(met):
    sim, run = finished(RING + MARKS, seconds=0.9)
    assert SEEN["r0"] == SEEN["r1"] == {}
    assert sim.robot("r0").frame_of("r1") is None
    assert not len(aligned(run))
    assert run.metrics["aligned_share"] == 0.0
    assert run.metrics["first_alignment_s"] is None
    own = sim.localization.belief_of[0]
    assert (np.sign(own.own) == np.select([own.occupancy() == 100, own.occupancy() == 0], [1, -1])).all()


def test_a_room_that_looks_the_same_when_turned_is_not_merged():
    sim, run = finished(RING)
    texts = aligned(run)["text"].to_list()
    assert len(texts) == 2
    assert all(text.startswith("refused") and "ambiguous" in text for text in texts)
    assert sim.robot("r0").frame_of("r1") is None
    assert run.metrics["aligned_share"] == run.metrics["wrong_alignments"] == 0.0
    assert run.metrics["alignment_error_m"] is None


def test_the_same_run_twice_gives_the_same_bytes(met):
    _, run = met
    _, again = finished(RING + MARKS)
    for name in ("measurements.parquet", "team.parquet", "events.parquet", "maps.npz"):
        assert (run.folder / name).read_bytes() == (again.folder / name).read_bytes(), name


def test_who_knows_the_starts_has_no_such_metrics_and_no_such_events():
    sim, run = finished(RING, seconds=0.3, share_maps=1.0)
    assert run.metrics["aligned_share"] is run.metrics["wrong_alignments"] is None
    assert not len(aligned(run))
    assert sim.robot("r0").frame_of("r1") == (0.0, 0.0, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["greedy_fill", "maximum"])
def test_other_rules_of_merging_work_too(rule):
    sim, run = finished(RING + MARKS, share_maps=UNKNOWN.model_copy(update={"rule": RULES[rule]}))
    assert run.metrics["aligned_share"] == 1.0
    assert all((b.occupancy() >= 0).sum() > (b.own != 0).sum() for b in sim.localization.belief_of.values())


# -- what does not go together ----------------------------------------------------------------------------------------


@covey.controller(scope="group", sees=("pose",))
def together(view):
    return np.zeros((len(view.names), 3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"program": together}, "group controller needs the poses of all its robots"),
        ({"program": covey.controllers.controllers.get("ssb")}, "'ssb' needs the start poses of all robots"),
        ({"program": tells, "known_map": True}, "robots with the given map know the world frame"),
    ],
)
def test_what_needs_known_starts_is_refused(options, message):
    with pytest.raises(InvalidValueError, match=message):
        covey.Simulation(world(*RING), [group(**options)], share_maps=UNKNOWN)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"robots.scout.controller": "market"}, "choose one whose `sees` has no shared_frame"),
        ({"mission": "patrolling"}, "the graph to patrol lies in the world frame"),
        ({"share_maps.align_every_s": 0.25}, "0.25 s is not a multiple of the step of 0.1 s"),
        ({"share_maps.start_poses": "known", "share_maps.align_every_s": 5.0}, "belongs to start_poses unknown"),
        ({"share_maps.start_poses": "unknow"}, "known"),
    ],
)
def test_scenarios_that_cannot_be_are_refused(overrides, message):
    with pytest.raises(ScenarioError, match=message):
        covey.load("unknown_starts", overrides)


class Frames:
    """A SLAM of two robots that has found how their frames lie to each other."""

    def __init__(self):
        self.heading, self.times = 0.0, 0

    def revision(self, robot):
        return self.times

    def frame_of(self, robot, other):
        return Pose(1.0, 0.0, self.heading if robot == 0 else -self.heading)

    def turn(self, by_rad):
        self.heading, self.times = self.heading + by_rad, self.times + 1


def test_small_motions_of_a_frame_are_followed_when_it_is_time_and_large_ones_at_once():
    slam, clock = Frames(), Clock(step_s=0.1)
    maps = Beliefs(["a", "b"], (6.4, 6.4), (0.0, 0.0), Mapping(resolution_m=0.1))
    aligning = MapAlignment(np.arange(2), maps, 1.0, clock, cast(TeamSlam, slam), np.zeros((2, 3)))

    def verdicts(steps):
        found = []
        for _ in range(steps):
            clock.advance(clock.substeps_per_step)
            aligning.step(np.ones(2, bool))
            found.append({attempt.verdict for attempt in aligning.attempts})
        return found

    assert verdicts(1) == [{"accepted"}]
    slam.turn(0.0006)  # 0.12 cells, 20 m away
    assert verdicts(10) == [*[set()] * 8, {"revised"}, set()]
    slam.turn(0.0004)  # 0.08 cells
    assert verdicts(10) == [set()] * 10
    slam.turn(0.016)  # 3.2 cells
    assert verdicts(1) == [{"revised"}]
    assert aligning.T_own_other[0]["b"].heading == slam.heading
