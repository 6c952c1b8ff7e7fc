"""Drawings: files of lines (DXF, SVG), as strokes with layers."""
