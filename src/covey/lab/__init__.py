"""The lab: control laws of a few lines, played in the simulation that everything else uses."""
