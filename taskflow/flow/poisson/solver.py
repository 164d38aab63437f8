"""Interface of pressure solvers, and tolerances at which their iterations end."""

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
    """Solver of Laplacian(p) = rhs, or div(b grad p) = rhs with b on cell faces. Immutable and picklable.

    The defaults suit a solver without further fields and regions. If p = 0 on no face the problem is singular: rhs sums
    to 0 up to rounding, and p has an arbitrary constant. With coefficients, `fields` includes b_x, b_y and b_z: see
    `taskflow.flow.poisson.coefficients` for their values and for singular parts.
    """

    @property
    def fields(self) -> dict[str, Location]:
        """Fields in the region of p and rhs, in addition to these, by role."""
        return {}

    @property
    def ghost(self) -> int:
        """Layers of ghost cells needed in that region."""
        return 1

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """Return further regions, such as coarser levels, on the blocks of `main`, the partition of p and rhs."""
        return ()

    def prepare(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Derive the data that `solve` needs from the coefficients b_x, b_y and b_z, if the solver has them.

        Called before the first solve and after each change of the coefficients.
        """
        yield from ()

    def solve(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Solve for p, given rhs, unchanged, and a first guess. Raises NotConverged if a `Tolerance` is not met."""

    def taken(self, scalars: Mapping[str, float]) -> int:
        """Return the number of iterations of the last solve, given its scalars."""


class NotConverged(RunFailed):
    """Unconverged iteration: its message gives the number of iterations and the residual history."""


@dataclass(frozen=True)
class Tolerance:
    """sqrt(sum (rhs - mean - Laplacian(p))^2) <= `relative` sqrt(sum rhs^2), within `most` iterations.

    With `relative` = 0 all iterations are done, without an error. The sums are the scalars `residual` and `norm` of the
    solver's program: see `taskflow.flow.poisson.operator`. If rhs = div(u) / dt, they are the 2-norms over dt of the
    divergence after a step and before the projection.
    """

    relative: float
    most: int

    def repeat(self, body: Program, *, iterations: int = 1, begun: bool = False) -> Repeat:
        """Repeat the body, `iterations` iterations that measure the scalars, until the tolerance is reached.

        The scalar `rounds` counts the repetitions. If the solve has `begun` with one round, one fewer is allowed.
        """
        times = max(1, self.most // iterations) - begun
        if self.relative == 0:
            return repeat(body, times, further=begun, count="rounds")
        missed = partial(self.missed, iterations=iterations)
        return repeat(body, times, until=self.reached, lag=False, further=begun, count="rounds", otherwise=missed)

    def reached(self, scalars: Mapping[str, float]) -> bool:
        """Return True if the residual is small enough or NaN, so that iterations end."""
        return not scalars["residual"] > self.relative**2 * scalars["norm"]

    def missed(self, rounds: Sequence[Mapping[str, float]], *, iterations: int = 1) -> None:
        """Raise NotConverged. `rounds` are the scalars after each round of `iterations`."""
        residuals = [relative_residual(scalars) for scalars in rounds]
        thin = -(-len(residuals) // SHOWN)
        shown = [(n + 1) * iterations for n in range(len(residuals)) if (len(residuals) - 1 - n) % thin == 0]
        history = ", ".join(f"{residuals[n // iterations - 1]:.2g} after {n}" for n in shown)
        raise NotConverged(
            f"the pressure did not converge: {len(residuals) * iterations} iterations did not reduce the relative"
            f" residual to {self.relative:g}; it was {history}"
        )


def relative_residual(scalars: Mapping[str, float]) -> float:
    """Return sqrt(residual / norm), or 0 if norm = 0."""
    return sqrt(scalars["residual"] / scalars["norm"]) if scalars["norm"] != 0 else 0.0
