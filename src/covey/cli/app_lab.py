"""The commands of the lab: laws that are played, tournaments, floor plans and lessons."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from covey.cli.options import changes_of, whole_number


def play(
    law: str,
    /,
    *,
    overrides: Annotated[
        list[str],
        Parameter(
            name=["--set", "-s"],
            negative=(),
            show_default=False,
            help="Set a parameter of the law or a setting, as in -s gain=2. You can repeat this option.",
        ),
    ] = [],  # noqa: B006
    speed: Annotated[str | None, Parameter(show_default=False)] = None,
    robots: int | None = None,
    stop: float | None = None,
    seed: Annotated[int | None, Parameter(converter=whole_number)] = None,
    save: Path | None = None,
    plot: Path | None = None,
    film: Path | None = None,
) -> int:
    """Let the control law of a file drive robots, and show them in a web page.

    The file may set its own robots, workspace, starts and more; the options here win over them (docs/lab.md).

    Exit codes: 0 it was played, 1 the law failed, 2 bad input, 130 interrupted.

    Parameters
    ----------
    law
        A Python file with a function law(team), or FILE:NAME for another function; or the name of a law that ships.
    speed
        Simulated seconds per second: 1 (default) is real time, 0 waits for a key at each step; or max.
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

    given = {"robots": robots, "stop_s": stop, "seed": seed}
    given = {name: value for name, value in given.items() if value is not None}
    return play_command(law, speed, {**changes_of(overrides, None), **given}, save, plot, film)


def tournament(
    folders: list[Path],
    /,
    *,
    game: str = "pursuit",
    out: Path | None = None,
    starts: int = 1,
    jobs: Annotated[int | None, Parameter(name=["--jobs", "-j"])] = None,
    step_seconds: float = 1.0,
    game_seconds: float | None = None,
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
    game_seconds
        A law that takes longer for all its steps of a game together loses [s]. Default: half of the simulated time that
        a game may last, for pursuit 30 s.
    memory
        Memory that a law may take besides what it has when it is loaded [MiB].
    quiet
        Print only the standings.
    """

    from covey.cli.tournament import tournament_command
    from covey.errors import CoveyError
    from covey.lab.tournament.match import LawLimits
    from covey.processors import processors

    given = {"--step-seconds": step_seconds, "--game-seconds": game_seconds, "--memory": memory}
    for option, value in given.items():
        if value is not None and not 0.0 < value < float("inf"):
            raise CoveyError(f"{option} is {value:g}; give a number above 0")
    limits = LawLimits(step_seconds, memory, game_seconds)
    return tournament_command(folders, game, out, starts, jobs or processors(), limits, quiet)


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

    map_command(file, changes_of(overrides, None), out, save, door)


lessons_ = App(
    name="lessons", help="Write the ten lessons of the course into a folder, or check what students hand in."
)


@lessons_.default
def write(folder: Path = Path("lessons"), /) -> None:
    """Write the ten lessons of the course into a folder: notebooks, the same as Python, solutions and pictures.

    Parameters
    ----------
    folder
        Folder for them. Files that exist are never replaced.
    """
    from covey.lab.lessons.course import write_lessons

    write_lessons(folder)
    print(f"wrote ten lessons into {folder}; begin with 01_first_robot.ipynb, in Jupyter or any editor for notebooks")


@lessons_.command
def check(
    folder: Path,
    /,
    *,
    lesson: int | None = None,
    seconds: float = 120.0,
    jobs: Annotated[int | None, Parameter(name=["--jobs", "-j"])] = None,
    format: Literal["table", "csv", "json"] = "table",  # noqa: A002
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
) -> int:
    """Check every hand-in of a folder, Python files and notebooks, and say what is still wrong with each.

    Each runs in a process of its own. The lesson's own code runs with what the hand-in wrote in the cell to complete.
    Settings, calls of play and checks of a hand-in do not count.

    Exit codes: 0 all are done, 2 bad input, 3 some are not done yet.

    Parameters
    ----------
    folder
        Folder with the hand-ins, also in folders below it.
    lesson
        Number of the lesson. Default: it is in the name of each file, as in 01_first_robot.py, or of its folder.
    seconds
        A hand-in that takes longer than this is not done [s].
    jobs
        Number of hand-ins at a time; the default is all cores.
    format
        table; csv and json have one row per hand-in.
    quiet
        Print the grades only, at the end.
    """
    from covey.cli.lessons import check_command
    from covey.processors import processors

    return check_command(folder, lesson, seconds, jobs or processors(), format, quiet)
