"""Strategies that explore: robots map what nobody knows yet."""
