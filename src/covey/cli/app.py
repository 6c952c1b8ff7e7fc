"""The commands. Slow imports are inside the functions, so that ``covey --help`` is quick."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, CycloptsError, Parameter, Token

from covey import __version__

Override = Annotated[
    list[str],
    Parameter(
        name=["--set", "-s"],
        negative=(),
        show_default=False,
        help="Replace one value, for example -s robots.scout.count=20. You can repeat this option.",
    ),
]
TrustedOnly = Annotated[
    bool,
    Parameter(negative=(), show_default=False, help="Refuse a source that names code in a file (./mine.py:Name)."),
]
Trust = Annotated[
    bool,
    Parameter(negative=(), show_default=False, help="Run the code of the files that it names, if the check needs it."),
]


def _whole_number(_type: object, tokens: Sequence[Token]) -> int:
    """Return a whole number that was typed in digits: 1.7 and 1e3 are refused."""
    text = tokens[0].value
    if not re.fullmatch(r"[+-]?[0-9]{1,30}", text):
        raise ValueError(f"must be a whole number; given: {text!r}")
    return int(text)


def _check_port(_type: object, port: int) -> None:
    if not 0 <= port <= 65535:
        from covey.errors import CoveyError

        raise CoveyError(f"--port is {port}; it must be 0 (any that is free) to 65535")


Port = Annotated[int, Parameter(validator=_check_port)]


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
    return CycloptsPanel(said or error)


app = App(
    name="covey",
    help="Simulate, control and benchmark teams of mobile robots. Start with: covey run hello",
    version=__version__,
    suppress_keyboard_interrupt=False,
    error_formatter=_in_words,
)


@app.command
def run(
    source: str,
    /,
    *,
    overrides: Override = [],  # noqa: B006
    seed: Annotated[int | None, Parameter(converter=_whole_number)] = None,
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
        Scenario: max (default), simulated seconds per second (1 is real time), or 0 to wait for Enter at each step.
    force
        Scenario: replace the finished run in the folder.
    quiet
        Print only errors and, at the end, the path of the folder.
    pictures
        Scenario: a picture to draw, for example film. You can repeat this option. Default: overview and animation, and
        perspective for a landscape. covey plot draws every picture.
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
        given |= {"--inputs": inputs, "--paused": paused}
        _refuse(given, f"is for scenarios, but {source} is a design")
        trusts = {"trusted_only": trusted_only, "trust": trust}
        how = (out, seed, jobs, cluster, shard, dry_run, retry_failed, quiet)
        return run_design_command(source, *how, **trusts, page=(host, port) if live else None)
    from covey.cli.run import run_command

    given = {"--jobs": jobs is not None, "--cluster": cluster is not None, "--shard": shard is not None}
    given |= {"--dry-run": dry_run, "--retry-failed": retry_failed, "--trust": trust}
    _refuse(given, f"is for designs, but {source} is not one")
    drawn = [] if no_pictures else pictures or ["overview", "perspective", "animation"]
    page = (host, port) if live else None
    _refuse({"--paused": paused and not live}, "waits for a page: give --live, too")
    speed = speed or ("1" if live else "max")
    changes = _changes(overrides, seed)
    return run_command(source, changes, out, speed, force, quiet, drawn, trusted_only, commands, page, inputs, paused)


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
def results(
    source: str,
    /,
    *,
    format: Literal["table", "csv", "latex", "json"] = "table",  # noqa: A002
    out: Path | None = None,
    trusted_only: TrustedOnly = False,
) -> int:
    """Print the results of a design. While the design runs, this counts the runs that have ended.

    Parameters
    ----------
    source
        A design, or its results folder.
    format
        table and latex have one line per vector, csv and json have one row per run.
    out
        Results folder. Default: runs/NAME.
    """
    from covey.cli.design import results_command

    return results_command(source, format, out, trusted_only=trusted_only)


@app.command
def check(
    scenario: str,
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

        _refuse({"-s": bool(overrides)}, f"is for scenarios, but {scenario} is a design")
        return check_design(scenario, jobs, trusted_only, trust)
    _refuse({"--jobs": jobs is not None}, f"is for designs, but {scenario} is not one")
    from covey.cli.looking import check_scenario

    check_scenario(scenario, _changes(overrides, None), trusted_only, trust)


@app.command
def show(name: str, /, *, trusted_only: TrustedOnly = False) -> None:
    """Describe a scenario, design, robot, sensor, link model, protocol or controller.

    Parameters
    ----------
    name
        A name from `covey list`, or the path of a scenario or design.
    """
    from covey.experiments.design.shipped import designs, is_design

    if name in designs() or (Path(name).is_file() and is_design(name)):
        from covey.cli.design_check import show_design

        return show_design(name, trusted_only)
    from covey.scenario.shelf import describe

    print(describe(name, trusted_only=trusted_only))


@app.command(name="list")
def list_(
    kind: Literal["scenarios", "designs", "robots", "sensors", "links", "protocols", "controllers"] | None = None, /
) -> None:
    """List the scenarios, designs, robots, controllers and more in Covey and in installed packages.

    Parameters
    ----------
    kind
        What to list. Default: everything.
    """
    from covey.cli.tables import print_names
    from covey.experiments.design.load import design_summaries
    from covey.scenario.shelf import KINDS, summaries

    for one in (kind,) if kind else (KINDS[0], "designs", *KINDS[1:]):
        print_names(one, design_summaries() if one == "designs" else summaries(one))


@app.command
def new(name: str, /) -> None:
    """Write NAME.yaml and NAME.py into the current folder: a scenario and a controller to start from.

    Parameters
    ----------
    name
        Name of the scenario: letters, digits, - and _
    """
    from covey.scenario.starter import write_starter

    scenario, controller = write_starter(name, Path.cwd())
    print(f"wrote {scenario.name} and {controller.name}; try: covey run {scenario.name}")


@app.command(usage="Usage: covey plot [OPTIONS] RUN [NAMES]")
def plot(
    run: Path,
    names: list[str] = [],  # noqa: B006
    /,
    *,
    out: Path | None = None,
    format: Literal["png", "svg", "pdf"] = "png",  # noqa: A002
    trusted_only: TrustedOnly = False,
) -> None:
    """Draw the pictures of a run. For example, covey plot RUN film draws one; covey plot RUN draws all.

    Parameters
    ----------
    run
        Run folder.
    names
        overview, trajectories, union_map, robot_maps, exploration_heat, coverage_heat, explored_share, belief,
        belief_error, perspective, animation, film. Default: every picture that the run has data for.
    out
        Folder for the pictures. Default: the pictures folder of the run.
    format
        File format. Use svg or pdf for a paper.
    """
    from covey.cli.run import draw

    for path in draw(run, names, out, format, trusted_only=trusted_only):
        print(path)


@app.command(usage="Usage: covey view [OPTIONS] RUN [BESIDE]")
def view(
    run: Path,
    beside: Path | None = None,
    /,
    *,
    host: str = "127.0.0.1",
    port: Port = 0,
    until_closed: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> None:
    """Show a recorded run in a web page: play it, go to any time, look at maps and robots. Ctrl-C ends it.

    With two run folders the page shows both side by side, at the same time.

    Parameters
    ----------
    run
        Run folder.
    beside
        Another run folder, to compare.
    host
        Address to listen on. Others can then open the page, if they know its token.
    port
        Port of the page. Default: any that is free.
    until_closed
        End when the last viewer has left, or when nobody has opened the page for a minute.
    """
    from covey.cli.view import view_command

    view_command(run, beside, host, port, until_closed=until_closed)


@app.command
def export(
    run: Path,
    /,
    *,
    format: Literal["html", "mcap", "ros2", "rrd", "map", "log"] = "html",  # noqa: A002
    out: Path | None = None,
    robot: str | None = None,
) -> None:
    """Write a recorded run into one file: a page that plays it offline, MCAP for Foxglove, .rrd for Rerun, or a map.

    Parameters
    ----------
    run
        Run folder.
    format
        html needs nothing but a browser; mcap needs pip install 'covey[mcap]', rrd 'covey[rerun]'; ros2 is an MCAP of
        ROS 2 messages for Foxglove and ros2 bag play, and needs 'covey[ros2]'; map is the world at the end of the run,
        a .yaml and a .pgm as ROS reads them; log is what one robot measured, an .npz for covey slam
        (record: {scans_every_s: 0.1}), with a NAME_relations.csv to score by.
    out
        File to write. Default: NAME of the run folder, with the ending of the format, in the current folder.
    robot
        Name of the robot whose log is written.
    """
    from covey.cli.view import export_command

    export_command(run, format, out, robot)


@app.command
def report(
    source: str, /, *, results: Path | None = None, out: Path | None = None, trusted_only: TrustedOnly = False
) -> None:
    """Write the report of a design: one HTML page, LaTeX tables and figures, from the runs that have ended.

    Parameters
    ----------
    source
        A design, or its results folder.
    results
        Results folder. Default: runs/NAME.
    out
        Folder to write. Default: report in the results folder.
    """
    from covey.cli.design import report_command

    report_command(source, results, out, trusted_only=trusted_only)


@app.command
def compare(
    a: str,
    b: str,
    /,
    *,
    metrics: Annotated[list[str], Parameter(name=["--metric", "-m"], negative=(), show_default=False)] = [],  # noqa: B006
    format: Literal["table", "latex"] = "table",  # noqa: A002
    trusted_only: TrustedOnly = False,
) -> None:
    """Compare two runs, or test the results of two designs (or two versions of one) setting by setting.

    The settings that differ are printed first.

    Parameters
    ----------
    a
        A run folder, a design, or a results folder.
    b
        Another of the same kind.
    metrics
        Metric to compare. You can repeat this option. Default: the metrics of the first design; for two runs, the
        metrics that covey run prints.
    format
        Format of the output.
    """
    from covey.cli.design import compare_command

    compare_command(a, b, metrics, format, trusted_only=trusted_only)


@app.command
def play(
    law: str,
    /,
    *,
    speed: Annotated[str | None, Parameter(show_default=False)] = None,
    robots: int | None = None,
    stop: float | None = None,
    seed: Annotated[int | None, Parameter(converter=_whole_number)] = None,
    save: Path | None = None,
    plot: Path | None = None,
    film: Path | None = None,
) -> int:
    """Let the control law of a file drive robots, and show them in a web page.

    The file may set its own robots, workspace, starts and more, which win over the options here (docs/lab.md).

    Exit codes: 0 it was played, 1 the law failed, 2 bad input, 130 interrupted.

    Parameters
    ----------
    law
        A Python file with a function law(team), or FILE:NAME for another function; or the name of a law that ships.
    speed
        Simulated seconds per second: 1 (default) is real time, 0 waits for Enter at each step; or max.
    robots
        Number of robots. Default: 1.
    stop
        Simulated time at which it ends [s]. Default: 60.
    seed
        Seed of all random numbers. Default: 0.
    save
        File for what happened in each step: .npz, .mat or .csv; or a folder for the whole run.
    plot
        Picture to write: .png, .svg or .pdf.
    film
        Film to write: .gif or .mp4.
    """
    from covey.cli.play import play_command

    return play_command(law, speed, {"robots": robots, "stop_s": stop, "seed": seed}, save, plot, film)


@app.command
def tournament(
    folders: list[Path],
    /,
    *,
    game: str = "pursuit",
    out: Path | None = None,
    starts: int = 1,
    jobs: Annotated[int | None, Parameter(name=["--jobs", "-j"])] = None,
    step_seconds: float = 1.0,
    memory: float = 256.0,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
) -> int:
    """Let the laws of two folders play against each other, or those of one folder compete, and rank them.

    For example: covey tournament pursuers/ evaders/ --game pursuit. Each law runs in a process of its own; one that
    hangs, crashes or takes too much memory loses its game. The same command goes on where it ended, and plays only the
    games of new or changed files.

    Parameters
    ----------
    folders
        A folder for each side of the game, with a Python file for each law.
    game
        pursuit (two folders), coverage, rendezvous, exploration, rescue (one folder), or a Python file with your own.
    out
        Folder for games and standings; the default is runs/tournament_GAME.
    starts
        Number of starts; each pair of laws plays from each.
    jobs
        Number of games at a time; the default is all cores.
    step_seconds
        A law that takes longer for one step loses [s].
    memory
        Memory that a law may take besides what it has when it is loaded [MiB].
    quiet
        Print only the standings.
    """
    import os

    from covey.cli.tournament import tournament_command
    from covey.errors import CoveyError
    from covey.lab.tournament.match import Limits

    if not (0.0 < step_seconds < float("inf") and 0.0 < memory < float("inf")):
        raise CoveyError("--step-seconds and --memory must be positive numbers")
    return tournament_command(
        folders, game, out, starts, jobs or os.cpu_count() or 1, Limits(step_seconds, memory), quiet
    )


@app.command
def slam(
    log: Path,
    /,
    *,
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
    force
        Replace the result in the folder.
    quiet
        Print only errors and, at the end, the path of the folder.
    """
    from covey.cli.slam import graph_command, is_graph, slam_command
    from covey.scenario.overrides import parse_override

    if is_graph(log):
        given = {"--relations": relations is not None, "--set": overrides != [], "--method": method != "graph"}
        given["--seed"] = seed is not None
        _refuse(given, f"is for logs of scans, but {log} is a pose graph")
        return graph_command(log, out, force, quiet)
    changes = dict(parse_override(text) for text in overrides)
    return slam_command(log, relations, out, method, changes, seed, resolution, force, quiet)


ros = App(
    name="ros", help="Work with ROS 2: run a team as robots of a ROS 2 graph, write files for its packages, read bags."
)
app.command(ros)
Distro = Literal["humble", "jazzy", "kilted", "lyrical", "rolling"]


@ros.command(name="run")
def ros_run(
    source: str,
    /,
    *,
    overrides: Override = [],  # noqa: B006
    seed: Annotated[int | None, Parameter(converter=_whole_number)] = None,
    out: Path | None = None,
    speed: str = "1",
    watch: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    domain: int | None = None,
    distro: Distro | None = None,
    reach: Literal["LOCALHOST", "SUBNET", "SYSTEM_DEFAULT", "OFF"] | None = None,
    stamped: Annotated[bool | None, Parameter(show_default=False)] = None,
    localization: Annotated[bool, Parameter(show_default=False)] = True,
    navigation: Annotated[bool, Parameter(show_default=False)] = True,
    map: Annotated[bool, Parameter(negative=(), show_default=False)] = False,  # noqa: A002
    truth: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    prefixed: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    timeout: float = 0.5,
    battery: float | None = None,
    radio: Annotated[list[str], Parameter(negative=(), show_default=False)] = [],  # noqa: B006
    force: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
    trusted_only: TrustedOnly = False,
) -> int:
    """Run a scenario as a team of robots in a graph of ROS 2, which drives them. Needs pip install 'covey[ros2]'.

    Each robot has topics such as /scout0/scan, odom, tf and cmd_vel; docs/ros2.md lists them. Ctrl-C ends the run; its
    folder is kept.

    Exit codes: as covey run.

    Parameters
    ----------
    source
        Path of a .yaml file, or name of a scenario that ships with Covey.
    seed
        Seed of all random numbers. Replaces the seed in the file.
    out
        Folder to write. Default: runs/NAME/DATE-TIME.
    speed
        Simulated seconds per second (1 is real time), max, or lockstep: a step is taken when all robots have answers.
    watch
        The scenario's own controllers drive; ROS watches. It still drives robots with controller: commanded.
    domain
        Domain, 0 to 232. Default: ROS_DOMAIN_ID, else 0.
    distro
        Distribution of the others on the domain. Default: ROS_DISTRO, else jazzy.
    reach
        Who can be heard, on both sides the same. Default: ROS_AUTOMATIC_DISCOVERY_RANGE, else LOCALHOST: this machine.
    stamped
        cmd_vel is a TwistStamped. Default: from kilted on.
    localization
        With --no-localization, the simulator does not send map -> odom, map and pose: slam_toolbox or AMCL does. It
        then takes no goals either.
    navigation
        With --no-navigation, the simulator takes no goals and paths: Nav2 does.
    map
        Send the true map, on /true_map.
    truth
        Send the true poses, on /ROBOT/ground_truth.
    prefixed
        Begin frames with the names of the robots, and send them all on /tf, so that one RViz can show all robots.
    timeout
        A robot stops when its cmd_vel has been silent for this simulated time [s].
    battery
        Capacity of each robot's battery [Wh]. Default: it sends no battery.
    radio
        A topic that goes over the simulated radio, NAME:TYPE, besides text. You can repeat this option.
    force
        Replace the finished run in the folder.
    quiet
        Print only errors and, at the end, the path of the folder.
    """
    from covey.cli.ros import ros_run_command, topics_of
    from covey.cli.run import parse_speed
    from covey.ros.settings import Settings

    settings = Settings(
        speed=speed if speed == "lockstep" else parse_speed(speed),  # type: ignore[arg-type]
        drives=not watch,
        stamped=stamped,
        localization=localization,
        navigation=navigation,
        true_map=map,
        true_poses=truth,
        prefixed=prefixed,
        timeout_s=timeout,
        battery_wh=battery,
        radio=topics_of(radio),
    )
    how = {"out": out, "force": force, "quiet": quiet, "trusted_only": trusted_only}
    return ros_run_command(source, _changes(overrides, seed), (domain, distro, reach), settings, **how)


@ros.command(name="launch")
def ros_launch(
    source: str,
    /,
    *,
    out: Path | None = None,
    distro: Distro | None = None,
    prefixed: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    overrides: Override = [],  # noqa: B006
) -> None:
    """Write a launch file with parameters for slam_toolbox, Nav2, m-explore and RViz, for the robots of a scenario.

    Parameters
    ----------
    source
        Scenario.
    out
        Folder to write. Default: NAME-ros in the current folder.
    distro
        Distribution that will read the files. Default: ROS_DISTRO, else jazzy.
    prefixed
        Begin frames with the names of the robots, so that one RViz can show all robots; covey ros run must do so, too.
    """
    from covey.cli.ros_files import launch_command
    from covey.scenario.overrides import parse_override

    launch_command(source, dict(map(parse_override, overrides)), out, distro, prefixed=prefixed)


@ros.command(name="import")
def ros_import(
    bag: Path,
    /,
    *,
    to: Literal["run", "map", "log"] = "run",
    out: Path | None = None,
    robot: str | None = None,
    poses: Literal["better", "slam", "odometry"] | None = None,
    map: str | None = None,  # noqa: A002
    force: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
) -> None:
    """Turn a ROS bag (.mcap, .db3, .bag, or a folder) into a run, a world or a log. Needs pip install 'covey[bags]'.

    A run also prints the noise of each robot's odometry, as parameters for a scenario.

    Parameters
    ----------
    bag
        The bag: topics of LaserScan, Odometry, OccupancyGrid and tf, in a namespace for each robot, or in none.
    to
        run: a run folder for covey view, plot and compare; map: a world, .yaml and .pgm, from an OccupancyGrid; log:
        the scans and odometry of a robot, .npz, for covey slam.
    out
        Folder or file to write. Default: runs/NAME/DATE-TIME, NAME.yaml or NAME.npz.
    robot
        Name of the robot whose log is written.
    poses
        Where the robots were: better (the topic ground_truth, or the transform from a map), slam over the scans, or
        odometry. Default: the first of these that the bag allows.
    map
        Topic of the map. Default: the true or merged map, or the largest.
    force
        Replace the finished run in the folder.
    quiet
        Print only errors and, at the end, the path of the folder.
    """
    from covey.cli.ros_bags import import_command

    import_command(bag, to, out, robot, poses, map, force=force, quiet=quiet)


@ros.command(name="play")
def ros_play(
    bag: Path,
    /,
    *,
    namespace: str = "",
    topics: Annotated[list[str], Parameter(name="--topic", negative=(), show_default=False)] = [],  # noqa: B006
    speed: float = 1.0,
    time: Literal["send", "follow", "wall"] = "send",
    domain: int | None = None,
    distro: Distro | None = None,
    reach: Literal["LOCALHOST", "SUBNET", "SYSTEM_DEFAULT", "OFF"] | None = None,
) -> int:
    """Play a bag into a graph of ROS 2: a recorded robot in the place of a real one. Needs pip install 'covey[ros2]'.

    Its commands, such as cmd_vel, are not played. Ctrl-C ends it.

    Parameters
    ----------
    bag
        The bag: .mcap, .db3, or a folder.
    namespace
        Put before all topics: with scout9, /scan becomes /scout9/scan.
    topics
        A topic to play, as it is in the bag. You can repeat this option. Default: all but commands.
    speed
        Recorded seconds per second.
    time
        send: stamps stay, and /clock tells them; follow: the robot joins a simulation, whose /clock it follows, with
        stamps to match; wall: stamps of now, as a real robot has.
    domain
        Domain, 0 to 232. Default: ROS_DOMAIN_ID, else 0.
    distro
        Distribution of the others on the domain. Default: ROS_DISTRO, else jazzy.
    reach
        Who can hear it. Default: ROS_AUTOMATIC_DISCOVERY_RANGE, else LOCALHOST: this machine.
    """
    from covey.cli.ros_play import play_command

    return play_command(bag, (domain, distro, reach), namespace, topics, speed, time)


@app.command(name="map")
def map_(
    file: Path,
    /,
    *,
    overrides: Annotated[
        list[str],
        Parameter(
            name=["--set", "-s"],
            negative=(),
            show_default=False,
            help="Set an option of the map, for example -s units=mm or -s layers=[A-WALL]. You can repeat this option.",
        ),
    ] = [],  # noqa: B006
    out: Path | None = None,
    save: Path | None = None,
    door: float = 1.2,
) -> None:
    """Show what a map or a floor plan holds: its layers, what is ignored, its rooms, and a picture.

    Parameters
    ----------
    file
        A floor plan (.dxf, .svg), a ROS map (.yaml) or an image (.pgm, .png). The options are those of
        world: {file: …}.
    out
        Picture to write, .png, .svg or .pdf. Default: NAME_map.png in the current folder.
    save
        Also write the world as a ROS map, .yaml with a .pgm beside it.
    door
        Width [m]. Openings up to this width separate two rooms.
    """
    from covey.cli.map import map_command

    map_command(file, _changes(overrides, None), out, save, door)


@app.command(name="lessons")
def lessons_(folder: Path = Path("lessons"), /) -> None:
    """Write the ten lessons of the course into a folder: notebooks, the same as Python, solutions and pictures.

    Parameters
    ----------
    folder
        Folder for them. Files that exist are never replaced.
    """
    from covey.lab.lessons.course import write_lessons

    write_lessons(folder)
    print(f"wrote ten lessons into {folder}; begin with 01_first_robot.ipynb, in Jupyter or any editor for notebooks")


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
    """Install command completion for your shell.

    Parameters
    ----------
    shell
        Name of the shell. Default: the current shell.
    """
    print(f"wrote {app.install_completion(shell=shell)}; open a new shell to use it")


def _refuse(given: dict[str, bool], why: str) -> None:
    from covey.errors import InvalidValueError

    for option, is_given in given.items():
        if is_given:
            raise InvalidValueError(f"{option} {why}")


def _changes(overrides: list[str], seed: int | None) -> dict[str, object]:
    from covey.scenario.overrides import parse_override

    changes = dict(parse_override(text) for text in overrides)
    return changes if seed is None else {**changes, "seed": seed}
