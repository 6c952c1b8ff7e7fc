"""`tune`: proposes parameters, runs them seed by seed, and compares the best with the default on fresh seeds."""

import csv
import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.errors import CoveyError, InvalidValueError
from covey.experiments.design.load import load_design
from covey.experiments.design.parameters import LabelledChanges, Range
from covey.experiments.design.plan import scenarios
from covey.experiments.design.records import Design, Listed, ReportSection
from covey.experiments.design.shipped import is_design
from covey.experiments.design.vectors import key_of
from covey.experiments.run import Progress, Results, run_design, threads
from covey.experiments.tuning.space import SearchedParameter, default_of, search_space
from covey.experiments.tuning.trials import Trial, Tried
from covey.experiments.workers.rows import text_of
from covey.processors import processors
from covey.random import generator
from covey.results import statistics
from covey.results.folder import unwritable, write_whole
from covey.results.metrics.own import column_of, named
from covey.results.metrics.registry import LARGER_IS_BETTER, metrics
from covey.results.text import in_cell
from covey.scenario.dump import plain
from covey.scenario.folders import folder_name
from covey.scenario.load import load_scenario
from covey.scenario.records import Scenario

if TYPE_CHECKING:
    import optuna
    import polars as pl

    from covey.results.figures.style import Picture

TRIALS, FRESH = "trials", "fresh"
"""Folders of the two studies."""
TABLE, PICTURE = "trials.csv", "tuning"
"""The table of all trials, and the picture, which has two formats."""
SETTING, DEFAULT, TUNED = "setting", "default", "tuned"
"""The parameter of the second study, and its two values."""


@dataclass(frozen=True)
class Tuned:
    """What tuning found.

    Attributes:
        folder: folder with both studies and the picture.
        metric: the metric, as a column of tables.
        larger: whether larger values of it are better.
        searched: what was searched.
        left_out: parameters of the strategies that were not searched, in words.
        trials: all trials, in order.
        best: the finished trial with the best mean; of equal ones the first.
        importance: share of each parameter, by path, in what sets the best trials apart; empty with too few trials.
        fresh: runs of the best setting beside the default, on seeds that no trial had; None if nothing is better.
        study: the study of Optuna, for its own plots.
    """

    folder: Path
    metric: str
    larger: bool
    searched: Sequence[SearchedParameter]
    left_out: Sequence[str]
    trials: Sequence[Trial]
    best: Trial
    importance: Mapping[str, float]
    fresh: Results | None
    study: "optuna.Study" = field(repr=False)

    @cached_property
    def conditions(self) -> tuple[str, ...]:
        """Other parameters that vary in both studies: those of the design."""
        from covey.experiments.design.axes import parameters

        if self.fresh is None:
            return ()
        table = self.fresh.table
        return tuple(n for n in parameters(table) if n != SETTING and table[n].n_unique() > 1)

    @property
    def comparison(self) -> "pl.DataFrame | None":
        """The test of tuned against default on the fresh seeds, in pairs; see `covey.statistics.compare`."""
        if self.fresh is None:
            return None
        return statistics.compare(self.fresh.table, self.metric, SETTING, over=self.conditions, places=self.conditions)

    @property
    def summary(self) -> "pl.DataFrame | None":
        """Median, its interval and mean of both settings on the fresh seeds; see `covey.statistics.summarize`."""
        if self.fresh is None:
            return None
        return statistics.summarize(self.fresh.table, self.metric, [SETTING, *self.conditions])

    def picture(self) -> "Picture":
        """Return a picture of the trials in their order, and over each parameter."""
        from covey.results.figures.tuning import TriedParameter, tuning_picture

        of = {one.path: one for one in self.searched}
        paths = [*self.importance, *(path for path in of if path not in self.importance)]
        tried = [
            TriedParameter(path, [t.values[path] for t in self.trials], of[path].log, self.importance.get(path))
            for path in paths
        ]
        means, finished = [t.value for t in self.trials], [t.is_finished for t in self.trials]
        return tuning_picture(self.metric, means, finished, tried, larger=self.larger)


@dataclass(frozen=True)
class TuneProgress:
    """How far tuning is.

    Attributes:
        done, total: number of trials that have ended, and of all.
        best: the best finished trial so far, or None.
        stopped: number of trials that were stopped early.
        fresh: progress of the runs on fresh seeds, once they have begun.
    """

    done: int
    total: int
    best: Trial | None
    stopped: int
    fresh: Progress | None = None


def tune(
    source: "Design | Scenario | str | os.PathLike[str]",
    metric: str,
    *,
    over: Sequence[str] | Mapping[str, Any] = (),
    trials: int = 50,
    seeds: int | None = None,
    fresh: int = 20,
    at_once: int = 4,
    larger: bool | None = None,
    seed: int | None = None,
    folder: Path | str | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    trusted_only: bool = False,
    observer: Callable[[TuneProgress], Any] = lambda progress: None,
) -> Tuned:
    """Search the parameters of a strategy for the best mean of a metric.

    Trial 0 is the default setting; then Optuna proposes (its tree-structured Parzen estimator). A trial runs its seeds
    one after the other, in each vector of the design, and is stopped early if its mean so far is worse than the median
    of the finished trials over the same seeds. A time to a goal that was not reached counts as the timeout; a run
    without any other value counts as worse than all.

    The result depends on the seed and ``at_once``, not on ``jobs``. The same call resumes after an interruption: it
    proposes the same settings, and runs only what has no row yet.

    Args:
        source: a design, whose own parameters are the conditions that each setting meets; or a scenario.
        metric: name of a metric, or ``./mine.py:name``.
        over: what is searched, see `covey.experiments.tuning.space.search_space`. Default: all parameters of the
            strategies whose declared range is narrow.
        trials: number of settings, with the default.
        seeds: number of seeds of each; default: the iterations of the design, 5 for a scenario.
        fresh: number of other seeds on which the best is compared with the default.
        at_once: number of settings that are proposed together, and run beside each other.
        larger: whether larger values are better; default: as the metric is known.
        seed: seed of everything; default: that of the design.
        folder: folder for the results; default: ``runs/tune-<name>``.
        jobs, executor: as in `covey.run_design`.
        trusted_only: refuse a source that names code in a file.
        observer: called when trials have ended, and after each run on fresh seeds.

    Raises:
        CoveyError: Optuna is missing, the source or a range is invalid, or no run has a value of the metric.
        KeyboardInterrupt: runs in progress are lost; the same call resumes.
    """
    optuna = _optuna()
    given = (
        ("trials", trials, 2),
        ("fresh", fresh, 2),
        ("at_once", at_once, 1),
        ("jobs", 1 if jobs is None else jobs, 1),
    )
    for name, value, least in given:
        if value < least:
            raise InvalidValueError(f"{name} is {value}; it must be {least} or more")
    design = _design(source, trusted_only)
    design = design if seed is None else design.with_seed(seed)
    name, column = design.design, column_of(metric)
    design = _with_metric(design, metric, design.iterations if seeds is None else seeds)
    _refuse_other_kinds(column)
    found = scenarios(design)
    _refuse_several_strategies([scenario for _, scenario in found])
    searched, left_out = search_space(found[0][1], over, design.parameters)
    paths = [one.path for one in searched]
    settings = [{k: v for k, v in vector.values.items() if k not in paths} for vector, _ in found]
    conditions = list({key_of(one): one for one in settings}.values())
    several = {path for path in paths if isinstance(design.parameters.get(path), (Range, list))}
    kept = {path: values for path, values in design.parameters.items() if path not in several}
    design = _of(design, conditions, parameters=kept)
    searched = [replace(one, default=default_of(scenarios(design)[0][1], one.path)) for one in searched]
    place = (Path("runs") / f"tune-{folder_name(name)}" if folder is None else Path(folder)).resolve()
    larger = column in LARGER_IS_BETTER if larger is None else larger
    workers = nullcontext(executor) if executor else threads(processors() if jobs is None else jobs)
    with _quiet(optuna), workers as running:
        tried = Tried(design, conditions, column, larger, place / TRIALS, running)
        study = _search(optuna, tried, searched, trials, at_once, observer)
        tried.publish()
        best = tried.best
        if best is None or not np.isfinite(best.value):
            raise InvalidValueError(
                f"no setting has a mean of {column}, because runs of each failed or did not reach their goal; see "
                f"covey results {place / TRIALS}"
            )
        check = None
        if best.number:
            done = TuneProgress(len(tried.trials), trials, best, tried.stopped)
            check = run_design(
                _fresh_design(design, conditions, best.values, column, fresh),
                place / FRESH,
                executor=running,
                observer=lambda one: observer(TuneProgress(done.done, trials, best, done.stopped, one)),
            )
        importance = _importance(optuna, study, len(searched))
    found = Tuned(place, column, larger, searched, left_out, tried.trials, best, importance, check, study)
    _write(found)
    return found


def _write(found: Tuned) -> None:
    """Write the trials as a table, and the picture, into the folder.

    Raises:
        RunFolderError: it cannot be written.
    """
    from covey.results.figures.saving import save_pictures

    stream = io.StringIO()
    lines = csv.writer(stream, lineterminator="\n")
    lines.writerow(["trial", *(one.path for one in found.searched), "seeds", "finished", found.metric])
    for one in found.trials:
        values = (in_cell(text_of(value)) for value in one.values.values())
        lines.writerow([one.number, *values, len(one.means), str(one.is_finished).lower(), repr(one.value)])
    try:
        write_whole(found.folder / TABLE, stream.getvalue().encode())
    except OSError as error:
        raise unwritable(f"the trials into {str(found.folder)!r}", error) from error
    save_pictures({PICTURE: found.picture()}, found.folder, ("png", "svg"))


def _search(
    optuna: Any,
    tried: Tried,
    searched: Sequence[SearchedParameter],
    trials: int,
    at_once: int,
    observer: Callable[[TuneProgress], Any],
) -> "optuna.Study":
    """Let Optuna propose settings and tell it what came out; the proposals depend only on those before and the seed."""
    study = optuna.create_study(direction="maximize" if tried.larger else "minimize")
    space = {one.path: _distribution(optuna, one) for one in searched}
    default = {one.path: one.default for one in searched}
    begins = {one.path: one.begins for one in searched}
    is_inside = None not in begins.values()
    if is_inside:
        study.enqueue_trial(begins)
    observer(TuneProgress(0, trials, None, 0))
    while len(tried.trials) < trials:
        asked: list[Any] = []
        settings: list[Mapping[str, Any]] = []
        for number in range(len(tried.trials), min(len(tried.trials) + at_once, trials)):
            random = generator(tried.seed, f"tune {number}")
            study.sampler = optuna.samplers.TPESampler(seed=int(random.integers(2**32)))
            asked.append(study.ask(space) if number or is_inside else None)
            settings.append(
                {one.path: one.value(asked[-1].params[one.path]) for one in searched} if number else default
            )
        for ask, made in zip(asked, tried.together(settings), strict=True):
            if ask is not None:
                _tell(optuna, study, ask, made)
        observer(TuneProgress(len(tried.trials), trials, tried.best, tried.stopped))
    return study


def _tell(optuna: Any, study: "optuna.Study", ask: "optuna.Trial", made: Trial) -> None:
    """Tell Optuna what came out of a setting that it has proposed."""
    for step, mean in enumerate(made.means):
        ask.report(mean, step)
    state = optuna.trial.TrialState
    if made.is_finished:
        study.tell(ask, made.value, state.COMPLETE)
    else:
        study.tell(ask, state=state.PRUNED)


def _distribution(optuna: Any, one: SearchedParameter) -> Any:
    kinds = optuna.distributions
    if one.choices:
        return kinds.CategoricalDistribution(list(one.labels))
    if one.whole:
        return kinds.IntDistribution(int(one.low), int(one.high), log=one.log, step=int(one.step or 1))
    return kinds.FloatDistribution(float(one.low), float(one.high), log=one.log, step=one.step)


def _importance(optuna: Any, study: Any, parameters: int) -> dict[str, float]:
    """Return the importance of each parameter, largest first (PED-ANOVA); nothing if too few trials differ."""
    if parameters < 2:
        return {}
    try:
        found = optuna.importance.get_param_importances(study)
    except (RuntimeError, ValueError, ZeroDivisionError):
        return {}
    return found if sum(found.values()) > 0 and np.isfinite([*found.values()]).all() else {}


def _fresh_design(
    design: Design, conditions: Sequence[Mapping[str, Any]], best: Mapping[str, Any], metric: str, fresh: int
) -> Design:
    """Return the study of the best setting beside the default, on seeds that no trial had."""
    menu = [LabelledChanges(label=DEFAULT, set={}), LabelledChanges(label=TUNED, set=dict(best))]
    return _of(
        design,
        [{**condition, SETTING: label} for condition in conditions for label in (DEFAULT, TUNED)],
        design=f"{design.design} {FRESH}",
        parameters={**design.parameters, SETTING: menu},
        iterations=fresh,
        seed=int(generator(design.seed, "tune: fresh seeds").integers(2**63)),
        report=ReportSection(question=SETTING, primary=metric if metric in metrics.names() else None),
    )


def _of(design: Design, rows: Sequence[Mapping[str, Any]], /, **changes: Any) -> Design:
    """Return a design with listed vectors and other changes."""
    return design.model_copy(update=changes | {"vectors": Listed.model_validate({"list": tuple(map(dict, rows))})})


def _design(source: Any, trusted_only: bool) -> Design:
    """Return the design to tune: of a scenario one without parameters."""
    if isinstance(source, Design):
        found = source
    elif not isinstance(source, Scenario) and is_design(source):
        found = load_design(source, trusted_only=trusted_only)
    else:
        found = _of_scenario(source, trusted_only)
    return found.model_copy(update={"alone": False})


def _of_scenario(source: Any, trusted_only: bool) -> Design:
    """Return a design of one scenario: its name, its file, or the scenario itself."""
    if isinstance(source, Scenario):
        scenario, folder, written = source, source.folder, {"format": 1, **plain(source)}
    else:
        scenario, folder = load_scenario(source, trusted_only=trusted_only), Path.cwd()
        written = str(Path(source).resolve() if Path(source).is_file() else source)
    data = {"design": scenario.name or "scenario", "scenario": written}
    return Design.model_validate(data, context={"folder": folder, "trusted_only": trusted_only})


def _with_metric(design: Design, metric: str, seeds: int) -> Design:
    """Return a design that measures a metric, with another number of iterations.

    Raises:
        UnknownNameError: there is no such metric.
        InvalidValueError: the number is not positive.
    """
    if seeds < 1:
        raise InvalidValueError(f"seeds is {seeds}; it must be 1 or more")
    known = [one for one in design.metrics if column_of(one) != column_of(metric)]
    found = named(metric, {"folder": design.folder, "trusted_only": design.trusted_only})
    return design.model_copy(update={"metrics": (found, *known), "iterations": seeds})


def _refuse_other_kinds(column: str) -> None:
    if "dict" in str(metrics.get(column).__annotations__.get("return", "")):
        raise InvalidValueError(f"metric {column!r} has one value for each robot; give one with one value for a run")


def _refuse_several_strategies(found: Sequence[Scenario]) -> None:
    """Raise an error if a design compares strategies: their parameters are not the same."""
    for groups in zip(*(scenario.robots for scenario in found), strict=False):
        names = list(dict.fromkeys(group.controller.reference or str(group.controller.target) for group in groups))
        if len(names) > 1:
            raise InvalidValueError(
                f"the design compares controllers of {groups[0].name!r}: {', '.join(names)}; tune a design with one"
            )


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Let Optuna write only warnings within the block."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def _optuna() -> Any:
    try:
        import optuna
    except ModuleNotFoundError as error:
        raise CoveyError(f"tuning needs {error.name}; install it with: pip install 'covey[tune]'") from None
    return optuna
