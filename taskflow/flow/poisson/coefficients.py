"""The equation with coefficients: div(b grad p) = rhs, b >= 0 on the faces of cells.

In a cell, with b_W on its low and b_E on its high face across x, and likewise across y and z,

    (b_E (p_E - p) - b_W (p - p_W)) / dx^2 + ... = rhs

A solver that is `variable` has three more fields of the main region: `b_x`, `b_y` and `b_z` at the low faces of cells.
Where p = 0 on the last face of a direction, the boundary layer beyond the last cell holds b there. What it is on walls
does not matter. Once it is written, `Solver.prepare` makes of it what the solver needs: once where b stays, or whenever
it changes.

Cells without an open face (b > 0) have no equation: their p stays as it is, their rhs counts nowhere. Fluid that is not
connected falls into parts. Each that touches no face with p = 0 is singular: rhs has the sum 0 there, up to rounding,
and p a constant of its own, whatever the iteration leaves. Conjugate gradients take off the mean over all cells with an
equation, where no part touches such a face; what rounding leaves in one of several parts beyond that stays there, and
limits which tolerance can be reached.
"""

from __future__ import annotations

from taskflow.flow.grid.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.mesh import Mesh
from taskflow.runtime.regions import Box, Location, triple
from taskflow.runtime.tasks import Launch, Read, Reduce, Roles, Scalar, task

COEFFICIENTS: dict[str, Location] = {"b_x": "fx", "b_y": "fy", "b_z": "fz"}
Faces = tuple[str, ...]  # fields with b across x, y and z; none where b = 1


@task(kernel=KERNELS / "poisson" / "coefficients.cu")
def count_sought(
    b_x: Read[ACROSS_X], b_y: Read[ACROSS_Y], b_z: Read[ACROSS_Z], *, cells: Reduce[sum], mesh: Mesh
) -> None:
    """cells = number of cells with an open face, each of which counts as its volume over the mean one"""


@task(kernel=KERNELS / "poisson" / "coefficients.cu")
def rhs_sums_variable(
    rhs: Read,
    b_x: Read[ACROSS_X],
    b_y: Read[ACROSS_Y],
    b_z: Read[ACROSS_Z],
    *,
    norm: Reduce[sum],
    mean: Reduce[sum],
    cells: Scalar,
    centred: bool,
    mesh: Mesh,
) -> None:
    """norm = sum of rhs^2, mean = (sum of rhs) / cells, 0 unless centred, over the cells with an open face,
    each counting as its volume over the mean one.
    """


@task(kernel=KERNELS / "poisson" / "coefficients.cu")
def residual_square_variable(
    p: Read[1],
    rhs: Read,
    b_x: Read[ACROSS_X],
    b_y: Read[ACROSS_Y],
    b_z: Read[ACROSS_Z],
    *,
    residual: Reduce[sum],
    mean: Scalar,
    mesh: Mesh,
) -> None:
    """residual = sum of (rhs - mean - div(b grad p))^2 over the cells with an open face, each counting as its
    volume over the mean one.
    """


def coefficients(f: Roles) -> Faces:
    """The fields that hold b."""
    return tuple(f[role] for role in COEFFICIENTS)


def faces_across(mesh: Mesh, axis: int) -> Box:
    """The cells whose low faces across an axis are all that there are: one layer more where it is not periodic."""
    return mesh.box.expand((0, 0, 0), triple(int(a == axis and not mesh.periodic[a]) for a in range(3)))


def count(f: Roles, mesh: Mesh) -> Launch:
    """The scalar `cells`: how many cells have an open face."""
    return count_sought(*coefficients(f), over=mesh.box, cells=f.scalar("cells"), mesh=mesh)


def measure_rhs_variable(f: Roles, mesh: Mesh, *, singular: bool) -> Launch:
    """The scalars `norm` and `mean` as of `measure_rhs`; needs `count` before."""
    numbers = f.scalars("norm", "mean", "cells")
    return rhs_sums_variable(f.rhs, *coefficients(f), over=mesh.box, centred=singular, mesh=mesh, **numbers)


def measure_residual_variable(f: Roles, mesh: Mesh) -> Launch:
    """The scalar `residual`; needs `measure_rhs_variable` before."""
    numbers = f.scalars("residual", "mean")
    return residual_square_variable(f.p, f.rhs, *coefficients(f), over=mesh.box, mesh=mesh, **numbers)
