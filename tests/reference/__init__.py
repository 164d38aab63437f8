"""The discrete equations in NumPy: the specification of the kernels, for whoever wants to read what they compute.

Every function is one formula in double precision, as its paper or docs/explanation prints it, without regard
to speed. The tests demand that the kernels agree. Nothing of the package imports this room.

Where values live, as seen from cell (i, j, k) of spacings h = (dx, dy, dz):

    c           in its centre: p, T, passive scalars, nu_t
    fx, fy, fz  in the centre of its low face across x, y or z: u, v, w and their tendencies
    e           in the middle of an edge, between four cells

Docstrings name the location of each result. On walls, where a velocity is given, its tendency means nothing.
"""

from tests.reference.bounded import bounded_tendency
from tests.reference.operators import (
    advective_rate,
    buoyancy,
    correct,
    divergence,
    heat_flux,
    jacobi,
    kinetic_energy,
    laplacian_with_walls,
    largest_speed,
    momentum_tendency,
    step,
    transport_tendency,
)
from tests.reference.shifted import Shifted

__all__ = [
    "Shifted",
    "advective_rate",
    "bounded_tendency",
    "buoyancy",
    "correct",
    "divergence",
    "heat_flux",
    "jacobi",
    "kinetic_energy",
    "laplacian_with_walls",
    "largest_speed",
    "momentum_tendency",
    "step",
    "transport_tendency",
]
