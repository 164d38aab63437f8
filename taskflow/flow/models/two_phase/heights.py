"""The curvature of an interface of planes: heights of columns, or a paraboloid.

    kappa = -(h_xx (1 + h_y^2) + h_yy (1 + h_x^2) - 2 h_xy h_x h_y) / (1 + h_x^2 + h_y^2)^(3/2),    phase 1 below h

h are the heights of nine columns of seven cells, along the direction of the largest component of the normal in which
all of them end in a full and an empty cell (S. J. Cummins, M. M. Francois, D. B. Kothe 2005, Comput. Struct. 83, 425,
and S. Popinet 2009, J. Comput. Phys. 228, 5838). Without such a direction h is the paraboloid closest to the planes in
the 27 cells around that face the same side, seen along the normal, weighed by their areas and (1 + d^2/2)^-4 of their
distances in cells. Cells with fewer than six such planes around have no curvature.
"""

from __future__ import annotations

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Read, ReadByte, Reduce, Write, box, task

TEXT = KERNELS / "two_phase" / "curvature_of_planes.cu"


@task(kernel=TEXT)
def curvature_of_planes(f: Read[box(3)], kappa: Write, *, grid: Grid) -> None:
    """kappa = div n in cells with f from 1e-6 to 1 - 1e-6, at most 1 over the least spacing, n being the normal out of
    phase 1, and 0 elsewhere. Walls mirror f.
    """


@task(kernel=TEXT)
def curvature_missed(f: Read[box(3)], solid: ReadByte | None, *, missed: Reduce[sum, 2], grid: Grid) -> None:
    """missed = the number of such fluid cells without a curvature, and the number of crumbs: cells with f from 1e-12 to
    1e-4 without others around that the interface cuts. Crumbs are not among the former.
    """
