"""The parts of a navigator; each can be used alone."""
