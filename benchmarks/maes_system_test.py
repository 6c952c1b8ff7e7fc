"""MAES' system test, as far as it can be repeated here: one robot, 30 x 30 m building, first frontier, 99.9 %.

MAES 2.0 takes 1450, 1500 and 1480 ticks of 0.1 s in its ROS mode (Andreasen et al., Artif. Life Robotics 28, 2023).
Its building is not published as a map; here it is a floor of the office generator with the measures of MAES' generator
(halls of 4 m, rooms of at least 5 m, doors of 2 m), without furniture, a different one for each seed. The robot has
MAES' body and speed law; in ROS mode its controller caps the speed at half, 1.5 m/s.

    python benchmarks/maes_system_test.py [--seeds 3] [--speeds 1.5 3]
"""

import argparse
from statistics import median

from covey.scenario.build import build
from covey.scenario.records import Scenario

THEIRS_S = (145.0, 150.0, 148.0)


def scenario(seed: int, speed_m_s: float) -> Scenario:
    """Return the system test on the floor that a seed gives."""
    return Scenario.model_validate(
        {
            "name": "maes_system_test",
            "world": {
                "generate": "office",
                "size_m": [30, 30],
                "corridor_m": 4,
                "room_m": [5, 11],
                "door_m": 2,
                "furniture": False,
                "resolution_m": 0.1,
            },
            "robots": [
                {
                    "robot": {
                        "base": "maes",
                        "mapping": {"resolution_m": 0.2},
                        "max_speed_m_s": speed_m_s,
                        "max_wheel_speed_m_s": speed_m_s,
                    },
                    "start": {"room": "largest"},
                    "controller": "first_frontier",
                }
            ],
            "stop": {"explored": 0.999, "timeout_s": 1000},
            "seed": seed,
        }
    )


def main() -> None:
    """Print our times beside theirs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--speeds", type=float, nargs="+", default=[1.5, 3.0])
    options = parser.parse_args()
    print(f"MAES 2.0, ROS mode: {', '.join(f'{t:.0f} s' for t in THEIRS_S)}")
    for speed in options.speeds:
        times = []
        for seed in range(options.seeds):
            metrics = build(scenario(seed, speed)).run().metrics
            times.append(metrics["exploration_time_s"])
            print(
                f"Covey, {speed:g} m/s, floor {seed}: {metrics['status']} after {metrics['simulated_time_s']:.1f} s, "
                f"{metrics['explored_share']:.2%}, {metrics['exploration_cost_m']:.0f} m, "
                f"{metrics['collisions_wall']} contacts, {metrics['wall_time_s']:.1f} s of wall time",
                flush=True,
            )
        reached = [t for t in times if t is not None]
        if reached:
            print(
                f"Covey, {speed:g} m/s: median {median(reached):.1f} s, {median(reached) / 148:.2f} times MAES' median"
            )


if __name__ == "__main__":
    main()
