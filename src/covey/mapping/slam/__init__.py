"""SLAM: scans and odometry become a map and the poses in it, for logs, arrays and simulated robots."""
