"""Conditions on the sides of the domain: walls, openings, and the layers of cells beyond them."""
