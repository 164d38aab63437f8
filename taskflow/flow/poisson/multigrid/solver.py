"""Multigrid on its own: cycles for what is left, until little is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.multigrid.cycle import Cycle
from taskflow.flow.poisson.multigrid.mesh import Mesh
from taskflow.flow.poisson.residual import measure_rhs
from taskflow.flow.poisson.solver import Solver
from taskflow.flow.poisson.tolerance import Tolerance
from taskflow.regions import Partition
from taskflow.tasks import Foreign, ForeignSingle, Launch, ReadWrite, Reduce, Repeat, Roles, Scalar, Write, task


@task(kernel=KERNELS / "improvement.cu")
def correct_by(p: ReadWrite, z: Foreign) -> None:
    """p = p + z"""


@task(kernel=KERNELS / "improvement.cu")
def correct_by_single(p: ReadWrite, z: ForeignSingle) -> None:
    """p = p + z, z of single precision"""


@task(kernel=KERNELS / "defect.cu")
def residual_of(
    p: Foreign[1], rhs: Foreign, r: Write, *, residual: Reduce["sum"], mean: Scalar, mesh: Mesh
) -> None:
    """r = rhs - mean - Laplacian(p); residual = sum over cells of r^2"""


def find_residual(f: Roles, cycle: Cycle) -> Launch:
    """The residual from which a cycle begins, and its square, the scalar `residual`; needs `measure_rhs` before."""
    names = {"residual": "residual", "mean": "mean"}
    return residual_of(f.p, f.rhs, cycle.residual, over=cycle.mesh.box, mesh=cycle.mesh, **names)


@dataclass(frozen=True)
class Cycling(Solver):
    """What does a cycle of multigrid in each round, until a tolerance is reached."""

    cycle: Cycle
    tolerance: Tolerance

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """The levels of the cycle."""
        return self.cycle.partitions(main)

    def taken(self, scalars: Mapping[str, float]) -> int:
        """All rounds."""
        return round(scalars["rounds"])


class Multigrid(Cycling):
    """Each cycle is for the residual that the last one left. See `Solver`."""

    def solve(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Cycles from p, at least one; then the scalars `norm`, `residual` and `rounds` say what they were for."""
        yield measure_rhs(f.rhs, self.cycle.mesh.box, singular=False)  # its mean would depend on the blocks, as sums do
        yield find_residual(f, self.cycle)
        yield self.tolerance.repeat(self._body)

    def _body(self, f: Roles) -> Iterator[Launch]:
        z = (yield from self.cycle.launches()).p
        yield (correct_by_single if self.cycle.single else correct_by)(f.p, z, over=self.cycle.mesh.box)
        yield find_residual(f, self.cycle)
