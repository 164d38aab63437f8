"""Incompressible flow by projection: momentum, heat and scalars, and a pressure from a Poisson equation."""
