"""Designs as users declare them, and the resulting list of runs."""
