"""Forces on all fluid on charts, [body], and the rules of passive scalars there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

import numpy as np

from taskflow.cases.language.problems import Problem, missing, no_such_side, numbered, wrong
from taskflow.cases.language.table import Table, Vector, entry, reads, written
from taskflow.cases.tables.charts.sides import ChartSides, FormulaVector
from taskflow.cases.tables.initial import VectorExpression, vector_expression
from taskflow.cases.tables.scalars import Scalars
from taskflow.common.errors import named
from taskflow.geometry.grids import MultiBlockGrid

_OWN = re.compile(
    r"b|(?:d|old|past)_\w+|\w+_(?:mid|single)|[uvw]_s|f_[xyz]|[uvwpT]_(?:[rxz]|rest)|T_pivot|later"
    "|sides|metrics|swept|filter_square|own|vectors|warm|carry|coupling_low|coupling_high|pivot|inverse|pseudo"
    "|continuity|momentum(?:_[xyz])?|heat"
)  # other fields of the model, and its equations


class ChartForcing(Table, FormulaVector):
    """Accelerations of the whole fluid."""

    gravity: Vector = entry("acts through `heat`", (0.0, 0.0, 0.0))
    force: Annotated[VectorExpression, reads(vector_expression)] = entry(
        "acceleration of all fluid: three numbers, or expressions of x, y and z, and in real time of t",
        (0.0, 0.0, 0.0),
    )

    @property
    def vector(self) -> VectorExpression:
        return self.force

    @property
    def numbers(self) -> Vector:
        """The force where it is the same everywhere, else 0: it is a field then."""
        return (0.0, 0.0, 0.0) if self.varies else super().numbers

    def at(self, x: np.ndarray, y: np.ndarray, z: np.ndarray, t: float = 0.0) -> list[np.ndarray]:
        with named("body.force"):
            return super().at(x, y, z, t)


def scalars_have_names(scalars: Scalars) -> Iterator[Problem]:
    """Scalars must not have the name of another field or of an equation, because residuals are reported by name."""
    for key, scalar in numbered(scalars=scalars):
        if _OWN.fullmatch(scalar.name):
            taken = "the model on charts has a field or an equation of this name; give another"
            yield wrong((*key, "name"), scalar.name, taken)


def scalars_have_sides(charts: MultiBlockGrid, boundaries: ChartSides, scalars: Scalars) -> Iterator[Problem]:
    """Yield a problem for each condition of a scalar on a side that takes none."""
    for key, scalar in numbered(scalars=scalars):
        for name, side in scalar.boundaries.sides.items():
            where, kind = (*key, "boundaries", name), boundaries.sides.get(name)
            if name not in charts.sides:
                yield wrong(where, side.written(), no_such_side(name, charts.sides))
            elif kind is not None and not (kind.kind.solid or kind.kind.enters):
                yield wrong(where, side.written(), f"a side of the type {kind.type} takes no scalar; leave it out")
            elif kind is not None and side.flux is not None and not kind.kind.solid:
                remedy = "a flux is given on walls; give the value that enters"
                yield wrong((*where, "flux"), written(side.flux), remedy)
            elif side.value is None and side.flux is None:
                yield missing("value", "give a value, or a flux").within(where)
            elif side.flux and scalar.diffusivity == 0:
                yield wrong((*where, "flux"), written(side.flux), "nothing diffuses without diffusivity; give one")
