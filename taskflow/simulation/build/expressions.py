"""The expressions of a case that are recorded, and Q: as blocks compute them, and what the store says of them."""

from __future__ import annotations

from collections.abc import Iterator

from taskflow.flow import Boundaries, StaggeredGrid
from taskflow.flow.formula import Formula
from taskflow.flow.measures.derived import Derived, Q
from taskflow.output import FieldMetadata
from taskflow.simulation.build.pictures import WORDS, pictured
from taskflow.simulation.case import Case
from taskflow.simulation.case.expressions import recorded
from taskflow.simulation.case.problems import numbered, present, wrong
from taskflow.simulation.dimensions import unlike_terms


def derived(case: Case, grid: StaggeredGrid, boundaries: Boundaries) -> Derived | None:
    """What computes the expressions that are recorded or drawn, and Q; None without any."""
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
    """What the store says of each."""
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
