"""The expressions of a case that are recorded, and Q: as blocks compute them, what the store says of them, and what in
them is added to what.

A number may have any dimension, so that only sums, differences and comparisons of names, their products, quotients,
powers and roots can be told to be of unlike things: `u - z` is, `u - 2*z` is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from taskflow.flow import Boundaries, StaggeredGrid
from taskflow.flow.measures.derived import Derived, Q
from taskflow.flow.operators.formula import Formula
from taskflow.output import FieldMetadata
from taskflow.simulation.build.pictures import WORDS, pictured
from taskflow.simulation.case import Case
from taskflow.simulation.case.expressions import recorded
from taskflow.simulation.case.problems import numbered, present, wrong
from taskflow.simulation.formulas.expression import COORDINATES, TIME, syntax


def derived(case: Case, grid: StaggeredGrid, boundaries: Boundaries) -> Derived | None:
    """Return what computes the expressions that are recorded or drawn, and Q; None without any."""
    tables = recorded(case.output, case.statistics, case.probes, case.planes, case.monitor)
    names = {name for _, fields in tables for name in fields}
    names |= {name for picture in case.pictures for name in picture.fields}
    formulas: dict[str, Formula | None] = {
        t.name: t.field(case.fields).formula for t in case.expressions if t.name in names
    }
    if Q in names and Q not in case.fields:
        formulas[Q] = None
    formulas |= pictured(case)
    return Derived(formulas, grid, boundaries) if formulas else None


def derived_metadata(case: Case) -> dict[str, FieldMetadata]:
    """Return what the store says of each."""
    metadata = {
        table.name: FieldMetadata(table.long_name or table.expression, table.units, expression=table.expression)
        for table in case.expressions
    }
    return metadata | ({} if Q in case.fields else {Q: FieldMetadata(WORDS[Q])})


def unlike(case: Case) -> Iterator[str]:
    """Warnings of expressions and forces in which things of unlike dimensions are added or compared."""
    for key, table in numbered(expressions=case.expressions, forcing=case.forcing):
        for name in present(dict(table), "expression", "where"):
            for problem in unlike_terms(source := getattr(table, name), case.fields):
                yield str(wrong((*key, name), source, f"{problem}; if that is meant, multiply one by a number"))


Dimension = Mapping[str, Fraction]  # the power of each quantity in it; none of 0


def dimension(**powers: int) -> Dimension:
    """A product of powers of quantities."""
    return {name: Fraction(power) for name, power in powers.items()}


LENGTH, VELOCITY = dimension(length=1), dimension(length=1, time=-1)
KNOWN: Mapping[str, Dimension] = {
    **dict.fromkeys(COORDINATES, LENGTH), TIME: dimension(time=1), **dict.fromkeys("uvw", VELOCITY),
    "p": dimension(length=2, time=-2), "nu_t": dimension(length=2, time=-1), "T": dimension(temperature=1),
}  # fmt: skip
ALIKE = ("minimum", "maximum")


def unlike_terms(source: str, fields: tuple[str, ...]) -> list[str]:
    """Return what is wrong with the dimensions of a sound formula of these fields, in words. Pressures are over the
    density; each scalar is a quantity of its own.
    """
    reader = _Reader({**{name: {name: Fraction(1)} for name in fields}, **KNOWN}, " ".join(source.split()))
    reader.of(syntax(source))
    return reader.problems


@dataclass
class _Reader:
    """Finds the dimension of each part of a formula, None where a number may give it any."""

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
        """The dimension of both, which should be the same."""
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
