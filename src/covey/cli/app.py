"""The commands. What takes time to import is imported inside them, so that ``covey --help`` is quick."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from covey import __version__

Override = Annotated[
    list[str],
    Parameter(
        name=["--set", "-s"],
        negative=(),
        show_default=False,
        help="Replace one value, as in -s robots.scout.count=20; may be repeated.",
    ),
]
TrustedOnly = Annotated[
    bool,
    Parameter(negative=(), show_default=False, help="Refuse a scenario that names code of a file (./mine.py:Name)."),
]

app = App(
    name="covey",
    help="Simulate, control and benchmark teams of mobile robots. Start with: covey run hello",
    version=__version__,
    suppress_keyboard_interrupt=False,
)


@app.command
def run(
    scenario: str,
    /,
    *,
    overrides: Override = [],  # noqa: B006
    seed: int | None = None,
    out: Path | None = None,
    speed: str = "max",
    force: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
    no_pictures: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    trusted_only: TrustedOnly = False,
) -> int:
    """Run a scenario, and write its run folder.

    Exit codes: 0 goal reached, 3 ended without reaching it, 2 bad input, 1 error.

    Parameters
    ----------
    scenario
        Path of a .yaml file, or the name of a scenario that ships (covey list scenarios).
    seed
        Root of all random numbers; replaces the scenario's.
    out
        The run folder; default runs/NAME/DATE-TIME.
    speed
        max, or simulated seconds per second (1 = real time), or 0 to wait for a key at each step.
    force
        Replace a finished run in the folder.
    quiet
        Print nothing but errors and, at the end, the path of the run folder.
    no_pictures
        Do not draw the pictures of the run.
    """
    from covey.cli.run import run_command

    return run_command(scenario, _changes(overrides, seed), out, speed, force, quiet, not no_pictures, trusted_only)


@app.command
def check(scenario: str, /, *, overrides: Override = [], trusted_only: TrustedOnly = False) -> None:  # noqa: B006
    """Check a scenario: read it, build its world, and place its robots; nothing is run or written.

    Parameters
    ----------
    scenario
        Path of a .yaml file, or the name of a scenario that ships.
    """
    from covey.scenario.build import set_up
    from covey.scenario.load import load_scenario

    loaded = load_scenario(scenario, _changes(overrides, None), trusted_only=trusted_only)
    print(f"{scenario}: good. {set_up(loaded).summary()}")


@app.command
def show(name: str, /) -> None:
    """Show all there is to know about a scenario, robot, sensor, link model, protocol or controller.

    Parameters
    ----------
    name
        A name that `covey list` prints, or the path of a scenario.
    """
    from covey.scenario.shelf import describe

    print(describe(name))


@app.command(name="list")
def list_(
    kind: Literal["scenarios", "robots", "sensors", "links", "protocols", "controllers"] | None = None, /
) -> None:
    """List what ships with Covey and with installed packages.

    Parameters
    ----------
    kind
        What to list; default, everything.
    """
    from covey.cli.tables import print_names
    from covey.scenario.shelf import KINDS, summaries

    for one in (kind,) if kind else KINDS:
        print_names(one, summaries(one))


@app.command
def new(name: str, /) -> None:
    """Write a first scenario and a first controller of your own, NAME.yaml and NAME.py, into this folder.

    Parameters
    ----------
    name
        Name of the scenario: letters, digits, - and _.
    """
    from covey.scenario.starter import write_starter

    scenario, controller = write_starter(name, Path.cwd())
    print(f"wrote {scenario.name} and {controller.name}; try: covey run {scenario.name}")


@app.command
def plot(run: Path, /, *, out: Path | None = None, format: Literal["png", "svg", "pdf"] = "png") -> None:  # noqa: A002
    """Draw the pictures of a run again.

    Parameters
    ----------
    run
        The run folder.
    out
        Folder of the pictures; default, beside the others in the run folder.
    format
        png; svg or pdf for a paper.
    """
    from covey.cli.run import draw

    for path in draw(run, out, format):
        print(path)


@app.command
def schema() -> None:
    """Print the JSON schema of scenario files, for editors that complete and check YAML."""
    import json

    from covey.scenario.records import Scenario

    print(json.dumps(Scenario.model_json_schema(), indent=2))


@app.command
def doctor() -> int:
    """Report versions, processor, caches and encoders, and what is wrong with them."""
    from covey.cli.doctor import findings
    from covey.cli.tables import print_findings

    return print_findings(findings())


@app.command(name="install-completion")
def install_completion(shell: Literal["bash", "zsh", "fish"] | None = None, /) -> None:
    """Install completion of these commands for a shell.

    Parameters
    ----------
    shell
        Name of the shell; default, the one you are in.
    """
    print(f"wrote {app.install_completion(shell=shell)}; open a new shell to use it")


def _changes(overrides: list[str], seed: int | None) -> dict[str, object]:
    from covey.scenario.overrides import parse_override

    changes = dict(parse_override(text) for text in overrides)
    return changes if seed is None else {**changes, "seed": seed}
