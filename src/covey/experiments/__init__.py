"""Designs: declared sets of runs, and what runs them."""
