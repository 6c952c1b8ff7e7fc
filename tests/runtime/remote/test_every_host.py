"""Each localization with each kind of map gives the same bytes in the simulator, called directly, and in a process.

Called directly is how a node of ROS 2 and a replay call the software of a robot, with the same readings.
"""

from functools import cache

import numpy as np
import pytest

import covey
from covey.comms.radio import Radio
from covey.mapping.known_map import KnownMap
from covey.mapping.localization import DeadReckoning, Noise, TruePose
from covey.mapping.particle_localizer import Particles
from covey.mapping.records import ElevationMapping, Mapping
from covey.mapping.slam_localizer import Slam
from covey.runtime.replay.alone import replay
from covey.runtime.replay.log import StepLog
from covey.runtime.replay.recorded import RecordedRobot
from covey.sensors import Imu, Lidar, Neighbours, Wedge
from covey.sensors.odometry import GmappingNoise
from covey.sensors.odometry import Odometry as Wheels
from covey.world.generators.grounds import hills
from covey.world.world import WALL

KINDS = {
    "truth": TruePose(),
    "noise": Noise(),
    "odometry": DeadReckoning(),
    "slam": Slam(),
    "particles": Particles(filter={"particles": 4}),
    "known_map": KnownMap(),
}
MAPS = {
    "occupancy": (Mapping(resolution_m=0.2), ()),
    "elevation": (ElevationMapping(), (Wedge(range_m=2.5, mount_pitch_deg=20),)),
}
SENSORS = (
    Lidar(range_m=5.0, rays=60, rate_hz=20, latency_s=0.02, sigma_m=0.01),
    Wheels(noise=GmappingNoise(), rate_hz=20),
    Imu(rate_hz=20, gyro_noise=1e-3),
    Neighbours(range_m=4.0, latency_s=0.01),
)
STARTS = [(-3.0, -1.5, 0.3), (0.0, -1.6, 1.0), (3.0, -1.5, 2.0), (-3.0, 1.5, -0.5), (0.0, 1.6, -1.2), (3.0, 1.5, 3.0)]
STEPS = 25


async def around(robot):
    """Drive on a circle, and note what the robot knows."""
    robot.drive(0.4, 0.5)
    while True:
        places = robot.pose, robot.odometry_pose, robot.pose_covariance
        robot.note(f"{places} {robot.map.version} {(robot.map.occupancy() >= 0).sum()}")
        await robot.sleep(0.5)


@cache
def place(mapping):
    """Return a hall with two blocks, on hills if robots map the ground."""
    empty = covey.World.empty(9, 6, resolution_m=0.1).grid
    cells = empty.cells.copy()
    cells[26:34, 26:32] = cells[24:36, 58:64] = WALL
    walls = covey.World(empty.with_cells(cells))
    if mapping == "occupancy":
        return walls
    return hills(size_m=(14.0, 12.0), height_m=0.5, wavelength_m=10.0, seed=4, spacing_m=0.5).world(walls)


def simulate(mapping, hosting=None, processes=False):
    """Return, by robot, the bytes of all that it estimates, maps and notes."""
    record, sensors = MAPS[mapping]
    model = covey.robots.disc().model_copy(update={"sensors": (*SENSORS, *sensors), "mapping": record})
    groups = [
        covey.Group(kind, model, [start], localization=localization)
        for (kind, localization), start in zip(KINDS.items(), STARTS, strict=True)
    ]
    execution = covey.Execution(controllers="processes" if processes else "in_process")
    sim = covey.Simulation(
        place(mapping),
        groups,
        around,
        seed=5,
        radio=Radio(range_m=20.0),
        share_maps=0.5,
        execution=execution,
        hosting=hosting,
    )
    estimates = []
    for _ in range(STEPS):
        sim.step()
        own = sim.localization
        estimates.append(np.column_stack((own.pose, own.covariance.reshape(-1, 9), own.revision, own.odometry)))
    beliefs = [sim.localization.belief_of[i] for i in range(len(KINDS))]
    notes = sim.close().events
    return {
        name: {
            "estimates": np.array(estimates)[:, i].tobytes(),
            "map": beliefs[i].occupancy().tobytes(),
            "version": beliefs[i].version,
            "altitude": beliefs[i].altitude().tobytes() if mapping == "elevation" else beliefs[i].own.tobytes(),
            "notes": notes.filter(notes["robot"] == f"{name}0")["text"].to_list(),
        }
        for i, name in enumerate(KINDS)
    }


@pytest.fixture(scope="module", params=MAPS)
def found(request, tmp_path_factory):
    """Return the mapping, the results by host and robot, and the recorded steps of the robot with SLAM."""
    mapping, path = request.param, tmp_path_factory.mktemp("steps") / "slam.jsonl.gz"
    recorded = RecordedRobot("slam0", path)
    by_host = {"in process": simulate(mapping), "directly": simulate(mapping, recorded.hosting)}
    recorded.log.close()
    by_host["own process"] = simulate(mapping, processes=True)
    return mapping, by_host, path


@pytest.mark.parametrize("host", ["directly", "own process"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_bytes_are_those_of_the_simulators_process(found, kind, host):
    _, by_host, _ = found
    here, there = by_host["in process"][kind], by_host[host][kind]
    for name, value in here.items():
        assert there[name] == value, name
    assert len(here["notes"]) == 5
    known = np.frombuffer(here["map"], np.int8)
    assert ((known == 0) | (known == 100)).sum() > 100


def test_a_replay_of_a_robot_that_localizes_itself_answers_as_recorded(found):
    mapping, _, path = found
    replayed = replay(StepLog(path))
    assert (replayed.steps, replayed.first) == (STEPS, None), mapping


async def beside(robot):
    """Drive on a circle, and note where the frame of the other robot is."""
    robot.drive(0.4, 0.5)
    (other,) = (name for name in robot.team if name != robot.name)
    while True:
        robot.note(f"{robot.pose} {robot.frame_of(other)} {robot.map.version} {(robot.map.occupancy() >= 0).sum()}")
        await robot.sleep(0.5)


def together(processes):
    """Return what two robots note and map that do SLAM as a team, and do not know where the other has started."""
    model = covey.robots.disc().model_copy(update={"sensors": SENSORS, "mapping": MAPS["occupancy"][0]})
    sim = covey.Simulation(
        place("occupancy"),
        [covey.Group("robot", model, [(-3.0, -1.5, 0.3), (-1.0, -1.6, 2.0)], localization=Slam())],
        beside,
        seed=5,
        radio=Radio(range_m=20.0),
        share_maps=covey.ShareMaps(every_s=0.5, start_poses="unknown"),
        execution=covey.Execution(controllers="processes" if processes else "in_process"),
    )
    for _ in range(60):
        sim.step()
    maps = [sim.localization.belief_of[i].occupancy().tobytes() for i in range(2)]
    events = sim.close().events
    return maps, events.select("time_s", "kind", "robot", "other", "text").rows()


def test_robots_in_processes_do_slam_as_a_team_and_join_their_maps_as_in_the_simulators_process():
    here, there = together(processes=False), together(processes=True)
    assert here == there
    notes = [text for _, kind, _, _, text in here[1] if kind == "note"]
    assert "None" in notes[0]
    assert "None" not in notes[-1]  # each has found the frame of the other
