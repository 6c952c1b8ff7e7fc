"""Who executes the runs of a design, and what is left of each."""
