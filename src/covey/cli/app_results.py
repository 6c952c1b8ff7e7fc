"""The commands that look at finished runs and studies."""

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from covey.cli.options import Port, TrustedOnly
from covey.errors import InvalidValueError


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


def plot(
    run: Path,
    names: list[str] = [],  # noqa: B006
    /,
    *,
    out: Path | None = None,
    format: Literal["png", "svg", "pdf"] = "png",  # noqa: A002
    caption: Annotated[str, Parameter(show_default=False)] = "",
    trusted_only: TrustedOnly = False,
) -> None:
    """Draw the pictures of a run. For example, covey plot RUN film draws one; covey plot RUN draws all.

    Parameters
    ----------
    run
        Run folder.
    names
        overview, trajectories, union_map, robot_maps, exploration_heat, coverage_heat, explored_share, finds, belief,
        belief_error, perspective, animation, film. Default: every picture that the run has data for.
    out
        Folder for the pictures. Default: the pictures folder of the run.
    format
        File format. Use svg or pdf for a paper.
    caption
        A text below the moving pictures, animation and film.
    """
    from covey.cli.run import draw

    for path in draw(run, names, out, format, caption, trusted_only=trusted_only):
        print(path)


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


def export(
    run: Path,
    /,
    *,
    format: Literal["html", "mcap", "ros2", "rrd", "map", "log"] | None = None,  # noqa: A002
    mcap: Annotated[bool, Parameter(negative=(), show=False)] = False,
    out: Path | None = None,
    robot: str | None = None,
) -> None:
    """Write a recorded run into one file: a page that plays it offline, MCAP for Foxglove, .rrd for Rerun, or a map.

    Parameters
    ----------
    run
        Run folder.
    format
        html, the default, needs nothing but a browser; mcap needs pip install 'covey[mcap]', rrd 'covey[rerun]'; ros2
        is an MCAP of ROS 2 messages for Foxglove and ros2 bag play, and needs 'covey[ros2]'; map is the world at the
        end of the run, a .yaml and a .pgm as ROS reads them; log is what one robot measured, an .npz for covey slam
        (record: {scans_every_s: 0.1}), with a NAME_relations.csv to score by.
    out
        File to write. Default: NAME of the run folder, with the ending of the format, in the current folder.
    robot
        Name of the robot whose log is written.
    """
    from covey.cli.view import export_command

    if mcap:
        if format not in (None, "ros2"):
            raise InvalidValueError(f"--mcap means --format ros2, and --format {format} is given; leave out --mcap")
        print("--mcap is the old spelling of --format ros2, and will go; write that", file=sys.stderr)
    export_command(run, "ros2" if mcap else format or "html", out, robot)


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
