"""Physics in the plane: discs among walls of cells."""
