"""GMRES(m), restarted, preconditioned from the right (Y. Saad, M. H. Schultz 1986, SIAM J. Sci. Stat. Comput. 7, 856).

Each new vector is made orthogonal to those before by classical Gram-Schmidt, twice. All sums are exact, and the small
least-squares problem is solved by the host, with Givens rotations: the iterations have the same bits for any blocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol

from taskflow.flow.models.artificial_compressibility.implicit import krylov, outer, scalar
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Derive, Launch, Repeat, Roles, derive, reduced

Scalars = Mapping[str, float]
Program = Iterator[Launch | Repeat | Derive]
RIGHT, UPDATE, BEFORE, AFTER = (tuple(f"{name}_{age}" for name in "puvw") for age in ("r", "x", "z", "new"))
BREAKDOWN = 1e-14  # of a vector's length: the space holds the solution
AGAIN = 0.1  # of a vector's length: where less is left, what was taken off is not orthogonal enough
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
    return {"weight": system.weight, "warmth": system.warmth}


def measured(f: Roles, system: LinearSystem, vector: tuple[str, ...]) -> Program:
    """The square of a vector's length, and the largest part in it: the scalars `square` and `most`."""
    where: dict[str, Any] = {"over": system.cells, **weights(system)}
    of = fields(f, vector), warm(f, system, vector)
    yield krylov.largest_square(*of, most=f.scalar("most"), **where)
    yield krylov.square(*of, squares=f.scalar("square"), most=f.scalar("most"), **where)


def length(scalars: Scalars) -> float:
    """The length of the vector that was `measured`."""
    return math.sqrt(max(reduced(scalars, "square")[0], 0.0))


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
    """At most `products` products with A, with a restart after so many `vectors`, until the residual has fallen to
    `tolerance` of the right-hand side. The scalar `taken` says how many products that took, `left` what is left.
    """

    vectors: int = 40
    products: int = 40
    tolerance: float = 0.05
    approximates: ClassVar[bool] = False

    @property
    def told(self) -> str:
        """In words."""
        return f"GMRES({self.vectors}) to {self.tolerance:g}, at most {self.products} products"

    def solve(self, f: Roles, system: LinearSystem) -> Program:
        """x of A x = r. The right-hand side in the roles of `RIGHT` is afterwards what was left at the last restart."""
        yield from measured(f, system, RIGHT)
        yield derive(self._begin, (*self._memory, "begun", "taken"))
        yield from self._cycle(f, system)
        yield from same(f, system, UPDATE, BEFORE)
        further = -(-self.products // self.vectors) - 1
        if further:
            again = partial(self._again, system)
            yield Repeat(again, further, until=self._enough, lag=False, further=True)

    @property
    def _memory(self) -> tuple[str, ...]:
        """What a cycle remembers: the triangular matrix by columns, rotations, the rotated right-hand side."""
        m = self.vectors
        small = (f"{name}.{n}" for name, count in (("c", m), ("s", m), ("e", m + 1)) for n in range(count))
        return ("place", "count", "scale", "left", *(f"t.{n}" for n in range(m * (m + 1) // 2)), *small)

    def _cycle(self, f: Roles, system: LinearSystem) -> Program:
        """z = M^-1 (sum of y_n v_n), of the y for which what is left is shortest."""
        cells, right, vector = system.cells, fields(f, RIGHT), fields(f, AFTER)
        T, vectors = warm(f, system, AFTER), self._vectors(f, system)
        begun = right, warm(f, system, RIGHT)
        yield krylov.first_vector(*begun, *vectors, vector, T, over=cells, scale=f.scalar("scale"))
        for first in range(0, self.vectors, krylov.AT_ONCE):
            most, sums = min(self.vectors - first, krylov.AT_ONCE), first // krylov.AT_ONCE + 1
            yield Repeat(partial(self._arnoldi, system, sums), most, until=self._enough, lag=False, further=first > 0)
        yield derive(self._shares, tuple(f"share.{n}" for n in range(krylov.MOST)))
        yield krylov.combined(*vectors, vector, T, over=cells, share=f.scalar("share"), count=f.scalar("place"))
        yield from system.precondition(f)

    def _again(self, system: LinearSystem, f: Roles) -> Program:
        """Another cycle, for what is left: after the first one z is its x, of later ones what they added."""
        yield from system.product(f)
        yield from less(f, system, RIGHT, AFTER)
        yield from measured(f, system, RIGHT)
        yield derive(self._restart, self._memory)
        yield from self._cycle(f, system)
        yield from added(f, system, UPDATE, BEFORE)

    def _arnoldi(self, system: LinearSystem, sums: int, f: Roles) -> Program:
        """A vector more: A M^-1 times the last one, less its parts along all others, of which there are at most so many
        `sums` of ten.
        """
        vector = fields(f, AFTER), warm(f, system, AFTER)
        yield from system.precondition(f)
        yield from system.product(f)
        yield krylov.largest_square(*vector, over=system.cells, most=f.scalar("most"), **weights(system))
        yield from self._less_parts(f, system, sums)
        yield derive(partial(self._taken_off, sums, False), (*self._column, "whole", "rest"))
        yield Repeat(partial(self._once_more, system, sums), 1, until=_orthogonal, lag=False, further=True)
        yield derive(self._rotated, (*self._memory, "taken"))
        where = {"place": f.scalar("place"), "scale": f.scalar("scale")}
        yield krylov.next_vector(*self._vectors(f, system), *vector, over=system.cells, **where)

    def _once_more(self, system: LinearSystem, sums: int, f: Roles) -> Program:
        """What rounding has left of the parts along other vectors, off the new one."""
        yield from self._less_parts(f, system, sums)
        yield derive(partial(self._taken_off, sums, True), (*self._column, "whole", "rest"))

    def _less_parts(self, f: Roles, system: LinearSystem, sums: int) -> Program:
        """The new vector less its parts along all others, which are `along`, and the square of its length."""
        vectors, vector = self._vectors(f, system), (fields(f, AFTER), warm(f, system, AFTER))
        about: dict[str, Any] = {"over": system.cells, "count": f.scalar("count"), **weights(system)}
        names = [f.scalar(f"along_{n}") for n in range(sums)]
        for name, first in zip(names, PARTS, strict=False):
            yield krylov.products(*vectors, *vector, along=name, first=first, most=f.scalar("most"), **about)
        along = {f"along_{n}": names[min(n, sums - 1)] for n in range(len(PARTS))}
        yield krylov.orthogonal(*vectors, *vector, **along, most=f.scalar("most"), **about)
        length_of = {"squares": f.scalar("square"), "most": f.scalar("most"), **weights(system)}
        yield krylov.square(*vector, over=system.cells, **length_of)

    @staticmethod
    def _vectors(f: Roles, system: LinearSystem) -> tuple[str, str | None, str | None]:
        return f.vectors, f.later if system.further else None, f.warm if system.warmth else None

    def _begin(self, scalars: Scalars) -> dict[str, float]:
        return {**self._restart(scalars), "begun": length(scalars), "taken": 0.0}

    def _restart(self, scalars: Scalars) -> dict[str, float]:
        """An empty memory, and the first vector's length."""
        size = length(scalars)
        begun = {"count": 1.0, "scale": 1 / size if size > 0 else 0.0, "left": size, "e.0": size}
        return dict.fromkeys(self._memory, 0.0) | begun

    def solved(self, scalars: Scalars) -> bool:
        """Whether the last equations were solved to the tolerance."""
        return scalars["left"] <= self.tolerance * scalars["begun"]

    def _enough(self, scalars: Scalars) -> bool:
        return self.solved(scalars) or scalars["taken"] >= self.products

    @property
    def _column(self) -> tuple[str, ...]:
        return tuple(f"column.{n}" for n in range(self.vectors))

    def _taken_off(self, sums: int, again: bool, scalars: Scalars) -> dict[str, float]:
        """What has been taken off along each vector so far, the square of the length before, and of what is left."""
        count, rest = int(scalars["count"]), max(reduced(scalars, "square")[0], 0.0)
        along = [h for n in range(sums) for h in reduced(scalars, f"along_{n}")][:count]
        whole = rest + sum(h * h for h in along)
        if again:
            along = [h + scalars[f"column.{n}"] for n, h in enumerate(along)]
        return {"whole": whole, "rest": rest, **{f"column.{n}": h for n, h in enumerate(along)}}

    def _rotated(self, scalars: Scalars) -> dict[str, float]:
        """A column more, rotated so that the matrix stays triangular."""
        j, rest = int(scalars["place"]), scalars["rest"]
        column = [scalars[f"column.{n}"] for n in range(j + 1)]
        size = math.sqrt(sum(h * h for h in column) + rest)
        norm = math.sqrt(rest)
        norm = norm if norm > BREAKDOWN * size else 0.0
        for i in range(j):
            c, s = scalars[f"c.{i}"], scalars[f"s.{i}"]
            column[i], column[i + 1] = c * column[i] + s * column[i + 1], c * column[i + 1] - s * column[i]
        diagonal = math.hypot(column[j], norm)
        c, s = (column[j] / diagonal, norm / diagonal) if diagonal > 0 else (1.0, 0.0)
        column[j] = diagonal
        memory = {f"t.{j * (j + 1) // 2 + i}": value for i, value in enumerate(column)}
        e = scalars[f"e.{j}"]
        memory |= {f"c.{j}": c, f"s.{j}": s, f"e.{j}": c * e, f"e.{j + 1}": -s * e, "left": abs(s * e)}
        memory |= {"place": j + 1.0, "count": j + 2.0, "scale": 1 / norm if norm > 0 else 0.0}
        return memory | {"taken": scalars["taken"] + 1}

    def _shares(self, scalars: Scalars) -> dict[str, float]:
        """The y for which |e - T y| is least, by substitution from behind; 0 of vectors that are not there."""
        count, shares = int(scalars["place"]), [0.0] * krylov.MOST
        for i in reversed(range(count)):
            row = [scalars[f"t.{j * (j + 1) // 2 + i}"] for j in range(i, count)]
            rest = scalars[f"e.{i}"] - sum(t * y for t, y in zip(row[1:], shares[i + 1 : count], strict=True))
            shares[i] = rest / row[0] if row[0] != 0 else 0.0
        return {f"share.{n}": y for n, y in enumerate(shares)}


def _orthogonal(scalars: Scalars) -> bool:
    """Whether enough was left of the new vector: rounding has then left next to nothing along the others."""
    return scalars["rest"] >= AGAIN**2 * scalars["whole"]


FORTY = Gmres()
"""Forty vectors and products, a twentieth of the residual."""
