"""GMRES(m), restarted, preconditioned from the right (Y. Saad, M. H. Schultz 1986, SIAM J. Sci. Stat. Comput. 7, 856).

Each new vector is made orthogonal to those before by classical Gram-Schmidt, a second time where little is left of it.
All sums are exact: the iterations have the same bits for any blocks. Vectors are stored as precisely as factors (after
J. I. Aliaga et al. 2023, Int. J. High Perform. Comput. Appl. 37, 82).

The first FIRST vectors are worth a product each, those behind them d. With B = 1 - w A M^-1 these have

    P = w M^-1 (1 + B + ... + B^(d - 1)),    A P = 1 - B^d

in place of M^-1. As P does not change, x = M^-1 (sum of the first y_n v_n) + P (sum of the others), and the P v_n need
not be kept. B^d falls with d where the eigenvalues of w A M^-1 are well within a circle of radius 1 around 1. The
first vectors know some of them: if there is such a w, d is DEEP, else w is 1 and d SHALLOW.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from taskflow.flow.models.artificial_compressibility.implicit import krylov
from taskflow.flow.models.artificial_compressibility.implicit.least_squares import (
    LeastSquares,
    Scalars,
    length,
    orthogonal,
)
from taskflow.flow.models.artificial_compressibility.implicit.vectors import (
    AFTER,
    BEFORE,
    REST,
    RIGHT,
    UPDATE,
    LinearSystem,
    Program,
    added,
    damped,
    fields,
    less,
    measured,
    same,
    warm,
    weights,
)
from taskflow.runtime.tasks import Repeat, Roles, derive, numbered

FIRST = krylov.AT_ONCE  # vectors that are worth a product each
DEEP, SHALLOW = 9, 3  # products of each vector behind them; DEEP is SHALLOW three times
BOUND = 1.7  # of the largest eigenvalue of w A M^-1, whose circle ends at 2
INSIDE, MARGIN = 1.95, 1e-3  # of |e|^2 / Re e for all of them, 2 on that circle; next to 0 rounding decides Re e
TIGHTEST, LOOSEST, SHARE = 0.02, 0.2, 0.9  # of the residual: what is left, see `Gmres.forcing`
PARTS = range(0, krylov.MOST, krylov.AT_ONCE)
COEFFICIENTS = {name: numbered(name, krylov.MOST) for name in ("share", "share_p")}  # of vectors, and of those times P


@dataclass(frozen=True)
class Gmres:
    """At most some `products` with A, with a restart after so many `vectors`, until the residual has fallen to
    `tolerance` of the right-hand side, by default what `forcing` says. The scalar `taken` says how many products the
    vectors took, `left` what is left.
    """

    vectors: int = krylov.MOST
    products: int = FIRST + DEEP * (krylov.MOST - FIRST)
    tolerance: float | None = None
    approximates: ClassVar[bool] = False

    @property
    def told(self) -> str:
        """In words."""
        left = f"{TIGHTEST:g} to {LOOSEST:g}" if self.tolerance is None else f"{self.tolerance:g}"
        return f"GMRES({self.vectors}), to {left} of the residual, at most {self.products} products"

    def solve(self, f: Roles, system: LinearSystem) -> Program:
        """x of A x = r. Before a restart A x is worked out as exactly as r; the rest in the precision of vectors."""
        yield from measured(f, system, RIGHT)
        yield derive(self._begin, (*self._small.memory, "begun", "taken", "forcing", "depth"))
        yield from system.prepared(f)
        for vector in (UPDATE, BEFORE):
            yield from same(f, system, vector, RIGHT)
            yield from less(f, system, vector, RIGHT)
        yield from self._cycle(system, RIGHT, f)
        cycles = -(-self.products // (self.vectors + (SHALLOW - 1) * max(0, self.vectors - FIRST)))
        if cycles > 1:
            yield Repeat(partial(self._again, system), cycles - 1, until=self._enough, lag=False, further=True)

    @property
    def deep(self) -> bool:
        """Whether there are vectors behind the first ones."""
        return self.vectors > FIRST

    @property
    def _small(self) -> LeastSquares:
        return LeastSquares(self.vectors)

    def _again(self, system: LinearSystem, f: Roles) -> Program:
        """A cycle for what is left."""
        yield from same(f, system, BEFORE, UPDATE)
        yield from system.product(f)
        yield from same(f, system, BEFORE, AFTER)
        yield from less(f, system, BEFORE, RIGHT)
        yield from measured(f, system, BEFORE)
        yield derive(self._begun_again, self._small.memory)
        yield from self._cycle(system, BEFORE, f)

    def _cycle(self, system: LinearSystem, left: tuple[str, ...], f: Roles) -> Program:
        """x = x + M^-1 (sum of the first y_n v_n) + P (sum of the others), of the y for which what is `left` is
        shortest.
        """
        s = system.single(f)
        vectors, vector = self._vectors(f, system), (fields(s, AFTER), warm(s, system, AFTER))
        begun = fields(f, left), warm(f, system, left)
        yield krylov.first_vector(*begun, *vectors, *vector, over=system.cells, scale=f.scalar("scale"))
        yield self._more(system, 0)
        if self.deep:
            yield Repeat(partial(self._further, system), 1, until=self._enough, lag=False, further=True)
        yield derive(self._shares, ("few", *COEFFICIENTS["share"], *COEFFICIENTS["share_p"]))
        if self.deep:
            yield Repeat(partial(self._terms, system), 1, until=_few, lag=False, further=True)
        yield from self._combined(system, "share", "few", f)
        if self.deep:
            yield Repeat(lambda f: added(system.single(f), system, AFTER, REST), 1, until=_few, lag=False, further=True)
        yield from system.precondition(s)
        yield from added(f, system, UPDATE, BEFORE, s)

    def _further(self, system: LinearSystem, f: Roles) -> Program:
        """Vectors behind the first ones."""
        yield derive(self.polynomial, ("damping", "depth"))
        for first in range(FIRST, self.vectors, krylov.AT_ONCE):
            yield self._more(system, first)

    def _more(self, system: LinearSystem, first: int) -> Repeat:
        """Up to AT_ONCE vectors behind so many."""
        body = partial(self._arnoldi, system, first >= FIRST, first // krylov.AT_ONCE + 1)
        return Repeat(body, min(self.vectors - first, krylov.AT_ONCE), until=self._enough, lag=False, further=True)

    def _combined(self, system: LinearSystem, share: str, count: str, f: Roles) -> Program:
        """new = sum of share_n v_n, of the first ones, which are so many."""
        s = system.single(f)
        vectors, vector = self._vectors(f, system), (fields(s, AFTER), warm(s, system, AFTER))
        of = {"share": f.scalar(share), "count": f.scalar(count)}
        yield krylov.combined(*vectors, *vector, over=system.cells, **of)

    def _terms(self, system: LinearSystem, f: Roles) -> Program:
        """x = x + all terms of P (sum of y_n v_n) but M^-1 rest, the last one."""
        yield from self._combined(system, "share_p", "place", f)
        yield from same(system.single(f), system, REST, AFTER)
        term = partial(self._term, system)
        yield Repeat(term, SHALLOW - 1)
        yield Repeat(partial(_thrice, term), DEEP // SHALLOW - 1, until=_shallow, lag=False, further=True)

    def _term(self, system: LinearSystem, f: Roles) -> Program:
        """x = x + M^-1 new; new = rest = B rest, of which new was a copy."""
        yield from self._operator(system, True, f)
        yield from added(f, system, UPDATE, BEFORE, system.single(f))

    def _operator(self, system: LinearSystem, powers: bool, f: Roles) -> Program:
        """new = A M^-1 new, or, of `powers`, new = rest = B rest, of which new was a copy."""
        s = system.single(f)
        yield from system.precondition(s)
        yield from system.product(s)
        if powers:
            yield from damped(s, system)

    def _arnoldi(self, system: LinearSystem, powers: bool, sums: int, f: Roles) -> Program:
        """A vector more: A M^-1, or of `powers` B^d, times the last one, less its parts along all others, of which
        there are at most so many `sums` of ten.
        """
        s, operator = system.single(f), partial(self._operator, system, powers)
        vector = fields(s, AFTER), warm(s, system, AFTER)
        if powers:
            yield from same(s, system, REST, AFTER)
        yield Repeat(operator, SHALLOW if powers else 1)  # apart, as it is recorded once for all `sums`
        if powers:
            yield Repeat(partial(_thrice, operator), DEEP // SHALLOW - 1, until=_shallow, lag=False, further=True)
        yield krylov.largest_square(*vector, over=system.cells, most=f.scalar("most"), **weights(system))
        yield from self._less_parts(system, sums, False, f)
        again = partial(self._less_parts, system, sums, True)
        yield Repeat(again, 1, until=orthogonal, lag=False, further=True)
        yield derive(partial(self._rotated, powers), (*self._small.memory, "taken"))
        where = {"place": f.scalar("place"), "scale": f.scalar("scale")}
        yield krylov.next_vector(*self._vectors(f, system), *vector, over=system.cells, **where)

    def _less_parts(self, system: LinearSystem, sums: int, again: bool, f: Roles) -> Program:
        """The new vector less its parts along all others, which are `along`, and the square of its length."""
        s = system.single(f)
        vectors, vector = self._vectors(f, system), (fields(s, AFTER), warm(s, system, AFTER))
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
        forcing = self.forcing(size / before if before > 0 else 1.0)
        return self._small.begun(scalars) | {"begun": size, "taken": 0.0, "depth": 1.0, "forcing": forcing}

    def _begun_again(self, scalars: Scalars) -> dict[str, float]:
        """With A x - r, the first vector is minus that."""
        begun = self._small.begun(scalars)
        return begun | {"scale": -begun["scale"]}

    def forcing(self, fallen: float) -> float:
        """The rest of equations whose right-hand side is `fallen` times that of those before: without a
        tolerance that of S. C. Eisenstat and H. F. Walker (1996, SIAM J. Sci. Comput. 17, 16), by its square.
        """
        return self.tolerance or max(TIGHTEST, min(LOOSEST, SHARE * fallen**2))

    def left(self, scalars: Scalars) -> float:
        """Return how much was left of the last equations, of their right-hand side."""
        return scalars["left"] / scalars["begun"] if scalars["begun"] > 0 else 0.0

    def _rotated(self, powers: bool, scalars: Scalars) -> dict[str, float]:
        taken = scalars["taken"] + (scalars["depth"] if powers else 1)
        return {**self._small.rotated(powers, scalars), "taken": taken}

    def polynomial(self, scalars: Scalars) -> dict[str, float]:
        """The w and d of P. Last bits of eigenvalues may be others on another kind of host: w is rounded, so that
        blocks there find the same, and d as well but next to a bound.
        """
        known = self._small.eigenvalues(FIRST, scalars)
        size = np.abs(known)
        damping = round(float(BOUND / max(size.max(), BOUND)), 3)
        inside = bool((damping * size**2 <= INSIDE * known.real + MARGIN).all())
        return {"damping": damping, "depth": DEEP} if inside else {"damping": 1.0, "depth": SHALLOW}

    def _shares(self, scalars: Scalars) -> dict[str, float]:
        """The y of the first vectors, and w times those of the others."""
        y, by = self._small.solution(scalars), 0.0 if _few(scalars) else scalars["damping"]
        first = [value if n < FIRST else 0.0 for n, value in enumerate(y)]
        others = [by * value if n >= FIRST else 0.0 for n, value in enumerate(y)]
        named = zip((*COEFFICIENTS["share"], *COEFFICIENTS["share_p"]), (*first, *others), strict=True)
        return {"few": min(scalars["place"], float(FIRST)), **dict(named)}

    def present(self, scalars: Scalars) -> Iterator[int]:
        """For each vector that the last equations took, how many there were with it since the restart, if all cycles
        had the d of the last one.
        """
        left, vectors = scalars["taken"], 0
        while left > 0:
            vectors = vectors % self.vectors + 1
            left -= scalars["depth"] if vectors > FIRST else 1
            yield vectors

    def solved(self, scalars: Scalars) -> bool:
        """Whether the last equations were solved to the tolerance."""
        return scalars["left"] <= scalars["forcing"] * scalars["begun"]

    def _enough(self, scalars: Scalars) -> bool:
        """Whether no vector is to follow: it would take one product, or d behind the first ones."""
        step = scalars["depth"] if scalars["place"] >= FIRST else 1
        return self.solved(scalars) or scalars["taken"] + step > self.products


def _few(scalars: Scalars) -> bool:
    return scalars["place"] <= FIRST


def _shallow(scalars: Scalars) -> bool:
    return scalars["depth"] == SHALLOW


def _thrice(program: Callable[[Roles], Program], f: Roles) -> Program:
    yield Repeat(program, SHALLOW)


FORTY = Gmres()
"""Forty vectors, 280 products."""
