"""How far a pressure is from the solution: |rhs - Laplacian(p)| is measured relative to |rhs|, in the 2-norm."""

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.tasks import Read, Reduce, task


@task(kernel=KERNELS / "residual.cu")
def residual_square(p: Read[1], rhs: Read, *, residual: Reduce["sum"], grid: Grid) -> None:
    """residual = sum over cells of (rhs - Laplacian(p))^2. A wall shows a cell its own value."""


@task(kernel=KERNELS / "residual.cu")
def rhs_square(rhs: Read, *, norm: Reduce["sum"]) -> None:
    """norm = sum over cells of rhs^2"""
