"""`ShareMaps`: when robots exchange their maps, and how the evidence of several robots becomes one map."""

from typing import Literal, Self

from pydantic import Field, model_validator

from covey.errors import InvalidValueError
from covey.mapping.exchange.merge_rules import MergeRule, Probabilistic
from covey.records import Record


class ShareMaps(Record):
    """Robots that hear each other by radio merge each other's evidence into their maps."""

    policy: Literal["every", "continuous", "on_meeting", "on_request"] = Field(
        default="every",
        description="When a robot asks the robots that hear it for newer tiles. every: at intervals of every_s; "
        "continuous: in each step in which its map changed; on_meeting: when it meets another "
        "robot; on_request: only when its controller calls for it, which it always can.",
    )
    every_s: float = Field(default=1.0, gt=0, description="With policy every: time between two exchanges [s].")
    apart_s: float = Field(
        default=5.0,
        ge=0,
        description="With policy on_meeting: two robots meet if they have not heard each other for this long [s].",
    )
    rule: MergeRule = Field(
        default=Probabilistic(),
        description="How evidence becomes a map. probabilistic: the log-odds of all robots add up (Burgard "
        "2000); greedy_fill: others fill only unknown cells (map_merging); maximum: occupied wins "
        "over free, and free over unknown (multirobot_map_merge); or your own: ./mine.py:Name.",
    )
    start_poses: Literal["known", "unknown"] = Field(
        default="known",
        description="Whether the robots know all start poses. unknown: each robot maps in the frame of its own "
        "start. It uses another robot's evidence after it has found the other's start pose from "
        "both maps.",
    )
    align_every_s: float = Field(
        default=10.0,
        gt=0,
        description="With unknown start poses: time between a robot's attempts to align its map with another "
        "one, if either has grown by 10 % since the last attempt [s].",
    )

    @model_validator(mode="after")
    def _used(self) -> Self:
        for name, key, value in (
            ("every_s", "policy", "every"),
            ("apart_s", "policy", "on_meeting"),
            ("align_every_s", "start_poses", "unknown"),
        ):
            if getattr(self, key) != value and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} belongs to {key} {value}; leave it out, or set {key}: {value}")
        return self


def as_share_maps(value: ShareMaps | float | None) -> ShareMaps:
    """Return the record for a ``share_maps`` argument: a record, a period [s], or None for sharing on request.

    Raises:
        InvalidValueError: it is none of these.
    """
    if value is None:
        return ShareMaps(policy="on_request")
    if isinstance(value, ShareMaps):
        return value
    if not (isinstance(value, (int, float)) and value > 0):
        hint = "give a period above 0 [s], a covey.ShareMaps, or None"
        raise InvalidValueError(f"share_maps is {value!r:.60}; {hint}")
    return ShareMaps(every_s=value)
