"""Rescue strategies: robots search for people and fires, report them, and meet at big fires."""
