"""Communication of robots: messages, radio links and networks, a notice board, and tags in the environment."""
