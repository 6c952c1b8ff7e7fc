"""Frames, the run folder, metrics and pictures."""

__all__ = ["figures", "statistics"]
