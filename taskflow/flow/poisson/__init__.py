"""Solvers of the pressure equation, Laplacian(p) = rhs on uniform cells: across walls p has no gradient."""

from taskflow.flow.poisson.jacobi import Jacobi
from taskflow.flow.poisson.residual import residual_square, rhs_square
from taskflow.flow.poisson.solver import Solver

__all__ = ["Jacobi", "Solver", "residual_square", "rhs_square"]
