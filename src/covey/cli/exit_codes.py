"""Exit codes of `covey`."""

REACHED, FAILED, BAD_INPUT, NOT_REACHED, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes: goal reached; error; bad input; ended without reaching the goal; Ctrl-C, or 143 for SIGTERM."""
