"""Strategies that explore: robots map what no robot knows yet."""
