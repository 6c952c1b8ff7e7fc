"""The parts of which a navigator is composed; each can be used alone."""
