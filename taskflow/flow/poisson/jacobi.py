"""Jacobi iteration: the simplest solver. Its sweeps cost the same on any machine."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from taskflow.common.errors import BadInput
from taskflow.flow.poisson.operator import Operator
from taskflow.flow.poisson.solver import Solver, Tolerance
from taskflow.runtime.regions import Location, Triple
from taskflow.runtime.tasks import Launch, Repeat, Roles


def blocking_pays(block: Triple) -> bool:
    """Return True if a GPU is faster with two sweeps per pass over a block of nx x ny x nz cells.

    The tiles of such a pass overlap, so narrow blocks are covered several times. Each tile walks many planes, so small
    blocks leave a GPU idle. Within these bounds: 1.34 to 1.71 times as fast on an H200, single precision. Not measured
    outside of them.
    """
    x, y, z = block
    return x >= 256 and y >= 64 and z >= 32 and x * y * z >= 2**23


@dataclass(frozen=True)
class Jacobi(Solver):
    """Fixed number of sweeps, the last damped by one half. See `Solver`.

    Undamped sweeps amplify modes that alternate from cell to cell from step to step if their number is odd, and never
    damp them in a periodic box of even sides. If `blocked`, two sweeps share one pass over memory, bitwise identical.
    Raises BadInput if `blocked` is given with an operator that is not `plain`.
    """

    operator: Operator
    sweeps: int
    blocked: bool = False

    def __post_init__(self) -> None:
        if self.blocked and not self.operator.plain:
            raise BadInput("jacobi: blocked sweeps have walls and constant coefficients; omit blocked")

    @property
    def fields(self) -> dict[str, Location]:
        return {"p_new": "c", **self.operator.fields}

    @property
    def ghost(self) -> int:
        return 2 if self.blocked else 1

    def solve(self, f: Roles) -> Iterator[Launch]:
        *first, last = self._passes
        for sweeps in first:
            yield self.operator.relax(f, sweeps)
            f.swap("p", "p_new")
        yield self.operator.relax(f, last, half=True)
        f.swap("p", "p_new")

    def taken(self, scalars: Mapping[str, float]) -> int:
        return self.sweeps

    @property
    def _passes(self) -> list[int]:
        """Sweeps of each pass over memory."""
        if not self.blocked or self.sweeps == 1:
            return [1] * self.sweeps
        return [*[1] * (self.sweeps % 2), *[2] * (self.sweeps // 2)]


@dataclass(frozen=True)
class ConvergedJacobi(Solver):
    """Sweeps in rounds until a tolerance is reached. A round is `Jacobi` with `sweeps`, then one measured residual.

    The measurement costs as much as a sweep (2/3 of its bytes, an all-reduce and a wait of the host), and half a round
    is wasted on average. If S sweeps are needed, sqrt(2 S) per round cost least: 16 for S = 128, within 7 % of the
    minimum from 30 to 1000. At most `tolerance.most` sweeps are done.
    """

    operator: Operator
    tolerance: Tolerance
    blocked: bool = False

    @property
    def sweeps(self) -> int:
        """Sweeps of a round: even, because p has to be in the same field after each round."""
        return max(2, min(16, self.tolerance.most // 2 * 2))

    @property
    def fields(self) -> dict[str, Location]:
        return self._round.fields

    @property
    def ghost(self) -> int:
        return self._round.ghost

    def prepare(self, f: Roles) -> Iterator[Launch]:
        return self.operator.prepare(f)

    def solve(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Yield at least one round from p. The scalars `norm`, `residual` and `rounds` hold the result."""
        yield self.operator.measure_rhs(f, centred=self.operator.singular)
        yield self.tolerance.repeat(self._body, iterations=self.sweeps)

    def taken(self, scalars: Mapping[str, float]) -> int:
        return round(scalars["rounds"]) * self.sweeps

    @property
    def _round(self) -> Jacobi:
        in_pairs = self.blocked and self.sweeps % 4 == 0  # the number of passes is then even, too
        return Jacobi(self.operator, self.sweeps, in_pairs)

    def _body(self, f: Roles) -> Iterator[Launch]:
        yield from self._round.solve(f)
        yield self.operator.measure_residual(f)
