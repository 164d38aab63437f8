"""The curvature of an interface: a level set, or planes in cells.

With a level set it is interpolated at the foot of each cell centre on the interface. With planes it follows from the
heights h of columns, or of a paraboloid:

    kappa = -(h_xx (1 + h_y^2) + h_yy (1 + h_x^2) - 2 h_xy h_x h_y) / (1 + h_x^2 + h_y^2)^(3/2),    phase 1 below h

Nine columns of seven cells are taken along the direction of the largest component of the normal in which all of them
end in a full and an empty cell (S. J. Cummins, M. M. Francois, D. B. Kothe 2005, Comput. Struct. 83, 425, and S.
Popinet 2009, J. Comput. Phys. 228, 5838). Without such a direction h is the paraboloid closest to the planes in the 27
cells around that face the same side, seen along the normal, weighed by their areas and (1 + d^2/2)^-4 of their
distances d in cells. Cells with fewer than six such planes around have no curvature.
"""

from __future__ import annotations

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.models.two_phase.openings import Band
from taskflow.flow.operators.phases import Phases
from taskflow.runtime.tasks import Read, ReadByte, Reduce, Write, box, task

AT_FOOT = KERNELS / "two_phase" / "curvature.cu"
OF_PLANES = KERNELS / "two_phase" / "curvature_of_planes.cu"


@task(kernel=AT_FOOT)
def curvature_at_foot(phi: Read[box(3)], kappa: Write, *, grid: Grid, band: Band) -> None:
    """kappa = -div(grad(phi) / |grad(phi)|) at x - phi grad(phi) / |grad(phi)|^2, interpolated linearly between cell
    centres up to two cells away, in cells near the interface; 0 elsewhere.
    """


@task(kernel=KERNELS / "two_phase" / "fall.cu")
def fall_to_foot(phi: Read[box(3)], fall: Write, *, grid: Grid, band: Band, phases: Phases) -> None:
    """fall = g.(x - foot) in the centres of cells with |phi| < band.foot, infinite in others.

    x - foot = (phi + phi_1) grad(phi) / |grad(phi)|^2 is two steps of Newton's method, with phi_1 interpolated linearly
    where the first step ends, up to three cells away along each axis.
    """


@task(kernel=AT_FOOT)
def feet_missed(phi: Read[1], solid: ReadByte | None, *, failed: Reduce[sum], grid: Grid, band: Band) -> None:
    """failed = number of fluid cells with varying density, |phi| < width, without a curvature from `curvature_at_foot`:
    the slope of phi is 0, their foot is more than two cells away along an axis, or they are farther than
    `band.foot`.
    """


@task(kernel=OF_PLANES)
def curvature_of_planes(f: Read[box(3)], kappa: Write, *, grid: Grid) -> None:
    """kappa = div n in cells with f from 1e-6 to 1 - 1e-6, at most 1 over the least spacing, n being the normal out of
    phase 1, and 0 elsewhere. Walls mirror f.
    """


@task(kernel=OF_PLANES)
def curvature_missed(f: Read[box(3)], solid: ReadByte | None, *, missed: Reduce[sum, 2], grid: Grid) -> None:
    """missed = the number of such fluid cells without a curvature, and the number of crumbs: cells with f from 1e-12 to
    1e-4 without others around that the interface cuts. Crumbs are not among the former.
    """
