"""Jacobi's iteration: the simplest solver, and one whose sweeps cost the same on any machine."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from taskflow.errors import BadInput
from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import TWICE
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.coefficients import (
    COEFFICIENTS,
    coefficients,
    count,
    measure_residual_variable,
    measure_rhs_variable,
)
from taskflow.flow.poisson.mesh import mesh
from taskflow.flow.poisson.multigrid.smoothing import relax, relax_variable
from taskflow.flow.poisson.residual import measure_residual, measure_rhs
from taskflow.flow.poisson.solver import Solver
from taskflow.flow.poisson.tolerance import Tolerance
from taskflow.runtime.regions import Box, Location, Triple
from taskflow.runtime.tasks import Launch, Read, Repeat, Roles, Task, Write, task


@task(kernel=KERNELS / "poisson" / "jacobi.cu")
def jacobi(p: Read[1], rhs: Read, p_new: Write, *, grid: Grid) -> None:
    """p_new = (a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T) - rhs) / (2 (a_x + a_y + a_z)), a = 1 / spacing^2.

    One sweep towards Laplacian(p) = rhs. A wall shows a cell its own value.
    """


@task(kernel=KERNELS / "poisson" / "jacobi.cu")
def jacobi_half(p: Read[1], rhs: Read, p_new: Write, *, grid: Grid) -> None:
    """p_new = (p + q) / 2, q being what `jacobi` makes of p.

    A sweep of Jacobi multiplies each mode of the error by a number between -1 and 1, near -1 for those that alternate
    from cell to cell; this one by (1 + that) / 2, never negative.
    """


@task(kernel=KERNELS / "poisson" / "jacobi_twice.cu")
def jacobi_twice(p: Read[TWICE], rhs: Read[1], p_new: Write, *, grid: Grid) -> None:
    """p_new = what `jacobi` makes of what it makes of p, to the bit.

    One pass over memory instead of two, where the device is a GPU.
    """


@task(kernel=KERNELS / "poisson" / "jacobi_twice.cu")
def jacobi_twice_half(p: Read[TWICE], rhs: Read[1], p_new: Write, *, grid: Grid) -> None:
    """p_new = what `jacobi_half` makes of what `jacobi` makes of p."""


def blocking_pays(block: Triple) -> bool:
    """Whether a GPU is faster with two sweeps in one pass over a block of so many cells.

    The tiles of such a pass overlap: they cover blocks that are narrow several times, and each goes through many planes
    in turn, so that small blocks leave a GPU idle. On an H200 1.34 to 1.71 times as fast within these bounds, in single
    precision; there is no measurement outside of them.
    """
    x, y, z = block
    return x >= 256 and y >= 64 and z >= 32 and x * y * z >= 2**23


@dataclass(frozen=True)
class Pass:
    """A pass over memory: of so many sweeps, the last of them a half one or not."""

    sweeps: int
    half: bool = False


PASSES: dict[Pass, Task] = {
    Pass(1): jacobi,
    Pass(1, half=True): jacobi_half,
    Pass(2): jacobi_twice,
    Pass(2, half=True): jacobi_twice_half,
}


@dataclass(frozen=True)
class Jacobi(Solver):
    """A fixed number of sweeps, the last of them `jacobi_half`. See `Solver`.

    With Jacobi alone the modes that alternate from cell to cell grow from step to step when the number of sweeps is
    odd, and in a periodic box of even sides they are never touched at all. Where they are `blocked`, two sweeps are
    done in one pass over memory, with the same bits. With `variable` coefficients, and where p = 0 on the faces
    `outflow`, they are relaxations of multigrid, with the weights 1 and, last, 1/2. Raises BadInput where such sweeps
    are to be blocked.
    """

    grid: Grid
    sweeps: int
    blocked: bool = False
    variable: bool = False
    outflow: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.blocked and (self.variable or self.outflow):
            raise BadInput("jacobi: blocked sweeps have walls and constant coefficients; leave blocked out")

    @property
    def fields(self) -> dict[str, Location]:
        """p_new, which the sweeps write, and the coefficients if they are variable."""
        return {"p_new": "c", **(COEFFICIENTS if self.variable else {})}

    @property
    def ghost(self) -> int:
        """One per sweep of a pass."""
        return 2 if self.blocked else 1

    def solve(self, f: Roles) -> Iterator[Launch]:
        """The sweeps, from p."""
        if self.variable or self.outflow:
            yield from self._relaxations(f)
            return
        for sweep in self._passes:
            yield self._pass(sweep, f)
            f.swap("p", "p_new")

    def taken(self, scalars: Mapping[str, float]) -> int:
        """The sweeps."""
        return self.sweeps

    def _relaxations(self, f: Roles) -> Iterator[Launch]:
        at = mesh(self.grid, self.outflow)
        for weight in [*[1.0] * (self.sweeps - 1), 0.5]:
            if self.variable:
                yield relax_variable(f.p, f.rhs, *coefficients(f), f.p_new, over=at.box, mesh=at, weight=weight)
            else:
                yield relax(f.p, f.rhs, f.p_new, over=at.box, mesh=at, weight=weight)
            f.swap("p", "p_new")

    @property
    def _passes(self) -> list[Pass]:
        if not self.blocked or self.sweeps == 1:
            return [*[Pass(1)] * (self.sweeps - 1), Pass(1, half=True)]
        pairs, alone = divmod(self.sweeps, 2)
        return [*[Pass(1)] * alone, *[Pass(2)] * (pairs - 1), Pass(2, half=True)]

    def _pass(self, sweep: Pass, f: Roles) -> Launch:
        return PASSES[sweep](f.p, f.rhs, f.p_new, over=Box.of(self.grid.cells), grid=self.grid)


@dataclass(frozen=True)
class ConvergedJacobi(Solver):
    """Sweeps until a tolerance is reached, in rounds of `sweeps`: a round is `Jacobi`, then the residual is looked at.

    To look costs as much as a sweep (2/3 of its bytes, an all-reduce and a wait for the host), and half a round is done
    in vain on average. So sqrt(2 S) sweeps per round cost least where S are needed: 16 for S = 128, and within 7 % of
    the least from 30 to 1000. At most `tolerance.most` sweeps are done.
    """

    grid: Grid
    tolerance: Tolerance
    blocked: bool = False
    variable: bool = False
    outflow: tuple[str, ...] = ()

    @property
    def sweeps(self) -> int:
        """Of a round. They are even: p has to be in the same field after each."""
        return max(2, min(16, self.tolerance.most // 2 * 2))

    @property
    def fields(self) -> dict[str, Location]:
        """p_new, which the sweeps write, and the coefficients if they are variable."""
        return self._round.fields

    @property
    def ghost(self) -> int:
        """One per sweep of a pass."""
        return self._round.ghost

    def prepare(self, f: Roles) -> Iterator[Launch]:
        """The number of cells that have an open face, if coefficients are variable."""
        if self.variable:
            yield count(f, mesh(self.grid, self.outflow))

    def solve(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Rounds from p, at least one; then the scalars `norm`, `residual` and `rounds` say what they were for."""
        if self.variable:
            yield measure_rhs_variable(f, mesh(self.grid, self.outflow), singular=not self.outflow)
        else:
            yield measure_rhs(f, self.grid, singular=not self.outflow)
        yield self.tolerance.repeat(self._body, each=self.sweeps)

    def taken(self, scalars: Mapping[str, float]) -> int:
        """All sweeps."""
        return round(scalars["rounds"]) * self.sweeps

    @property
    def _round(self) -> Jacobi:
        return Jacobi(self.grid, self.sweeps, self._in_pairs, self.variable, self.outflow)

    @property
    def _in_pairs(self) -> bool:
        return self.blocked and self.sweeps % 4 == 0  # passes are even then, too

    def _body(self, f: Roles) -> Iterator[Launch]:
        yield from self._round.solve(f)
        if self.variable:
            yield measure_residual_variable(f, mesh(self.grid, self.outflow))
        else:
            yield measure_residual(f, self.grid, self.outflow)
