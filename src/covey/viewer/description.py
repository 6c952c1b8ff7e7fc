"""What never changes in a run, as plain data for the page."""

import math
from dataclasses import asdict
from typing import Any

import numpy as np

import covey
from covey.robots.team import TeamModel
from covey.runtime.simulation import Simulation
from covey.viewer.cell_layers import layer_of


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
        "orders": takes_orders(sim),
        **({"timeout_s": sim.stop.timeout_s} if math.isfinite(sim.stop.timeout_s) else {}),
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
        "at_end": [name for name in layers if not layer_of(name).is_exact or name == "ground"],  # its past is not kept
    }


def takes_orders(sim: Simulation) -> bool:
    """Return whether an order to the team changes anything: its mission counts them, or a controller takes them.

    A controller says so by its attribute ``takes_orders``.
    """
    programs = [group.program for group in sim.groups if group.program is not None]
    factories = [one.factory for program in programs for one in (program, program.inner) if one is not None]
    return "order" in sim.tracker.facts or any(getattr(factory, "takes_orders", False) for factory in factories)


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
