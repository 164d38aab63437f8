"""Multigrid on its own: cycles for what is left, until little is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.multigrid.cycle import Cycle
from taskflow.flow.poisson.multigrid.mesh import Mesh
from taskflow.flow.poisson.tolerance import Tolerance
from taskflow.regions import Location, Partition
from taskflow.tasks import Foreign, ForeignSingle, Launch, ReadWrite, Reduce, Repeat, Roles, Write, task


@task(kernel=KERNELS / "defect.cu")
def begin_residual(
    p: Foreign[1], rhs: Foreign, r: Write, *, residual: Reduce["sum"], norm: Reduce["sum"], mesh: Mesh
) -> None:
    """r = rhs - Laplacian(p); residual = sum over cells of r^2, norm = sum over cells of rhs^2"""


@task(kernel=KERNELS / "improvement.cu")
def correct_by(p: ReadWrite, z: Foreign) -> None:
    """p = p + z"""


@task(kernel=KERNELS / "improvement.cu")
def correct_by_single(p: ReadWrite, z: ForeignSingle) -> None:
    """p = p + z, z of single precision"""


@task(kernel=KERNELS / "defect.cu")
def residual_of(p: Foreign[1], rhs: Foreign, r: Write, *, residual: Reduce["sum"], mesh: Mesh) -> None:
    """r = rhs - Laplacian(p); residual = sum over cells of r^2"""


@dataclass(frozen=True)
class Multigrid:
    """Cycles until a tolerance is reached, each for the residual that the last one left. See `Solver`."""

    cycle: Cycle
    tolerance: Tolerance

    @property
    def fields(self) -> dict[str, Location]:
        """None."""
        return {}

    @property
    def ghost(self) -> int:
        """One."""
        return 1

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """The levels of the cycle."""
        return self.cycle.partitions(main)

    def solve(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Cycles from p, at least one; then the scalars `norm`, `residual` and `rounds` say what they were for."""
        mesh, r = self.cycle.mesh, self.cycle.residual
        yield begin_residual(f.p, f.rhs, r, over=mesh.box, residual="residual", norm="norm", mesh=mesh)
        yield self.tolerance.repeat(self._body)

    def taken(self, scalars: Mapping[str, float]) -> int:
        """All cycles."""
        return round(scalars["rounds"])

    def _body(self, f: Roles) -> Iterator[Launch]:
        mesh = self.cycle.mesh
        z = (yield from self.cycle.launches()).p
        yield (correct_by_single if self.cycle.single else correct_by)(f.p, z, over=mesh.box)
        yield residual_of(f.p, f.rhs, self.cycle.residual, over=mesh.box, residual="residual", mesh=mesh)
