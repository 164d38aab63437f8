"""Boundary conditions: walls, openings and their ghost cells.

They know the grid, and tell elliptic solvers the type of each side, but know neither bodies nor equations.
"""
