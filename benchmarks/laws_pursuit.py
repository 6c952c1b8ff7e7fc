"""Pursuit and evasion: numbers for `laws.py`. Holonomic robots, control period 0.05 s."""

import math
from collections.abc import Iterator

import numpy as np
from laws_parts import Row, run, square

from covey.geometry.voronoi import voronoi

SQUARE = ((0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0))
START = [(2.0, 5.0, 0.0), (8.0, 5.0, 0.5 * math.pi)]
STEP_S = 0.05
NEVER = math.inf

TABLE = (
    ("opposite", "pure", 3.0, {0.7: 30.8, 0.8: 15.9, 0.9: 11.1, 0.95: 9.8, 1.0: 7.8}),
    ("opposite", "midpoint", 3.0, {0.6: 8.6, 0.7: 7.7, 0.8: 6.7, 0.9: 5.9}),
    ("diagonal", "pure", 3.0, {0.7: 6.6, 0.8: 5.9, 0.9: 5.3, 0.95: 5.1, 1.0: 4.9}),
    ("diagonal", "midpoint", 3.0, {0.6: 7.7, 0.7: 6.7, 0.8: 6.1, 0.9: 5.5}),
)
"""Times of capture [s] by the ratio of speeds, from an integrator of points written for it: rounded to 0.1 s."""
CLOCKWISE = {"pure": {0.7: NEVER, 0.8: NEVER, 0.9: NEVER, 0.95: NEVER, 1.0: (21.0, 28.5)}}
CLOCKWISE |= {"midpoint": {0.6: NEVER, 0.7: NEVER, 0.8: NEVER, 0.9: (9.0, 15.0)}}
"""Times of capture, or their range over the distances 2 to 5 m at which the evader leaves its corner."""


def capture_s(seconds: float = 120.0, **parameters) -> float:
    """Return the time at which the evader is caught [s]; infinite if it is not."""

    def caught(sim):
        return math.dist(sim.state.pose[0, :2], sim.state.pose[1, :2]) <= 0.2

    world = square(12.0, (5.0, 5.0))
    poses, _ = run("pursuit", START, seconds, STEP_S, world, "holonomic", caught, workspace_m=SQUARE, **parameters)
    return (len(poses) - 1) * STEP_S if len(poses) <= round(seconds / STEP_S) else math.inf


def least_growth(step_s: float = STEP_S, **parameters) -> float:
    """Return the least growth of the pursuer's Voronoi cell by a move of the evader and one of the pursuer [m2].

    The speeds are equal, and the two move in turns.
    """
    told = {"workspace_m": SQUARE, "turns": True, "speed_m_s": 1.0} | parameters
    poses, _ = run("pursuit", START, 60.0, step_s, square(12.0, (5.0, 5.0)), "holonomic", **told)
    apart = np.hypot(*(poses[:, 0, :2] - poses[:, 1, :2]).T)
    end = int(np.argmax(apart <= 0.2)) or len(poses)
    return float(np.diff([voronoi(p[:, :2], SQUARE).area[0] for p in poses[:end:2]]).min())  # the evader moves first


def rows(short: bool = False) -> Iterator[Row]:
    """Yield the numbers."""
    for evasion, rule, near, times in TABLE:
        for ratio, expected in list(times.items())[:: 2 if short else 1]:
            found = capture_s(rule=rule, evasion=evasion, near_m=near, speed_m_s=ratio)
            what = f"evader {evasion}, ratio {ratio}: captured after [s]"
            yield Row(f"pursuit {rule}", what, expected, found, 0.0501)
    for rule, times in CLOCKWISE.items():
        for ratio, expected in list(times.items())[-2 if short else 0 :]:
            seconds = 40.0 if short else 120.0
            found = [
                capture_s(seconds, rule=rule, evasion="clockwise", near_m=near, speed_m_s=ratio)
                for near in ((3.0,) if short else (2.0, 3.0, 4.0, 5.0))
            ]
            what = f"evader clockwise, ratio {ratio}: captured after [s]"
            if expected == NEVER:
                yield Row(f"pursuit {rule}", what, NEVER, min(found), 0.0)
            else:
                yield Row(f"pursuit {rule}", f"{what}, earliest", expected[0], min(found), 0.0, ">=")
                yield Row(f"pursuit {rule}", f"{what}, latest", expected[1], max(found), 0.0, "<=")
    for evasion in ("clockwise",) if short else ("clockwise", "opposite", "diagonal"):
        what = f"in turns, equal speeds, evader {evasion}: least growth of the area [m2]"
        yield Row("pursuit area_growing", what, 0.0, least_growth(rule="area_growing", evasion=evasion), 0.0, ">=")
    if not short:  # the midpoint is the best direction of a step of length 0: what a step loses goes by its square
        for evasion in ("clockwise", "opposite", "diagonal"):
            coarse, fine = (least_growth(step_s, rule="midpoint", evasion=evasion) for step_s in (0.05, 0.01))
            what = f"in turns, evader {evasion}: loss of steps of 0.01 s over that of 0.05 s"
            yield Row("pursuit midpoint", what, 0.04, fine / coarse, 0.0, "<=")
    if not short:
        for ratio in (0.6, 0.7, 0.8, 0.9):
            both = [capture_s(rule=r, evasion="opposite", speed_m_s=ratio) for r in ("midpoint", "area_growing")]
            what = f"evader opposite, ratio {ratio}: captured after, by the midpoint law [s]"
            yield Row("pursuit area_growing", what, both[0], both[1], 0.0501)
