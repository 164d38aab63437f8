"""GMRES(m), restarted, preconditioned from the right (Y. Saad, M. H. Schultz 1986, SIAM J. Sci. Stat. Comput. 7, 856).

Each new vector is made orthogonal to those before by classical Gram-Schmidt, a second time where little is left of it.
All sums are exact: the iterations have the same bits for any blocks. Vectors are stored as precisely as factors (after
J. I. Aliaga et al. 2023, Int. J. High Perform. Comput. Appl. 37, 82).

Where m vectors do not solve the equations, each is worth DEPTH products from then on: with B = 1 - A M^-1 and the
polynomial P = M^-1 (1 + B + B^2 + ...) of DEPTH terms A P y = r is solved, and A P = 1 - B^DEPTH.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol

from taskflow.flow.models.artificial_compressibility.implicit import krylov, outer, scalar
from taskflow.flow.models.artificial_compressibility.implicit.least_squares import (
    LeastSquares,
    Scalars,
    length,
    orthogonal,
)
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Derive, Launch, Repeat, Roles, derive

Program = Iterator[Launch | Repeat | Derive]
RIGHT, UPDATE, BEFORE, AFTER = (tuple(f"{name}_{age}" for name in "puvw") for age in ("r", "x", "z", "new"))
REST = tuple(f"{name}_rest" for name in "puvw")
DEPTH = 3  # products of a vector, where m vectors are too few
TIGHTEST, LOOSEST, SHARE = 0.02, 0.2, 0.9  # of the residual: what is left, see `Gmres.forcing`
PARTS = range(0, krylov.MOST, krylov.AT_ONCE)


class LinearSystem(Protocol):
    """A x = r with a preconditioner M. The length of a vector is that of `krylov.square` with this weight."""

    @property
    def cells(self) -> tuple[Box, ...]:
        """All of them."""

    @property
    def weight(self) -> float:
        """The weight of p^2 in the square of a length."""

    @property
    def warmth(self) -> float:
        """That of T^2; 0 where there is no T."""

    @property
    def further(self) -> bool:
        """Whether there are more vectors than one field has."""

    def precondition(self, f: Roles) -> Program:
        """z = M^-1 new."""

    def product(self, f: Roles) -> Program:
        """new = A z."""

    def left_of_heat(self, f: Roles) -> Program:
        """Where there is T: of its equation what x leaves, new = r - A_1 x; momentum gets the lift of x."""


def fields(f: Roles, names: tuple[str, ...]) -> tuple[str, ...]:
    """The fields in these roles."""
    return tuple(f[name] for name in names)


def warm(f: Roles, system: LinearSystem, names: tuple[str, ...]) -> str | None:
    """The field of T that belongs to these roles."""
    return _warm(f, names)[0] if system.warmth else None


def _warm(f: Roles, *roles: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f["T" + names[0].removeprefix("p")] for names in roles)


def weights(system: LinearSystem) -> dict[str, Any]:
    """Those of the squares of p and T."""
    return {"weights": krylov.Weights(system.weight, system.warmth)}


def measured(f: Roles, system: LinearSystem, vector: tuple[str, ...]) -> Program:
    """The square of a vector's length, and the largest part in it: the scalars `square` and `most`."""
    where: dict[str, Any] = {"over": system.cells, **weights(system)}
    of = fields(f, vector), warm(f, system, vector)
    yield krylov.largest_square(*of, most=f.scalar("most"), **where)
    yield krylov.square(*of, squares=f.scalar("square"), most=f.scalar("most"), **where)


def same(f: Roles, system: LinearSystem, vector: tuple[str, ...], other: tuple[str, ...]) -> Iterator[Launch]:
    """vector = other."""
    yield outer.same(fields(f, vector), fields(f, other), over=system.cells)
    if system.warmth:
        yield scalar.value_same(*_warm(f, vector, other), over=system.cells)


def added(f: Roles, system: LinearSystem, vector: tuple[str, ...], other: tuple[str, ...]) -> Iterator[Launch]:
    """vector = vector + other."""
    yield outer.add(fields(f, vector), fields(f, other), over=system.cells)
    if system.warmth:
        yield scalar.value_added(*_warm(f, vector, other), over=system.cells, by=1.0)


def less(f: Roles, system: LinearSystem, vector: tuple[str, ...], other: tuple[str, ...]) -> Iterator[Launch]:
    """vector = vector - other."""
    yield outer.less(fields(f, vector), fields(f, other), over=system.cells)
    if system.warmth:
        yield scalar.value_added(*_warm(f, vector, other), over=system.cells, by=-1.0)


@dataclass(frozen=True)
class Gmres:
    """At most some `products` with A, with a restart after so many `vectors`, until the residual has fallen to
    `tolerance` of the right-hand side, by default what `forcing` says. The scalar `taken` says how many products that
    took, `left` what is left; equations behind those that were `hard`, more than a cycle without P, begin with P.
    """

    vectors: int = krylov.MOST
    products: int = DEPTH * krylov.MOST
    tolerance: float | None = None
    approximates: ClassVar[bool] = False

    @property
    def told(self) -> str:
        """In words."""
        left = f"{TIGHTEST:g} to {LOOSEST:g}" if self.tolerance is None else f"{self.tolerance:g}"
        return f"GMRES({self.vectors}), to {left} of the residual, at most {self.products} products"

    def solve(self, f: Roles, system: LinearSystem) -> Program:
        """x of A x = r. The right-hand side in the roles of `RIGHT` is afterwards what was left at the last restart."""
        yield from measured(f, system, RIGHT)
        yield derive(self._begin, (*self._small.memory, "begun", "taken", "forcing"))
        for vector in (UPDATE, BEFORE):
            yield from same(f, system, vector, RIGHT)
            yield from less(f, system, vector, RIGHT)
        yield Repeat(partial(self._cycle, system, 1), 1, until=_hard, lag=False, further=True)
        cycles = -(-self.products // (DEPTH * self.vectors))
        yield Repeat(partial(self._again, system), cycles, until=self._enough, lag=False, further=True)
        yield derive(self._harder, ("hard",))

    @property
    def _small(self) -> LeastSquares:
        return LeastSquares(self.vectors)

    def _again(self, system: LinearSystem, f: Roles) -> Program:
        """A cycle with P for what is left; z is the part of x whose product is not in that yet."""
        yield from system.product(f)
        yield from less(f, system, RIGHT, AFTER)
        yield from measured(f, system, RIGHT)
        yield derive(self._small.begun, self._small.memory)
        yield from self._cycle(system, DEPTH, f)

    def _cycle(self, system: LinearSystem, depth: int, f: Roles) -> Program:
        """x = x + P (sum of y_n v_n), of the y for which what is left is shortest; z is the last term of P."""
        cells, vectors, vector = system.cells, self._vectors(f, system), (fields(f, AFTER), warm(f, system, AFTER))
        begun = fields(f, RIGHT), warm(f, system, RIGHT)
        yield krylov.first_vector(*begun, *vectors, *vector, over=cells, scale=f.scalar("scale"))
        for first in range(0, self.vectors, krylov.AT_ONCE):
            body = partial(self._arnoldi, system, depth, first // krylov.AT_ONCE + 1)
            most = min(self.vectors - first, krylov.AT_ONCE)
            yield Repeat(body, most, until=self._enough, lag=False, further=first > 0)
        yield derive(self._small.shares, tuple(f"share.{n}" for n in range(krylov.MOST)))
        yield krylov.combined(*vectors, *vector, over=cells, share=f.scalar("share"), count=f.scalar("place"))
        if depth > 1:
            yield from same(f, system, REST, AFTER)
            yield Repeat(partial(self._term, system), depth - 1)
        yield from system.precondition(f)
        yield from added(f, system, UPDATE, BEFORE)

    def _term(self, system: LinearSystem, f: Roles) -> Program:
        """x = x + M^-1 new, r = r - A M^-1 new; new = rest = B rest, of which new was a copy."""
        yield from system.precondition(f)
        yield from added(f, system, UPDATE, BEFORE)
        yield from system.product(f)
        for vector in (REST, RIGHT):
            yield from less(f, system, vector, AFTER)
        yield from same(f, system, AFTER, REST)

    def _operator(self, system: LinearSystem, depth: int, f: Roles) -> Program:
        """new = A M^-1 new, or, of several in a row, new = rest = B rest, of which new was a copy."""
        yield from system.precondition(f)
        yield from system.product(f)
        if depth > 1:
            yield from less(f, system, REST, AFTER)
            yield from same(f, system, AFTER, REST)

    def _arnoldi(self, system: LinearSystem, depth: int, sums: int, f: Roles) -> Program:
        """A vector more: A M^-1, or B^depth, times the last one, less its parts along all others, of which there are at
        most so many `sums` of ten.
        """
        vector = fields(f, AFTER), warm(f, system, AFTER)
        if depth > 1:
            yield from same(f, system, REST, AFTER)
        yield Repeat(partial(self._operator, system, depth), depth)  # apart, as it is recorded once for all `sums`
        yield krylov.largest_square(*vector, over=system.cells, most=f.scalar("most"), **weights(system))
        yield from self._less_parts(system, sums, False, f)
        again = partial(self._less_parts, system, sums, True)
        yield Repeat(again, 1, until=orthogonal, lag=False, further=True)
        yield derive(partial(self._rotated, depth), (*self._small.memory, "taken"))
        where = {"place": f.scalar("place"), "scale": f.scalar("scale")}
        yield krylov.next_vector(*self._vectors(f, system), *vector, over=system.cells, **where)

    def _less_parts(self, system: LinearSystem, sums: int, again: bool, f: Roles) -> Program:
        """The new vector less its parts along all others, which are `along`, and the square of its length."""
        vectors, vector = self._vectors(f, system), (fields(f, AFTER), warm(f, system, AFTER))
        about: dict[str, Any] = {"over": system.cells, "count": f.scalar("count"), **weights(system)}
        names = [f.scalar(f"along_{n}") for n in range(sums)]
        for name, first in zip(names, PARTS, strict=False):
            yield krylov.products(*vectors, *vector, along=name, first=first, most=f.scalar("most"), **about)
        along: dict[str, Any] = {f"along_{n}": names[min(n, sums - 1)] for n in range(len(PARTS))}
        yield krylov.orthogonal(*vectors, *vector, **along, most=f.scalar("most"), **about)
        squares = {"squares": f.scalar("square"), "most": f.scalar("most"), **weights(system)}
        yield krylov.square(*vector, over=system.cells, **squares)
        yield derive(partial(self._small.taken_off, sums, again), self._small.column)

    @staticmethod
    def _vectors(f: Roles, system: LinearSystem) -> tuple[str, str | None, str | None]:
        return f.vectors, f.later if system.further else None, f.warm if system.warmth else None

    def _begin(self, scalars: Scalars) -> dict[str, float]:
        size, before = length(scalars), scalars["begun"]
        begun = {"begun": size, "taken": 0.0, "forcing": self.forcing(size / before if before > 0 else 1.0)}
        return self._small.begun(scalars) | begun

    def forcing(self, fallen: float) -> float:
        """The rest of equations whose right-hand side is `fallen` times that of those before: without a
        tolerance that of S. C. Eisenstat and H. F. Walker (1996, SIAM J. Sci. Comput. 17, 16), by its square.
        """
        return self.tolerance or max(TIGHTEST, min(LOOSEST, SHARE * fallen**2))

    def left(self, scalars: Scalars) -> float:
        """Return how much was left of the last equations, of their right-hand side."""
        return scalars["left"] / scalars["begun"] if scalars["begun"] > 0 else 0.0

    def _rotated(self, depth: int, scalars: Scalars) -> dict[str, float]:
        return {**self._small.rotated(depth > 1, scalars), "taken": scalars["taken"] + depth}

    def solved(self, scalars: Scalars) -> bool:
        """Whether the last equations were solved to the tolerance."""
        return scalars["left"] <= scalars["forcing"] * scalars["begun"]

    def _enough(self, scalars: Scalars) -> bool:
        return self.solved(scalars) or scalars["taken"] >= self.products

    def _harder(self, scalars: Scalars) -> dict[str, float]:
        return {"hard": float(scalars["taken"] > self.vectors)}


def _hard(scalars: Scalars) -> bool:
    return scalars["hard"] > 0


FORTY = Gmres()
"""Forty vectors, three times as many products, a twentieth of the residual."""
