"""Coverage strategies: robots drive over the whole floor."""
