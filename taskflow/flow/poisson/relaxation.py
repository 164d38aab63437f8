"""Relaxations: sweeps that solve the equation of each cell with what its neighbours hold."""

from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import TWICE
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.coefficients import ON_FACES
from taskflow.flow.poisson.mesh import Mesh
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Read, ReadByte, Write, task


@task(kernel=KERNELS / "poisson" / "jacobi.cu")
def jacobi(p: Read[1], rhs: Read, solid: ReadByte | None, p_new: Write, *, grid: Grid) -> None:
    """p_new = (a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T) - rhs) / (2 (a_x + a_y + a_z)), a = 1 / spacing^2.

    One sweep towards Laplacian(p) = rhs. A wall shows a cell its own value, and so does a closed face of a body by the
    flags in `solid`.
    """


@task(kernel=KERNELS / "poisson" / "jacobi.cu")
def jacobi_half(p: Read[1], rhs: Read, solid: ReadByte | None, p_new: Write, *, grid: Grid) -> None:
    """p_new = (p + q) / 2, q being what `jacobi` makes of p.

    A sweep of Jacobi multiplies each mode of the error by a number between -1 and 1, near -1 for those that alternate
    from cell to cell; this one by (1 + that) / 2, never negative.
    """


@task(kernel=KERNELS / "poisson" / "jacobi_twice.cu")
def jacobi_twice(
    p: Read[TWICE], rhs: Read[1], solid: ReadByte[1] | None, p_new: Write, *, grid: Grid, near: Box | None
) -> None:
    """p_new = what `jacobi` makes of what it makes of p, to the bit. With `solid`, no cell has a closed face outside of
    `near`.

    One pass over memory instead of two, where the device is a GPU.
    """


@task(kernel=KERNELS / "poisson" / "jacobi_twice.cu")
def jacobi_twice_half(
    p: Read[TWICE], rhs: Read[1], solid: ReadByte[1] | None, p_new: Write, *, grid: Grid, near: Box | None
) -> None:
    """p_new = what `jacobi_half` makes of what `jacobi` makes of p."""


@task(kernel=KERNELS / "poisson" / "smoothing.cu")
def relax(
    p: Read[1], rhs: Read, b: ON_FACES | None, p_new: Write, *, mesh: Mesh, weight: float, colour: int | None
) -> None:
    """p_new = p + weight (div(b grad p) - rhs) / d, d the diagonal of -div(b grad) in the cell, b = 1 if it is absent.

    With a colour, only in the cells where i + j + k is even (0) or odd (1); p elsewhere. Where a periodic direction has
    an odd number of cells, the two layers at its seam have one colour: each sees the old values of the other. p stays
    where no face is open.
    """


@task(kernel=KERNELS / "poisson" / "smoothing.cu")
def smooth_from_zero(
    rhs: Read, b: ON_FACES | None, p: Write, *, mesh: Mesh, weight: float, colour: int | None
) -> None:
    """p is what `relax` makes of 0."""


@task(kernel=KERNELS / "poisson" / "smoothing.cu")
def smooth_colours_from_zero(rhs: Read[1], p: Write, *, mesh: Mesh, weight: float, colour: int) -> None:
    """p is what `relax` makes of 0, with this colour first and then with the other one, where b = 1."""
