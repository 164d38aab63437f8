"""Finite differences on the staggered grid, as tasks: they know cells and faces, and neither bodies nor boundaries."""
