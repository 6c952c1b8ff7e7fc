"""Communication of robots: messages, radio links and networks, a blackboard, and tags in the environment."""
