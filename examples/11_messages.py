"""Robots that learn may talk: each sends a vector with its action, over its radio. Here one says where it is."""

import numpy as np

import covey

SCENARIO = covey.Scenario.model_validate(
    {
        "world": {"empty_m": [8, 6]},
        "robots": [
            {"name": "r", "robot": "disc", "count": 2, "start": [[-3, -2, 0], [3, 2, 0]], "controller": "still"}
        ],
        "radio": {"range_m": 10, "loss": 0.3},
        "stop": {"timeout_s": 20},
    }
)


def policy(shown):
    """Say where you are, and drive to the place that you last heard of; a trained network stands here else."""
    x, y, cosine, sine = shown["pose"]
    is_heard, *place = shown["messages"][0]
    bearing = np.arctan2(3 * (place[1] - y), 4 * (place[0] - x)) - np.arctan2(sine, cosine)
    return [is_heard * max(np.cos(bearing), 0), is_heard * np.sin(bearing), x, y]  # who hears nothing waits


world = covey.env(
    SCENARIO,
    action={"twist": {"message": 2}},  # a speed, a turn rate, and two numbers for the others
    observe=["pose", {"messages": {"size": 2, "most": 1}}],
    reward={"distance_m": 1},
)
shown, _ = world.reset(seed=1)
while world.agents and world.sim.scoring.collisions_robot[0] == 0:
    shown, *_ = world.step({name: policy(shown[name]) for name in world.agents})
print(f"they met after {world.sim.time:.1f} s")
world.close()
