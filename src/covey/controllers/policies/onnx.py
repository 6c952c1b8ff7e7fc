"""A learned controller: a policy in a file in the format ONNX decides for the robots of a group."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from covey.controllers.policies.actions import Action
from covey.controllers.policies.knowledge import KnownToGroup, OneOf
from covey.controllers.policies.observations import observed
from covey.errors import CoveyError, InvalidValueError
from covey.onboard.controller import controller
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
    path = Path(f"{file}{RECORD}")
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
    return found


def _sees(*, file: str = "", **_: Any) -> tuple[str, ...]:
    """Return what the policy of a file sees."""
    try:
        names = [name for one in observed(read_record(file)["observe"], trusted_only=True) for name in one.reads]
    except CoveyError:
        names = []  # its first step says why
    return tuple(dict.fromkeys(("pose", "velocity", *names)))


@controller("onnx", scope="group", sees=_sees)
class Onnx:
    """Do what a learned policy chooses, asked once for all robots of the group.

    Beside the file lies its record, ``policy.onnx.json``, which `covey.learning.Environment.save_record` writes: what
    robots observe, what the policy chooses, and how often. An input of the network has the name of each observation
    and takes a row for each robot; the first output holds actions, or for a choice a value of each possibility, of
    which the largest counts. A record is data: it may name observations and actions of Covey and of installed packages,
    not code in a file.

    Args:
        file: the policy.
        every_s: time between two decisions [s]; 0: that of the record.

    Raises:
        CoveyError: the file or its record cannot be read, they do not fit, or onnxruntime is not installed.
    """

    def __init__(self, *, file: File, every_s: Stay = 0.0):
        record = read_record(file)
        self._file, self._observe = file, observed(record["observe"], trusted_only=True)
        self._action = as_record(Action, record["action"], "action", trusted_only=True)
        if self._action.moves != "twists":
            raise InvalidValueError(
                f"{file} chooses {type(self._action).__name__}, which needs a robot's map and navigator; "
                "a policy of a group moves by twist or headings"
            )
        self._every_s = float(every_s or record["every_s"])
        self._network: Any = None
        self._next_s, self._chosen = -np.inf, np.empty(0)

    def step(self, group: Any) -> np.ndarray:
        """Return the twists of all robots, float64 (n, 3)."""
        known = KnownToGroup(group)
        if group.time >= self._next_s - 1e-9:
            self._next_s = group.time + self._every_s
            self._chosen = self._decide(known)
        return self._action.command(self._chosen, known)

    def _decide(self, known: KnownToGroup) -> np.ndarray:
        if self._network is None:
            self._network = opened(self._file)
        names = [one.name for one in self._network.get_inputs()]
        given = {one.key: one.of(known) for one in self._observe}
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
        space, n = self._action.space(known), len(known.names)
        if isinstance(space, OneOf):
            if out.shape == (n, space.count):
                return out.argmax(axis=1)
            wanted = f"({n}, {space.count})"
        else:
            if out.shape == (n, *space.shape) and np.isfinite(out).all():
                return out
            wanted = f"({n}, {', '.join(map(str, space.shape))}) of finite numbers"
        raise InvalidValueError(f"{self._file} returned {out.shape} for {n} robots; its action needs {wanted}")


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
