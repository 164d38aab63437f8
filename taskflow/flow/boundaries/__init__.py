"""Conditions on the sides of the domain: walls, openings, and the layers of cells beyond them.

They know the grid, and the elliptic solvers of which openings decide the sides. They do not know bodies or equations.
"""
