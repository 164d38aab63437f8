"""Grids of several blocks: matching seams, gaps, merging, ghost vertices."""
