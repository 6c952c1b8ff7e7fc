"""`ShareMaps`: when robots exchange their maps, and how the evidence of several becomes one map."""

from typing import Literal, Self

from pydantic import Field, model_validator

from covey.mapping.rules import Rule
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

    @model_validator(mode="after")
    def _used(self) -> Self:
        for name, policy in (("every_s", "every"), ("apart_s", "on_meeting")):
            if self.policy != policy and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} belongs to policy {policy}; leave it out, or set policy: {policy}")
        return self
