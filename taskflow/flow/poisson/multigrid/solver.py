"""Multigrid on its own: cycles for what is left, until little is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.coefficients import COEFFICIENTS, Faces, coefficients, count, measure_rhs_variable
from taskflow.flow.poisson.mesh import Mesh
from taskflow.flow.poisson.multigrid.cycle import Cycle
from taskflow.flow.poisson.residual import measure_rhs
from taskflow.flow.poisson.solver import Solver
from taskflow.flow.poisson.tolerance import Tolerance
from taskflow.flow.poisson.variants import single, variable
from taskflow.runtime.regions import Location, Partition
from taskflow.runtime.tasks import Foreign, Launch, ReadWrite, Reduce, Repeat, Roles, Scalar, Write, task


@task(kernel=KERNELS / "poisson" / "improvement.cu")
def correct_by(p: ReadWrite, z: Foreign) -> None:
    """p = p + z"""


correct_by_single = single(correct_by, "z")


@task(kernel=KERNELS / "poisson" / "defect.cu")
def residual_of(
    p: Foreign[1], rhs: Foreign, r: Write, *, residual: Reduce["sum"], mean: Scalar, mesh: Mesh
) -> None:
    """r = rhs - mean - Laplacian(p); residual = sum over cells of r^2"""


residual_of_variable = variable(residual_of, Foreign)
"""r = 0 in cells without an open face."""


@dataclass(frozen=True)
class Cycling(Solver):
    """What does a cycle of multigrid in each round, until a tolerance is reached."""

    cycle: Cycle
    tolerance: Tolerance

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """The levels of the cycle."""
        return self.cycle.partitions(main)

    @property
    def fields(self) -> dict[str, Location]:
        """The coefficients, if they are variable."""
        return dict(COEFFICIENTS) if self.cycle.variable else {}

    def prepare(self, f: Roles) -> Iterator[Launch]:
        """The coefficients of the levels."""
        if b := self.faces(f):
            yield count(f, self.cycle.mesh)
            yield from self.cycle.prepare(b)

    def taken(self, scalars: Mapping[str, float]) -> int:
        """All rounds."""
        return round(scalars["rounds"])

    def faces(self, f: Roles) -> Faces:
        """The fields with coefficients, if they are variable."""
        return coefficients(f) if self.cycle.variable else ()

    def measure_rhs(self, f: Roles, *, singular: bool) -> Launch:
        """The scalars `norm` and `mean`; `mean` is 0 where the problem is not taken for singular."""
        mesh = self.cycle.mesh
        if self.cycle.variable:
            return measure_rhs_variable(f, mesh, singular=singular)
        return measure_rhs(f, self.cycle.grid, singular=singular)

    def find_residual(self, f: Roles) -> Launch:
        """The residual from which a cycle begins, and its square, the scalar `residual`; needs `measure_rhs` before."""
        b, mesh = self.faces(f), self.cycle.mesh
        left, names = residual_of_variable if b else residual_of, f.scalars("residual", "mean")
        return left(f.p, f.rhs, *b, self.cycle.residual, over=mesh.box, mesh=mesh, **names)


class Multigrid(Cycling):
    """Each cycle is for the residual that the last one left. See `Solver`."""

    def solve(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Cycles from p, at least one; then the scalars `norm`, `residual` and `rounds` say what they were for."""
        yield self.measure_rhs(f, singular=False)  # its mean would depend on the blocks, as sums do
        yield self.find_residual(f)
        yield self.tolerance.repeat(self._body)

    def _body(self, f: Roles) -> Iterator[Launch]:
        z = (yield from self.cycle.launches()).p
        corrected = correct_by_single if self.cycle.single else correct_by
        yield corrected(f.p, z, over=self.cycle.mesh.box).with_ghosts(1)
        yield self.find_residual(f)
