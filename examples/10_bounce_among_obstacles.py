"""Two robots among three obstacles: back off from what is near, turn at random, go on (Casini, Garulli 2016)."""

import numpy as np

import covey


@covey.law(sees=("proximity",))
def law(team):
    near = team.proximity.presence[:, 0]  # the sector ahead
    backed = getattr(team.memory, "speed", np.zeros(team.count)) < 0
    turn = np.where(~near & backed, np.pi / 2 + np.pi * team.random.random(team.count), 0.0)
    team.memory.speed = np.where(near, -0.2, np.where(backed, 0.0, 0.2))
    return team.memory.speed, turn


out = covey.play(
    law,
    starts=[(1, 3, 0), (9, 7, np.pi)], robots=2, sampling_s=1, stop_s=1000, speed="max", draw={"grid": False},
    workspace=[(0, 0), (0, 10), (10, 10), (10, 0)],
    obstacles=[[(5, 2), (4, 3), (6, 4), (5, 3)], [(4, 5), (3, 7), (2, 8), (1, 6), (2, 5)], [(6, 6), (7, 7), (8, 6)]],
    sensors=[{"kind": "proximity", "sectors": 4, "rays_per_sector": 9, "range_m": 0.3, "ring_radius_m": 0.15}],
)  # fmt: skip
print(f"{(out.commands[..., 2] > 0).sum()} turns, {len(out.events)} contacts in {len(out.commands)} steps")
