"""The time since each place was last seen, and last passed over: red just now, blue long ago, beige never.

Blue is the start of the run, or four minutes before its end in a longer run.
"""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.ticker import MaxNLocator

from covey.results.figures import ground, layout, style
from covey.results.figures.trajectories import view_of
from covey.results.maps import FREE, WALL

if TYPE_CHECKING:
    from covey.results.run import Run

OLD_S = 240.0
"""Age at which a place is completely blue, in longer runs [s] (MAES: 2400 ticks)."""
NEVER_COLOR = "#F1E6CC"
AGES = LinearSegmentedColormap.from_list("age", ["#E8402A", "#C2357B", "#7B3FA0", "#2B4C9B"])
"""Red to blue with decreasing lightness, so it can be read without colours too."""


def exploration_heat(run: "Run") -> style.Picture | None:
    """Return when each cell was last crossed by a beam of any robot; None without maps, or if no robot can see."""
    if run.maps is None or not run.maps.explorable.any():
        return None
    return _heat(run, run.maps.last_explored, "last seen")


def coverage_heat(run: "Run") -> style.Picture | None:
    """Return when a body was last over each cell; None if the run kept no maps."""
    return None if run.maps is None else _heat(run, run.maps.last_covered, "last covered")


def age_s(run: "Run", last_step: np.ndarray) -> np.ndarray:
    """Return the time from each cell's step to the end of the run [s]; NaN for -1 (never)."""
    if not len(run.times):
        return np.full(last_step.shape, np.nan)
    period = run.times[-1] / run.steps[-1] if run.steps[-1] else 0.0
    return np.where(last_step < 0, np.nan, (run.steps[-1] - last_step) * period)


def _heat(run: "Run", last_step: np.ndarray, what: str) -> style.Picture:
    maps = run.maps
    assert maps is not None
    age = age_s(run, last_step)
    pixels = ground.truth_pixels(maps.truth)
    pixels[(maps.truth.cells == FREE) & maps.to_cover] = style.rgb(NEVER_COLOR)
    pixels[(maps.truth.cells == FREE) & ~maps.to_cover] = style.rgb(style.UNKNOWN_COLOR)
    seen = ~np.isnan(age) & (maps.truth.cells == FREE)
    table = (AGES(np.linspace(0, 1, 256))[:, :3] * 255).round().astype(np.uint8)
    length_s = float(run.times[-1]) if len(run.times) else OLD_S
    pixels[seen] = table[(np.minimum(age[seen] / min(length_s, OLD_S), 1.0) * 255).astype(int)]
    picture, axes = layout.map_picture(view_of(run), right_in=0.62)
    ground.show_cells(axes, maps.truth, pixels)
    entries = [layout.patch(NEVER_COLOR, "never")]
    if (maps.truth.cells == WALL).any():
        entries.append(layout.patch(style.WALL_COLOR, "wall"))
    if (pixels == style.rgb(style.UNKNOWN_COLOR)).all(axis=-1).any():
        entries.append(layout.patch(style.UNKNOWN_COLOR, "out of reach"))
    layout.legend(axes, entries)
    layout.scale_bar(axes, np.ptp(axes.get_xlim()) / 8)  # short: the legend beside it is long
    _color_bar(picture, axes, what, length_s)
    return picture


def _color_bar(picture: style.Picture, axes: Axes, what: str, length_s: float) -> None:
    """Draw the colour bar in seconds or minutes, at most as long as the run."""
    unit, seconds = ("min", 60.0) if length_s > 120.0 else ("s", 1.0)
    width = picture.get_size_inches()[0]
    box = axes.get_position()
    bar_axes = picture.add_axes((box.x1 + 0.07 / width, box.y0, 0.09 / width, box.height))
    ages = ScalarMappable(Normalize(0.0, min(length_s, OLD_S) / seconds), AGES)
    bar = picture.colorbar(ages, cax=bar_axes, extend="max" if length_s > OLD_S else "neither")
    bar.locator = MaxNLocator(5, steps=[1, 2, 5, 10])
    bar.update_ticks()
    bar.ax.tick_params(labelsize=style.SMALL, width=0.5, length=2, pad=1.5)
    bar.set_label(f"{what} [{unit} before the end]", fontsize=style.FONT, labelpad=2, color=style.INK)
    bar.ax.invert_yaxis()
    bar.outline.set_linewidth(0.5)  # pyright: ignore
