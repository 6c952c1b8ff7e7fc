"""Strategies that cover: robots drive over all of the floor."""
