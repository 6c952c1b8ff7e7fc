"""Exchange of maps between robots."""
