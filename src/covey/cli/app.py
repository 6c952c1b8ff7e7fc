"""The commands. Slow imports are inside the functions, so that ``covey --help`` is quick."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, CycloptsError, Parameter

from covey import __version__
from covey.cli.app_lab import lessons_, map_, play, tournament
from covey.cli.app_results import compare, export, plot, report, results, view
from covey.cli.app_ros import ros
from covey.cli.options import Override, Port, Source, Trust, TrustedOnly, changes_of, refuse, whole_number
from covey.errors import printable


def _in_words(error: CycloptsError) -> object:
    """Return what is shown for an error in what was typed."""
    from cyclopts import CycloptsPanel, UnknownOptionError
    from cyclopts.exceptions import UnusedCliTokensError

    said = ""
    if isinstance(error, UnknownOptionError) and error.token.keyword in ("--robots", "--robot", "--count"):
        said = f"Unknown option: {error.token.keyword}. The number of robots is -s robots.NAME.count=3"
    elif isinstance(error, UnusedCliTokensError):
        command = " ".join(error.command_chain or ())
        said = f"Too many arguments: {' '.join(error.unused_tokens or ())}. See covey {command} --help"
        if command == "compare":
            said = "covey compare takes exactly two: two run folders, or two designs"
        elif {"-s", "--set"} & {*(error.root_input_tokens or ())}:
            said += "; after -s write KEY=VALUE, as in -s robots.scout.count=3"
    return CycloptsPanel(printable(said or str(error), keep="\n"))


app = App(
    name="covey",
    help="Simulate, control and benchmark teams of mobile robots. Start with: covey run hello",
    version=__version__,
    suppress_keyboard_interrupt=False,
    error_formatter=_in_words,
)
app.command(ros)
app.command(results)
app.command(plot, usage="Usage: covey plot [OPTIONS] RUN [NAMES]")
app.command(view, usage="Usage: covey view [OPTIONS] RUN [BESIDE]")
app.command(export)
app.command(report)
app.command(compare)
app.command(play)
app.command(tournament)
app.command(map_, name="map")
app.command(lessons_)


@app.command
def run(
    source: Source,
    /,
    *,
    overrides: Override = [],  # noqa: B006
    seed: Annotated[int | None, Parameter(converter=whole_number)] = None,
    out: Path | None = None,
    speed: Annotated[str | None, Parameter(show_default=False)] = None,
    force: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
    pictures: Annotated[list[str], Parameter(name="--picture", negative=(), show_default=False)] = [],  # noqa: B006
    no_pictures: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    commands: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None,
    inputs: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    live: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    paused: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    host: str = "127.0.0.1",
    port: Port = 0,
    profile: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    trusted_only: TrustedOnly = False,
    jobs: Annotated[int | None, Parameter(name=["--jobs", "-j"])] = None,
    cluster: str | None = None,
    shard: str | None = None,
    dry_run: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    retry_failed: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    trust: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> int:
    """Run a scenario and write its run folder, or run all runs of a design that have no result yet.

    Exit codes: 0 the goal was reached (design: all runs finished), 1 error, 2 bad input, 3 the run ended without the
    goal (design: some runs failed), 130 interrupted (design: the same command resumes it).

    Parameters
    ----------
    source
        Path of a .yaml file, name of a scenario or design that ships with Covey (see covey list), or a run folder.
    seed
        Seed of all random numbers. Replaces the seed in the file.
    out
        Folder to write. Default: runs/NAME/DATE-TIME for a scenario, runs/NAME for a design.
    speed
        Scenario: max (default), simulated seconds per second (1 is real time), or 0 to wait for a key at each step.
    force
        Scenario: replace the finished run in the folder.
    quiet
        Print only errors and, at the end, the path of the folder.
    pictures
        Scenario: a picture to draw, for example trajectories. You can repeat this option. Default: overview and
        animation, and perspective for a landscape. covey plot draws every picture.
    no_pictures
        Scenario: draw no pictures.
    commands
        Scenario: a file or pipe with one event per line, or - to type them. Each event happens in the next step, for
        example  crater: {centre_m: [3, 4]}. Use it with --speed 1.
    inputs
        The source is a run folder: run its scenario again, with everything that was typed, called or done in its page
        at the same steps. The tables and maps of the new run have the same bytes (host.parquet measures this machine).
    live
        Show the run in a web page while it runs, at --speed 1 if you give no speed. Of a design: show the table of its
        runs, their metrics and the time to go.
    paused
        Scenario, with --live: wait before the first step, for example to place and add robots in the page.
    host
        With --live: the address to listen on. Others can then open the page, if they know its token.
    port
        With --live: the port of the page. Default: any that is free.
    profile
        Scenario: print which phases and functions took the time, and write a flame graph into the run folder. What
        robots do in processes of their own is not in it.
    jobs
        Design: number of runs at a time on this machine. Default: one for each processor.
    cluster
        Design: run on other machines. Give a Dask scheduler (tcp://HOST:PORT) or a cluster file (docs/running.md).
    shard
        Design: run only part I of N, for example 2/8. Use it for job arrays with a shared folder.
    dry_run
        Design: run nothing. Print what would run, or with --cluster the job script.
    retry_failed
        Design: repeat the runs that failed.
    trust
        Design with --dry-run: run the code of the files that the design names, for example to list its vectors.
    """
    from covey.experiments.design.shipped import is_design

    if is_design(source):
        from covey.cli.design import run_design_command

        given = {"-s": overrides != [], "--speed": speed is not None, "--force": force, "--no-pictures": no_pictures}
        given |= {"--picture": pictures != [], "--commands": commands is not None}
        given |= {"--inputs": inputs, "--paused": paused, "--profile": profile}
        refuse(given, f"is for scenarios, but {source} is a design")
        trusts = {"trusted_only": trusted_only, "trust": trust}
        how = (out, seed, jobs, cluster, shard, dry_run, retry_failed, quiet)
        return run_design_command(source, *how, **trusts, page=(host, port) if live else None)
    from covey.cli.run import run_command

    given = {"--jobs": jobs is not None, "--cluster": cluster is not None, "--shard": shard is not None}
    given |= {"--dry-run": dry_run, "--retry-failed": retry_failed, "--trust": trust}
    refuse(given, f"is for designs, but {source} is not one")
    drawn = [] if no_pictures else pictures or None
    page = (host, port) if live else None
    refuse({"--paused": paused and not live}, "waits for a page: give --live, too")
    speed = speed or ("1" if live else "max")
    changes = changes_of(overrides, seed)
    return run_command(
        source, changes, out, speed, force, quiet, drawn, trusted_only, commands, page, inputs, paused, profile
    )


@app.command
def tune(
    source: Source,
    /,
    *,
    metric: str,
    over: Annotated[list[str], Parameter(negative=(), show_default=False)] = [],  # noqa: B006
    trials: int = 50,
    seeds: int | None = None,
    fresh: int = 20,
    at_once: int = 4,
    larger: Annotated[bool | None, Parameter(negative="--smaller", show_default=False)] = None,
    seed: Annotated[int | None, Parameter(converter=whole_number)] = None,
    out: Path | None = None,
    jobs: Annotated[int | None, Parameter(name=["--jobs", "-j"])] = None,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
    trusted_only: TrustedOnly = False,
) -> int:
    """Search the parameters of a strategy for the best mean of a metric, and check the best on fresh seeds.

    Needs pip install 'covey[tune]'. The default setting is tried first, then Optuna proposes. Settings worse than the
    median of those before are stopped early. After Ctrl-C the same command does what is left.

    Parameters
    ----------
    source
        A scenario, or a design: each setting is run in all its vectors.
    metric
        What is to be best, for example exploration_time_s: see covey list metrics.
    over
        What to search: NAME, NAME=FROM..TO, 'NAME=[a, b]' or 'NAME={from: 1, to: 100, log: true}'. You can repeat this
        option. Default: all parameters of the strategies with a narrow range.
    trials
        Number of settings.
    seeds
        Number of seeds of each setting. Default: the iterations of the design, 5 for a scenario.
    fresh
        Number of other seeds on which the best is compared with the default.
    at_once
        Number of settings that are proposed together. The result depends on it, but not on --jobs.
    larger
        Whether larger values are better. Default: as covey knows it.
    seed
        Seed of everything. Default: that of the design.
    out
        Folder to write. Default: runs/tune-NAME.
    jobs
        Number of runs at a time. Default: one for each processor.
    quiet
        Print only errors and, at the end, the path of the folder.
    """
    from covey.cli.tune import tune_command

    how = {"over": over, "trials": trials, "seeds": seeds, "fresh": fresh, "at_once": at_once, "larger": larger}
    return tune_command(source, metric, out, quiet, **how, seed=seed, jobs=jobs, trusted_only=trusted_only)


@app.command
def demo() -> int:
    """Watch six robots that explore a maze: the same as covey run maze --live."""
    return run("maze", live=True)


@app.command
def live(*, host: str = "127.0.0.1", port: Port = 0) -> int:
    """Show the scenarios in a web page: click one, change what you like, and run it.

    The page lists the scenarios that ship with Covey and those in the current folder. Ctrl-C ends it and its runs;
    their folders are kept.

    Parameters
    ----------
    host
        The address to listen on. Others can then open the page, if they know its token.
    port
        The port of the page. Default: any that is free.
    """
    from covey.cli.live import gallery_command

    return gallery_command(host, port)


@app.command
def check(
    scenario: Source,
    /,
    *,
    overrides: Override = [],  # noqa: B006
    trusted_only: TrustedOnly = False,
    trust: Trust = False,
    jobs: Annotated[int | None, Parameter(name=["--jobs", "-j"])] = None,
) -> None:
    """Check a scenario: read it, build its world and place its robots. Writes no files and runs no code from files.

    For a design, this also prints the number of runs and estimates from two trial runs how long they take.

    Parameters
    ----------
    scenario
        Path of a .yaml file, or name of a scenario or design that ships with Covey.
    jobs
        Design: number of runs at a time. Default: one for each processor.
    """
    from covey.experiments.design.shipped import is_design

    if is_design(scenario):
        from covey.cli.design_check import check_design

        refuse({"-s": bool(overrides)}, f"is for scenarios, but {scenario} is a design")
        return check_design(scenario, jobs, trusted_only, trust)
    refuse({"--jobs": jobs is not None}, f"is for designs, but {scenario} is not one")
    from covey.cli.looking import check_scenario

    check_scenario(scenario, changes_of(overrides, None), trusted_only, trust)


@app.command
def check_extension(target: str, /, *, as_: Annotated[str, Parameter(name="--as", show_default=False)] = "") -> int:
    """Check a sensor, mission, controller or other extension of yours. Runs its code.

    Exit code 1: something is wrong with it.

    Parameters
    ----------
    target
        The file and the name in it, ./mine.py:Compass, or the name of one that is registered or installed.
    as_
        What it is, for a function: controller, metric, link or robot. For a name: the extension point.
    """
    from covey.cli.extension import check_command

    return check_command(target, as_)


@app.command
def show(name: str, /, *, trusted_only: TrustedOnly = False) -> None:
    """Describe a scenario, a design, or anything else that `covey list` names.

    Parameters
    ----------
    name
        A name from `covey list`, the path of a scenario or design, or a record of scenarios: stop, robots[].robot.
    """
    from covey.experiments.design.shipped import designs, is_design

    if name in designs() or (Path(name).is_file() and is_design(name)):
        from covey.cli.design_check import show_design

        return show_design(name, trusted_only)
    from covey.scenario.shelf import describe

    print(describe(name, trusted_only=trusted_only))


@app.command(name="list")
def list_(
    kind: Literal[
        "scenarios",
        "designs",
        "robots",
        "sensors",
        "localizers",
        "mappers",
        "missions",
        "worlds",
        "starts",
        "targets",
        "events",
        "faults",
        "links",
        "protocols",
        "mergers",
        "physics",
        "planners",
        "controllers",
        "metrics",
        "quantities",
    ]
    | None = None,
    /,
) -> None:
    """List what files can name: scenarios, designs, robots, controllers and more, also of installed packages.

    Parameters
    ----------
    kind
        What to list, each with a sentence. Default: the names of everything.
    """
    from covey.cli.tables import print_all_names, print_names
    from covey.experiments.design.load import design_summaries
    from covey.experiments.design.quantities import quantity_summaries
    from covey.scenario.shelf import KINDS, summaries

    others = {"designs": design_summaries, "quantities": quantity_summaries}
    kinds = (kind,) if kind else (KINDS[0], "designs", *KINDS[1:], "quantities")
    found = {one: others[one]() if one in others else summaries(one) for one in kinds}
    if kind:
        print_names(kind, found[kind])
    else:
        print_all_names(found)


@app.command
def new(name: str, /) -> None:
    """Write NAME.yaml and NAME.py into the current folder: a scenario and a controller to start from.

    It also writes .covey/scenario.schema.json, by which editors such as VS Code check and complete the scenario.

    Parameters
    ----------
    name
        Name of the scenario: letters, digits, - and _
    """
    from covey.scenario.starter import write_starter

    scenario, controller = write_starter(name, Path.cwd())
    print(f"wrote {scenario.name} and {controller.name}; try: covey run {scenario.name}")


@app.command
def slam(
    log: Path,
    /,
    *further: Path,
    continued: Annotated[Path | None, Parameter(name="--continue")] = None,
    relations: Path | None = None,
    out: Path | None = None,
    method: Annotated[Literal["graph", "matching", "particles"], Parameter(show_default=False)] = "graph",
    overrides: Annotated[
        list[str],
        Parameter(
            name=["--set", "-s"],
            negative=(),
            show_default=False,
            help="Change one setting, for example -s key_frame_m=0.5 or -s loops.score=0.7; the report lists all. You "
            "can repeat this option.",
        ),
    ] = [],  # noqa: B006
    seed: int | None = None,
    resolution: float = 0.05,
    unchecked: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    force: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
) -> int:
    """Find the way and the map of a robot from a recorded log (SLAM), or optimise a pose graph.

    It writes a folder with the map, the trajectory, the graph, the scores and a report, and prints the main scores.

    Parameters
    ----------
    log
        Scans and odometry: .npz, CARMEN (.log, .clf, also .gz), or a ROS bag, which needs pip install 'covey[bags]'.
        Or a pose graph, .g2o or .g2o.gz.
    further
        More logs of the same site: all become one map, wherever each begins, once their places are recognised.
    continued
        Go on with the map of an earlier run: its folder, or the graph.npz in it. The log may begin anywhere in it.
    relations
        Known motions between scans, to score the trajectory with: .relations, by stamps, or a CSV file, by rows.
    out
        Folder to write. Default: runs/slam-NAME/DATE-TIME.
    method
        graph (default) matches scans and closes loops; matching does not close loops; particles is gmapping's filter.
    seed
        Of the random numbers of particles. Default: 0.
    resolution
        Side of a cell of the map [m].
    unchecked
        Take a log as it is, although its units, directions or order look wrong.
    force
        Replace the result in the folder.
    quiet
        Print only errors and, at the end, the path of the folder.
    """
    from covey.cli.slam import graph_command, is_graph, slam_command
    from covey.scenario.overrides import parse_override

    if is_graph(log):
        given = {"--relations": relations is not None, "--set": overrides != [], "--method": method != "graph"}
        given |= {"--seed": seed is not None, "--unchecked": unchecked, "--continue": continued is not None}
        given |= {"a second log": bool(further)}
        refuse(given, f"is for logs of scans, but {log} is a pose graph")
        return graph_command(log, out, force, quiet)
    changes = dict(parse_override(text) for text in overrides)
    logs = (log, *further)
    return slam_command(logs, relations, out, method, changes, seed, resolution, force, quiet, unchecked, continued)


@app.command
def robot(address: str, /, *, name: str) -> int:
    """Run one robot in this process and join a simulation that waits for it (execution.processes.nodes: join).

    Both sides need the same key, in hexadecimal digits, in the environment variable COVEY_AUTHKEY.

    Parameters
    ----------
    address
        Address on which the simulator listens, host:port.
    name
        Name of the robot, for example scout3. For a controller of several robots: the name of its group, or team.
    """
    from covey.cli.robot import robot_command

    return robot_command(address, name)


@app.command(name="replay-robot", usage="Usage: covey replay-robot [OPTIONS] RUN [ROBOT]")
def replay_robot(
    run: Path,
    robot: str | None = None,
    /,
    *,
    out: Path | None = None,
    force: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    break_at: float | None = None,
) -> int:
    """Replay one robot of a run: give its recorded inputs to its controller and print the first answer that differs.

    The first call simulates the run again to record the robot's steps. Later calls use the recorded steps and simulate
    nothing: edit the controller and see from which step on it decides differently.

    Exit codes: 0 all answers are the same, 3 some differ, 2 bad input, 1 error.

    Parameters
    ----------
    run
        The run folder, or a file of recorded steps.
    robot
        Name of the robot, such as scout0.
    out
        File for the recorded steps. Default: steps/ROBOT.jsonl.gz in the run folder.
    force
        Replace the file given by --out.
    break_at
        Stop in the Python debugger, inside the controller, at this simulated time [s].
    """
    from covey.cli.replay import replay_command

    return replay_command(run, robot, out, force, break_at)


@app.command
def schema(kind: Literal["scenario", "design"] = "scenario", /) -> None:
    """Print the JSON schema of scenario or design files. Editors use it to complete and check YAML.

    Parameters
    ----------
    kind
        Kind of file.
    """
    import json

    if kind == "design":
        from covey.experiments.design.records import Design as Record
    else:
        from covey.scenario.records import Scenario as Record

    print(json.dumps(Record.model_json_schema(), indent=2))


@app.command
def doctor() -> int:
    """Report versions, processor, caches and video encoders, and every problem with them."""
    from covey.cli.doctor import findings
    from covey.cli.tables import print_findings

    return print_findings(findings())


@app.command(name="install-completion")
def install_completion(shell: Literal["bash", "zsh", "fish"] | None = None, /) -> None:
    """Install completion for your shell: of commands, options, names of scenarios, and of fields and values after -s.

    Parameters
    ----------
    shell
        Name of the shell. Default: the current shell.
    """
    from covey.cli.completing import install

    print(f"wrote {install(app, shell)}; open a new shell to use it")
