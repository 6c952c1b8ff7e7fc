"""The page of a tournament: the ranking, the table of games, each with its ways and how to replay it."""

import html
import shlex
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from covey.lab.tournament.match import GameOutcome
from covey.lab.tournament.tournament import Match, Tournament
from covey.results.folder import write_whole

_INKS = ("#c2410c", "#1d4ed8", "#15803d")
_SIDE = 96  # of a small picture [pixel]


def write_page(tournament: Tournament, running: bool) -> Path:
    """Write ``standings.html`` into the folder of a tournament; while it runs, the page reloads itself.

    Returns:
        The file.
    """
    templates = Environment(
        loader=PackageLoader("covey.lab"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    game, out = tournament.game, tournament.out
    standings = tournament.standings()
    reach = max((max(abs(row.low), abs(row.high)) for row in standings), default=1.0) or 1.0
    text = templates.get_template("standings.html.j2").render(
        game=game,
        about=" ".join((type(game).__doc__ or "").split()),
        running=running,
        played=len(tournament.outcomes),
        total=len(tournament.matches),
        sides=[(side, [row for row in standings if row.side == side]) for side in game.sides],
        reach=reach,
        rows=[_row(tournament, match) for match in tournament.matches if match.key in tournament.outcomes],
        cross=_cross(tournament) if len(game.sides) == 2 else None,
    )
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / "standings.html", text.encode())
    return out / "standings.html"


def _row(tournament: Tournament, match: Match) -> dict[str, Any]:
    outcome, folder = tournament.outcomes[match.key], tournament.out / "games" / match.key
    return {
        "key": match.key,
        "players": match.players,
        "start": match.start,
        "ended": outcome.ended,
        "time_s": outcome.time_s,
        "score": None if np.isnan(outcome.score) else outcome.score,
        "failed": [f"{match.files[side].stem}: {why}" for side, why in outcome.failed.items()],
        "winner": _winner(tournament, match, outcome),
        "picture": _picture(tournament, outcome),
        "replay": f"covey view {shlex.quote(str(folder))}" if outcome.ways else "",
    }


def _winner(tournament: Tournament, match: Match, outcome: GameOutcome) -> str:
    if len(match.players) < 2 or np.isnan(outcome.score):
        return ""
    return match.players[0] if outcome.score > 0.5 else match.players[1] if outcome.score < 0.5 else "draw"


def _cross(tournament: Tournament) -> dict[str, Any]:
    """Return how often each law of the first side has beaten each of the second: won, played."""
    first, second = (sorted(path.stem for path in files) for files in tournament.files.values())
    cells: dict[tuple[str, ...], list[float]] = {(a, b): [0.0, 0] for a in first for b in second}
    for match in tournament.matches:
        outcome = tournament.outcomes.get(match.key)
        if outcome is not None and not np.isnan(outcome.score):
            cells[match.players][0] += outcome.score
            cells[match.players][1] += 1
    return {"rows": first, "columns": second, "cells": cells}


def _picture(tournament: Tournament, outcome: GameOutcome) -> str:
    """Return an SVG of the ways: a ring at the start, a dot at the end."""
    if not outcome.ways:
        return ""
    ways = {side: np.asarray(way, float) for side, way in outcome.ways.items()}
    places = np.concatenate([way.reshape(-1, 2) for way in ways.values()])
    corners = tournament.game.workspace if tournament.game.scope == "group" else places
    places = np.concatenate((places, np.asarray(corners, float)))
    low, size = places.min(axis=0), max(np.ptp(places, axis=0).max(), 1e-9)
    parts = []
    for ink, (side, way) in zip(_INKS, ways.items(), strict=False):
        at = np.round((way - low) / size * (_SIDE - 6) + 3, 1)
        at[..., 1] = _SIDE - at[..., 1]
        for i in range(at.shape[1]):
            line = " ".join(f"{x:g},{y:g}" for x, y in at[:, i])
            (x, y), (u, v) = at[0, i], at[-1, i]
            parts.append(
                f'<polyline points="{line}" fill="none" stroke="{ink}"/><circle cx="{x:g}" cy="{y:g}" r="2.5" '
                f'fill="none" stroke="{ink}"/><circle cx="{u:g}" cy="{v:g}" r="2.5" fill="{ink}">'
                f"<title>{html.escape(side)}</title></circle>"
            )
    return f'<svg width="{_SIDE}" height="{_SIDE}" viewBox="0 0 {_SIDE} {_SIDE}" role="img">{"".join(parts)}</svg>'
