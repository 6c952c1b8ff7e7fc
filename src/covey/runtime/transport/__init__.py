"""Letters between the simulation and the processes of robots."""
