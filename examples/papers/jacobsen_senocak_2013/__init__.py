"""Figures and tables of the paper, computed by this package."""
