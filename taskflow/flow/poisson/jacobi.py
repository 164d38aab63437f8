"""Jacobi's iteration: the simplest solver, and one whose sweeps cost the same on any machine."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.residual import residual_square, rhs_square
from taskflow.flow.poisson.tolerance import Tolerance
from taskflow.regions import Box, Location, Partition
from taskflow.tasks import Launch, Read, Repeat, Roles, Write, repeat, task


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
    sweeps: int

    @property
    def fields(self) -> dict[str, Location]:
        """p_new, which the sweeps write."""
        return {"p_new": "c"}

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """None."""
        return ()

    def solve(self, f: Roles) -> Iterator[Launch]:
        """The sweeps, from p."""
        for sweep in range(1, self.sweeps + 1):
            relax = jacobi if sweep < self.sweeps else jacobi_half
            yield relax(f.p, f.rhs, f.p_new, over=Box.of(self.grid.cells), grid=self.grid)
            f.swap("p", "p_new")

    def taken(self, scalars: Mapping[str, float]) -> int:
        """The sweeps."""
        return self.sweeps


@dataclass(frozen=True)
class ConvergedJacobi:
    """Sweeps until a tolerance is reached, in rounds of `sweeps`: a round is `Jacobi`, then the residual is looked at.

    To look costs as much as a sweep (2/3 of its bytes, an all-reduce and a wait for the host), and half a round is done
    in vain on average. So sqrt(2 S) sweeps per round cost least where S are needed: 16 for S = 128, and within 7 % of
    the least from 30 to 1000. At most `tolerance.most` sweeps are done.
    """

    grid: Grid
    tolerance: Tolerance

    @property
    def sweeps(self) -> int:
        """Of a round. They are even: p has to be in the same field after each."""
        return max(2, min(16, self.tolerance.most // 2 * 2))

    @property
    def fields(self) -> dict[str, Location]:
        """p_new, which the sweeps write."""
        return self._round.fields

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """None."""
        return ()

    def solve(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Rounds from p, at least one; then the scalars `norm`, `residual` and `rounds` say what they were for."""
        yield rhs_square(f.rhs, over=Box.of(self.grid.cells), norm="norm")
        yield repeat(
            self._body,
            max(1, self.tolerance.most // self.sweeps),
            until=self.tolerance.reached,
            lag=False,
            count="rounds",
            otherwise=partial(self.tolerance.missed, each=self.sweeps),
        )

    def taken(self, scalars: Mapping[str, float]) -> int:
        """All sweeps."""
        return round(scalars["rounds"]) * self.sweeps

    @property
    def _round(self) -> Jacobi:
        return Jacobi(self.grid, self.sweeps)

    def _body(self, f: Roles) -> Iterator[Launch]:
        yield from self._round.solve(f)
        yield residual_square(f.p, f.rhs, over=Box.of(self.grid.cells), residual="residual", grid=self.grid)
