"""Pictures of a run for a paper: metres, scale bar, legend, colours for colour-blind readers too."""

from covey.results.figures.animation import animation_gif, save_animation
from covey.results.figures.belief import robot_maps, union_map
from covey.results.figures.curves import explored_curve
from covey.results.figures.heat import coverage_heat, exploration_heat
from covey.results.figures.overview import overview
from covey.results.figures.saving import KINDS, NAMES, PICTURES, save_all, save_pictures
from covey.results.figures.study import fleet_metrics, robot_metrics
from covey.results.figures.study_plots import box_plots, heat_map
from covey.results.figures.study_times import explored_bands, found_curves, survival_curves, targets_left
from covey.results.figures.style import Picture
from covey.results.figures.trajectories import trajectories

__all__ = [
    "KINDS",
    "NAMES",
    "PICTURES",
    "Picture",
    "animation_gif",
    "box_plots",
    "coverage_heat",
    "exploration_heat",
    "explored_bands",
    "explored_curve",
    "fleet_metrics",
    "found_curves",
    "heat_map",
    "overview",
    "robot_maps",
    "robot_metrics",
    "save_all",
    "save_animation",
    "save_pictures",
    "survival_curves",
    "targets_left",
    "trajectories",
    "union_map",
]
