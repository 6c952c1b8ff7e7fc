"""Laws on graphs, flocking and delays: numbers for `laws.py`. Holonomic robots, control period 0.1 s."""

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from laws_parts import Row, point, run, square
from scipy.special import lambertw

import covey
from covey import graphs
from covey.controllers.laws.flocking import order_of, vicsek_headings
from covey.controllers.laws.formations import rigidity_matrix
from covey.controllers.laws.look_ahead import points_ahead
from covey.onboard.controller import Program
from covey.robots.model import RobotModel

STEP_S = 0.1
PATH = graphs.fixed([(0, 1), (1, 2), (2, 3), (3, 4)])
AHEAD_M = 0.2


def starts(seed: int, n: int, half_m: float) -> np.ndarray:
    """Return random poses, (n, 3)."""
    rng = np.random.default_rng(seed)
    return np.column_stack((rng.uniform(-half_m, half_m, (n, 2)), rng.uniform(-math.pi, math.pi, n)))


def played(law: str, start: np.ndarray, seconds: float, kinematics: str = "holonomic", **parameters) -> np.ndarray:
    """Return the points that a law moves, (t + 1, n, 2)."""
    poses, _ = run(law, start, seconds, STEP_S, square(100.0, resolution_m=2.0), kinematics, **parameters)
    if kinematics == "holonomic":
        return poses[..., :2]
    return points_ahead(poses.reshape(-1, 3), parameters["look_ahead_m"]).reshape(*poses.shape[:2], 2)


def graph_rows() -> Iterator[Row]:
    """Yield rates, ends and shapes."""
    second = 2.0 - 2.0 * math.cos(math.pi / 5.0)  # of a path of five
    mode = np.cos(math.pi * (np.arange(5) + 0.5) / 5.0)
    for kinematics in ("holonomic", "unicycle"):
        given = {"look_ahead_m": AHEAD_M} if kinematics == "unicycle" else {}
        points = played("consensus", starts(1, 5, 1.5), 10.0, kinematics, graph=PATH, **given)
        along = points[:, :, 0] @ mode
        factor = (along[-1] / along[10]) ** (1.0 / (len(along) - 11))
        yield Row("consensus", f"factor of the second mode in a step, {kinematics}", 1 - STEP_S * second, factor, 1e-6)
        rate = -math.log(factor) / STEP_S
        yield Row("consensus", f"its rate, {kinematics}: lambda_2, less hold [1/s]", second, rate, 0.01)
    start = starts(2, 5, 3.0)
    still = played("follow_leaders", start, 120.0, leaders=(0, 4), graph=PATH)[-1]
    hull = start[0, :2] + np.linspace(0, 1, 5)[:, None] * (start[4, :2] - start[0, :2])
    yield Row("follow_leaders", "way to the places between two leaders [m]", 0, np.abs(still - hull).max(), 1e-4)
    moving = played("follow_leaders", start, 100.0, leader_velocity=(0.2, 0.0), graph=PATH)[-1]
    yield Row(
        "follow_leaders", "lag of the last of a path of five at 0.2 m/s [m]", 2.0, moving[0, 0] - moving[4, 0], 1e-3
    )
    chain = np.column_stack((0.9 * np.arange(9), 0.2 * np.sin(np.arange(9)), np.zeros(9)))
    points = played("rendezvous", chain, 40.0, range_m=1.0)
    lost = sum(int((graphs.proximity(1.0)(a) & ~graphs.proximity(1.0 + 1e-9)(b)).sum()) for a, b in pairwise(points))
    yield Row("rendezvous", "edges of a chain of nine at the limit of sight that are lost", 0, lost, 0)
    yield Row(
        "rendezvous", "size of the team after 40 s [m]; bodies of 1 mm touch", 0, np.ptp(points[-1], axis=0).max(), 0.01
    )
    shape = np.array([(0.0, 0.0), (2.0, 0.0), (1.0, 1.5)])
    matrix = rigidity_matrix(shape, graphs.complete()(shape))
    values, vectors = np.linalg.eigh(matrix @ matrix.T)
    moved = shape + 1e-4 * (np.linalg.pinv(matrix) @ vectors[:, 0]).reshape(3, 2)
    points = played("formation_distance", np.column_stack((moved, np.zeros(3))), 2.0, shape_m=shape.tolist(), gain=0.1)
    i, j = np.triu_indices(3, 1)
    error = ((points[:, i] - points[:, j]) ** 2).sum(axis=2) - ((shape[i] - shape[j]) ** 2).sum(axis=1)
    factor = (error[-1] @ vectors[:, 0]) / (error[-2] @ vectors[:, 0])
    law = "formation_distance"
    yield Row(law, "factor of the slowest error in a step, 1 - 2 k T s^2", 1 - 0.2 * STEP_S * values[0], factor, 1e-4)


def vicsek_rows(short: bool) -> Iterator[Row]:
    """Yield the order over the noise: of all who see all in the simulation, and of the paper's team in its box."""
    for eta in (1.0, 3.0) if short else (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0):
        start = starts(4, 20, 2.0)
        points = played("vicsek", start, 100.0, range_m=1e4, speed_m_s=0.1, noise_rad=eta)
        squares = [order_of(way) ** 2 for way in np.diff(points, axis=0)[5:]]
        s = math.sin(eta / 2) / (eta / 2)
        error = 4.0 * float(np.std(squares)) / math.sqrt(len(squares))
        expected = 1 / 20 + 19 / 20 * s * s
        yield Row("vicsek", f"mean square of the order, all see all, noise {eta:g}", expected, np.mean(squares), error)
    before = 1.0
    for eta in (1.0, 3.0, 5.0) if short else (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0):
        rng = np.random.default_rng(1)
        position, heading, orders = rng.uniform(0, 3.1, (40, 2)), rng.uniform(-math.pi, math.pi, 40), []
        for k in range(300 if short else 3000):
            heading = vicsek_headings(position, heading, 1.0, rng.uniform(-eta / 2, eta / 2, 40), 3.1)
            way = 0.03 * np.column_stack((np.cos(heading), np.sin(heading)))
            position = (position + way) % 3.1
            orders += [order_of(way)] if k >= 100 else []
        yield Row("vicsek", f"order of 40 in the box of 3.1, noise {eta:g}; falls", before, np.mean(orders), 0, "<=")
        before = float(np.mean(orders))


def delay_rows() -> Iterator[Row]:
    """Yield the rates beside the bound of the delay, which is 1 s for this gain; oracle: the rightmost root."""
    shape = np.array([(-12.0, 0.0), (12.0, 0.0), (0.0, 15.0)])
    start = np.column_stack((shape + np.array([(-0.5, 0.1), (0.45, 0.2), (0.1, -0.4)]), np.zeros(3)))
    for share in (0.95, 1.05):
        model = point("holonomic").model_copy(update={"command_delay_s": share})
        program = Program("formation_displacement", {"shape_m": shape.tolist(), "gain": math.pi / 6.0})
        sim = covey.Simulation(
            square(100.0, resolution_m=2.0),
            [covey.Group("r", model, start, program)],
            execution=covey.Execution(step_s=0.01, substep_s=0.01),
        )
        spread = []
        for _ in range(6000):
            sim.step()
            away = sim.state.pose[:, :2] - shape
            spread.append(((away - away.mean(axis=0)) ** 2).sum())
        sim.close()
        early, late = (math.sqrt(sum(spread[-k * 400 :][:400])) for k in (9, 1))
        held = share + 0.005
        expected = float((lambertw(-0.5 * math.pi * held) / held).real)
        yield Row(
            "delay", f"rate at {share:g} of pi/(2 k lambda_max) [1/s]", expected, math.log(late / early) / 32.0, 2e-3
        )


def strip_rows(short: bool) -> Iterator[Row]:
    """Yield coverage of a strip of 8 m by four: rates beside the bound of the delay, and ends with a bad radio."""
    strip, ends, mode = [(0, -0.05), (8, -0.05), (8, 0.05), (0, 0.05)], np.array([1.0, 3.0, 5.0, 7.0]), [1, -1, 1, -1]

    def sim_of(law: str, x: np.ndarray, step_s: float, model: RobotModel, **settings) -> covey.Simulation:
        program = Program(law, {"workspace_m": strip, "gain": math.pi / 2 if law == "lloyd" else 1.0})
        group = covey.Group("r", model, np.column_stack((x, np.zeros((4, 2)))), program)
        timing = covey.Execution(step_s=step_s, substep_s=step_s)
        return covey.Simulation(square(40.0), [group], execution=timing, **settings)

    for share in (0.95, 1.05):
        slow = point("holonomic").model_copy(update={"command_delay_s": share})
        sim, along = sim_of("lloyd", ends + 0.1 * np.array(mode), 0.05, slow), []
        for _ in range(480):
            sim.step()
            along.append((sim.state.pose[:, 0] - ends) @ mode)
        sim.close()
        early, late = (math.sqrt(np.square(along[-k * 80 :][:80]).sum()) for k in (5, 1))
        held = share + 0.025
        expected = float((lambertw(-0.5 * math.pi * held) / held).real)
        what = f"rate in a strip at {share:g} of pi/(2 k lambda_max) [1/s]"
        yield Row("lloyd", what, expected, math.log(late / early) / 16.0, 3e-3)
    for loss in (0.6,) if short else (0.0, 0.3, 0.6):
        radio = covey.Radio(range_m=50.0, latency_s=3.0, loss=loss)
        sim = sim_of("lloyd_by_radio", np.array([0.7, 2.2, 5.5, 6.8]), 0.5, point("holonomic"), radio=radio, seed=3)
        for _ in range(200 if short else 600):
            sim.step()
        sim.close()
        what = f"way to the centroids, messages 3 s late and {loss:.0%} lost [m]"
        yield Row(
            "lloyd_by_radio", what, 0.0, float(np.abs(sim.state.pose[:, 0] - ends).max()), 0.01 if short else 1e-6
        )


def rows(short: bool = False) -> Iterator[Row]:
    """Yield the numbers."""
    yield from graph_rows()
    yield from vicsek_rows(short)
    yield from strip_rows(short)
    if not short:
        yield from delay_rows()
