"""Implicit marching in pseudo-time: an outer iteration of linear equations, their matrix and their solution."""
