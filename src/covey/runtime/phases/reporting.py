"""Reporting: bring the robots' reports to the referee of the mission, and its answers back to them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from covey.comms.message import HEADER_BYTES, OWN_KINDS
from covey.comms.network import Network
from covey.missions import Judgement, Tracker

REPORT, ANSWER = OWN_KINDS[5:]
"""Kinds of messages between robots and the base."""
_REPORT_BYTES, _ANSWER_BYTES = HEADER_BYTES + 20, HEADER_BYTES + 3


class TargetReport(NamedTuple):
    """A report of a robot: its number, the identity of a target, and its place x, y, height [m] (NaN: none)."""

    robot: int
    number: int
    identity: int
    x: float
    y: float
    height: float


Judged = list[tuple[TargetReport, Judgement]]


class Reporting:
    """Takes reports to the referee: at once or, if the mission has a base, as messages to that robot and back.

    Args:
        tracker: the mission, which judges.
        network: carries the messages.

    Attributes:
        is_by_radio: whether reports and answers are messages, which may arrive in any step.
    """

    def __init__(self, tracker: Tracker, network: Network):
        self._tracker, self._network, self._base = tracker, network, tracker.base
        self.is_by_radio = self._base is not None
        if self.is_by_radio:
            self._reports, self._answers = network.claim(REPORT), network.claim(ANSWER)

    def judge(self, asked: list[Any], answers: dict[int, list[tuple[int, str]]], time_s: float) -> Judged:
        """Return the reports that reach the referee now, each with what it says.

        Args:
            asked: new reports as in `PendingRequests`; the list is emptied.
            answers: gets number and answer, by robot, of those that are answered now.
            time_s: the present time [s].
        """
        reports = [TargetReport(*one) for one in asked]
        asked.clear()
        if self._base is not None:
            reports = self._over_the_radio(reports, answers)
        judged = [(r, self._tracker.report(time_s, r.robot, r.identity, (r.x, r.y, r.height))) for r in reports]
        for report, judgement in judged:
            if self._base is None or report.robot == self._base:
                answers.setdefault(report.robot, []).append((report.number, judgement.answer))
            else:
                self._send(self._base, report.robot, _ANSWER_BYTES, ANSWER, (report.number, judgement.answer))
        return judged

    def _over_the_radio(
        self, reports: list[TargetReport], answers: dict[int, list[tuple[int, str]]]
    ) -> list[TargetReport]:
        """Send new reports to the base, and return those that have arrived there."""
        assert self._base is not None
        for report in reports:
            if report.robot != self._base:
                self._send(report.robot, self._base, _REPORT_BYTES, REPORT, report)
        receivers, _, payloads, _ = self._answers.pop()
        for robot, answer in zip(receivers.tolist(), payloads, strict=True):
            answers.setdefault(robot, []).append(answer)
        return [*(r for r in reports if r.robot == self._base), *self._reports.pop()[2]]

    def _send(self, sender: int, to: int, size: int, kind: str, payload: Any) -> None:
        self._network.send_many(np.array([sender]), np.array([to]), np.array([size]), kind, [payload])


SCHEMA = pa.schema(
    [
        ("step", pa.int64()),
        ("time_s", pa.float64()),
        ("robot", pa.string()),
        ("identity", pa.int64()),
        ("kind", pa.string()),
        *((name, pa.float64()) for name in ("x_m", "y_m", "height_m")),
        ("answer", pa.string()),
        ("error_m", pa.float64()),
        ("points", pa.float64()),
    ]
)
"""Columns of ``reports.parquet``; ``error_m`` is the distance from the true place."""


def table(judged: Judged, step: int, time_s: float, names: Sequence[str]) -> dict[str, list[Any]]:
    """Return the rows of ``reports.parquet`` for the reports of one step, by column."""
    rows = [
        (step, time_s, names[r.robot], r.identity, j.kind, r.x, r.y, r.height, j.answer, j.error_m, j.points)
        for r, j in judged
    ]
    return dict(zip(SCHEMA.names, map(list, zip(*rows, strict=True)), strict=True))
