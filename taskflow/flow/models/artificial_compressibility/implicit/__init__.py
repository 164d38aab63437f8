"""Implicit marching in pseudo-time: an outer iteration of linear equations, their matrix, and how they are solved."""
