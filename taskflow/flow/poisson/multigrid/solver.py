"""Multigrid cycles until convergence, and conjugate gradients preconditioned by such a cycle or by the diagonal."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from taskflow.flow.grid.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.coefficients import ON_FACES_ELSEWHERE
from taskflow.flow.poisson.mesh import Mesh
from taskflow.flow.poisson.multigrid.cycle import Cycle
from taskflow.flow.poisson.multigrid.smoothing import WeightedJacobi
from taskflow.flow.poisson.operator import Operator
from taskflow.flow.poisson.solver import Solver, Tolerance
from taskflow.runtime.regions import Location, Partition
from taskflow.runtime.tasks import (
    Components,
    Foreign,
    ForeignAny,
    Launch,
    Read,
    ReadWrite,
    Reduce,
    Repeat,
    Roles,
    Scalar,
    Write,
    task,
)


@task(kernel=KERNELS / "poisson" / "improvement.cu")
def correct_by(p: ReadWrite, z: ForeignAny) -> None:
    """p = p + z"""


@task(kernel=KERNELS / "poisson" / "improvement.cu")
def correct_by_units(p: ReadWrite, z: ForeignAny, *, norm: Scalar) -> None:
    """p = p + unit z, see `gather_in_units`"""


@dataclass(frozen=True)
class Cycling(Solver):
    """Solver with one multigrid cycle per round, until a tolerance is reached."""

    cycle: Cycle
    tolerance: Tolerance

    @property
    def operator(self) -> Operator:
        return self.cycle.operator

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        return self.cycle.partitions(main)

    @property
    def fields(self) -> dict[str, Location]:
        return self.operator.fields

    def prepare(self, f: Roles) -> Iterator[Launch]:
        yield from self.operator.prepare(f)
        if self.operator.variable:
            yield from self.cycle.prepare(tuple(f[role] for role in self.operator.fields))

    def taken(self, scalars: Mapping[str, float]) -> int:
        return round(scalars["rounds"])


class Multigrid(Cycling):
    """Multigrid cycles, each for the residual of the last one. See `Solver`."""

    def solve(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Yield at least one cycle from p. The scalars `norm`, `residual` and `rounds` hold the result."""
        yield self.operator.measure_rhs(f, centred=False)  # its mean would depend on the blocks, as sums do
        yield self.operator.find_residual(f, self.cycle.residual)
        yield self.tolerance.repeat(self._body)

    def _body(self, f: Roles) -> Iterator[Launch]:
        norm, over = f.scalar("norm"), self.cycle.mesh.box
        z = (yield from self.cycle.launches(norm)).p
        single = self.cycle.single
        corrected = correct_by_units(f.p, z, over=over, norm=norm) if single else correct_by(f.p, z, over=over)
        yield corrected.with_ghosts(1)
        yield self.operator.find_residual(f, self.cycle.residual)


# As coefficients.ON_FACES: kernels use other names for fields of their own region than for foreign ones
ON_OWN_FACES = Components(own_b_x=Read[ACROSS_X], own_b_y=Read[ACROSS_Y], own_b_z=Read[ACROSS_Z])


@task(kernel=KERNELS / "poisson" / "krylov.cu")
def cg_first_inner_products(
    r: Read, z: ForeignAny[1], b: ON_FACES_ELSEWHERE | None, screen: Foreign | None,
    *, rz: Reduce["sum"], zAz: Reduce["sum"], mesh: Mesh,
) -> None:  # fmt: skip
    """rz = sum over cells of r z, zAz = sum of z A z, with A = div(b grad) - screen"""


@task(kernel=KERNELS / "poisson" / "krylov.cu")
def cg_inner_products(
    d: Read[1], r: Foreign, z: ForeignAny[1], b: ON_OWN_FACES | None, own_screen: Read | None,
    *, rz: Reduce["sum"], zAz: Reduce["sum"], zAd: Reduce["sum"], dAd: Reduce["sum"], mesh: Mesh,
) -> None:  # fmt: skip
    """rz = sum over cells of r z, zAz = sum of z A z, zAd = sum of z A d, dAd = sum of d A d"""


@task(kernel=KERNELS / "poisson" / "cg_update.cu")
def cg_first_update(p: ReadWrite, d: Write, z: ForeignAny, *, rz: Scalar, zAz: Scalar) -> None:
    """d = z, p = p + rz / zAz d"""


@task(kernel=KERNELS / "poisson" / "cg_update.cu")
def cg_update(p: ReadWrite, d: ReadWrite, z: ForeignAny, *, rz: Scalar, zAz: Scalar, zAd: Scalar, dAd: Scalar) -> None:
    """d = z - (zAd / dAd) d, p = p + rz / (zAz - zAd^2 / dAd) d"""


class ConjugateGradients(Cycling):
    """Conjugate gradients preconditioned by a multigrid cycle, until a tolerance is reached. See `Solver`.

    The cycle is not symmetric: its restriction is not the transpose of its interpolation, nor need its smoother be
    symmetric. Each direction is therefore made conjugate to the last with the full coefficient zAd / dAd, not the one
    of the symmetric case (Y. Notay 2000, SIAM J. Sci. Comput. 22, 1444). An iteration waits for two reductions: the
    products with z, which give d Laplacian(d) of the next direction d in advance (A. T. Chronopoulos, C. W. Gear 1989,
    J. Comput. Appl. Math. 25, 153), and the residual. The residual is computed from p: in single precision a recursive
    residual keeps shrinking after p has converged to its last digits.
    """

    @classmethod
    def by_diagonal(cls, operator: Operator, tolerance: Tolerance) -> Self:
        """Return the solver with Jacobi's preconditioner, the inverse diagonal: one relaxation on a single level."""
        return cls(Cycle(operator, WeightedJacobi(1.0), depth=1, coarsest=1, gathered=1), tolerance)

    @property
    def fields(self) -> dict[str, Location]:
        return {"direction": "c", **super().fields}

    def taken(self, scalars: Mapping[str, float]) -> int:
        return 1 + super().taken(scalars)

    def solve(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Yield at least one iteration from p. The scalars `norm`, `residual` and `rounds` hold the result."""
        yield self.operator.measure_rhs(f, centred=self.operator.singular)
        yield self.operator.find_residual(f, self.cycle.residual)
        yield from self._first(f)
        yield self.tolerance.repeat(self._further, begun=True)

    def _first(self, f: Roles) -> Iterator[Launch]:
        """Yield the first iteration, along the direction z of the cycle."""
        cycle, numbers = self.cycle, f.scalars("rz", "zAz")
        b, screen = self.operator.coefficients(f), self.operator.screen(f)
        z = (yield from cycle.launches(f.scalar("norm"))).p
        yield cg_first_inner_products(cycle.residual, z, b, screen, over=cycle.mesh.box, mesh=cycle.mesh, **numbers)
        yield cg_first_update(f.p, f.direction, z, over=cycle.mesh.box, **numbers).with_ghosts(1)
        yield self.operator.find_residual(f, cycle.residual)

    def _further(self, f: Roles) -> Iterator[Launch]:
        cycle, numbers = self.cycle, f.scalars("rz", "zAz", "zAd", "dAd")
        b, screen = self.operator.coefficients(f), self.operator.screen(f)
        z = (yield from cycle.launches(f.scalar("norm"))).p
        fields = f.direction, cycle.residual, z, b, screen
        yield cg_inner_products(*fields, over=cycle.mesh.box, mesh=cycle.mesh, **numbers)
        yield cg_update(f.p, f.direction, z, over=cycle.mesh.box, **numbers).with_ghosts(1)
        yield self.operator.find_residual(f, cycle.residual)
