"""Beliefs about free and occupied cells."""
