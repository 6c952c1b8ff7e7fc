"""Exploration strategies: robots map what no robot knows yet."""
