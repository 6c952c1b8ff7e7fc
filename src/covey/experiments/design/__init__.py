"""Designs as users declare them, and the list of runs that follows."""
