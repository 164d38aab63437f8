"""Operator of the pressure equation as one value, so that solvers are written once for all kinds.

Laplacian(p), div(b grad p) - screen p with coefficients, or Laplacian(p) around bodies whose flags close faces. The
same tasks are compiled for each kind if that is faster.

Residuals are measured relative to the right-hand side, in the 2-norm. If p = 0 on no face, a solution exists only if
the right-hand side sums to 0. Rounding leaves a sum, small compared with the terms of a divergence but not always
compared with the divergence itself. Its mean is therefore subtracted in residuals, and by conjugate gradients, which
would diverge otherwise.

Each cell is weighted by its volume over the mean one. Solid cells and cells without an open face are not counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.coefficients import COEFFICIENTS, ON_FACES, ON_FACES_ELSEWHERE, SCREEN, Faces
from taskflow.flow.poisson.mesh import Mesh, mesh
from taskflow.flow.poisson.relaxation import jacobi, jacobi_half, jacobi_twice, jacobi_twice_half, relax
from taskflow.runtime.regions import Box, Location, triple
from taskflow.runtime.tasks import Foreign, Launch, Read, ReadByte, Reduce, Roles, Scalar, Write, task

RESIDUAL = KERNELS / "poisson" / "residual.cu"


@task(kernel=RESIDUAL)
def residual_square(
    p: Read[1], rhs: Read, solid: ReadByte | None, b: ON_FACES | None, screen: Read | None,
    *, residual: Reduce["sum"], mean: Scalar, grid: Grid | None, mesh: Mesh | None,
) -> None:  # fmt: skip
    """residual = sum over cells of (rhs - mean - div(b grad p) + screen p)^2.

    On `mesh` if p = 0 on some faces or b is not 1, else on `grid`, where walls, and faces closed by the flags in
    `solid`, have zero gradient.
    """


@task(kernel=RESIDUAL)
def rhs_sums(
    rhs: Read, b: ON_FACES | None, screen: Read | None,
    *, norm: Reduce["sum"], mean: Reduce["sum"], cells: Scalar | None, grid: Grid | None, mesh: Mesh | None,
    part: float | None,
) -> None:  # fmt: skip
    """norm = sum of rhs^2, mean = sum of part rhs, over cells with an open face, part = 1 / `cells` if absent"""


@task(kernel=RESIDUAL)
def count_active(b: ON_FACES, *, cells: Reduce["sum"], mesh: Mesh) -> None:
    """cells = number of cells with an open face"""


@task(kernel=KERNELS / "poisson" / "defect.cu")
def residual_of(
    p: Foreign[1], rhs: Foreign, b: ON_FACES_ELSEWHERE | None, screen: Foreign | None, r: Write,
    *, residual: Reduce["sum"], mean: Scalar, mesh: Mesh,
) -> None:  # fmt: skip
    """r = rhs - mean - div(b grad p) + screen p, or 0 in cells without an open face, and residual = sum of r^2"""


@dataclass(frozen=True)
class Operator:
    """div(b grad p) on a grid, with p = 0 on the faces `dirichlet` (x_min to z_max) and walls or periodicity elsewhere.
    On the sides `openings` among them p = 0 in part alone, where b > 0.

    b = 1, or the fields b_x, b_y and b_z if `variable`: see `taskflow.flow.poisson.coefficients`. If `screened`, p = 0
    on faces inside, too, by the field `screen`, and the operator is `variable`. With `near`, a box around all bodies
    and their adjacent cells, b = 0 on the faces that the flags in the field `solid` close. Raises BadInput if flags are
    combined with coefficients or faces with p = 0: put the bodies into the coefficients instead.
    """

    grid: Grid
    dirichlet: tuple[str, ...] = ()
    variable: bool = False
    near: Box | None = None
    openings: tuple[str, ...] = ()
    screened: bool = False

    def __post_init__(self) -> None:
        if self.screened and not self.variable:
            raise BadInput("operator: a screen is for variable coefficients; give variable = True")
        if self.near is not None and not self.plain:
            raise BadInput("operator: flags of bodies are for b = 1 and walls; omit near, and give coefficients")

    @property
    def plain(self) -> bool:
        """True if b = 1 on open faces and p = 0 on no face."""
        return not self.variable and not self.dirichlet

    @property
    def singular(self) -> bool:
        """True if p = 0 on no face, so that p is determined up to a constant."""
        return not self.dirichlet and not self.screened

    @property
    def fields(self) -> dict[str, Location]:
        """Coefficients, if they are variable, and the screen."""
        return (COEFFICIENTS if self.variable else {}) | (SCREEN if self.screened else {})

    @property
    def box(self) -> Box:
        return Box.of(self.grid.cells)

    @cached_property
    def mesh(self) -> Mesh:
        """Grid as the finest level of multigrid. Raises BadInput if p = 0 on a periodic face."""
        return mesh(self.grid, self.dirichlet)

    def coefficients(self, f: Roles) -> Faces | None:
        """Return the fields of b, or None if b is constant."""
        return tuple(f[role] for role in COEFFICIENTS) if self.variable else None

    def screen(self, f: Roles) -> str | None:
        """Return the field of the screen, or None without one."""
        return f.screen if self.screened else None

    def flags(self, f: Roles) -> str | None:
        """Return the field with the flags of cells, or None without bodies."""
        return None if self.near is None else f.solid

    def prepare(self, f: Roles) -> Iterator[Launch]:
        """Count the cells with an open face in the scalar `cells`, if coefficients are variable."""
        if b := self.coefficients(f):
            yield count_active(b, over=self.box, cells=f.scalar("cells"), mesh=self.mesh)

    def measure_rhs(self, f: Roles, *, centred: bool) -> Launch:
        """Measure `norm` and `mean` of the right-hand side, mean = 0 unless `centred`. Needs `prepare`."""
        numbers, b = f.scalars("norm", "mean"), self.coefficients(f)
        counted = f.scalar("cells") if b and centred else None
        part = None if counted else 1 / self.box.volume if centred else 0.0
        where = {"grid": None, "mesh": self.mesh} if b else {"grid": self.grid, "mesh": None}
        return rhs_sums(f.rhs, b, self.screen(f), over=self.box, cells=counted, part=part, **where, **numbers)

    def measure_residual(self, f: Roles) -> Launch:
        """Measure the scalar `residual`, the sum of (rhs - mean - div(b grad p))^2. Needs `measure_rhs`."""
        numbers = f.scalars("residual", "mean")
        fields = f.p, f.rhs, self.flags(f), self.coefficients(f), self.screen(f)
        where = {"grid": self.grid, "mesh": None} if self.plain else {"grid": None, "mesh": self.mesh}
        return residual_square(*fields, over=self.box, **where, **numbers)

    def find_residual(self, f: Roles, r: str) -> Launch:
        """Compute r = rhs - mean - div(b grad p) on the finest level, and `residual`. Needs `measure_rhs`."""
        fields = f.p, f.rhs, self.coefficients(f), self.screen(f), r
        return residual_of(*fields, over=self.box, mesh=self.mesh, **f.scalars("residual", "mean"))

    def relax(self, f: Roles, sweeps: int = 1, *, half: bool = False) -> Launch:
        """Return the launch that writes one Jacobi sweep of p into p_new, or two in one pass if the operator is
        `plain`.

        If `half`, the result is the mean before and after the last sweep.
        """
        if not self.plain:
            constants = {"mesh": self.mesh, "weight": 0.5 if half else 1.0, "colour": None}
            return relax(f.p, f.rhs, self.coefficients(f), self.screen(f), f.p_new, over=self.box, **constants)
        fields = f.p, f.rhs, self.flags(f), f.p_new
        if sweeps == 2:
            twice = jacobi_twice_half if half else jacobi_twice
            return twice(*fields, over=self.box, grid=self.grid, near=self._repeated)
        return (jacobi_half if half else jacobi)(*fields, over=self.box, grid=self.grid)

    @property
    def _repeated(self) -> Box | None:
        """The cells `near`, extended along directions in which they touch a periodic side, as ghost cells."""
        if self.near is None:
            return None
        ends = zip(self.near.lo, self.near.hi, self.grid.cells, self.grid.low, strict=True)
        shown = [not wall and (lo <= 0 or hi >= n) for lo, hi, n, wall in ends]
        lo = triple(-1 if wraps else n for wraps, n in zip(shown, self.near.lo, strict=True))
        hi = triple(n + 1 if wraps else m for wraps, m, n in zip(shown, self.near.hi, self.grid.cells, strict=True))
        return Box(lo, hi)
