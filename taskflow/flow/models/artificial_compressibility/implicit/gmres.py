"""GMRES(m), restarted, preconditioned from the right (Y. Saad, M. H. Schultz 1986, SIAM J. Sci. Stat. Comput. 7, 856).

Each new vector is orthogonalised by classical Gram-Schmidt, repeated if little of it remains. All sums are exact:
iterations are bitwise identical for any blocks. Vectors are stored in the precision of factors (after J. I. Aliaga et
al. 2023, Int. J. High Perform. Comput. Appl. 37, 82).

The first FIRST vectors take one product each, later ones d products. With B = 1 - w A M^-1 later vectors use

    P = w M^-1 (1 + B + ... + B^(d - 1)),    A P = 1 - B^d

instead of M^-1. P is constant, so x = M^-1 (sum of the first y_n v_n) + P (sum of the others), and the P v_n are not
stored. B^d decreases with d if the eigenvalues of w A M^-1 are well within a circle of radius 1 around 1. The first
vectors provide estimates of them: if such a w exists, d is DEEP, else w is 1 and d SHALLOW.
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
    damped,
    fields,
    less,
    measured,
    plus,
    same,
    warm,
    weights,
)
from taskflow.runtime.tasks import Repeat, Roles, derive, numbered

FIRST = krylov.AT_ONCE  # vectors that are worth a product each
DEEP, SHALLOW = 9, 3  # products of each later vector; DEEP is three times SHALLOW
BOUND = 1.7  # of the largest eigenvalue of w A M^-1, whose circle ends at 2
INSIDE, MARGIN = 1.95, 1e-3  # of |e|^2 / Re e for all of them, 2 on that circle; next to 0 rounding decides Re e
TIGHTEST, LOOSEST, SHARE = 0.02, 0.2, 0.9  # of the right-hand side: tolerances and their factor, see `Gmres.forcing`
PARTS = range(0, krylov.MOST, krylov.AT_ONCE)
COEFFICIENTS = {name: numbered(name, krylov.MOST) for name in ("share", "share_p")}  # of vectors, and of those times P


@dataclass(frozen=True)
class Gmres:
    """At most `products` products with A, with a restart after `vectors` vectors, until the residual has fallen to
    `tolerance` times the right-hand side (default: `forcing`). Scalars: `taken`, the number of products; `left`, the
    remaining residual.
    """

    vectors: int = krylov.MOST
    products: int = FIRST + DEEP * (krylov.MOST - FIRST)
    tolerance: float | None = None
    approximates: ClassVar[bool] = False

    @property
    def description(self) -> str:
        """The solver, as text."""
        left = f"{TIGHTEST:g} to {LOOSEST:g}" if self.tolerance is None else f"{self.tolerance:g}"
        return f"GMRES({self.vectors}), to {left} of the residual, at most {self.products} products"

    def solve(self, f: Roles, system: LinearSystem) -> Program:
        """Solve A x = r. Before a restart A x is computed in the precision of r, else in the vectors' precision."""
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
        """True if the solver has more vectors than the first FIRST."""
        return self.vectors > FIRST

    @property
    def _small(self) -> LeastSquares:
        return LeastSquares(self.vectors)

    def _again(self, system: LinearSystem, f: Roles) -> Program:
        yield from same(f, system, BEFORE, UPDATE)
        yield from system.product(f)
        yield from same(f, system, BEFORE, AFTER)
        yield from less(f, system, BEFORE, RIGHT)
        yield from measured(f, system, BEFORE)
        yield derive(self._begun_again, self._small.memory)
        yield from self._cycle(system, BEFORE, f)

    def _cycle(self, system: LinearSystem, left: tuple[str, ...], f: Roles) -> Program:
        """x = x + M^-1 (sum of the first y_n v_n) + P (sum of the others), with y minimising the residual."""
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
            yield Repeat(lambda f: plus(system.single(f), system, AFTER, REST), 1, until=_few, lag=False, further=True)
        yield from system.precondition(s)
        yield from plus(f, system, UPDATE, BEFORE, s)

    def _further(self, system: LinearSystem, f: Roles) -> Program:
        """Yield vectors after the first FIRST."""
        yield derive(self.polynomial, ("damping", "depth"))
        for first in range(FIRST, self.vectors, krylov.AT_ONCE):
            yield self._more(system, first)

    def _more(self, system: LinearSystem, first: int) -> Repeat:
        body = partial(self._arnoldi, system, first >= FIRST, first // krylov.AT_ONCE + 1)
        return Repeat(body, min(self.vectors - first, krylov.AT_ONCE), until=self._enough, lag=False, further=True)

    def _combined(self, system: LinearSystem, share: str, count: str, f: Roles) -> Program:
        """new = sum of share_n v_n over the first `count` vectors."""
        s = system.single(f)
        vectors, vector = self._vectors(f, system), (fields(s, AFTER), warm(s, system, AFTER))
        of = {"share": f.scalar(share), "count": f.scalar(count)}
        yield krylov.combined(*vectors, *vector, over=system.cells, **of)

    def _terms(self, system: LinearSystem, f: Roles) -> Program:
        """x = x + all terms of P (sum of y_n v_n) except the last, M^-1 rest."""
        yield from self._combined(system, "share_p", "place", f)
        yield from same(system.single(f), system, REST, AFTER)
        term = partial(self._term, system)
        yield Repeat(term, SHALLOW - 1)
        yield Repeat(partial(_thrice, term), DEEP // SHALLOW - 1, until=_shallow, lag=False, further=True)

    def _term(self, system: LinearSystem, f: Roles) -> Program:
        """x = x + M^-1 new; new = rest = B rest. On entry new = rest."""
        yield from self._operator(system, True, f)
        yield from plus(f, system, UPDATE, BEFORE, system.single(f))

    def _operator(self, system: LinearSystem, powers: bool, f: Roles) -> Program:
        """new = A M^-1 new, or with `powers` new = rest = B rest, where new = rest on entry."""
        s = system.single(f)
        yield from system.precondition(s)
        yield from system.product(s)
        if powers:
            yield from damped(s, system)

    def _arnoldi(self, system: LinearSystem, powers: bool, sums: int, f: Roles) -> Program:
        """Add A M^-1, or with `powers` B^d, times the last vector, orthogonal to all, at most `sums` times ten."""
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
        """Subtract the components `along` all other vectors from the new one, and compute its squared length."""
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
        """Start a cycle with negative sign, as the residual is given as A x - r."""
        begun = self._small.begun(scalars)
        return begun | {"scale": -begun["scale"]}

    def forcing(self, fallen: float) -> float:
        """Return the relative tolerance: the given one, or by S. C. Eisenstat and H. F. Walker (1996, SIAM J. Sci.
        Comput. 17, 16) from the square of `fallen`, the right-hand side over the previous one.
        """
        return self.tolerance or max(TIGHTEST, min(LOOSEST, SHARE * fallen**2))

    def left(self, scalars: Scalars) -> float:
        """Return the remaining residual of the last equations over their right-hand side."""
        return scalars["left"] / scalars["begun"] if scalars["begun"] > 0 else 0.0

    def _rotated(self, powers: bool, scalars: Scalars) -> dict[str, float]:
        taken = scalars["taken"] + (scalars["depth"] if powers else 1)
        return {**self._small.rotated(powers, scalars), "taken": taken}

    def polynomial(self, scalars: Scalars) -> dict[str, float]:
        """Return the w and d of P. The last bits of eigenvalues may differ between kinds of hosts: w is rounded, so
        that all blocks agree, also on d unless an eigenvalue is next to a bound.
        """
        known = self._small.eigenvalues(FIRST, scalars)
        size = np.abs(known)
        damping = round(float(BOUND / max(size.max(), BOUND)), 3)
        inside = bool((damping * size**2 <= INSIDE * known.real + MARGIN).all())
        return {"damping": damping, "depth": DEEP} if inside else {"damping": 1.0, "depth": SHALLOW}

    def _shares(self, scalars: Scalars) -> dict[str, float]:
        """Return the y of the first vectors, and w times the y of the others."""
        y, by = self._small.solution(scalars), 0.0 if _few(scalars) else scalars["damping"]
        first = [value if n < FIRST else 0.0 for n, value in enumerate(y)]
        others = [by * value if n >= FIRST else 0.0 for n, value in enumerate(y)]
        named = zip((*COEFFICIENTS["share"], *COEFFICIENTS["share_p"]), (*first, *others), strict=True)
        return {"few": min(scalars["place"], float(FIRST)), **dict(named)}

    def present(self, scalars: Scalars) -> Iterator[int]:
        """Yield for each last vector the number of vectors since the restart, assuming the last d for all cycles."""
        left, vectors = scalars["taken"], 0
        while left > 0:
            vectors = vectors % self.vectors + 1
            left -= scalars["depth"] if vectors > FIRST else 1
            yield vectors

    def solved(self, scalars: Scalars) -> bool:
        """Return True if the last equations were solved to the tolerance."""
        return scalars["left"] <= scalars["forcing"] * scalars["begun"]

    def _enough(self, scalars: Scalars) -> bool:
        """Return True if no further vector follows. A vector takes one product, after the first FIRST d products."""
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
