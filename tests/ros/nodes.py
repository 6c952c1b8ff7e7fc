"""A team of a scenario in lockstep, each robot with its controller in a node, and the same in one process."""

import covey
from covey.scenario.run import run_scenario

LIMIT_S = 240


def simulator(start, scenario, *options):
    """Start the simulator of a scenario in lockstep."""
    return start("ros", "run", scenario, "--speed", "lockstep", "--out", "run", "-q", *options)


def node(start, controller="./mine.py:roam", name="scout0", scenario="room.yaml", *options):
    """Start the node of a robot."""
    return start("ros", "node", controller, "--name", name, "--scenario", scenario, *options)


def said_by(start, scenario, controllers, *options):
    """Return the lines that each robot has printed, once all nodes have ended without an error.

    Args:
        controllers: by name of the robot.
        options: of each node.
    """
    nodes = {name: node(start, controller, name, scenario, *options) for name, controller in controllers.items()}
    said = {}
    for name, ours in nodes.items():
        out, complaints = ours.communicate(timeout=LIMIT_S)
        assert ours.returncode == 0, complaints
        said[name] = out.splitlines()
    return said


def in_process(path, name="here", changes=None):
    """Run a scenario in the process of the simulation; return the run, and the same lines of each robot."""
    run = run_scenario(covey.load_scenario(path, changes or {}), path.parent / name)
    notes = {}
    for e in run.events.to_dicts():
        if e["kind"] == "note":
            notes.setdefault(e["robot"], []).append(f"{0.1 * (e['step'] - 1):.2f} s  {e['text']}")
    return run, notes
