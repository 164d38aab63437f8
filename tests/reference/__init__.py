"""Every operator once more in NumPy, as the textbook has it: slow, short, in double precision. The kernels have to
agree.
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
