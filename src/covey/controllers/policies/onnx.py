"""Learned controllers: a policy in a file in the format ONNX decides for the robots of a group, or for each alone."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from covey.controllers.policies.actions import Action
from covey.controllers.policies.knowledge import Knowledge, KnownToGroup, KnownToRobot, OneOf
from covey.controllers.policies.observations import Observation, observed
from covey.controllers.policies.trained import policy_file
from covey.controllers.teammates import Teammates
from covey.errors import CoveyError, InvalidValueError
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.plain_files import check_plain
from covey.records import as_record
from covey.robots.parameters import File, Stay

RECORD = ".json"
"""What is appended to the name of a policy's file for that of its record."""


def read_record(file: str | Path) -> dict[str, Any]:
    """Return the record beside the file of a policy: what it observes, its action, and the time between decisions [s].

    Raises:
        InvalidValueError: there is none, or it is none.
    """
    path = Path(f"{policy_file(str(file))}{RECORD}")
    try:
        check_plain(path)
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InvalidValueError(
            f"no record of the policy, which save_record of its environment writes: {path}: {why}"
        ) from None
    if not isinstance(found, dict) or set(found) != {"observe", "action", "every_s"}:
        raise InvalidValueError(f"{path} is no record of a policy; it holds observe, action and every_s")
    every_s = found["every_s"]
    if isinstance(every_s, bool) or not isinstance(every_s, (int, float)) or not 0 <= every_s < np.inf:
        raise InvalidValueError(f"{path}: every_s is {every_s!r:.60}; give the time between two decisions [s]")
    return found


def _sees(*, file: str = "", **_: Any) -> tuple[str, ...]:
    """Return what the policy of a file sees of a group."""
    try:
        seen = [name for one in observed(read_record(file)["observe"], trusted_only=True) for name in _seen(one)]
    except CoveyError:
        seen = []  # its first step says why
    return tuple(dict.fromkeys(("pose", "velocity", *seen)))


def _seen(one: Observation) -> tuple[str, ...]:
    return *one.sees, *one.reads


_WORDS = {"others": ("radio",), "goals": ("blackboard",), "map": ("map", "shared_map"), "velocity": ()}


def _each_sees(*, file: str = "", **_: Any) -> tuple[str, ...]:
    """Return what the policy of a file sees of one robot, in the words for such controllers."""
    seen = list(_sees(file=file))
    try:
        goals = as_record(Action, read_record(file)["action"], "action", trusted_only=True).moves == "goals"
    except CoveyError:
        goals = False
    return tuple(dict.fromkeys(w for name in (*seen, *(["map"] if goals else [])) for w in _WORDS.get(name, (name,))))


class Policy:
    """A policy and its record.

    Args:
        file: the policy, or the name of one that ships with Covey.
        every_s: time between two decisions [s]; 0: that of the record.

    Attributes:
        observe, action: what robots observe, and what is chosen for them. ``every_s``: time between decisions [s].

    Raises:
        CoveyError: the record cannot be read, or onnxruntime is not installed.
    """

    def __init__(self, file: str, every_s: float):
        record = read_record(file)
        self._file, self.observe = policy_file(file), observed(record["observe"], trusted_only=True)
        self.action = as_record(Action, record["action"], "action", trusted_only=True)
        if self.action.says:
            raise InvalidValueError(f"{file} sends messages, which only environments carry; train it without message")
        self.every_s = float(every_s or record["every_s"])
        self._network: Any = None
        self._next_s, self._chosen = -np.inf, np.empty(0)

    def due(self, time_s: float) -> bool:
        """Return whether the next decision is due at this time [s]."""
        return time_s >= self._next_s - 1e-9

    def command(self, known: Knowledge) -> np.ndarray:
        """Return what the robots are to do now, see `Action.command`; it decides anew when that is due.

        Raises:
            CoveyError: the network cannot be read, or does not fit its record or the robots.
        """
        if self.due(known.time_s):
            self._next_s = known.time_s + self.every_s
            self._chosen = self._decide(known)
        return self.action.command(self._chosen, known)

    def _decide(self, known: Knowledge) -> np.ndarray:
        if self._network is None:
            for one in self.observe:
                one.space(known)  # raises if the robots lack what it needs
            self._network = opened(self._file)
        names = [one.name for one in self._network.get_inputs()]
        given = {one.key: one.of(known) for one in self.observe}
        if len(names) == len(given) == 1:
            given = {names[0]: next(iter(given.values()))}
        if set(names) != set(given):
            raise InvalidValueError(
                f"{self._file} has the inputs {sorted(names)}, and its record the observations {sorted(given)}; "
                "give each input the name of an observation"
            )
        try:
            out = np.asarray(self._network.run(None, given)[0])
        except Exception as error:
            shapes = ", ".join(f"{name} {rows.dtype} {rows.shape}" for name, rows in given.items())
            raise InvalidValueError(f"{self._file} does not take {shapes}: {error}") from None
        space, n = self.action.space(known), len(known.names)
        if isinstance(space, OneOf):
            if out.shape == (n, space.count):
                return out.argmax(axis=1)
            wanted = f"({n}, {space.count})"
        else:
            if out.shape == (n, *space.shape) and np.isfinite(out).all():
                return out
            wanted = f"({n}, {', '.join(map(str, space.shape))}) of finite numbers"
        raise InvalidValueError(f"{self._file} returned {out.shape} for {n} robots; its action needs {wanted}")


@controller("onnx", scope="group", sees=_sees)
class Onnx:
    """Do what a learned policy chooses, asked once for all robots of the group.

    Beside the file lies its record, ``policy.onnx.json``, which `covey.learning.Environment.save_record` writes: what
    robots observe, what the policy chooses, and how often. An input of the network has the name of each observation
    and takes a row for each robot; the first output holds actions, or for a choice a value of each possibility, of
    which the largest counts. A record is data: it may name observations and actions of Covey and of installed packages,
    not code in a file.

    Args:
        file: the policy, or the name of one that ships with Covey: ``avoider`` for differential robots with 12 rays of
            2 m and the mission ``navigation``; ``pursuers`` for holonomic ones in a group beside that of the evader.
        every_s: time between two decisions [s]; 0: that of the record.

    Raises:
        CoveyError: the file or its record cannot be read, they do not fit, or onnxruntime is not installed.
    """

    def __init__(self, *, file: File, every_s: Stay = 0.0):
        self._policy = Policy(file, every_s)
        policy = self._policy
        if policy.action.moves != "twists" or any("map" in one.sees for one in policy.observe):
            raise InvalidValueError(
                f"{file} observes or chooses what needs a robot's map and navigator; let each robot ask it: "
                f"{{name: onnx_each, file: {file}}}"
            )

    def step(self, group: Any) -> np.ndarray:
        """Return the twists of all robots, float64 (n, 3)."""
        return self._policy.command(KnownToGroup(group))


@controller("onnx_each", sees=_each_sees)
async def onnx_each(robot: Robot, *, file: File, every_s: Stay = 0.0) -> None:
    """Do what a learned policy chooses, which each robot asks for itself; so it can be a process or a node of ROS.

    It is as `Onnx`, and may also choose frontiers and observe maps. If the policy observes the others, robots tell them
    by radio where they are at each decision. A velocity is the mean over the last step, by the robot's own poses: while
    wheels accelerate it differs from that of `Onnx` and of environments, by half of what it changes in the step.

    Args:
        robot: a robot.
        file: the policy, or the name of one that ships with Covey: ``avoider``, see `Onnx`; ``explorer`` for robots
            with a lidar and a map. ``pursuers`` needs `Onnx`, as it observes poses over the workspace.
        every_s: time between two decisions [s]; 0: that of the record.

    Raises:
        CoveyError: the file or its record cannot be read, they do not fit, or onnxruntime is not installed.
    """
    policy, known = Policy(file, every_s), KnownToRobot(robot)
    team = Teammates(policy.every_s) if any("others" in one.sees for one in policy.observe) else None

    def look(robot: Robot) -> bool:
        """Look around at each step, and return whether it is time to decide."""
        if team is not None:
            team.step(robot)
            known.mates = [mate.pose for mate in team.others(robot).values()]
        known.look()
        return policy.due(robot.time)

    while True:
        look(robot)
        (command,) = policy.command(known).tolist()
        if policy.action.moves == "twists":
            vx, vy, turn = command
            robot.drive(vx, turn, vy=vy)
            await robot.sleep(0.0)
            continue
        await robot.goto(tuple(command), until=look)
        while not look(robot):
            await robot.sleep(0.0)


def opened(file: str) -> Any:
    """Return the session of a network, on one thread, so that it gives the same numbers each time.

    Raises:
        CoveyError: it cannot be read, or onnxruntime is not installed.
    """
    try:
        import onnxruntime
    except ModuleNotFoundError:
        raise CoveyError("policies need onnxruntime; install it with: pip install 'covey[onnx]'") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        check_plain(file)
        return onnxruntime.InferenceSession(file, options, ["CPUExecutionProvider"])
    except Exception as error:
        raise InvalidValueError(f"cannot read the policy {file}: {error}") from None
