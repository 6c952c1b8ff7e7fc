"""Tournaments: every law plays against every law, from the same starts."""
