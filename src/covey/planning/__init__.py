"""Routes and local driving: pure functions on arrays that also run on a real robot."""
