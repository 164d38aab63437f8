"""Artificial compressibility on charts of cells with vertices anywhere, and on uniform ones."""
