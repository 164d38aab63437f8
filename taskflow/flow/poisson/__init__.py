"""Solvers of the pressure equation, Laplacian(p) = rhs: across walls p has no gradient.

All but FFT are for an `Operator`, and also solve div(b grad p) = rhs with b given on faces: see
`taskflow.flow.poisson.coefficients`. They do not know velocities, or what p is for.
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
