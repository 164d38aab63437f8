"""Solvers of the pressure equation, Laplacian(p) = rhs, with zero gradient across walls.

All but FFT take an `Operator` and also solve div(b grad p) = rhs with b given on faces: see
`taskflow.flow.poisson.coefficients`. They know neither velocities nor the use of p.
"""

from taskflow.flow.poisson.fft import FFT, UniformCoefficient
from taskflow.flow.poisson.jacobi import ConvergedJacobi, Jacobi, blocking_pays
from taskflow.flow.poisson.multigrid import Cycle, Multigrid
from taskflow.flow.poisson.multigrid.solver import ConjugateGradients
from taskflow.flow.poisson.operator import Operator
from taskflow.flow.poisson.solver import NotConverged, Solver, Tolerance, relative_residual

__all__ = [
    "FFT",
    "ConjugateGradients",
    "ConvergedJacobi",
    "Cycle",
    "Jacobi",
    "Multigrid",
    "NotConverged",
    "Operator",
    "Solver",
    "Tolerance",
    "UniformCoefficient",
    "blocking_pays",
    "relative_residual",
]
