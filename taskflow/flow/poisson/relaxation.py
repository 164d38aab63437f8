"""Relaxations: sweeps that solve the equation of each cell for given neighbours."""

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

    One sweep for Laplacian(p) = rhs. Walls, and faces closed by the flags in `solid`, have zero gradient.
    """


@task(kernel=KERNELS / "poisson" / "jacobi.cu")
def jacobi_half(p: Read[1], rhs: Read, solid: ReadByte | None, p_new: Write, *, grid: Grid) -> None:
    """p_new = (p + q) / 2, where q is the `jacobi` sweep of p.

    A Jacobi sweep multiplies each mode of the error by a factor g in (-1, 1), near -1 for modes that alternate from
    cell to cell. Here the factor is (1 + g) / 2 >= 0.
    """


@task(kernel=KERNELS / "poisson" / "jacobi_twice.cu")
def jacobi_twice(
    p: Read[TWICE], rhs: Read[1], solid: ReadByte[1] | None, p_new: Write, *, grid: Grid, near: Box | None
) -> None:
    """p_new = two `jacobi` sweeps of p, bitwise, in one pass. Only cells inside `near` have closed faces."""


@task(kernel=KERNELS / "poisson" / "jacobi_twice.cu")
def jacobi_twice_half(
    p: Read[TWICE], rhs: Read[1], solid: ReadByte[1] | None, p_new: Write, *, grid: Grid, near: Box | None
) -> None:
    """p_new = a `jacobi` sweep of p followed by `jacobi_half`, bitwise"""


@task(kernel=KERNELS / "poisson" / "smoothing.cu")
def relax(
    p: Read[1], rhs: Read, b: ON_FACES | None, screen: Read | None, p_new: Write,
    *, mesh: Mesh, weight: float, colour: int | None,
) -> None:  # fmt: skip
    """p_new = p + weight (div(b grad p) - screen p - rhs) / d, d the diagonal of -div(b grad) + screen in the cell.
    b = 1 and screen = 0 if absent.

    With a colour, only cells of even (0) or odd (1) i + j + k are relaxed. Along a periodic direction with an odd
    number of cells, the two layers at the seam have the same colour, and each uses the old values of the other. p is
    unchanged in cells without an open face.
    """


@task(kernel=KERNELS / "poisson" / "smoothing.cu")
def smooth_from_zero(
    rhs: Read, b: ON_FACES | None, screen: Read | None, p: Write, *, mesh: Mesh, weight: float, colour: int | None
) -> None:
    """p = `relax` of 0"""


@task(kernel=KERNELS / "poisson" / "smoothing.cu")
def smooth_colours_from_zero(rhs: Read[1], p: Write, *, mesh: Mesh, weight: float, colour: int) -> None:
    """p = `relax` of 0 with this colour, then with the other colour, for b = 1"""
