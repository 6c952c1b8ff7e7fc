"""What never changes in a run, as plain data for the page."""

from dataclasses import asdict
from typing import Any

import numpy as np

import covey
from covey.robots.team import TeamModel
from covey.runtime.simulation import Simulation


def description_of(sim: Simulation, layers: list[str]) -> dict[str, Any]:
    """Return robots, world, mission and layers of a simulation."""
    world = sim.world
    return {
        "type": "hello",
        "mode": "live",
        "covey": covey.__version__,
        "name": sim.manifest["name"],
        "seed": sim.seed,
        "step_s": sim.clock.step_s,
        "goal": sim.stop.goal,
        "mission": sim.manifest["mission"],
        "robots": [
            {**robot, "group": group.name, "start": np.round(start, 4).tolist()}
            for robot, (group, start) in zip(
                robots_of(sim.names, sim.model, [group.robot.name for group in sim.groups for _ in group.start]),
                ((group, start) for group in sim.groups for start in group.start),
                strict=True,
            )
        ],
        "targets": sim.targets.plain(),
        "world": {
            "name": world.name,
            "rows": world.grid.shape[0],
            "columns": world.grid.shape[1],
            "resolution_m": world.grid.resolution,
            "origin": list(world.grid.origin),
            "wall_height_m": world.wall_height_m,
            "doors": [asdict(door) for door in world.doors],
            "ground": world.ground is not None,
            **({} if world.polygon is None else {"workspace_m": world.polygon.tolist()}),
        },
        "layers": layers,
    }


def robots_of(names: list[str], model: TeamModel, kinds: list[str]) -> list[dict[str, Any]]:
    """Return name, kind and body of each robot: discs of x, y, radius [m]."""
    return [
        {
            "name": name,
            "kind": kind,
            "discs": np.round(model.discs[i, : model.disc_count[i]], 4).tolist(),
        }
        for i, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
