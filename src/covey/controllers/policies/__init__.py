"""Policies: what a learned controller observes, what it chooses, and the controller that asks a file in ONNX."""
