"""The vectors of linear equations A x = r: p, u, v, w and, with heat, T in all cells, and the roles of their fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from taskflow.flow.models.artificial_compressibility.blocks import MatrixBlocks
from taskflow.flow.models.artificial_compressibility.implicit import krylov, outer, scalar
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Derive, Launch, Repeat, Roles

Program = Iterator[Launch | Repeat | Derive]
RIGHT, UPDATE, BEFORE, AFTER = (tuple(f"{name}_{age}" for name in "puvw") for age in ("r", "x", "z", "new"))
REST = tuple(f"{name}_rest" for name in "puvw")


class LinearSystem(Protocol):
    """A x = r with a preconditioner M. Lengths of vectors are defined by `krylov.square` with these weights."""

    @property
    def cells(self) -> tuple[Box, ...]:
        """All cells."""

    @property
    def weight(self) -> float:
        """The weight of p^2 in the square of a length."""

    @property
    def warmth(self) -> float:
        """The weight of T^2; 0 without T."""

    @property
    def further(self) -> bool:
        """True if the vectors need two fields."""

    @property
    def blocks(self) -> MatrixBlocks:
        """The blocks of M."""

    def coupled_field(self, f: Roles, vector: tuple[str, ...]) -> str | None:
        """Return the field of T of a vector, if the blocks couple it."""

    def precondition(self, f: Roles) -> Program:
        """z = M^-1 new."""

    def product(self, f: Roles) -> Program:
        """new = A z."""

    def single(self, f: Roles) -> Roles:
        """Return the roles with z, new and `REST` in single precision if `prepared`, else the same roles."""

    def prepared(self, f: Roles) -> Program:
        """Round the fields in A."""

    def left_of_heat(self, f: Roles) -> Program:
        """Unless blocks couple T: compute new = r - A_1 x for its equation, and add the lift of x to momentum."""


def fields(f: Roles, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f[name] for name in names)


def warm(f: Roles, system: LinearSystem, names: tuple[str, ...]) -> str | None:
    """Return the field of T for these roles, or None."""
    return of_heat(f, names)[0] if system.warmth else None


def of_heat(f: Roles, *roles: tuple[str, ...]) -> tuple[str, ...]:
    """Return the fields of T for these roles."""
    return tuple(f["T" + names[0].removeprefix("p")] for names in roles)


def weights(system: LinearSystem) -> dict[str, Any]:
    """Return the weights of p^2 and T^2, as launch arguments."""
    return {"weights": krylov.Weights(system.weight, system.warmth)}


def measured(f: Roles, system: LinearSystem, vector: tuple[str, ...]) -> Program:
    """Compute the square of a vector's length, and its largest term: the scalars `square` and `most`."""
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
    """vector = other, with the vector in the fields of `s`, in any precision."""
    yield outer.same(fields(s, vector), fields(f, other), over=system.cells)
    if system.warmth:
        yield scalar.value_same(*of_heat(s, vector), *of_heat(f, other), over=system.cells)


def plus(
    f: Roles, system: LinearSystem, vector: tuple[str, ...], other: tuple[str, ...], s: Roles | None = None
) -> Iterator[Launch]:
    """vector = vector + other, which may be in the fields of `s`, in any precision."""
    yield outer.add(fields(f, vector), fields(s or f, other), over=system.cells)
    if system.warmth:
        yield scalar.value_added(*of_heat(f, vector), *of_heat(s or f, other), over=system.cells, by=1.0)


def less(f: Roles, system: LinearSystem, vector: tuple[str, ...], other: tuple[str, ...]) -> Iterator[Launch]:
    """vector = vector - other."""
    yield outer.less(fields(f, vector), fields(f, other), over=system.cells)
    if system.warmth:
        yield scalar.value_added(*of_heat(f, vector, other), over=system.cells, by=-1.0)


def damped(f: Roles, system: LinearSystem) -> Iterator[Launch]:
    """rest = new = rest - damping new."""
    by = f.scalar("damping")
    yield outer.damped(fields(f, REST), fields(f, AFTER), over=system.cells, damping=by)
    if system.warmth:
        yield scalar.value_damped(*of_heat(f, REST, AFTER), over=system.cells, damping=by)
