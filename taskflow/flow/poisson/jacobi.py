"""Jacobi's iteration: the simplest solver, and one whose sweeps cost the same on any machine."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from taskflow.common.errors import BadInput
from taskflow.flow.poisson.operator import Operator
from taskflow.flow.poisson.solver import Solver, Tolerance
from taskflow.runtime.regions import Location, Triple
from taskflow.runtime.tasks import Launch, Repeat, Roles


def blocking_pays(block: Triple) -> bool:
    """Return whether a GPU is faster with two sweeps in one pass over a block of so many cells.

    The tiles of such a pass overlap: they cover blocks that are narrow several times, and each goes through many planes
    in turn, so that small blocks leave a GPU idle. On an H200 1.34 to 1.71 times as fast within these bounds, in single
    precision; there is no measurement outside of them.
    """
    x, y, z = block
    return x >= 256 and y >= 64 and z >= 32 and x * y * z >= 2**23


@dataclass(frozen=True)
class Jacobi(Solver):
    """A fixed number of sweeps, the last of them a half one. See `Solver`.

    With Jacobi alone the modes that alternate from cell to cell grow from step to step when the number of sweeps is
    odd, and in a periodic box of even sides they are never touched at all. Where they are `blocked`, two sweeps are
    done in one pass over memory, with the same bits. Raises BadInput where the sweeps of an operator that is not
    `plain` are to be blocked.
    """

    operator: Operator
    sweeps: int
    blocked: bool = False

    def __post_init__(self) -> None:
        if self.blocked and not self.operator.plain:
            raise BadInput("jacobi: blocked sweeps have walls and constant coefficients; leave blocked out")

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
        """The sweeps of each pass over memory."""
        if not self.blocked or self.sweeps == 1:
            return [1] * self.sweeps
        return [*[1] * (self.sweeps % 2), *[2] * (self.sweeps // 2)]


@dataclass(frozen=True)
class ConvergedJacobi(Solver):
    """Sweeps until a tolerance is reached, in rounds of `sweeps`: a round is `Jacobi`, then the residual is looked at.

    To look costs as much as a sweep (2/3 of its bytes, an all-reduce and a wait for the host), and half a round is done
    in vain on average. So sqrt(2 S) sweeps per round cost least where S are needed: 16 for S = 128, and within 7 % of
    the least from 30 to 1000. At most `tolerance.most` sweeps are done.
    """

    operator: Operator
    tolerance: Tolerance
    blocked: bool = False

    @property
    def sweeps(self) -> int:
        """The sweeps of a round. Their number is even: p has to be in the same field after each round."""
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
        """Rounds from p, at least one; then the scalars `norm`, `residual` and `rounds` say what they were for."""
        yield self.operator.measure_rhs(f, centred=self.operator.singular)
        yield self.tolerance.repeat(self._body, iterations=self.sweeps)

    def taken(self, scalars: Mapping[str, float]) -> int:
        return round(scalars["rounds"]) * self.sweeps

    @property
    def _round(self) -> Jacobi:
        in_pairs = self.blocked and self.sweeps % 4 == 0  # passes are even then, too
        return Jacobi(self.operator, self.sweeps, in_pairs)

    def _body(self, f: Roles) -> Iterator[Launch]:
        yield from self._round.solve(f)
        yield self.operator.measure_residual(f)
