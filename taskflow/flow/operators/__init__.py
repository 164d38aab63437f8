"""Finite differences on the staggered grid, as tasks. They know cells and faces, but neither bodies nor boundaries."""
