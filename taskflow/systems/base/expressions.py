"""The expressions of a case, and derived fields: their computation on blocks, their metadata, and the dimensions of
their terms; forces of the model and at the start.

A number may have any dimension. Only sums, differences and comparisons of names, their products, quotients, powers and
roots can therefore be found to mix dimensions: `u - z` does, `u - 2*z` does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from taskflow.cases import Case
from taskflow.cases.formulas.expression import COORDINATES, TIME, Expression, syntax
from taskflow.cases.formulas.field_expression import FieldExpression
from taskflow.cases.language.problems import numbered, present, wrong
from taskflow.cases.tables.expressions import ForcingTable, forced_fields, recorded
from taskflow.common.caching import cached_property
from taskflow.common.derived_names import SPEED, WORDS
from taskflow.common.errors import BadInput
from taskflow.flow import StaggeredGrid
from taskflow.flow.forcing.field_force import FACE, FieldForce
from taskflow.flow.measures.derived import OF_GRADIENT, Derived
from taskflow.flow.operators.formula import Formula
from taskflow.output import FieldMetadata
from taskflow.runtime.regions import Location, triple
from taskflow.systems.base.pictures import FORMULAS, pictured
from taskflow.systems.initial.fields import few, initial_profiles
from taskflow.systems.initial.side_profiles import times_of

Places = tuple[Any, Any, Any]  # coordinates that broadcast


def derived(case: Case, grid: StaggeredGrid) -> Derived | None:
    """Return the program of recorded and drawn expressions and derived fields, or None."""
    tables = recorded(case.output, case.statistics, case.probes, case.planes, case.monitor)
    names = {name for _, fields in tables for name in fields}
    names |= {name for picture in case.pictures for name in picture.fields}
    names |= {surface.field for surface in case.isosurfaces}
    formulas: dict[str, Formula | None] = {
        t.name: t.field(case.fields).formula for t in case.expressions if t.name in names
    }
    unnamed = names - {*formulas, *case.fields}
    formulas |= {name: None for name in OF_GRADIENT if name in unnamed}
    if SPEED in unnamed:
        formulas[SPEED] = FieldExpression(FORMULAS[SPEED], case.fields).formula
    formulas |= pictured(case)
    return Derived(formulas, grid, bool(case.obstacles)) if formulas else None


def derived_metadata(case: Case) -> dict[str, FieldMetadata]:
    metadata = {
        table.name: FieldMetadata(table.long_name or table.expression, table.units, expression=table.expression)
        for table in case.expressions
    }
    return {name: FieldMetadata(words) for name, words in WORDS.items() if name not in case.fields} | metadata


def unlike(case: Case) -> Iterator[str]:
    """Yield warnings of expressions and forces that add or compare terms of different dimensions."""
    for key, table in numbered(expressions=case.expressions, forcing=case.forcing):
        for name in present(dict(table), "expression", "where"):
            for problem in unlike_terms(source := getattr(table, name), case.fields):
                yield str(wrong((*key, name), source, f"{problem}; if that is meant, multiply one by a number"))


Dimension = Mapping[str, Fraction]  # the power of each quantity in it; none of 0


def dimension(**powers: int) -> Dimension:
    """Return a product of powers of quantities."""
    return {name: Fraction(power) for name, power in powers.items()}


LENGTH, VELOCITY = dimension(length=1), dimension(length=1, time=-1)
KNOWN: Mapping[str, Dimension] = {
    **dict.fromkeys(COORDINATES, LENGTH), TIME: dimension(time=1), **dict.fromkeys("uvw", VELOCITY),
    "p": dimension(length=2, time=-2), "nu_t": dimension(length=2, time=-1), "T": dimension(temperature=1),
}  # fmt: skip
ALIKE = ("minimum", "maximum")


def unlike_terms(source: str, fields: tuple[str, ...]) -> list[str]:
    """Return the problems with dimensions of a formula of these fields. Pressures are over the density."""
    reader = _Reader({**{name: {name: Fraction(1)} for name in fields}, **KNOWN}, " ".join(source.split()))
    reader.of(syntax(source))
    return reader.problems


@dataclass
class _Reader:
    """Finds the dimension of each part of a formula, None if a number may give it any."""

    names: Mapping[str, Dimension]
    text: str
    problems: list[str] = field(default_factory=list)

    def of(self, node: ast.expr) -> Dimension | None:
        match node:
            case ast.Name(id=name):
                return self.names.get(name)
            case ast.UnaryOp(operand=operand):
                return self.of(operand)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                return self.alike(node, left, right)
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return self.power(left, right)
            case ast.BinOp(left=left, op=op, right=right):
                return _product(self.of(left), self.of(right), 1 if isinstance(op, ast.Mult) else -1)
            case ast.Compare(left=left, comparators=others):
                for pair in pairwise([left, *others]):
                    self.alike(node, *pair)
            case ast.Call(func=ast.Name(id="where"), args=[condition, then, otherwise]):
                self.of(condition)
                return self.alike(node, then, otherwise)
            case ast.Call(func=ast.Name(id=name), args=arguments) if name in ALIKE:
                return self.alike(node, *arguments)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                (inside,) = map(self.of, arguments)
                if name in ("abs", "sqrt") and inside is not None:
                    return _power(inside, Fraction(1, 2) if name == "sqrt" else Fraction(1))
        return None

    def alike(self, node: ast.expr, one: ast.expr, other: ast.expr) -> Dimension | None:
        """Return the common dimension of both, and record a problem if they differ."""
        first, second = self.of(one), self.of(other)
        if first is not None and second is not None and first != second:
            part = ast.get_source_segment(self.text, node) or self.text
            self.problems.append(f"{part!r} is of unlike things, {_words(first)} and {_words(second)}")
        return second if first is None else first

    def power(self, base: ast.expr, exponent: ast.expr) -> Dimension | None:
        inside = self.of(base)
        self.of(exponent)
        match exponent:
            case ast.Constant(value=int() | float() as value) if inside is not None:
                return _power(inside, Fraction(value).limit_denominator(12))
        return None


def _product(one: Dimension | None, other: Dimension | None, sign: int) -> Dimension | None:
    if one is None or other is None:
        return None
    powers = {name: one.get(name, Fraction(0)) + sign * other.get(name, Fraction(0)) for name in {**one, **other}}
    return {name: power for name, power in powers.items() if power}


def _power(one: Dimension, exponent: Fraction) -> Dimension:
    return {name: power * exponent for name, power in one.items() if exponent}


def _words(one: Dimension) -> str:
    above, below = ("*".join(_factors(one, sign)) for sign in (1, -1))
    return (above or "1") + (f"/({below})" if "*" in below else f"/{below}" if below else "")


def _factors(one: Dimension, sign: int) -> Iterator[str]:
    for name, power in sorted(one.items()):
        if power * sign > 0:
            size = str(abs(power))
            yield name if size == "1" else f"{name}^({size})" if "/" in size else f"{name}^{size}"


def forces(case: Case, grid: StaggeredGrid) -> tuple[FieldForce, ...]:
    fields = forced_fields(case.heat, case.scalars)
    return tuple(FieldForce(t.on, t.whole(fields).formula, t.cells(grid), grid.origin) for t in case.forcing)


@dataclass(frozen=True, eq=False)
class InitialForce:
    """A force at the start of a case, at a sample of its places, if the initial fields are expressions."""

    case: Case
    grid: StaggeredGrid
    table: ForcingTable
    number: int

    @property
    def key(self) -> str:
        """The key of its expression in the case file, and the expression."""
        return f'forcing[{self.number}].expression = "{self.table.expression}"'

    @cached_property
    def _expression(self) -> FieldExpression:
        return self.table.whole(forced_fields(self.case.heat, self.case.scalars))

    @cached_property
    def places(self) -> Places:
        """A sample of the places at which it acts."""
        at: Location = FACE.get(self.table.on, "c")
        cells = self.table.cells(self.grid)
        for axis, name in enumerate(FACE):
            if name == self.table.on and not self.grid.periodic[axis]:  # faces on walls have no force
                cells &= self.grid.box.layer(axis, 0, 1, self.grid.cells[axis])
        return triple(map(few, self.grid.points(at, cells))) if cells else (np.zeros(0),) * 3

    @cached_property
    def _profiles(self) -> dict[str, Expression] | None:
        """The fields in it and the one it acts on, at the start; None if one is not an expression."""
        if self.case.initial.source is not None:
            return None
        profiles = initial_profiles(self.case)
        found = {name: profiles.get(name) for name in {self.table.on, *self._expression.formula.fields}}
        known = {name: profile for name, profile in found.items() if isinstance(profile, Expression)}
        return known if len(known) == len(found) else None

    def fields_at(self, places: Places) -> dict[str, np.ndarray]:
        """Return the initial values of these fields."""
        return {name: profile(*places) for name, profile in (self._profiles or {}).items()}

    @cached_property
    def _fields(self) -> dict[str, np.ndarray]:
        return self.fields_at(self.places)

    @property
    def timed(self) -> bool:
        """True if it depends explicitly on time."""
        return self._expression.formula.timed

    @property
    def known(self) -> bool:
        return self._profiles is not None

    def of(self, time: float) -> np.ndarray:
        """Return the force at a time on the initial fields. Raises BadInput if it is not finite."""
        try:
            return self._expression(*self.places, time, self._fields)
        except BadInput as error:
            raise BadInput(f"{self.key}: at time {time:g} {error}") from None

    def check(self) -> None:
        """Raise BadInput if it is not finite at the start, or later on the initial fields."""
        for time in times_of(self.case) if self.known else ():
            self.of(time)

    def at(self, places: Places, time: float, fields: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the force at places, 0 beyond its box, with these values of fields. Raises BadInput if not finite."""
        force = self._expression(*places, time, fields)
        for along, low, high in zip(places, *self.table.box, strict=True) if self.table.box else ():
            force = np.where((along >= low) & (along <= high), force, 0.0)
        return force


def initial_forces(case: Case, grid: StaggeredGrid) -> Iterator[InitialForce]:
    for number, table in enumerate(case.forcing, start=1):
        yield InitialForce(case, grid, table, number)
