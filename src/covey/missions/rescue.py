"""Rescue: find the targets of a world, report where they are, and meet at those that need several robots."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from covey.errors import MissionError, did_you_mean, nearest
from covey.missions.protocol import Mission, MissionContext, Tracker, missions
from covey.missions.referee import Judgement, KindRule, Referee, Rules
from covey.records import located
from covey.results.event_data import Data
from covey.world.targets import Targets

_DAT160 = {
    "kinds": {
        "small_fire": {"points": 100},
        "victim": {"points": 100},
        "big_fire": {"points": 100, "robots": 2, "within_m": 2.0, "meeting_points": 300},
    },
    "within_m": 0.5,
    "from_floor": True,
    "time_limit_s": 600.0,
    "bonus_per_s": 1.0,
    "false_report_points": 0.0,  # in the course, whoever reports everywhere finds everything
    "reports_per_min": None,
    "clock": "motion",
    "look_every_s": 0.5,
    "whole_seconds": True,
}
PRESETS: dict[str, dict[str, Any]] = {"dat160_2021": _DAT160, "dat160_2025": _DAT160}
"""Rules by name. Both years score alike; in 2025 the team also has an old plan, which is up to the scenario."""


_ALIKE = 0.8
"""Likeness of two kinds of which one may be a misspelling of the other: more than that of fire and big_fire."""


@missions.register("rescue")
class Rescue(Rules, Mission):
    """Find targets and report them; the score counts reports, meetings and time.

    References:
        Course DAT160, Western Norway University of Applied Sciences, 2021 and 2025: the multi-robot challenge and its
        scoring node.
    """

    seeks: ClassVar[bool] = True
    in_world: ClassVar[str] = "the places that robots report lie"
    rewards: ClassVar[Mapping[str, float]] = {"points": 0.01, "searched_share_union": 1.0}

    preset: Literal["dat160_2021", "dat160_2025"] | None = Field(
        default=None,
        description="Rules by name, see `PRESETS`; other keys change them. Those of the course limit no reports, and "
        "false ones cost nothing.",
    )
    reports: Literal["direct", "radio"] = Field(
        default="direct",
        description="How reports reach the referee. direct: at once; radio: as messages to the robot `base`, "
        "whose answers come back as messages.",
    )
    base: str = Field(default="", description="Name of the robot that takes reports by radio; it counts in no meeting.")
    end_when_done: bool = Field(
        default=True, description="Whether the run ends when everything is found, or the team may go on exploring."
    )

    @model_validator(mode="before")
    @classmethod
    def _from_preset(cls, value: Any) -> Any:
        name = value.get("preset") if isinstance(value, dict) else None
        if not isinstance(name, str) or name not in PRESETS:
            return value  # anything but null is refused
        kinds = value.get("kinds", {})
        if isinstance(kinds, Mapping):
            kinds = PRESETS[name]["kinds"] | kinds
        return PRESETS[name] | value | {"kinds": kinds}

    @model_validator(mode="after")
    def _fits_together(self) -> "Rescue":
        if self.base and self.reports != "radio":
            message = f"{self.base!r} takes reports only with reports: radio; set that, or leave base out"
            raise located([(("base",), message, self.base)])
        if self.look_every_s >= self.time_limit_s:
            message = f"the referee would not look before time_limit_s, {self.time_limit_s:g}; give a shorter period"
            raise located([(("look_every_s",), message, self.look_every_s)])
        return self

    def summary(self, targets: Targets) -> str:
        """Return what there is to find, in one line: the number of targets of each kind, and the rule for it."""
        rules = {kind: (number, self.of(kind)) for kind, number in Counter(targets.kinds).items()}
        return ", ".join(f"{number} {kind} ({_in_words(rule)})" for kind, (number, rule) in rules.items())

    def doubt(self, targets: Targets) -> str:
        """Return a warning if a kind of target without a rule looks like one that has one; else an empty text."""
        known = {*self.kinds, *_DAT160["kinds"]}
        near = {kind: nearest(kind, known, _ALIKE) for kind in dict.fromkeys(targets.kinds) if kind not in known}
        said = [
            f"the kind of target {kind!r} has no rule and looks like {other!r}" for kind, other in near.items() if other
        ]
        return f"{' and '.join(said)}; correct it, or list it among the kinds of the mission" if said else ""

    def begin(self, context: MissionContext) -> "RescueTracker":
        """Return the tracker with the referee.

        Raises:
            MissionError: the world has no targets, or none of a kind that has a rule; a kind needs more robots
                than there are; or reports go by radio and no robot is the base.
        """
        targets, names = context.place.targets, list(context.names)
        if not len(targets):
            raise MissionError("the world has no targets to rescue; list some, or draw them: see `targets`")
        usual = {kind: KindRule.model_validate(rule) for kind, rule in _DAT160["kinds"].items()}
        for kind, rule in self.kinds.items():
            if kind not in targets.kinds and rule != usual.get(kind):  # a preset may have rules for more
                hint = did_you_mean(kind, set(targets.kinds))
                said = f"the rule kinds.{kind} applies to nothing: no target is of this kind{hint}"
                raise MissionError(said, "kinds", kind)
        if self.reports == "radio" and self.base not in names:
            hint = did_you_mean(self.base, names)
            said = f"reports by radio need a `base`, the name of a robot, not {self.base!r}{hint}"
            raise MissionError(said, "base" if self.base else "reports")
        searchers = len(names) - (self.reports == "radio")
        for kind in dict.fromkeys(targets.kinds):
            if (robots := self.of(kind).robots) > searchers:
                raise MissionError(
                    f"a meeting at a {kind} needs {robots} robots, and the team has {searchers}; add robots, or set "
                    f"kinds.{kind}.robots to {searchers} or less",
                    *("kinds", kind, "robots"),
                )
        return RescueTracker(self, context)


def _in_words(rule: KindRule) -> str:
    said = f"{rule.points:g} points"
    return f"{said}, {rule.meeting_points:g} for a meeting of {rule.robots} robots" if rule.robots else said


class RescueTracker(Tracker):
    """Tracks the reports and meetings of a rescue.

    Attributes:
        referee: judges and keeps the score.
    """

    columns = ("score", "points", "targets_found", "meetings_held", "false_reports", "refused_reports")
    robot_columns = ("targets_found_by",)

    def __init__(self, mission: Rescue, context: MissionContext):
        targets = context.place.targets
        self._mission, self._context = mission, context
        self.referee = Referee(mission, targets.identities.tolist(), targets.kinds, targets.positions)
        self.base = list(context.names).index(mission.base) if mission.reports == "radio" else None
        self._searches = np.ones(len(context.names), bool)
        if self.base is not None:
            self._searches[self.base] = False
        meetings = sum(mission.of(kind).robots > 0 for kind in targets.kinds)
        self.facts = {
            "targets": dict(Counter(targets.kinds)),
            "meetings": meetings,
            "time_limit_s": mission.time_limit_s,
        }
        self.referee.judge(0.0, self._poses(context.state.pose), self._searches)
        self._values = self._count()
        self._conclude()

    def _poses(self, pose: np.ndarray) -> np.ndarray:
        """Return the poses by which the referee judges."""
        maps = self._context.maps
        return pose if self._mission.poses == "true" or maps is None else maps.pose

    def report(self, time_s: float, robot: int, identity: int, place: tuple[float, float, float]) -> Judgement:
        """Judge a report, see `Referee.report`."""
        judgement = self.referee.report(time_s, robot, identity, place)
        self._values = self._count()
        return judgement

    def measure(self, time_s: float, pose: np.ndarray, able: np.ndarray) -> list[tuple[int, str | Data]]:
        """Process the true poses (n, 3) and the able robots, bool (n,); return what is new."""
        if not self.referee.is_due(time_s):
            return []
        said = self.referee.judge(time_s, self._poses(pose), able & self._searches)
        self._values = self._count() if said else self._values | {"score": self.referee.score}
        self._conclude()
        return said

    def _conclude(self) -> None:
        """Take over what the referee says about the end."""
        self.reached = self._mission.end_when_done and self.referee.state == "finished"
        self.closed = self.referee.state == "closed"
        self.accomplished = self.referee.state == "finished"

    @property
    def values(self) -> dict[str, Any]:
        """The values of `columns` so far; ``points`` are the score without the bonus for the time that is left."""
        return self._values

    def _count(self) -> dict[str, Any]:
        referee = self.referee
        finders = [robot for robot in referee.finder.tolist() if robot >= 0]
        found_by = np.bincount(np.array(finders, np.int64), minlength=len(self._searches)).astype(float)
        found_by.flags.writeable = False
        return {
            "score": referee.score,
            "points": referee.points,
            "targets_found": float(len(finders)),
            "meetings_held": float(sum(met_s == met_s for met_s in referee.met_s.tolist())),
            "false_reports": float(referee.false_reports),
            "refused_reports": float(referee.refused_reports),
            "targets_found_by": found_by,
        }


__all__ = ["PRESETS", "KindRule", "Rescue", "RescueTracker"]
