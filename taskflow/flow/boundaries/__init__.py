"""Boundary conditions: walls, openings and their ghost cells.

They know the grid, and define the sides for elliptic solvers. They know neither bodies nor equations.
"""
