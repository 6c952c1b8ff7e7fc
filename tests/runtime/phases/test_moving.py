"""A short step writes what all phases write one by one; an observer makes them go one by one."""

import numpy as np
import pytest

import covey
from covey.runtime.phases.deciding import Deciding
from covey.runtime.phases.moving import Moving


@covey.controller(scope="group", sees=("pose",))
def _meander(team):
    """Drive in loops, fast enough to meet walls and each other now and then."""
    return 0.6, np.sin(team.time + np.arange(team.count))


@covey.controller(scope="group", sees=("pose",))
def _speak(team):
    """Stay apart, and write a note now and then."""
    if round(team.time * 10) % 7 == 3:
        team.note(0, f"at {team.time:.1f}")
    return 0.1, 1.0


@covey.controller(scope="group", sees=("pose",))
def _straight(team):
    """Drive ahead."""
    return 0.5, 0.0


@covey.controller(scope="group", sees=("pose",))
def _there_and_back(team):
    """Drive ahead for two seconds, back for a second, and so on."""
    return 0.4 if team.time % 3.0 < 2.0 else -0.4, 0.0


@covey.controller(scope="group", sees=("pose", "collided"))
def _forget(team):
    """Turn after a touch; forget to return anything after three seconds."""
    if team.time < 3:
        return 0.6, np.where(team.collided, 3.0, 0.2)
    return None


@covey.controller(scope="group", sees=("velocity",))
def _shake(team):
    """Drive along x, to and fro."""
    return (0.5 * np.cos(team.time), 0.1) if team.time else np.zeros((team.count, 3))


def _build(sim):
    """Build a wall after half a second, in which nothing has happened, and remove it later."""
    if round(sim.time, 6) == 0.5:
        sim.add_wall((0, -2), (0, 2), "bar")
    if round(sim.time, 6) == 3.2:
        sim.remove_wall("bar")
    return sim.time > 6


def _bytes(monkeypatch, observers, starts, law, **arguments):
    """Return the tables of a run, and how many steps it took in one kernel."""
    steps, drives = [], []
    step, drive = Moving.step, Deciding.drive
    monkeypatch.setattr(Moving, "step", lambda self: steps.append(1) or step(self))
    monkeypatch.setattr(Deciding, "drive", lambda self, *given: drives.append(1) or drive(self, *given))
    kinematics = "holonomic" if law is _shake else "unicycle"
    robot = covey.RobotModel(name="disc", kinematics=kinematics, radius_m=0.15, command_delay_s=0.2)
    groups = [covey.Group("robot", robot, np.array(starts), law)]
    if law is _forget:  # beside a team that goes on
        groups.append(covey.Group("other", robot, np.array([[-1.5, 1.5, 0.0]]), _straight))
    sim = covey.Simulation(covey.World.empty(5, 5), groups, observers=observers, seed=3, **arguments)
    run = sim.run()
    names = "measurements.parquet", "team.parquet", "events.parquet"
    with np.load(run.folder / "maps.npz") as maps:
        cells = {name: maps[name] for name in maps.files}
    return [(run.folder / name).read_bytes() for name in names], cells, min(len(steps), len(drives)), run


CASES = {
    "contacts": ([[-1, 0, 0], [1, 0, 2], [0, 1, 4], [0.5, -1, 5]], _meander, {}),
    "one robot, long substeps": ([[0, 0, 0]], _meander, {"execution": {"substep_s": 0.1, "pose_every": 3}}),
    "notes": ([[-1, 0, 0], [1, 0, 0]], _speak, {}),
    "a goal that says why": ([[-1, 0, 0], [1, 0, 0]], _speak, {"goal": lambda sim: sim.time > 2.5 and "far enough"}),
    "a wall that comes and goes": ([[-1, 0, 0], [-1.5, 1, 0]], _straight, {"goal": _build}),
    "robots that meet twice": ([[-0.4, 0, 0], [0.4, 0, 3.141592653589793]], _there_and_back, {}),
    "a law that fails": ([[-1, 0, 0], [1, 0, 2]], _forget, {}),
    "velocities in the world frame": ([[-1, 0, 0], [1, 0, 2]], _shake, {}),
    "a fault and a wall": (
        [[-1, 0, 0], [1, 0, 0]],
        _speak,
        {
            "faults": [{"kind": "wheel_sticks", "robot": "robot0", "at_s": 1, "for_s": 1}],
            "events": [{"wall": {"from": [0, -2], "to": [0, 2]}, "at_s": 2}],
        },
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_tables_have_the_same_bytes(case, monkeypatch):
    starts, law, more = CASES[case]
    stop = {} if "goal" in more else {"stop": covey.Stop(timeout_s=6)}
    plain, cells, steps, run = _bytes(monkeypatch, [], starts, law, **stop, **more)
    phases, other_cells, no_steps, _ = _bytes(monkeypatch, [lambda snapshot: None], starts, law, **stop, **more)
    assert steps > 10
    assert no_steps == 0
    assert plain == phases
    assert all(np.array_equal(cells[name], other_cells[name]) for name in cells)
    collisions = (run.events["kind"] == "collision").sum()
    assert collisions >= {"contacts": 3, "a wall that comes and goes": 2, "robots that meet twice": 2}.get(case, 0)


def test_a_simulation_that_measures_more_goes_phase_by_phase():
    law, world = _meander, covey.World.empty(5, 5)
    for more in ({"robots": 2, "controller": "random_ballistic_walk"}, {"stop": covey.Stop(covered=0.5)}):
        groups = {"robots": [covey.Group("robot", covey.RobotModel(name="disc", radius_m=0.1), np.zeros((1, 3)), law)]}
        sim = covey.Simulation(world, **{**groups, **more}, seed=1)
        assert sim._moving is None
        sim.close()


@pytest.mark.slow
def test_a_law_that_acts_in_some_steps_or_in_a_process_of_its_own_is_no_short_step():
    robot = covey.RobotModel(name="disc", radius_m=0.1)
    for group, execution in (({"control_every": 2}, {}), ({}, {"controllers": "processes"})):
        groups = [covey.Group("robot", robot, np.zeros((1, 3)), _straight, **group)]
        sim = covey.Simulation(covey.World.empty(5, 5), groups, seed=1, execution=execution)
        assert sim._moving is not None
        assert not sim.deciding.is_of_laws
        sim.close()
