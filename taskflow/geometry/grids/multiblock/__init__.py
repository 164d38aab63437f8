"""Grids of several blocks: seams that match, gaps, merging, vertices beyond sides."""
