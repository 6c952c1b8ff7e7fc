"""The records of a design file, with the six elements in the order of the paper: from parameters to metrics.

References:
    Yan, Fabresse, Laval, Bouraqadi: Building a ROS-based testbed for realistic multi-robot simulation. Robotics
    6(3):21, 2017, section 3 (the six elements of an experimental design).
"""

from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from covey.errors import CoveyError, InvalidValueError, did_you_mean
from covey.experiments.design.goals import StrategyGoals
from covey.experiments.design.parameters import MAX_VECTORS, Parameter
from covey.experiments.design.quantities import unknown_quantity
from covey.named import refuse_code
from covey.records import Located, Record, located
from covey.results.event_data import EVENT_KINDS
from covey.runtime.stop import Stop
from covey.scenario.dump import plain
from covey.scenario.from_file import FromFile
from covey.scenario.records import Scenario


class RunLimits(Record):
    """Limits of a single run; a run that exceeds one is stopped, and its row states the cause."""

    wall_s: float = Field(default=3600.0, gt=0, description="Wall time of one run [s].")
    memory_mib: float = Field(default=4096.0, gt=0, description="Resident memory of the process of one run [MiB].")


class LatinHypercube(Record):
    """Vectors that spread over the ranges: each range is divided into n parts, and each part is used once."""

    size: int = Field(alias="latin hypercube", ge=1, le=MAX_VECTORS, description="Number of vectors.")


class Sobol(Record):
    """Vectors of a scrambled Sobol sequence, which fills the ranges evenly; best with a power of 2."""

    size: int = Field(alias="sobol", ge=1, le=MAX_VECTORS, description="Number of vectors.")


class Listed(Record):
    """Explicitly listed vectors."""

    list_: str | tuple[dict[str, Any], ...] = Field(
        alias="list", description="A CSV file with one column for each parameter, or a list of {parameter: value}."
    )


class Measurement(Record):
    """Quantities recorded in each run, and their sampling times."""

    every: Literal["step"] | None = Field(default=None, description="step: at every control step.")
    every_s: float | None = Field(default=None, gt=0, description="At this interval of simulated time [s].")
    when: str | None = Field(default=None, description="At every event of this kind, for example collision.")
    record: tuple[str, ...] = Field(min_length=1, description="Names of quantities; see designs.md.")

    @model_validator(mode="after")
    def _one_time(self) -> "Measurement":
        given = [key for key in ("every", "every_s", "when") if getattr(self, key) is not None]
        if len(given) != 1:
            raise ValueError(f"give one of every: step, every_s and when; given: {' and '.join(given) or 'none'}")
        wrong: list[Located] = []
        if self.when is not None and self.when not in EVENT_KINDS:
            message = f"unknown kind of event {self.when!r}{did_you_mean(self.when, EVENT_KINDS)}"
            wrong.append((("when",), message, self.when))
        for i, name in enumerate(self.record):
            message = unknown_quantity(name, at_events=self.when is not None)
            if message or name in self.record[:i]:
                wrong.append((("record", i), message or f"{name!r} is given twice", name))
        if wrong:
            raise located(wrong)
        return self

    @property
    def timing(self) -> str:
        """The sampling times as text: ``every step``, ``every 5 s``, ``when collision``."""
        if self.when:
            return f"when {self.when}"
        return "every step" if self.every else f"every {self.every_s:g} s"

    @property
    def file(self) -> str:
        """Name of its table in the folder of a run."""
        return self.timing.replace(" ", "_") + ".parquet"


class ReportSection(Record):
    """What the report asks, and the axes of its figures; what is left out is chosen from the parameters."""

    question: str | None = Field(
        default=None,
        description="Parameter whose values are compared, by its path or the last part of it. Default: the controller.",
    )
    reference: str | float | None = Field(
        default=None, description="Its value that others are compared with, if there are many. Default: the first."
    )
    primary: str | None = Field(
        default=None,
        description="Metric that answers the question; the tests of all others are exploratory. Default: that of the "
        "mission, such as exploration_time_s.",
    )
    x: str | None = Field(default=None, description="Parameter along the axis.")
    line: str | None = Field(default=None, description="Parameter with a line for each of its values.")
    facet: str | None = Field(default=None, description="Parameter with a panel or colour for each of its values.")
    y: tuple[str, ...] = Field(default=(), description="Metrics that get a figure. Default: the metrics of the design.")

    @field_validator("y", mode="before")
    @classmethod
    def _one_or_more(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("primary")
    @classmethod
    def _one_known(cls, name: str | None, info: ValidationInfo) -> str | None:
        return None if name is None else known_metrics((name,), info)[0]

    @field_validator("y")
    @classmethod
    def _known(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        return known_metrics(names, info)


def known_metrics(names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    """Return the names of metrics as other processes find them; raise an error with the places of unknown ones."""
    from covey.results.metrics.own import named

    context, found, wrong = info.context or {}, list[str](), list[Located]()
    for i, name in enumerate(names):
        try:
            found.append(named(name, context))
        except CoveyError as error:
            wrong.append(((i,), str(error), name))
    if wrong:
        raise located(wrong)
    return tuple(found)


def _vectors(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, (str, Record)):
        if isinstance(value, Record) or value == "full factorial":
            return value
        if ".py:" not in value:
            raise ValueError(f"{_VECTORS}; given: {value!r}")
        refuse_code(value, info.context or {})
        return value
    kinds = {"latin hypercube": LatinHypercube, "sobol": Sobol, "list": Listed}
    key = next(iter(value)) if isinstance(value, dict) and len(value) == 1 else None
    if key not in kinds:
        raise ValueError(f"{_VECTORS}; given: {value!r:.60}")
    return kinds[cast("str", key)].model_validate(value)


_VECTORS = "write full factorial, {latin hypercube: n}, {sobol: n}, {list: vectors.csv} or ./vectors.py:make"


def _scenario(value: Any) -> Any:
    return {"format": 1, **plain(value)} if isinstance(value, Scenario) else value


class Design(FromFile):
    """A declared set of runs: one scenario, the parameters that vary, and the measurements."""

    format: Literal[1] = Field(default=1, description="Version of this file format.")
    design: str = Field(min_length=1, max_length=100, description="Name of the design and of its results folder.")
    description: str = Field(default="", max_length=10_000, description="What the design shows.")
    source: str = Field(default="", max_length=10_000, description="Publication of the design.")
    published: str = Field(default="", max_length=10_000, description="Published outcome.")
    scenario: Annotated[str | dict[str, Any], BeforeValidator(_scenario)] = Field(
        description="Name of a scenario that ships with Covey, path of a file, or a scenario."
    )
    parameters: dict[str, Parameter] = Field(
        default={},
        description="Values of each parameter, by dotted path: a list, {from, to, step}, or one value. A value "
        "can have a label, {label, value}, or make several changes, {label, set: {path: value}}.",
    )
    goals: StrategyGoals | None = Field(
        default=None,
        description="Parameters that all strategies share: {} for those that a comparison needs, replan_s and piece_m; "
        "null: each strategy has its own defaults.",
    )
    alone: bool = Field(
        default=False,
        description="true: each vector is also run with one robot alone. Tables show it beside the team, and no test "
        "uses it.",
    )
    vectors: Annotated[str | LatinHypercube | Sobol | Listed, BeforeValidator(_vectors)] = Field(
        default="full factorial",
        description="Which combinations are run: full factorial, {latin hypercube: n}, {sobol: n}, {list: vectors.csv} "
        "or ./vectors.py:make.",
    )
    iterations: int = Field(default=5, ge=1, le=100_000, description="Number of runs of each vector.")
    seed: int = Field(
        default=0,
        ge=0,
        lt=2**63,
        description="Seed of the seeds of all iterations. Iteration k of every vector has the same seed.",
    )
    stop: Stop | None = Field(default=None, description="Goal and timeout of each run. Default: those of the scenario.")
    measurements: tuple[Measurement, ...] = Field(
        default=(), description="What each run records. Each measurement becomes a table."
    )
    metrics: tuple[str, ...] = Field(
        default=(),
        description="Metrics in tables and reports: registered names, or ./metric.py:name. Default: all.",
    )
    report: ReportSection = Field(default=ReportSection(), description="Axes of the figures.")
    keep: Literal["rows", "measurements", "pictures", "everything"] = Field(
        default="pictures",
        description="What is kept of the recording of a run, besides its row in the table. rows: nothing, and no "
        "folder; measurements: only the measurements, and the team's progress; pictures: also what its pictures need, "
        "one row per second; everything: all of it.",
    )
    limits: RunLimits = Field(default=RunLimits(), description="Limits of a run; a run that exceeds one is stopped.")

    _trusted_only: bool = PrivateAttr(default=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its metrics."""
        from covey.results.metrics.own import column_of

        return tuple(map(column_of, self.metrics))

    def __hash__(self) -> int:
        return hash((self.design, self.seed, self.iterations))

    def model_post_init(self, context: Any) -> None:
        """Remember the file that the design was read from."""
        super().model_post_init(context)
        if isinstance(context, dict):
            self._trusted_only = bool(context.get("trusted_only", False))

    @field_validator("metrics")
    @classmethod
    def _metrics_known(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        return known_metrics(names, info)

    @field_validator("measurements")
    @classmethod
    def _timings_differ(cls, measurements: tuple[Measurement, ...]) -> tuple[Measurement, ...]:
        timings = [m.timing for m in measurements]
        twice: list[Located] = [
            ((i,), f"there is another measurement {timing}; put the names into one list", None)
            for i, timing in enumerate(timings)
            if timing in timings[:i]
        ]
        if twice:
            raise located(twice)
        return measurements

    @field_validator("keep")
    @classmethod
    def _measurements_are_kept(cls, keep: str, info: ValidationInfo) -> str:
        if keep == "rows" and info.data.get("measurements"):
            raise ValueError("rows keeps no measurements, but the design has some; write keep: measurements")
        return keep

    @field_validator("parameters")
    @classmethod
    def _seed_is_not_a_parameter(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        if "seed" in parameters:
            raise located(
                [(("seed",), "cannot be a parameter: every iteration has its own seed; set iterations", None)]
            )
        return parameters

    @field_validator("report")
    @classmethod
    def _axes_are_parameters(cls, report: ReportSection, info: ValidationInfo) -> ReportSection:
        ways = info.data.get("vectors")
        in_code = isinstance(ways, str) and ".py:" in ways
        if ways is None or "parameters" not in info.data or in_code:
            return report
        if isinstance(ways, Listed) and isinstance(ways.list_, str):
            return report
        rows = ways.list_ if isinstance(ways, Listed) else ()
        known = sorted({*info.data["parameters"], *(name for row in rows for name in row)})
        wrong: list[Located] = [
            ((key,), f"{name!r} is not a parameter{did_you_mean(name, known)}", name)
            for key in ("x", "line", "facet")
            if (name := getattr(report, key)) and name not in known
        ]
        asked = report.question
        if asked and not any(asked in (name, name.rpartition(".")[2]) for name in known):
            wrong.append((("question",), f"{asked!r} is not a parameter{did_you_mean(asked, known)}", asked))
        if wrong:
            raise located(wrong)
        return report

    def with_seed(self, seed: int) -> "Design":
        """Return the design with another seed for the seeds of its iterations.

        Raises:
            InvalidValueError: the seed is out of range.
        """
        if not 0 <= seed < 2**63:
            raise InvalidValueError(f"seed {seed}: a seed is a whole number from 0 to 2^63 - 1")
        return self.model_copy(update={"seed": seed})

    @property
    def trusted_only(self) -> bool:
        """Whether code named in a file is refused."""
        return self._trusted_only

    def to_yaml(self) -> str:
        """Return the text of a design file that loads into an equal design."""
        from covey.scenario.dump import text_of

        return text_of({"format": 1, **plain(self)})
