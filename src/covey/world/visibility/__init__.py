"""What of a world can be explored and covered, and what has been."""
