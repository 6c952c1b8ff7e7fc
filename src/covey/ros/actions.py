"""Actions: goals that take time, with feedback, cancellation and a result; services and topics beneath one name."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from covey.ros.dds import Node
from covey.ros.qos import LATCHED, STATE
from covey.ros.services import Request, Service

_CANCEL, _STATUS = "action_msgs/srv/CancelGoal", "action_msgs/msg/GoalStatusArray"
_REMEMBERED = 100  # goals whose results are still told after they ended
_NS = 1_000_000_000


class Status(IntEnum):
    """How far a goal is; the numbers are those of ``action_msgs/msg/GoalStatus``."""

    UNKNOWN = 0
    ACCEPTED = 1
    EXECUTING = 2
    CANCELING = 3
    SUCCEEDED = 4
    CANCELED = 5
    ABORTED = 6


class ActionGoal:
    """A goal that a client sent.

    Attributes:
        goal: the message, such as of ``nav2_msgs/action/NavigateToPose_Goal``.
        id: 16 bytes of the client.
        status: how far it is; CANCELING once a client asked for that: the server then calls ``end``.
        accepted_ns: time of the simulation at which it was accepted.
    """

    def __init__(self, server: "ActionServer", request: Request, number: bytes, goal: Any):
        self._server, self._request = server, request
        self.id, self.goal = number, goal
        self.status, self.accepted_ns = Status.UNKNOWN, 0
        self._result: dict[str, Any] = {}
        self._asking: list[Request] = []

    @property
    def ended(self) -> bool:
        """Whether it has a result."""
        return self.status >= Status.SUCCEEDED

    def accept(self) -> None:
        """Take the goal; it is executing from now on."""
        self._server._answer(self, True)

    def reject(self) -> None:
        """Refuse the goal."""
        self._server._answer(self, False)

    def feedback(self, values: Mapping[str, Any]) -> None:
        """Tell how it goes: values of the action's ``_Feedback`` message."""
        self._server._feedback.write(
            self._server._types.encode(
                f"{self._server.kind}_FeedbackMessage", {"goal_id": {"uuid": list(self.id)}, "feedback": values}
            )
        )

    def end(self, status: Status, result: Mapping[str, Any] | None = None) -> None:
        """End the goal: SUCCEEDED, CANCELED or ABORTED, with values of the action's ``_Result`` message."""
        self.status, self._result = status, dict(result or {})
        for request in self._asking:
            self._server._tell(request, self)
        self._asking.clear()
        self._server._publish()


class ActionServer:
    """Takes goals. Several may be active; what that means is up to the owner.

    ::

        server = ActionServer(node, "navigate_to_pose", "nav2_msgs/action/NavigateToPose")
        for goal in server.new_goals(now_ns):  # each step
            goal.accept()
        for goal in server.active:
            ...  # goal.feedback(...), goal.end(Status.SUCCEEDED, {...})

    Attributes:
        kind: type of the action.
        active: accepted goals that have not ended, the oldest first.
    """

    def __init__(self, node: Node, name: str, kind: str):
        """Offer an action.

        Args:
            node: the node that it belongs to.
            name: such as ``navigate_to_pose``, in the namespace of the node.
            kind: type, such as ``nav2_msgs/action/NavigateToPose``.

        Raises:
            UnknownNameError: the type is not known.
        """
        self.kind, self._types = kind, node.participant.types
        base = f"{node.topic_name(name)}/_action"
        self._goals = Service(node, f"{base}/send_goal", f"{kind}_SendGoal")
        self._cancels = Service(node, f"{base}/cancel_goal", _CANCEL)
        self._results = Service(node, f"{base}/get_result", f"{kind}_GetResult")
        self._feedback = node.writer(f"{base}/feedback", f"{kind}_FeedbackMessage", STATE)
        self._status = node.writer(f"{base}/status", _STATUS, LATCHED)
        self._known: dict[bytes, ActionGoal] = {}
        self._now_ns = 0
        self._publish()

    @property
    def active(self) -> list[ActionGoal]:
        return [goal for goal in self._known.values() if not goal.ended]

    def new_goals(self, now_ns: int) -> list[ActionGoal]:
        """Return the new goals, each to be accepted or rejected; answer what was asked about the others.

        Args:
            now_ns: time of the simulation [ns].
        """
        self._now_ns = now_ns
        for request, asked in self._cancels.asked():
            self._cancel(request, asked.goal_info)
        for request, asked in self._results.asked():
            goal = self._known.get(bytes(asked.goal_id.uuid))
            if goal is None or goal.ended:
                self._tell(request, goal)
            else:
                goal._asking.append(request)
        new: list[ActionGoal] = []
        for request, asked in self._goals.asked():
            goal = ActionGoal(self, request, bytes(asked.goal_id.uuid), asked.goal)
            if goal.id in self._known:  # the same goal twice
                goal.reject()
            else:
                new.append(goal)
        return new

    def _answer(self, goal: ActionGoal, accepted: bool) -> None:
        stamp = {"sec": self._now_ns // _NS, "nanosec": self._now_ns % _NS}
        self._goals.answer(goal._request, {"accepted": accepted, "stamp": stamp})
        if accepted:
            goal.status, goal.accepted_ns = Status.EXECUTING, self._now_ns
            self._known[goal.id] = goal
            ended = [one.id for one in self._known.values() if one.ended]
            for old in ended[: max(len(ended) - _REMEMBERED, 0)]:
                del self._known[old]
            self._publish()

    def _cancel(self, request: Request, info: Any) -> None:
        """Mark the goals that a request names: by id, and all up to a time; neither given means all."""
        wanted, until_ns = bytes(info.goal_id.uuid), info.stamp.sec * _NS + info.stamp.nanosec
        named = any(wanted)
        found = [
            goal
            for goal in self.active
            if (named and goal.id == wanted) or (until_ns and goal.accepted_ns <= until_ns) or not (named or until_ns)
        ]
        for goal in found:
            goal.status = Status.CANCELING
        code = 0
        if named and not any(goal.id == wanted for goal in found):
            code = 3 if wanted in self._known else 2  # it has ended; nobody knows it
        canceling = [self._info(goal) for goal in found]
        self._cancels.answer(request, {"return_code": code, "goals_canceling": canceling})
        self._publish()

    def _tell(self, request: Request, goal: ActionGoal | None) -> None:
        """Answer who asked for the result of a goal."""
        self._results.answer(request, {"status": goal.status, "result": goal._result} if goal else {})

    def _info(self, goal: ActionGoal) -> dict[str, Any]:
        stamp = {"sec": goal.accepted_ns // _NS, "nanosec": goal.accepted_ns % _NS}
        return {"goal_id": {"uuid": list(goal.id)}, "stamp": stamp}

    def _publish(self) -> None:
        states = [{"goal_info": self._info(goal), "status": goal.status} for goal in self._known.values()]
        self._status.write(self._types.encode(_STATUS, {"status_list": states}))
