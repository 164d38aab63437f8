"""Numbers of all cells that steps read: the advective rate, which bounds their length, and sums that have the same bits
in any order, so that blocks, threads and devices do not change them.
"""

from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Read, ReadByte, Reduce, Scalar, task


@task(kernel=KERNELS / "rates.cu")
def advective_rate(u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], *, rate: Reduce["max"], grid: Grid) -> None:
    """rate = max over cells of |u|/dx + |v|/dy + |w|/dz, with the larger of a cell's two faces: dt = cfl / rate.

    NaN anywhere makes it NaN.
    """


@task(kernel=KERNELS / "rates.cu")
def exact_sum(
    q: Read, *, total: Reduce["exact sum"], bound: Scalar, scale: float, grid: Grid, axis: int, layer: bool
) -> None:
    """total = sum of q, which lives on faces across an axis.

    A face counts as the volume around it over the mean one, in a single `layer` of faces as its area. For fewer than
    2^31 cells and terms below 16 bound scale; beyond, and where bound is 0, it is a plain sum. Terms count to
    2^-58 bound scale.
    """


@task(kernel=KERNELS / "rates.cu")
def exact_total(q: Read, solid: ReadByte | None, *, total: Reduce["exact sum"], bound: float) -> None:
    """total = sum of q in the centres of cells that are not `solid`, with the same bits for any blocks where |q| < 16
    bound.
    """
