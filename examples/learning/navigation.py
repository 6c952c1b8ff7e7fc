"""Train a small network to drive to goals among other robots, and write it for the controller ``onnx``.

    python examples/learning/navigation.py [--minutes 10] [--out navigation.onnx]

Five robots in a room with four pillars see twelve distances, their speed, and where their goals are. Each of 32 worlds
tries a slightly different network in each round. The network moves towards those that brought their robots nearer to
their goals with fewer contacts. These are evolution strategies as in T. Salimans et al., 2017, arXiv:1703.03864: pairs
of opposite noise, and ranks in place of rewards; but steps are plain, without Adam. NumPy is enough.
"""

import argparse
import time

import numpy as np

from covey import Scenario
from covey.learning import vector_env

SCENARIO = {
    "world": {
        "workspace_m": [[-4, -4], [4, -4], [4, 4], [-4, 4]],
        "obstacles_m": [
            [[x - 0.3, y - 0.3], [x + 0.3, y - 0.3], [x + 0.3, y + 0.3], [x - 0.3, y + 0.3]]
            for x, y in ((-1.5, -1.5), (1.5, -1.5), (-1.5, 1.5), (1.5, 1.5))
        ],
        "resolution_m": 0.1,
    },
    "robots": [
        {
            "name": "r",
            "robot": {"base": "disc", "sensors": [{"kind": "proximity", "sectors": 12, "range_m": 2}]},
            "count": 5,
            "start": {"spread": {}},
            "controller": "still",
        }
    ],
    "stop": {"timeout_s": 20},
}
SIZES = {"goal": 3, "velocity": 2, "ranges": 12}
HIDDEN, WORLDS, STEP, SPREAD = 16, 32, 0.05, 0.1
SHAPES = ((sum(SIZES.values()), HIDDEN), (HIDDEN,), (HIDDEN, 2), (2,))


def parts(weights: np.ndarray) -> list[np.ndarray]:
    """Return the matrices and offsets of networks, from rows of numbers (k, m): (k, …) each."""
    ends = np.cumsum([int(np.prod(shape)) for shape in SHAPES])
    return [
        one.reshape(len(weights), *shape)
        for one, shape in zip(np.split(weights, ends[:-1], axis=1), SHAPES, strict=True)
    ]


def act(weights: np.ndarray, shown: dict[str, np.ndarray]) -> np.ndarray:
    """Return the actions (k n, 2) of k networks for n robots each, which observe arrays (k n, …)."""
    first, first_offset, last, last_offset = parts(weights)
    x = np.concatenate([shown[key] for key in SIZES], axis=1).reshape(len(weights), -1, SHAPES[0][0])
    hidden = np.tanh(x @ first + first_offset[:, None])
    return np.tanh(hidden @ last + last_offset[:, None]).reshape(-1, 2).astype(np.float32)


def episode(worlds, weights: np.ndarray, seeds: list[int]) -> np.ndarray:
    """Return the mean reward of a robot in a run, for each network, float64 (k,)."""
    shown, _ = worlds.reset(seed=seeds)
    total, over = np.zeros(worlds.num_envs), np.zeros(worlds.num_envs, bool)
    while not over.all():  # a world that is over begins anew, which counts no more
        shown, rewards, terminated, truncated, _ = worlds.step(act(weights, shown))
        total += rewards * ~over
        over |= terminated | truncated
    return total.reshape(len(weights), -1).mean(axis=1)


def write(path: str, weights: np.ndarray) -> None:
    """Write a network as ONNX."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    names = ("first", "first_offset", "last", "last_offset")
    made = [
        numpy_helper.from_array(one[0].astype(np.float32), name)
        for one, name in zip(parts(weights[None]), names, strict=True)
    ]
    nodes = [
        helper.make_node("Concat", list(SIZES), ["x"], axis=1),
        helper.make_node("Gemm", ["x", "first", "first_offset"], ["a"]),
        helper.make_node("Tanh", ["a"], ["hidden"]),
        helper.make_node("Gemm", ["hidden", "last", "last_offset"], ["b"]),
        helper.make_node("Tanh", ["b"], ["action"]),
    ]
    taken = [helper.make_tensor_value_info(key, TensorProto.FLOAT, ["robots", size]) for key, size in SIZES.items()]
    given = [helper.make_tensor_value_info("action", TensorProto.FLOAT, ["robots", 2])]
    graph = helper.make_graph(nodes, "navigation", taken, given, made)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def main() -> None:
    """Train, print the curve, and write the network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to train")
    parser.add_argument("--rounds", type=int, default=10**6, help="or so many rounds, if they are over sooner")
    parser.add_argument("--out", default="navigation.onnx", help="the file of the network")
    options = parser.parse_args()
    scenario = Scenario.model_validate(SCENARIO)
    worlds = vector_env(scenario, WORLDS, goals=True, observe=list(SIZES), every_s=0.2)
    random = np.random.default_rng(0)
    mean = 0.1 * random.normal(size=sum(int(np.prod(shape)) for shape in SHAPES))
    begun, number = time.monotonic(), 0
    while number < options.rounds and time.monotonic() - begun < 60 * options.minutes:
        noise = random.normal(size=(WORLDS // 2, len(mean)))
        noise = np.concatenate((noise, -noise))
        seeds = np.tile(random.integers(2**31, size=WORLDS // 2), 2).tolist()  # each pair in the same world
        gains = episode(worlds, mean + SPREAD * noise, seeds)
        rank = gains.argsort().argsort() / (WORLDS - 1) - 0.5
        mean = mean + STEP / (WORLDS * SPREAD) * (rank @ noise) * 4
        number += 1
        if number % 10 == 1:
            print(f"round {number}, {time.monotonic() - begun:.0f} s: reward of a robot {gains.mean():.2f}", flush=True)
    write(options.out, mean)
    record = worlds.worlds[0].save_record(options.out)
    worlds.close()
    print(f"{options.out} and {record}")


if __name__ == "__main__":
    main()
