"""Evolution strategies for small networks, in NumPy: what the three trainings of this folder share.

In each round every world tries a slightly different network, and the network moves towards those that gained more. As
in T. Salimans et al., 2017, arXiv:1703.03864: pairs of opposite noise in equal worlds, ranks in place of gains, Adam.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Shown = dict[str, np.ndarray]


class Network:
    """A network with one hidden layer of tanh, from observations to numbers.

    Args:
        sizes: number of values of each observation, by name.
        hidden: units of the hidden layer.
        outputs: how many numbers it returns.
        squashed: whether they are squashed to -1 to 1.
        alike: how many rows the only observation has that are judged alike, each by the same network; then each gives
            one number.
    """

    def __init__(self, sizes: dict[str, int], hidden: int, outputs: int, *, squashed: bool = True, alike: int = 1):
        self.sizes, self.squashed, self.alike = sizes, squashed, alike
        self.shapes = ((sum(sizes.values()) // alike, hidden), (hidden,), (hidden, outputs), (outputs,))
        self.size = sum(int(np.prod(shape)) for shape in self.shapes)

    def first(self, random: np.random.Generator) -> np.ndarray:
        """Return weights to begin with, (size,); rows that are judged alike are all equal at first."""
        scales = [np.full(int(np.prod(shape)), 1 / np.sqrt(shape[0]) if len(shape) > 1 else 0) for shape in self.shapes]
        scales[2] *= self.alike == 1
        return np.concatenate(scales) * random.normal(size=self.size)

    def imitating(self, rows: np.ndarray, values: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Return weights (size,) by which rows (m, k) that are judged alike get nearly these values (m,)."""
        from scipy.optimize import least_squares

        def forward(weights: np.ndarray) -> tuple[np.ndarray, ...]:
            first, first_offset, last, last_offset = (part[0].astype(float) for part in self.parts(weights[None]))
            hidden = np.tanh(rows @ first + first_offset)
            return hidden, last[:, 0] * (1 - hidden**2), (hidden @ last + last_offset)[:, 0] - values

        def slopes(weights: np.ndarray) -> np.ndarray:
            hidden, back, error = forward(weights)
            of_first = rows[:, :, None] * back[:, None]
            of_all = (of_first.reshape(len(rows), -1), back, hidden, np.ones_like(error)[:, None])
            return np.vstack((np.hstack(of_all), small * np.eye(self.size)))

        def errors(weights: np.ndarray) -> np.ndarray:
            return np.concatenate((forward(weights)[2], small * weights))

        small = 0.2  # keeps weights small, as noise of evolution is the same for all
        return least_squares(errors, random.normal(size=self.size), slopes, method="lm", max_nfev=40).x

    def parts(self, weights: np.ndarray) -> list[np.ndarray]:
        """Return the matrices and offsets of k networks, (k, …) each, from rows of weights (k, size)."""
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])[:-1]
        split = np.split(weights.astype(np.float32), ends, axis=1)
        return [part.reshape(len(weights), *shape) for part, shape in zip(split, self.shapes, strict=True)]

    def __call__(self, weights: np.ndarray, shown: Shown | np.ndarray) -> np.ndarray:
        """Return the numbers (k n, outputs) of k networks, each for n robots that observe arrays (k n, …)."""
        first, first_offset, last, last_offset = self.parts(weights)
        shown = dict.fromkeys(self.sizes, shown) if isinstance(shown, np.ndarray) else shown
        rows = len(next(iter(shown.values())))
        x = np.concatenate([shown[key].reshape(rows, -1) for key in self.sizes], axis=1)
        x = x.reshape(rows * self.alike, -1)
        hidden = np.tanh(x.reshape(len(weights), -1, x.shape[1]) @ first + first_offset[:, None])
        out = (hidden @ last + last_offset[:, None]).reshape(rows, -1)
        return np.tanh(out) if self.squashed else out

    def write(self, path: Path, weights: np.ndarray, shapes: dict[str, tuple[int, ...]]) -> None:
        """Write the network with weights (size,) as ONNX; ``shapes``: of the observations of a robot, by name."""
        import onnx
        from onnx import TensorProto, helper, numpy_helper

        names = ("first", "first_offset", "last", "last_offset")
        made = [
            numpy_helper.from_array(part[0], name) for part, name in zip(self.parts(weights[None]), names, strict=True)
        ]
        made.append(numpy_helper.from_array(np.array([-1, self.shapes[0][0]]), "row"))
        made.append(numpy_helper.from_array(np.array([-1, self.alike * self.shapes[-1][0]]), "out"))
        nodes = [helper.make_node("Flatten", [key], [f"flat_{key}"]) for key in self.sizes]
        nodes += [
            helper.make_node("Concat", [f"flat_{key}" for key in self.sizes], ["whole"], axis=1),
            helper.make_node("Reshape", ["whole", "row"], ["x"]),
            helper.make_node("Gemm", ["x", "first", "first_offset"], ["a"]),
            helper.make_node("Tanh", ["a"], ["hidden"]),
            helper.make_node("Gemm", ["hidden", "last", "last_offset"], ["b"]),
            helper.make_node("Tanh" if self.squashed else "Identity", ["b"], ["c"]),
            helper.make_node("Reshape", ["c", "out"], ["action"]),
        ]
        taken = [helper.make_tensor_value_info(k, TensorProto.FLOAT, ["robots", *shapes[k]]) for k in self.sizes]
        given = [helper.make_tensor_value_info("action", TensorProto.FLOAT, ["robots", "numbers"])]
        graph = helper.make_graph(nodes, "policy", taken, given, made)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def episode(worlds: Any, act: Callable[[Shown], np.ndarray], seeds: list[int], discount: float) -> np.ndarray:
    """Return the discounted reward of a robot in a run, mean over the robots of each world, float64 (worlds,).

    Args:
        worlds: of `covey.learning.vector_env`.
        act: gives the actions of all robots for what they observe.
        seeds: of the worlds.
        discount: factor for each decision.
    """
    shown, _ = worlds.reset(seed=seeds)
    total, over, factor = np.zeros(worlds.num_envs), np.zeros(worlds.num_envs, bool), 1.0
    while not over.all():  # a world that is over begins anew, which counts no more
        shown, rewards, terminated, truncated, _ = worlds.step(act(shown))
        total += factor * rewards * ~over
        over |= terminated | truncated
        factor *= discount
    return total.reshape(len(seeds), -1).mean(axis=1)


def train(
    network: Network,
    worlds: Any,
    act: Callable[[np.ndarray, Shown], np.ndarray],
    options: argparse.Namespace,
    *,
    discount: float,
    noise: float = 0.1,
    step: float = 0.03,
    every: int = 10,
    decay: float = 0.005,
    first: np.ndarray | None = None,
) -> None:
    """Train a network, and write it as ONNX, with its record and its learning curve.

    Args:
        network: the network.
        worlds: of `covey.learning.vector_env`; an even number.
        act: gives actions for weights (k, size) and what all robots observe.
        options: of `arguments`.
        discount: factor of the reward for each decision.
        noise: standard deviation of the noise. ``step``: of Adam.
        every: rounds between two tests of the network itself, in worlds of their own; the best is written.
        decay: how much of the weights each gradient takes away.
        first: weights to begin with; None: random ones.
    """
    count, random, begun = len(worlds.worlds), np.random.default_rng(options.seed), time.process_time()
    mean = network.first(random) if first is None else first
    slope, square = np.zeros(network.size), np.zeros(network.size)
    tested = (2**31 + np.arange(count)).tolist()
    space = worlds.single_observation_space
    shapes = {key: (space[key] if len(network.sizes) > 1 else space).shape for key in network.sizes}
    record, best, curve = worlds.worlds[0].save_record(options.out), -np.inf, list[tuple[int, float]]()
    for number in range(options.rounds + 1):
        if number % every == 0 or number == options.rounds:
            weights = np.repeat(mean[None], count, axis=0)
            gain = float(episode(worlds, lambda shown, w=weights: act(w, shown), tested, discount).mean())
            curve.append((number, gain))
            if gain > best:
                best = gain
                network.write(options.out, mean, shapes)
            draw(options.out.with_suffix(".png"), curve, network.size)
            print(f"round {number}, {time.process_time() - begun:.0f} s of processor: reward {gain:.3f}", flush=True)
        if number == options.rounds:
            break
        half = random.normal(size=(count // 2, network.size))
        tried = np.concatenate((half, -half))
        seeds = np.tile(random.integers(2**31, size=count // 2), 2).tolist()  # each pair in the same world
        weights = mean + noise * tried
        gains = episode(worlds, lambda shown, w=weights: act(w, shown), seeds, discount)
        ranks = gains.argsort(kind="stable").argsort() / (count - 1) - 0.5
        gradient = ranks @ tried / (count * noise) - decay * mean
        slope, square = 0.9 * slope + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        corrected = slope / (1 - 0.9 ** (number + 1)), square / (1 - 0.999 ** (number + 1))
        mean = mean + step * corrected[0] / (np.sqrt(corrected[1]) + 1e-8)
    print(f"{options.out} (reward {best:.3f}), {record} and {options.out.with_suffix('.png')}")


def draw(path: Path, curve: list[tuple[int, float]], weights: int) -> None:
    """Draw a learning curve: the reward of a robot in worlds that served no round, over the rounds."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 3.2), layout="constrained")
    axes.plot(*zip(*curve, strict=True))
    axes.set(xlabel="round", ylabel="reward of a robot", title=f"{path.stem}: {weights} weights")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def arguments(doc: str, rounds: int, worlds: int, out: str) -> argparse.Namespace:
    """Return what the command line of a training says."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=rounds, help="how long to train (default: %(default)s)")
    parser.add_argument("--worlds", type=int, default=worlds, help="worlds in a round (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same network")
    parser.add_argument("--out", type=Path, default=Path(out), help="file of the network (default: %(default)s)")
    options = parser.parse_args()
    if options.worlds < 2 or options.worlds % 2 or options.rounds < 0:
        parser.error(
            f"--worlds {options.worlds} --rounds {options.rounds}: give an even number of worlds, rounds from 0"
        )
    return options
