"""Frames, the run folder, metrics and pictures."""
