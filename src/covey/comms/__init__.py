"""What robots say to one another: messages, radio links and networks, a notice board, and tags in the environment."""
