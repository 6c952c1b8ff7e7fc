"""Covey: simulate, control and benchmark teams of mobile robots."""
