"""The vectors of linear equations A x = r: p, u, v, w and, with heat, T of all cells, and the roles of their fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from taskflow.flow.models.artificial_compressibility.implicit import krylov, outer, scalar
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Derive, Launch, Repeat, Roles

Program = Iterator[Launch | Repeat | Derive]
RIGHT, UPDATE, BEFORE, AFTER = (tuple(f"{name}_{age}" for name in "puvw") for age in ("r", "x", "z", "new"))
REST = tuple(f"{name}_rest" for name in "puvw")


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

    def single(self, f: Roles) -> Roles:
        """The fields of both, and of `REST`, with which z and new are in single precision where they need not be exact,
        once they have been `prepared`; or the same fields.
        """

    def prepared(self, f: Roles) -> Program:
        """Round what A is made of."""

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
    yield from rounded(f, f, system, vector, other)


def rounded(
    s: Roles, f: Roles, system: LinearSystem, vector: tuple[str, ...], other: tuple[str, ...]
) -> Iterator[Launch]:
    """vector = other, with the vector in the fields of `s`, in whatever precision these are."""
    yield outer.same(fields(s, vector), fields(f, other), over=system.cells)
    if system.warmth:
        yield scalar.value_same(*_warm(s, vector), *_warm(f, other), over=system.cells)


def added(
    f: Roles, system: LinearSystem, vector: tuple[str, ...], other: tuple[str, ...], s: Roles | None = None
) -> Iterator[Launch]:
    """vector = vector + other, which may be in the fields of `s`, in whatever precision these are."""
    yield outer.add(fields(f, vector), fields(s or f, other), over=system.cells)
    if system.warmth:
        yield scalar.value_added(*_warm(f, vector), *_warm(s or f, other), over=system.cells, by=1.0)


def less(f: Roles, system: LinearSystem, vector: tuple[str, ...], other: tuple[str, ...]) -> Iterator[Launch]:
    """vector = vector - other."""
    yield outer.less(fields(f, vector), fields(f, other), over=system.cells)
    if system.warmth:
        yield scalar.value_added(*_warm(f, vector, other), over=system.cells, by=-1.0)


def damped(f: Roles, system: LinearSystem) -> Iterator[Launch]:
    """rest = new = rest - damping new."""
    by = f.scalar("damping")
    yield outer.damped(fields(f, REST), fields(f, AFTER), over=system.cells, damping=by)
    if system.warmth:
        yield scalar.value_damped(*_warm(f, REST, AFTER), over=system.cells, damping=by)
