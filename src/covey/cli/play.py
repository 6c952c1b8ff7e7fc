"""`covey play`: the law of a file drives robots."""

import sys
from pathlib import Path
from typing import Any

from covey.cli.exit_codes import REACHED
from covey.cli.run import parse_speed
from covey.lab.files import check_ending
from covey.lab.play import play


def play_command(
    law: str, speed: str | None, given: dict[str, Any], save: Path | None, plot: Path | None, film: Path | None
) -> int:
    """Play the law of a file, print how it ended, write what was asked for, and return the exit code."""
    settings: dict[str, Any] = given | ({} if speed is None else {"speed": parse_speed(speed)})
    reference = law if ".py" in law else f"{law}.py" if Path(f"{law}.py").is_file() else law
    for method, path in (("save", save), ("plot", plot), ("film", film)):
        if path is not None:
            check_ending(method, path)
    out = play(reference, **settings)
    robots = f"{len(out.names)} robot{'s' * (len(out.names) > 1)}"
    print(f"{robots}, {out.time[-1]:g} s, {len(out.time) - 1} steps: {out.status}")
    for path, write in ((save, out.save), (plot, out.plot), (film, out.film)):
        if path is not None:
            write(path)
            print(f"wrote {path}", file=sys.stderr)
    return REACHED
