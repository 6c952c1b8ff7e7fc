"""Beliefs about the altitudes of the ground."""
