"""Designs: declared sets of runs, their execution and analysis."""
