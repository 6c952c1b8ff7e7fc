"""Recording the inputs and outputs of one robot, and replaying them with its software alone."""
