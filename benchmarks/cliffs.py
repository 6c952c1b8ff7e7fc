"""Robots lost on landscapes with sheer drops: a cliff, a trench, a bank, and a trench dug across the way 3 m ahead.

Three robots explore, or six form up (terrain_team, both modes), on a level field of 33 x 25 m; a seed turns their
headings and moves the drop. One row per run goes to ``rows.jsonl`` in ``--out``; what has its row is not run again.

    nice -n 15 python benchmarks/cliffs.py [--seeds 20] [--seconds 40] [--out DIR]
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

PLACES = ("cliff", "trench", "bank", "dug")
STRATEGIES = ("nearest_frontier", "minpos", "hungarian_assignment", "leap_of_faith", "look_before_leap")
AHEAD_M = 3.0


def run(place: str, strategy: str, seed: int, seconds: float = 40.0) -> dict[str, Any]:
    """Return the row of one run: how many robots fell or rolled over."""
    import covey
    from covey.controllers import controllers
    from covey.missions import Formation
    from covey.world.ground import Ground

    random = np.random.default_rng(seed)
    at, depth = int(random.integers(2, 7)), float(random.uniform(1.0, 3.0))
    altitude = np.zeros((25, 33))
    wide = {"cliff": 33, "trench": int(random.integers(1, 3)), "bank": 2, "dug": 0}[place]
    altitude[:, 12 + at : 12 + at + wide] += depth if place == "bank" else -depth
    ground, team = Ground.of(altitude, origin=(-12.0, -12.0)), "leap" in strategy
    poses = [(-6.0 + 2 * (i % 2), 2.0 * (i // 2) - 2, float(random.uniform(-3, 3))) for i in range(6 if team else 3)]
    name = "terrain_team" if team else strategy
    robots = covey.Group("r", covey.robots.skid_steer(), poses, controllers.get(name))
    options: dict[str, Any] = {"mission": Formation(objective_m=(14, 0), mode=strategy)} if team else {}
    stop = covey.Stop(timeout_s=seconds)
    sim = covey.Simulation(ground.world(), [robots], seed=seed, physics="terrain", share_maps=1.0, stop=stop, **options)
    while not sim.done:
        sim.step()
        if place == "dug" and sim.time > 12.0:
            x = float(sim.state.pose[:, 0].max()) + AHEAD_M + 2.0  # the middle; 2 m from there the ground is untouched
            if x < 18.0:
                sim.change_ground(trench={"from": (x, -12), "to": (x, 12), "width_m": 2, "depth_m": depth})
            place = "dug since"
    explored = round(sim.scoring.explored_share_union, 3)
    row = {"strategy": strategy, "seed": seed, "robots": len(poses), "explored": explored}
    return row | {"lost": sim.close().metrics["robots_lost"]}


def main() -> None:
    """Run what has no row yet, and print the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--out", type=Path, default=Path("cliffs"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    file = given.out / "rows.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []
    there = {(r["place"], r["strategy"], r["seed"]) for r in rows}
    for key in [(p, s, k) for k in range(given.seeds) for p in PLACES for s in STRATEGIES]:
        if key not in there:
            rows.append({"place": key[0], **run(*key, given.seconds)})
            with file.open("a") as stream:
                stream.write(json.dumps(rows[-1]) + "\n")
    for place in PLACES:
        for strategy in STRATEGIES:
            some = [r for r in rows if r["place"] == place and r["strategy"] == strategy]
            lost, robots = sum(r["lost"] for r in some), sum(r["robots"] for r in some)
            print(f"{place:8} {strategy:22} {len(some):3} runs, {lost} of {robots} robots lost")


if __name__ == "__main__":
    main()
