"""One picture of a whole run, for a first look."""

from typing import TYPE_CHECKING

from covey.results.figures import layout, style
from covey.results.figures.missions import draw_graph, draw_progress
from covey.results.figures.trajectories import draw_trajectories, legend_in, view_of

if TYPE_CHECKING:
    from covey.results.run import Run


def overview(run: "Run") -> style.Picture:
    """Return the world with the robots' paths, and the mission's progress over time beside it, across the page."""
    view = view_of(run)
    height = min(max(3.0 * (view[3] - view[2]) / (view[1] - view[0]), 1.4), 4.0)
    width = min(height * (view[1] - view[0]) / (view[3] - view[2]), 3.6)
    height = width * (view[3] - view[2]) / (view[1] - view[0])
    low = max(height, 1.6)
    picture = style.Picture(style.PAGE_IN, low + 0.36 + legend_in(run))
    left = layout.map_axes(picture, (0.45, 0.36 + (low - height) / 2, width, height), view)
    draw_trajectories(left, run)
    draw_graph(left, run)
    start = 0.45 + width + 0.62
    draw_progress(layout.place_axes(picture, start, 0.36, style.PAGE_IN - start - 0.62, low), run)
    return picture
