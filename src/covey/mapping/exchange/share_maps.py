"""`ShareMaps`: when robots exchange their maps, and how the evidence of several becomes one map."""

from typing import Literal, Self

from pydantic import Field, model_validator

from covey.mapping.occupancy.merge_rules import Rule
from covey.records import Record


class ShareMaps(Record):
    """Robots that hear each other take each other's evidence into their maps, by radio."""

    policy: Literal["every", "continuous", "on_meeting", "on_request"] = Field(
        default="every",
        description="When a robot asks who hears it for news: every every_s; in each step in which its map changed; "
        "when it meets another; or only when its controller says so, which it always can.",
    )
    every_s: float = Field(default=1.0, gt=0, description="Policy every: time between two exchanges [s].")
    apart_s: float = Field(
        default=5.0, ge=0, description="Policy on_meeting: robots meet that did not hear each other for so long [s]."
    )
    rule: Rule = Field(
        default="probabilistic",
        description="How evidence becomes a map: log-odds of each robot's own add (Burgard 2000); only unknown cells "
        "are filled from others (map_merging); or occupied before free before unknown (multirobot_map_merge).",
    )
    start_poses: Literal["known", "unknown"] = Field(
        default="known",
        description="Whether the robots know where all of them started. Unknown: each maps in the frame of its own "
        "start, and takes another's evidence into its map once it has found out from both where the other started.",
    )
    align_every_s: float = Field(
        default=10.0,
        gt=0,
        description="Start poses unknown: how often a robot tries to align its map with those it has heard of, as far "
        "as either knows 10 % more than at the last attempt [s].",
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
    """Return the record that a keyword ``share_maps`` stands for: itself, every so often [s], or None: on request."""
    if value is None:
        return ShareMaps(policy="on_request")
    return value if isinstance(value, ShareMaps) else ShareMaps(every_s=value)
