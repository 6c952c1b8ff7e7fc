"""Find the unknown pose of one robot's map in another's."""
