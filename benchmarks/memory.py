"""Peak memory of runs of each kind beside what `covey.runtime.memory` estimates before they begin.

Each run is a process of its own, with a warm cache and without pictures; the figure is its largest resident set. The
ratio is the peak over the estimate: 1 is exact, above 1 the run takes more than was said. None takes more than 2 GB.

Run: python benchmarks/memory.py [words of the cases, such as: share tnf]
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import psutil

import covey
from covey.runtime.memory import Crew, parts_of
from covey.scenario.build import set_up

PIONEERS = """
world: {{generate: cave, size_m: [100, 100], resolution_m: 0.2}}
robots:
  - {{robot: {{base: pioneer3dx, mapping: {{resolution_m: {cell}}}}}, count: {n}, start: {{spread: {{}}}},
      controller: {controller}, localization: {localization}}}
stop: {{timeout_s: {until}}}
radio: {{range_m: 300}}
{more}
"""
OFFICE = """
world: {{generate: office, size_m: [60, 40]}}
robots: [{{robot: pioneer3dx, count: {n}, start: {{spread: {{}}}}, controller: {controller}}}]
stop: {{timeout_s: {until}}}
radio: {{range_m: 300}}
{more}
"""
GROUND = """
world: {generate: hills, size_m: [150, 150], spacing_m: 0.25}
robots: [{robot: {base: skid_steer, mapping: {kind: elevation}}, count: 12, controller: wander}]
physics: terrain
stop: {timeout_s: 3}
"""
SHARED = "share_maps: {every_s: 1}"


def pioneers(n=40, controller="nearest_frontier", *, cell=0.1, until=5, localization="truth", more=""):
    """Return a scenario of Pioneers in a cave."""
    return PIONEERS.format(n=n, controller=controller, cell=cell, until=until, localization=localization, more=more)


def office(n, controller, *, until=20, more=""):
    """Return a scenario of Pioneers in an office."""
    return OFFICE.format(n=n, controller=controller, until=until, more=more)


CASES = {
    "one walker": pioneers(1, "wander"),
    "60 walkers": pioneers(60, "wander"),
    "20 nearest_frontier": pioneers(20),
    "60 nearest_frontier": pioneers(60),
    "60 nearest_frontier, share": pioneers(60, more=SHARED),
    "40 nearest_frontier, share, cells of 0.07 m": pioneers(40, cell=0.07, more=SHARED),
    "40 tnf, share": pioneers(40, "tnf", more=SHARED),
    "40 minpos, share": pioneers(40, "minpos", more=SHARED),
    "40 greedy fill": pioneers(40, more="share_maps: {every_s: 1, rule: greedy_fill}"),
    "40 maximum": pioneers(40, more="share_maps: {every_s: 1, rule: maximum}"),
    "20 unknown starts": pioneers(20, more="share_maps: {every_s: 1, start_poses: unknown}"),
    "10 unknown starts for 12 s": pioneers(10, until=12, more="share_maps: {every_s: 1, start_poses: unknown}"),
    "40 market, share": pioneers(40, "market", more=SHARED),
    "40 cost_utility, share": pioneers(40, "cost_utility", more=SHARED),
    "40 greed, share": pioneers(40, "greed", more=SHARED),
    "40 minotaur, share": pioneers(40, "minotaur", more=SHARED),
    "40 rrt_frontier, share": pioneers(40, "rrt_frontier", more=SHARED),
    "40 next_best_view, share": pioneers(40, "next_best_view", more=SHARED),
    "10 boustrophedon in an office": office(10, "boustrophedon"),
    "10 partitioned_coverage in an office": office(10, "partitioned_coverage"),
    "10 patrol in an office": office(10, "conscientious_reactive", more="mission: {patrolling: {}}"),
    "4 unknown starts for 60 s": pioneers(4, until=60, more="share_maps: {every_s: 1, start_poses: unknown}"),
    "8 slam": pioneers(8, localization="{kind: slam}"),
    "8 slam for 60 s": pioneers(8, until=60, localization="{kind: slam}"),
    "4 slam, unknown starts": pioneers(
        4, until=30, localization="{kind: slam}", more="share_maps: {every_s: 1, start_poses: unknown}"
    ),
    "8 slam, unknown starts": pioneers(
        8, until=12, localization="{kind: slam}", more="share_maps: {every_s: 1, start_poses: unknown}"
    ),
    "2 particles": pioneers(2, localization="{kind: particles}"),
    "2 particles for 60 s": pioneers(2, until=60, localization="{kind: particles}"),
    "8 particles, cells of 0.2 m": pioneers(8, until=30, localization="{kind: particles, preset: yan2017}"),
    "8 known_map": pioneers(8, localization="{kind: known_map}"),
    "8 known_map, unknown start": pioneers(8, localization="{kind: known_map, start: unknown}"),
    "8 processes": pioneers(8, cell=0.2, more="execution: {controllers: processes}"),
    "8 processes, cells of 0.07 m": pioneers(8, cell=0.07, more="execution: {controllers: processes}"),
    "40 drift": pioneers(40, localization="{kind: odometry}"),
    "40 for 30 s": pioneers(40, until=30, more=SHARED),
    "12 on hills": GROUND,
}


def peak_mb(scenario: Path) -> float:
    """Return the peak resident set [MB] of ``covey run`` in a new process.

    With processes of controllers it is the largest sum seen of what all of them have, shared pages once (PSS).
    """
    most = 0.0
    with tempfile.TemporaryDirectory() as folder:
        command = ["-m", "covey", "run", str(scenario), "--no-pictures", "--quiet", "--out", str(Path(folder) / "run")]
        quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_DUP2, 1, 2)]
        child = os.posix_spawn(sys.executable, [sys.executable, *command], os.environ, file_actions=quiet)
        several = "controllers: processes" in scenario.read_text()
        while several and not (ended := os.wait4(child, os.WNOHANG))[0]:
            most = max(most, _together_mb(child))
            time.sleep(0.1)
        _, status, usage = ended if several else os.wait4(child, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 3), f"{scenario} ends with {os.waitstatus_to_exitcode(status)}"
    return max(most, usage.ru_maxrss * 1024 / 1e6)


def _together_mb(child: int) -> float:
    """Return what a process and its children have [MB]."""
    try:
        top = psutil.Process(child)
        return sum(one.memory_full_info().pss for one in [top, *top.children(recursive=True)]) / 1e6
    except psutil.Error:
        return 0.0


def estimated_mb(path: Path) -> float:
    """Return what is estimated [MB]."""
    scenario = covey.load_scenario(path)
    ready = set_up(scenario)
    parts = parts_of(
        ready.world,
        [
            Crew(g.robot, poses, g.controller.program, g.localization)
            for g, poses in zip(ready.groups, ready.poses, strict=True)
        ],
        sharing=scenario.share_maps,
        processes=scenario.execution.controllers != "in_process",
        timeout_s=scenario.stop.timeout_s,
    )
    return sum(parts.values()) / 1e6


def main() -> None:
    """Print the figures."""
    print(f"{'case':45} {'peak':>8} {'estimate':>8}  ratio")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in CASES.items():
            if all(word in name for word in sys.argv[1:]):
                path = Path(folder) / "case.yaml"
                path.write_text(text)
                estimate, peak = estimated_mb(path), peak_mb(path)
                print(f"{name:45} {peak:5.0f} MB {estimate:5.0f} MB  {peak / estimate:.2f}", flush=True)


if __name__ == "__main__":
    main()
