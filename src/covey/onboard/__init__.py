"""The software of one robot: its handle, its navigator, its controller."""
