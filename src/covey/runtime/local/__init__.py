"""Controllers in the process of the simulation."""
