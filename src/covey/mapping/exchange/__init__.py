"""What robots tell each other of their maps."""
