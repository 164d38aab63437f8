"""Reductions over all cells: the advective rate, which bounds the step, and exact sums.

Exact sums are bitwise identical in any order, so blocks, threads and devices do not change them.
"""

from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Read, ReadByte, Reduce, Scalar, task


@task(kernel=KERNELS / "rates.cu")
def advective_rate(u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], *, rate: Reduce["max"], grid: Grid) -> None:
    """rate = max of |u|/dx + |v|/dy + |w|/dz, each the larger of two faces: dt = cfl / rate. NaN if any value is."""


@task(kernel=KERNELS / "rates.cu")
def exact_sum(
    q: Read, *, total: Reduce["exact sum"], bound: Scalar, scale: float, grid: Grid, axis: int, layer: bool
) -> None:
    """total = sum of q on faces across an axis.

    A face is weighted by the volume around it over the mean one, or in a single `layer` of faces by its area. The sum
    is exact for fewer than 2^31 cells and terms below 16 bound scale, otherwise, or if bound = 0, an ordinary sum.
    Terms are resolved to 2^-58 bound scale.
    """


@task(kernel=KERNELS / "rates.cu")
def exact_total(q: Read, solid: ReadByte | None, *, total: Reduce["exact sum"], bound: float) -> None:
    """total = sum of q at centres that are not `solid`, bitwise identical on any blocks if |q| < 16 bound"""
