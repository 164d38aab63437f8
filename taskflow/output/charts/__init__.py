"""The store of a run on charts: a group for each chart beside one time, written by blocks of several pieces."""
