"""Sums over faces that have the same bits in any order, so that blocks, threads and devices do not change them."""

from taskflow.flow.grid.metrics import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Read, Reduce, Scalar, task


@task(kernel=KERNELS / "exact_sums.cu")
def exact_sum(
    q: Read, *, total: Reduce["exact sum"], bound: Scalar, scale: float, grid: Grid, axis: int, layer: bool
) -> None:
    """total = sum of q, which lives on faces across an axis.

    A face counts as the volume around it over the mean one, in a single `layer` of faces as its area. For fewer than
    2^31 cells and terms below 16 bound scale; beyond, and where bound is 0, it is a plain sum. Terms count to
    2^-58 bound scale.
    """
