"""Jacobi's iteration: the simplest solver, and one whose sweeps cost the same on any machine."""

from collections.abc import Iterator
from dataclasses import dataclass

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.regions import Box, Location, Partition
from taskflow.tasks import Launch, Read, Roles, Write, task


@task(kernel=KERNELS / "jacobi.cu")
def jacobi(p: Read[1], rhs: Read, p_new: Write, *, grid: Grid) -> None:
    """p_new = (a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T) - rhs) / (2 (a_x + a_y + a_z)), a = 1 / spacing^2.

    One sweep towards Laplacian(p) = rhs. A wall shows a cell its own value.
    """


@task(kernel=KERNELS / "jacobi.cu")
def jacobi_half(p: Read[1], rhs: Read, p_new: Write, *, grid: Grid) -> None:
    """p_new = (p + q) / 2, q being what `jacobi` makes of p.

    A sweep of Jacobi multiplies each mode of the error by a number between -1 and 1, near -1 for those that alternate
    from cell to cell; this one by (1 + that) / 2, never negative.
    """


@dataclass(frozen=True)
class Jacobi:
    """A fixed number of sweeps, the last of them `jacobi_half`. See `Solver`.

    With Jacobi alone the modes that alternate from cell to cell grow from step to step when the number of sweeps is
    odd, and in a periodic box of even sides they are never touched at all.
    """

    grid: Grid
    iterations: int

    @property
    def fields(self) -> dict[str, Location]:
        """p_new, which the sweeps write."""
        return {"p_new": "c"}

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """None."""
        return ()

    def solve(self, f: Roles) -> Iterator[Launch]:
        """`iterations` sweeps that begin from p."""
        for sweep in range(1, self.iterations + 1):
            relax = jacobi if sweep < self.iterations else jacobi_half
            yield relax(f.p, f.rhs, f.p_new, over=Box.of(self.grid.cells), grid=self.grid)
            f.swap("p", "p_new")

    @property
    def rounds(self) -> int:
        """The sweeps."""
        return self.iterations
