"""Execution of the runs of a design, and the files kept of each."""
