"""Average ranks of strategies on a line, with bars over those that do not differ (critical-difference diagram)."""

from collections.abc import Sequence

import numpy as np

from covey.errors import InvalidValueError
from covey.results.figures import layout, style
from covey.results.figures.study_layout import name_width_in, shortened

_ROW_IN = 0.15


def rank_diagram(
    names: Sequence[str], ranks: Sequence[float], critical_difference: float | None, blocks: int
) -> style.Picture:
    """Return average ranks along an axis, the best first, one row for each name.

    Args:
        names: of the strategies.
        ranks: their average ranks, 1 = best.
        critical_difference: strategies whose ranks are nearer than this do not differ: a bar joins them. None:
            Friedman's test found no difference, and there are no bars.
        blocks: number of blocks, for the note.

    Raises:
        InvalidValueError: there are fewer than two names, or not as many ranks.

    References:
        J. Demšar: Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.
    """
    if len(names) != len(ranks) or len(names) < 2:
        raise InvalidValueError(
            f"{len(names)} names and {len(ranks)} ranks; give one rank for each of at least two names"
        )
    order = np.argsort(ranks, kind="stable")
    ordered, rows = np.asarray(ranks, float)[order], np.arange(len(order))
    shown = [shortened(names[int(i)]) for i in order]
    groups = [] if critical_difference is None else cliques(ordered, critical_difference)
    left, high = 0.25 + name_width_in(shown), _ROW_IN * (len(order) + len(groups)) + 0.1
    picture = style.Picture(style.COLUMN_IN, 0.4 + high + 0.05)
    axes = layout.place_axes(picture, left, 0.4, style.COLUMN_IN - left - 0.15, high)
    axes.plot(ordered, rows, "o", color=style.INK, ms=4, mew=0, zorder=3)
    for i, (first, last) in enumerate(groups):
        ends = (ordered[first] - 0.03, ordered[last] + 0.03)
        axes.plot(ends, [len(order) + i] * 2, color=style.ROBOTS[0], lw=2.5, solid_capstyle="butt", zorder=3)
    axes.set(xlim=(0.8, len(order) + 0.2), ylim=(len(order) + len(groups) - 0.4, -0.6))
    axes.set_yticks(rows, shown)
    axes.set_xlabel("average rank, 1 is best", fontsize=style.FONT, labelpad=1.5, color=style.INK)
    axes.grid(color=style.GRID, lw=0.4)
    axes.spines[["top", "right"]].set_visible(False)
    bars = (
        "No bars: Friedman's test finds no difference."
        if critical_difference is None
        else f"Bars: ranks nearer than {critical_difference:.2f}, which do not differ (Nemenyi)."
    )
    picture.note = f"Average ranks over {blocks} blocks. {bars}"
    return picture


def cliques(ordered: np.ndarray, critical_difference: float) -> list[tuple[int, int]]:
    """Return the first and the last of each longest group of ranks, in order, that are within a difference.

    Examples:
        >>> cliques(np.array([1.0, 1.5, 2.4, 4.0]), 1.0)
        [(0, 1), (1, 2)]
    """
    found: list[tuple[int, int]] = []
    for first in range(len(ordered)):
        last = int(np.searchsorted(ordered, ordered[first] + critical_difference, "left")) - 1
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found
