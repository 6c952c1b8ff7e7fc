"""Robots lost on landscapes with sheer drops: static ones, a crater dug across the way, a crater dug under a robot.

Three robots explore, or form up (terrain_team, both modes), with the wedge of the skid-steer robot. A seed gives their
headings, where the drops are and how deep (1 to 3 m):

* ``static``: a cliff in the east, a trench of 1 or 2 m in the north, a bank in the west.
* ``ahead``: on level ground a crater is dug on the way of a robot as soon as one drives, 5 s or more after the start;
  its rim is 3 m before that robot, and 3 m or more from the others. A run in which none could be dug is counted apart.
* ``under``: the same with its middle below a robot. That is bad luck; it is counted apart.

One row per run goes to ``rows.jsonl`` in ``--out``; what has its row is not run again.

    nice -n 15 python benchmarks/cliffs.py [--seeds 20] [--seconds 20] [--places static ahead] [--out DIR]
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

PLACES = ("static", "ahead", "under")
MODES = ("leap_of_faith", "look_before_leap")
AHEAD_M, RADIUS_M = 3.0, 3.0
_BEGIN_S, _DRIVES_M_S = 5.0, 0.2


def strategies() -> list[str]:
    """Return what drives on a landscape by its map: all that explore or cover, and both modes of terrain_team."""
    from covey.controllers import controllers
    from covey.onboard.controller import Program

    seen = {name: Program(name).sees or () for name in controllers.names()}
    mapping = [n for n, sees in seen.items() if "map" in sees and not {"waypoints", "blackboard"} & set(sees)]
    return [*sorted(mapping), *MODES]


def landscape(place: str, random: np.random.Generator) -> np.ndarray:
    """Return altitudes [m] of vertices 1 m apart, with x, y = 0 in the middle."""
    altitude = np.zeros((25, 25))
    if place == "static":
        depth = random.uniform(1.0, 3.0, 3)
        east, north, west, wide = (int(random.integers(*span)) for span in ((4, 8), (5, 9), (4, 8), (1, 3)))
        altitude[12 + north : 12 + north + wide] = -depth[0]
        altitude[:, 12 + east :] = -depth[1]
        altitude[:, 12 - west - 1 : 12 - west + 1] = depth[2]
    return altitude


def crater_at(sim: Any, place: str) -> tuple[float, float] | None:
    """Return where to dig now [m]; None where nobody drives, or it would be too near to a robot, or no ground."""
    poses = sim.state.pose
    for i in np.flatnonzero(sim.state.twist[:, 0] > _DRIVES_M_S):
        x, y, heading = poses[i]
        if place == "under":
            return float(x), float(y)
        away = AHEAD_M + RADIUS_M
        at = x + away * np.cos(heading), y + away * np.sin(heading)
        near = np.hypot(*(poses[:, :2] - at).T).min()
        if max(abs(at[0]), abs(at[1])) < 11.0 and near >= away - 1e-6:
            return float(at[0]), float(at[1])
    return None


def simulation(place: str, strategy: str, seed: int, seconds: float) -> Any:
    """Return the simulation of one run."""
    import covey
    from covey.controllers import controllers
    from covey.missions import Formation
    from covey.onboard.controller import Program
    from covey.world.ground import Ground

    random = np.random.default_rng([seed, PLACES.index(place)])
    ground = Ground.of(landscape(place, random), origin=(-12.0, -12.0))
    poses = [(0.0, 2.0 * i - 2.0, float(random.uniform(-np.pi, np.pi))) for i in range(3)]
    options: dict[str, Any] = {}
    if strategy in MODES:
        beyond = ((9, 0), (0, 10), (-9, 0))[seed % 3]
        options["mission"] = Formation(objective_m=beyond, mode=strategy)  # pyright: ignore[reportArgumentType]
    program = Program(
        controllers.get("terrain_team" if strategy in MODES else strategy), {"tile_m": 1.0} if strategy == "ssb" else {}
    )
    robots, stop = covey.Group("r", covey.robots.skid_steer(), poses, program), covey.Stop(timeout_s=seconds)
    return covey.Simulation(
        ground.world(), [robots], seed=seed, physics="terrain", share_maps=1.0, stop=stop, **options
    )


def run(place: str, strategy: str, seed: int, seconds: float = 20.0) -> dict[str, Any]:
    """Return the row of one run: how many robots fell or rolled over, and whether what it asks for was dug."""
    sim = simulation(place, strategy, seed, seconds)
    dug_s = None
    while not sim.done:
        sim.step()
        if place != "static" and dug_s is None and sim.time > _BEGIN_S:
            at = crater_at(sim, place)
            if at is not None:
                depth = float(np.random.default_rng([seed, 99]).uniform(1.0, 3.0))
                sim.change_ground(crater={"centre_m": at, "depth_m": depth, "radius_m": RADIUS_M})
                dug_s = round(sim.time, 1)
    row = {"place": place, "strategy": strategy, "seed": seed, "robots": len(sim.state.pose), "dug_s": dug_s}
    row["way_m"] = round(float(sim.state.distance_m.sum()), 1)
    return row | {"lost": sim.close().metrics["robots_lost"]}


def table(rows: list[dict[str, Any]], places: list[str]) -> str:
    """Return lost robots of all robots, runs, and runs in which nothing could be dug, by place and strategy."""
    lines = [
        "| place | strategy | runs | robots lost | not dug | way of a robot, median |",
        "|---|---|---|---|---|---|",
    ]
    for place in places:
        for strategy in strategies():
            some = [r for r in rows if r["place"] == place and r["strategy"] == strategy]
            if some:
                lost, robots = sum(r["lost"] for r in some), sum(r["robots"] for r in some)
                missed = "" if place == "static" else sum(r["dug_s"] is None for r in some)
                way = np.median([r["way_m"] / r["robots"] for r in some])
                lines.append(f"| {place} | {strategy} | {len(some)} | {lost} of {robots} | {missed} | {way:.1f} m |")
    return "\n".join(lines)


def main() -> None:
    """Run what has no row yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--places", nargs="+", choices=PLACES, default=list(PLACES))
    parser.add_argument("--strategies", nargs="+", choices=strategies(), default=strategies())
    parser.add_argument("--out", type=Path, default=Path("cliffs"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    file = given.out / "rows.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []
    there = {(r["place"], r["strategy"], r["seed"]) for r in rows}
    for key in [(p, s, k) for k in range(given.seeds) for p in given.places for s in given.strategies]:
        if key not in there:
            rows.append(run(*key, given.seconds))
            with file.open("a") as stream:
                stream.write(json.dumps(rows[-1]) + "\n")
    print(table(rows, given.places))


if __name__ == "__main__":
    main()
