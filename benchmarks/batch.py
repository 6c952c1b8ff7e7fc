"""Batches of worlds: agent-steps per second of processor time on one core, beside the same runs one after another.

Worlds of 10 robots with rings of 12 rays of 2 m at 10 Hz in a room of 20 x 20 m, steps of 0.1 s with substeps of 10 ms;
one controller of the group in NumPy, which takes many worlds: straight on, and away from what is near. Nothing is
recorded in the batch. A line for each number of worlds: the batch, and, interleaved with it, single simulations of the
same seeds (at most 10 of them). The rates are those of a step, after a few that compile. The last figure is the memory
of the batch for each robot, beyond that of the batches before.

    python benchmarks/batch.py [--worlds 1 10 100 1000] [--noise] [--phases]
"""

import argparse
import resource
import time

import numpy as np

import covey


@covey.controller(scope="group", sees=("proximity",), many_worlds=True)
def wander(team):
    """Return speeds and turn rates: a robot with something ahead turns away from the side where it is."""
    ranges = team.proximity.ranges
    ahead, left = ranges[..., [11, 0, 1]].min(axis=-1), ranges[..., 1:5].min(axis=-1)
    near = ahead < 0.6
    return np.where(near, 0.05, 0.5), np.where(near, np.where(left < ranges[..., 8:12].min(axis=-1), -1.5, 1.5), 0.1)


def scenario(noise: bool) -> covey.Scenario:
    """Return the scenario of a world."""
    ring = {"kind": "proximity", "sectors": 12, "range_m": 2, "sigma_m": 0.01 if noise else 0.0}
    return covey.Scenario.model_validate(
        {
            "world": {"empty_m": [20, 20]},
            "robots": [
                {
                    "name": "a",
                    "robot": {"base": "disc", "sensors": [ring]},
                    "count": 10,
                    "start": {"apart": {}},
                    "controller": wander,
                }
            ],
            "stop": {"timeout_s": 100_000},
        }
    )


def spent(step, steps: int) -> float:
    """Return the processor time of so many steps [s]."""
    begun = time.process_time()
    for _ in range(steps):
        step()
    return time.process_time() - begun


def main() -> None:
    """Print a line for each number of worlds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, nargs="*", default=[1, 10, 100, 1000], help="numbers of worlds")
    parser.add_argument("--noise", action="store_true", help="ranges with Gaussian noise of 1 cm")
    parser.add_argument("--phases", action="store_true", help="print the time of each phase")
    options = parser.parse_args()
    one = scenario(options.noise)
    for worlds in options.worlds:
        begun, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        batch = covey.Batch(one, worlds, seed=1)
        made_s = time.process_time() - begun
        spent(batch.step, 3)
        kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
        singles = [one.model_copy(update={"seed": 1 + k}).build() for k in range(min(worlds, 10))]
        for each in (batch, *singles):
            spent(each.step, 20)
        steps, alone = max(20_000 // worlds, 200), max(2000 // len(singles), 200)
        together_s = alone_s = 0.0
        for _ in range(4):
            together_s += spent(batch.step, steps // 4)
            alone_s += sum(spent(sim.step, alone // 4) for sim in singles)
        rate, rate_alone = 10 * worlds * steps / together_s, 10 * len(singles) * alone / alone_s
        print(
            f"{worlds:5} worlds: batch {rate:11,.0f} agent-steps/s; {len(singles):2} single {rate_alone:9,.0f}; "
            f"{rate / rate_alone:5.1f} times; made in {made_s:.2f} s; {kb * 1024 / worlds / 10:,.0f} bytes a robot",
            flush=True,
        )
        if options.phases:
            before = dict(batch.phase_s)
            for _ in range(100):
                batch.step()
            parts = {name: 1e9 * (s - before[name]) / 100 / 10 / worlds for name, s in batch.phase_s.items()}
            print("      " + ", ".join(f"{name} {ns:.0f} ns" for name, ns in parts.items()), flush=True)
        for sim in singles:
            sim.discard()


if __name__ == "__main__":
    main()
