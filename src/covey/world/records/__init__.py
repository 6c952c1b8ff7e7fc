"""Worlds and starts as users declare them."""
