"""The operator of the pressure equation as one value: solvers are written once for all its kinds.

Laplacian(p), or div(b grad p) with coefficients on faces, or Laplacian(p) beside bodies whose flags say which faces are
closed. Each kind has kernels of its own where that is faster: the same tasks, compiled for what is there.

Residuals are measured relative to the right-hand side, in the 2-norm. Where p is given on no face only right-hand sides
whose sum is 0 have a solution. Rounding leaves a sum, small beside the parts of which a divergence is the difference,
but not always beside the divergence: so its mean is taken off where residuals are measured, and by conjugate gradients,
which would diverge.

Each cell counts as its volume over the mean one, and cells without an equation, solid ones and those without an open
face, do not count.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.coefficients import COEFFICIENTS, ON_FACES, ON_FACES_ELSEWHERE, Faces
from taskflow.flow.poisson.mesh import Mesh, mesh
from taskflow.flow.poisson.relaxation import jacobi, jacobi_half, jacobi_twice, jacobi_twice_half, relax
from taskflow.runtime.regions import Box, Location, triple
from taskflow.runtime.tasks import Foreign, Launch, Read, ReadByte, Reduce, Roles, Scalar, Write, task

RESIDUAL = KERNELS / "poisson" / "residual.cu"


@task(kernel=RESIDUAL)
def residual_square(
    p: Read[1], rhs: Read, solid: ReadByte | None, b: ON_FACES | None,
    *, residual: Reduce["sum"], mean: Scalar, grid: Grid | None, mesh: Mesh | None,
) -> None:  # fmt: skip
    """residual = sum over cells of (rhs - mean - div(b grad p))^2: on a mesh where p = 0 on some faces, or b is not 1,
    and else on the grid, where a wall shows a cell its own value, and so does a closed face of a body by the flags in
    `solid`.
    """


@task(kernel=RESIDUAL)
def rhs_sums(
    rhs: Read, b: ON_FACES | None, *, norm: Reduce["sum"], mean: Reduce["sum"], cells: Scalar | None,
    grid: Grid | None, mesh: Mesh | None, part: float | None,
) -> None:  # fmt: skip
    """norm = sum of rhs^2, mean = sum of part rhs, over the cells with an open face. Without a part it is one over
    the number of these `cells`.
    """


@task(kernel=RESIDUAL)
def count_active(b: ON_FACES, *, cells: Reduce["sum"], mesh: Mesh) -> None:
    """cells = number of cells with an open face"""


@task(kernel=KERNELS / "poisson" / "defect.cu")
def residual_of(
    p: Foreign[1], rhs: Foreign, b: ON_FACES_ELSEWHERE | None, r: Write,
    *, residual: Reduce["sum"], mean: Scalar, mesh: Mesh,
) -> None:  # fmt: skip
    """r = rhs - mean - div(b grad p), 0 in cells without an open face; residual = sum over cells of r^2"""


@dataclass(frozen=True)
class Operator:
    """div(b grad p) on a grid, with p = 0 on the faces `outflow` (x_min to z_max), others being walls or periodic.

    b = 1, or, if `variable`, what the fields b_x, b_y and b_z hold: see `taskflow.flow.poisson.coefficients`. With
    `near`, the cells around all bodies and those beside them, b is 0 on the faces of bodies, by the flags in the field
    `solid`. Raises BadInput where there are flags, and coefficients or an outflow besides: write flags into
    coefficients there.
    """

    grid: Grid
    outflow: tuple[str, ...] = ()
    variable: bool = False
    near: Box | None = None

    def __post_init__(self) -> None:
        if self.near is not None and not self.plain:
            raise BadInput("operator: flags of bodies are for b = 1 and walls; leave near out, and give coefficients")

    @property
    def plain(self) -> bool:
        """Return whether b = 1 where faces are open, and p is given on none."""
        return not self.variable and not self.outflow

    @property
    def singular(self) -> bool:
        """Return whether p is given on no face, so that it is determined up to a constant."""
        return not self.outflow

    @property
    def fields(self) -> dict[str, Location]:
        """The coefficients, if they are variable."""
        return dict(COEFFICIENTS) if self.variable else {}

    @property
    def box(self) -> Box:
        return Box.of(self.grid.cells)

    @cached_property
    def mesh(self) -> Mesh:
        """The grid as the finest level of multigrid. Raises BadInput for an outflow where the grid is periodic."""
        return mesh(self.grid, self.outflow)

    def coefficients(self, f: Roles) -> Faces | None:
        """The fields that hold b, if it is variable."""
        return tuple(f[role] for role in COEFFICIENTS) if self.variable else None

    def flags(self, f: Roles) -> str | None:
        """The field with the flags of cells, if there are bodies."""
        return None if self.near is None else f.solid

    def prepare(self, f: Roles) -> Iterator[Launch]:
        """Count the cells with an open face, the scalar `cells`, if coefficients are variable."""
        if b := self.coefficients(f):
            yield count_active(b, over=self.box, cells=f.scalar("cells"), mesh=self.mesh)

    def measure_rhs(self, f: Roles, *, centred: bool) -> Launch:
        """Measure the scalars `norm` and `mean` of the right-hand side, `mean` being 0 unless `centred`; needs
        `prepare` before.
        """
        numbers, b = f.scalars("norm", "mean"), self.coefficients(f)
        counted = f.scalar("cells") if b and centred else None
        part = None if counted else 1 / self.box.volume if centred else 0.0
        where = {"grid": None, "mesh": self.mesh} if b else {"grid": self.grid, "mesh": None}
        return rhs_sums(f.rhs, b, over=self.box, cells=counted, part=part, **where, **numbers)

    def measure_residual(self, f: Roles) -> Launch:
        """Measure the scalar `residual`, the square of rhs - mean - div(b grad p); needs `measure_rhs` before."""
        numbers, fields = f.scalars("residual", "mean"), (f.p, f.rhs, self.flags(f), self.coefficients(f))
        where = {"grid": self.grid, "mesh": None} if self.plain else {"grid": None, "mesh": self.mesh}
        return residual_square(*fields, over=self.box, **where, **numbers)

    def find_residual(self, f: Roles, r: str) -> Launch:
        """r = rhs - mean - div(b grad p), a field of the finest level, and its square, the scalar `residual`; needs
        `measure_rhs` before.
        """
        numbers = f.scalars("residual", "mean")
        return residual_of(f.p, f.rhs, self.coefficients(f), r, over=self.box, mesh=self.mesh, **numbers)

    def relax(self, f: Roles, sweeps: int = 1, *, half: bool = False) -> Launch:
        """p_new = what one sweep of Jacobi's iteration makes of p, or two do in one pass over memory, for an operator
        that is `plain`. If `half`, the last sweep gives the mean of what it meets and what it makes of that.
        """
        if not self.plain:
            constants = {"mesh": self.mesh, "weight": 0.5 if half else 1.0, "colour": None}
            return relax(f.p, f.rhs, self.coefficients(f), f.p_new, over=self.box, **constants)
        fields = f.p, f.rhs, self.flags(f), f.p_new
        if sweeps == 2:
            twice = jacobi_twice_half if half else jacobi_twice
            return twice(*fields, over=self.box, grid=self.grid, near=self._repeated)
        return (jacobi_half if half else jacobi)(*fields, over=self.box, grid=self.grid)

    @property
    def _repeated(self) -> Box | None:
        """The cells `near`, and those that ghost cells beyond periodic sides show: then all along that direction."""
        if self.near is None:
            return None
        ends = zip(self.near.lo, self.near.hi, self.grid.cells, self.grid.low, strict=True)
        shown = [not wall and (lo <= 0 or hi >= n) for lo, hi, n, wall in ends]
        lo = triple(-1 if wraps else n for wraps, n in zip(shown, self.near.lo, strict=True))
        hi = triple(n + 1 if wraps else m for wraps, m, n in zip(shown, self.near.hi, self.grid.cells, strict=True))
        return Box(lo, hi)
