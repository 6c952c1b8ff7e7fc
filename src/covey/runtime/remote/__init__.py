"""Controllers with their mapping and planning, each in its own operating-system process."""
