"""The equation with a coefficient that is the same everywhere, by a solver of the one without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.fft import FFT
from taskflow.flow.poisson.operator import Operator
from taskflow.flow.poisson.solver import Solver
from taskflow.runtime.regions import Location, Partition
from taskflow.runtime.tasks import Launch, ReadWrite, Repeat, Roles, task


@task(kernel=KERNELS / "poisson" / "scaling.cu")
def multiply(p: ReadWrite, *, factor: float) -> None:
    """p = factor p"""


@dataclass(frozen=True)
class UniformCoefficient(Solver):
    """Solves div(b grad p) = rhs where b = 1 / `factor` on all faces that are open: p = factor q, Laplacian(q) = rhs.

    `operator` has the coefficients, which others read; whatever p was before does not matter. See `Solver`.
    """

    direct: FFT
    operator: Operator
    factor: float

    @property
    def fields(self) -> dict[str, Location]:
        """The coefficients, and what the direct solver needs."""
        return {**self.direct.fields, **self.operator.fields}

    @property
    def ghost(self) -> int:
        """Layers of ghost cells that the direct solver needs."""
        return self.direct.ghost

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """The regions of the direct solver."""
        return self.direct.partitions(main)

    def prepare(self, f: Roles) -> Iterator[Launch]:
        """See `Solver`: residuals are those of the operator."""
        yield from self.operator.prepare(f)
        yield from self.direct.prepare(f)

    def solve(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Solve for p, whatever it was."""
        yield from self.direct.solve(f)
        yield multiply(f.p, over=self.operator.box, factor=self.factor)

    def taken(self, scalars: Mapping[str, float]) -> int:
        """The iterations of the direct solver."""
        return self.direct.taken(scalars)
