"""When an iteration for the pressure is over: at a residual relative to the right-hand side, or never."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt

from taskflow.errors import RunFailed
from taskflow.runtime.tasks import Program, Repeat, repeat

SHOWN = 12  # residuals of a solve in an error


class NotConverged(RunFailed):
    """An iteration did not reach its tolerance; tells of how many iterations, and of the residuals on the way."""


@dataclass(frozen=True)
class Tolerance:
    """sqrt(sum (rhs - mean - Laplacian(p))^2) <= `relative` sqrt(sum rhs^2), after at most `most` iterations.

    With `relative` = 0 all of them are done, and nobody complains. Both sums are scalars of the solver's program,
    `residual` and `norm`: see `taskflow.flow.poisson.residual`. Where rhs = div(u) / dt, the left-hand side is the
    divergence that a step leaves, and the right-hand side that of the velocity before its projection, each in the
    2-norm and over dt.
    """

    relative: float
    most: int

    def repeat(self, body: Program, *, each: int = 1, begun: bool = False) -> Repeat:
        """The body, `each` iterations and then the scalars, until it is enough. The scalar `rounds` counts it. What has
        `begun` with a round of its own needs one less, and perhaps none.
        """
        times = max(1, self.most // each) - begun
        if self.relative == 0:
            return repeat(body, times, further=begun, count="rounds")
        missed = partial(self.missed, each=each)
        return repeat(body, times, until=self.reached, lag=False, further=begun, count="rounds", otherwise=missed)

    def reached(self, scalars: Mapping[str, float]) -> bool:
        """Whether the residual is small enough, or no number: then there is nothing left to iterate for."""
        return not scalars["residual"] > self.relative**2 * scalars["norm"]

    def missed(self, rounds: Sequence[Mapping[str, float]], *, each: int = 1) -> None:
        """Raises NotConverged; `rounds` are the scalars after every `each` iterations."""
        residuals = [relative_residual(scalars) for scalars in rounds]
        thin = -(-len(residuals) // SHOWN)
        shown = [(n + 1) * each for n in range(len(residuals)) if (len(residuals) - 1 - n) % thin == 0]
        history = ", ".join(f"{residuals[n // each - 1]:.2g} after {n}" for n in shown)
        raise NotConverged(
            f"the pressure did not converge: {len(residuals) * each} iterations did not reduce the relative residual to"
            f" {self.relative:g}; it was {history}"
        )


def relative_residual(scalars: Mapping[str, float]) -> float:
    """sqrt(residual / norm); 0 where there is nothing to solve for."""
    return sqrt(scalars["residual"] / scalars["norm"]) if scalars["norm"] != 0 else 0.0
