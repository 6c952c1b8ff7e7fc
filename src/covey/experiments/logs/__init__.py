"""SLAM over recorded logs, and pose graphs: scores, files and a page."""
