"""The pose of one robot's map in another's, where nobody knows it."""
