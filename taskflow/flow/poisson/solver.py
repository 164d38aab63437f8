"""Solvers of the pressure equation as a step knows them, and tolerances at which their iterations end."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Protocol

from taskflow.common.errors import RunFailed
from taskflow.runtime.regions import Location, Partition
from taskflow.runtime.tasks import Launch, Program, Repeat, Roles, repeat

SHOWN = 12  # residuals of a solve in an error


class Solver(Protocol):
    """Solves Laplacian(p) = rhs, or div(b grad p) = rhs with b given on the faces of cells; an immutable value that can
    be pickled. What it says of fields and regions holds for one that needs none of its own.

    Without a face on which p is given the problem is singular: the sum of rhs is 0 up to rounding, and p is found up
    to a constant, which is whatever the iteration leaves. With coefficients its `fields` are b_x, b_y and b_z, too:
    `taskflow.flow.poisson.coefficients` says what they hold, and what is singular then.
    """

    @property
    def fields(self) -> dict[str, Location]:
        """Fields it needs beside p and rhs, by role, in the region of these."""
        return {}

    @property
    def ghost(self) -> int:
        """Layers of ghost cells that it needs there."""
        return 1

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """Regions of its own, such as coarser levels, on the blocks of `main`, where p and rhs live."""
        return ()

    def prepare(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Make of the coefficients, in the fields b_x, b_y and b_z, what `solve` needs: before the first solve, and
        again whenever they have changed, in every step if need be. Nothing is done where there are none.
        """
        yield from ()

    def solve(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Solve for p, from rhs and a first guess in p. rhs stays as it is.

        With a `Tolerance` it ends when that is reached, and raises NotConverged on all blocks where it is not.
        """

    def taken(self, scalars: Mapping[str, float]) -> int:
        """Return how many iterations the last solve took, from the scalars that it left."""


class NotConverged(RunFailed):
    """An iteration did not reach its tolerance; tells of how many iterations, and of the residuals on the way."""


@dataclass(frozen=True)
class Tolerance:
    """sqrt(sum (rhs - mean - Laplacian(p))^2) <= `relative` sqrt(sum rhs^2), after at most `most` iterations.

    With `relative` = 0 all of them are done, and nobody complains. Both sums are scalars of the solver's program,
    `residual` and `norm`: see `taskflow.flow.poisson.operator`. Where rhs = div(u) / dt, the left-hand side is the
    divergence that a step leaves, and the right-hand side that of the velocity before its projection, each in the
    2-norm and over dt.
    """

    relative: float
    most: int

    def repeat(self, body: Program, *, iterations: int = 1, begun: bool = False) -> Repeat:
        """Repeat the body, so many iterations and then the scalars, until that is enough. The scalar `rounds` counts
        it. A solve that has `begun` with a round of its own needs one less, and perhaps none.
        """
        times = max(1, self.most // iterations) - begun
        if self.relative == 0:
            return repeat(body, times, further=begun, count="rounds")
        missed = partial(self.missed, iterations=iterations)
        return repeat(body, times, until=self.reached, lag=False, further=begun, count="rounds", otherwise=missed)

    def reached(self, scalars: Mapping[str, float]) -> bool:
        """Return whether the residual is small enough, or NaN: then there is nothing left to iterate for."""
        return not scalars["residual"] > self.relative**2 * scalars["norm"]

    def missed(self, rounds: Sequence[Mapping[str, float]], *, iterations: int = 1) -> None:
        """Raise NotConverged; `rounds` are the scalars after every so many iterations."""
        residuals = [relative_residual(scalars) for scalars in rounds]
        thin = -(-len(residuals) // SHOWN)
        shown = [(n + 1) * iterations for n in range(len(residuals)) if (len(residuals) - 1 - n) % thin == 0]
        history = ", ".join(f"{residuals[n // iterations - 1]:.2g} after {n}" for n in shown)
        raise NotConverged(
            f"the pressure did not converge: {len(residuals) * iterations} iterations did not reduce the relative"
            f" residual to {self.relative:g}; it was {history}"
        )


def relative_residual(scalars: Mapping[str, float]) -> float:
    """sqrt(residual / norm); 0 where there is nothing to solve for."""
    return sqrt(scalars["residual"] / scalars["norm"]) if scalars["norm"] != 0 else 0.0
