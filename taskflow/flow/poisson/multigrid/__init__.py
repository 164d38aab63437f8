"""Geometric multigrid for Laplacian(p) = rhs or div(b grad p) = rhs, cell-centred, on any number of cells."""

from taskflow.flow.poisson.multigrid.cycle import Cycle
from taskflow.flow.poisson.multigrid.smoothing import RedBlack, WeightedJacobi
from taskflow.flow.poisson.multigrid.solver import Multigrid

__all__ = ["Cycle", "Multigrid", "RedBlack", "WeightedJacobi"]
