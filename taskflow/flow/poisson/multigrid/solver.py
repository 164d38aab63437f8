"""Multigrid on its own: cycles for what is left, until little is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.multigrid.cycle import Cycle
from taskflow.flow.poisson.operator import Operator
from taskflow.flow.poisson.solver import Solver, Tolerance
from taskflow.runtime.regions import Location, Partition
from taskflow.runtime.tasks import ForeignAny, Launch, ReadWrite, Repeat, Roles, task


@task(kernel=KERNELS / "poisson" / "improvement.cu")
def correct_by(p: ReadWrite, z: ForeignAny) -> None:
    """p = p + z"""


@dataclass(frozen=True)
class Cycling(Solver):
    """A solver that does a cycle of multigrid in each round, until a tolerance is reached."""

    cycle: Cycle
    tolerance: Tolerance

    @property
    def operator(self) -> Operator:
        """The operator of the cycle."""
        return self.cycle.operator

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """The regions of the levels of the cycle."""
        return self.cycle.partitions(main)

    @property
    def fields(self) -> dict[str, Location]:
        """The coefficients, if they are variable."""
        return self.operator.fields

    def prepare(self, f: Roles) -> Iterator[Launch]:
        """The coefficients of the levels."""
        yield from self.operator.prepare(f)
        if b := self.operator.coefficients(f):
            yield from self.cycle.prepare(b)

    def taken(self, scalars: Mapping[str, float]) -> int:
        """The number of rounds."""
        return round(scalars["rounds"])


class Multigrid(Cycling):
    """Each cycle is for the residual that the last one left. See `Solver`."""

    def solve(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Cycles from p, at least one; then the scalars `norm`, `residual` and `rounds` say what they were for."""
        yield self.operator.measure_rhs(f, centred=False)  # its mean would depend on the blocks, as sums do
        yield self.operator.find_residual(f, self.cycle.residual)
        yield self.tolerance.repeat(self._body)

    def _body(self, f: Roles) -> Iterator[Launch]:
        z = (yield from self.cycle.launches()).p
        yield correct_by(f.p, z, over=self.cycle.mesh.box).with_ghosts(1)
        yield self.operator.find_residual(f, self.cycle.residual)
