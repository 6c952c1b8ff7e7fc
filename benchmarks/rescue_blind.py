"""Rescue with a camera that is blind from the start, with a robot less, and with all: what is found, and when.

Two robots of `rescue_team` on each floor of the course; the first one's camera gives no sample. A blind camera should
cost no more than a robot less.

    python benchmarks/rescue_blind.py [--floors rescue_1 ...] [--runs 10] [--first 100]
"""

import argparse
from typing import Any

import numpy as np
from wavering import FLOORS, outcome

TEAMS: dict[str, dict[str, Any]] = {
    "both see": {},
    "one camera blind": {"faults": [{"kind": "sensor", "sensor": "tag_camera", "robot": "searcher0", "at_s": 0}]},
    "a robot less": {
        "robots.searcher.count": 1,
        "robots.searcher.start": [[0, 1, 0]],
        "mission.rescue.kinds.big_fire.robots": 1,  # nobody is there to meet
    },
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--floors", nargs="+", default=FLOORS)
    parser.add_argument("--runs", type=int, default=10, help="of each floor")
    parser.add_argument("--first", type=int, default=100, help="the first seed")
    parser.add_argument("--teams", nargs="+", default=list(TEAMS), choices=list(TEAMS))
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.runs)
    print("| team | runs | targets found | all found | last find: median [s] |\n|---|---|---|---|---|")
    for team in options.teams:
        found = [
            outcome(("rescue", TEAMS[team] | {"world.named": floor, "seed": seed}))
            for floor in options.floors
            for seed in seeds
        ]
        whole, targets = sum(one.found == one.targets for one in found), sum(one.targets for one in found)
        print(
            f"| {team} | {len(found)} | {sum(one.found for one in found)} of {targets} | {whole} | "
            f"{np.median([one.last_s for one in found]):.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
