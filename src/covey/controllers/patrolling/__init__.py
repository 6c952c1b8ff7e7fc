"""Strategies that patrol: robots visit the same places again and again."""
