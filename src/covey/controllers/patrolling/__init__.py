"""Patrolling strategies: robots visit the same places again and again."""
