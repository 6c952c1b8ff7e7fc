"""`covey tournament`: every law plays against every law."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.table import Table

from covey.cli.exit_codes import INTERRUPTED
from covey.lab.tournament.game import GameError
from covey.lab.tournament.match import GameOutcome, LawLimits
from covey.lab.tournament.page import write_page
from covey.lab.tournament.tournament import Match, Tournament


def tournament_command(
    folders: Sequence[Path], game: str, out: Path | None, starts: int, jobs: int, limits: LawLimits, quiet: bool
) -> int:
    """Play the missing games of a tournament, and print the standings."""
    tournament = Tournament(game, folders, out or Path("runs") / f"tournament_{Path(game).stem}", starts, limits)
    total, missing = len(tournament.matches), len(tournament.missing)
    page = write_page(tournament, running=missing > 0)
    if not quiet:
        print(f"{total} games, {total - missing} of them played before; standings: {page}", file=sys.stderr)

    def told(match: Match, outcome: GameOutcome) -> None:
        if not quiet:
            how = "; ".join(f"{match.files[side].stem} failed: {why}" for side, why in outcome.failed.items())
            line = f"{len(tournament.outcomes)}/{total} {' - '.join(match.players)}: {how or outcome.ended}"
            print(f"{line}, {outcome.time_s:.1f} s", file=sys.stderr, flush=True)
        write_page(tournament, running=True)

    try:
        tournament.play(jobs, told)
    except GameError:
        if not tournament.outcomes:
            page.unlink()
            for folder in (tournament.out / "games", tournament.out):
                with suppress(OSError):  # it holds files of somebody else
                    folder.rmdir()
        else:
            write_page(tournament, running=False)
        raise
    except KeyboardInterrupt:
        write_page(tournament, running=False)
        print(f"{len(tournament.outcomes)} of {total} games are kept; the same command goes on", file=sys.stderr)
        return INTERRUPTED
    write_page(tournament, running=False)
    if changed := tournament.check_rows():
        print(f"{changed} files of games were changed or removed meanwhile; they are written anew", file=sys.stderr)
    players = {match.key: " - ".join(match.players) for match in tournament.matches}
    for key, why in tournament.void.items():
        print(f"{players[key]}: the game counts for nobody: {why}", file=sys.stderr)
    if tournament.void:
        print("the same command plays these games again", file=sys.stderr)
    console = Console()
    for side in tournament.game.sides:
        table = Table("rank", side, "strength", "95 % interval", "won", "of", "failed", box=None)
        rows = [row for row in tournament.standings() if row.side == side]
        for k, row in enumerate(rows, 1):
            between = f"{row.low:+.2f} to {row.high:+.2f}"
            cells = (f"{row.strength:+.2f}", between, f"{row.won:g}", f"{row.games:g}", str(row.failures))
            table.add_row(str(k), row.name, *cells)
        console.print(table)
    console.print(f"Standings with all games: {page}", soft_wrap=True)
    return 0
