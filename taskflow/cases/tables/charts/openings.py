"""Openings in the sides of a body-fitted grid: [[openings]]."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import numpy as np

from taskflow.cases.formulas.values import number
from taskflow.cases.language.problems import Problem, no_such_side, numbered, wrong
from taskflow.cases.language.table import optional, reads
from taskflow.cases.tables.charts.sides import ChartSide
from taskflow.cases.tables.places import PlacedSide, by_name, names_are_own, scalars_exist, take_faces
from taskflow.cases.tables.timed import Value
from taskflow.geometry.grids import MultiBlockGrid
from taskflow.geometry.grids.multiblock.opening import GridOpening

NEAR = 1e-6  # of the size of a box: a face that far beyond it is in it


class ChartOpening(PlacedSide, ChartSide):
    """A part of a side with a separate condition. It has the keys of a side of its type, too."""

    scalars: Annotated[dict[str, Value] | None, reads(partial(by_name, value=number))] = optional(
        "values of passive scalars by name, in entering fluid or on a wall",
        otherwise="0 in entering fluid, elsewhere no gradient",
    )

    @property
    def part(self) -> GridOpening:
        """Its faces of a grid: those whose centres are in its box, or within the radius of its disk, in space."""
        near = NEAR * float(np.ptp(self.box, axis=0).max()) if self.box else 0.0
        return GridOpening(self.name, self.side, partial(self.contains, axes=(0, 1, 2), near=near))


ChartOpenings = tuple[ChartOpening, ...]


def _are_in_sides(unopened: MultiBlockGrid, openings: ChartOpenings) -> Iterator[Problem]:
    for key, opening in numbered(openings=openings):
        if opening.side not in unopened.sides:
            yield wrong((*key, "side"), opening.side, no_such_side(opening.side, unopened.sides))
        if opening.name in unopened.sides:
            yield wrong((*key, "name"), opening.name, "the grid has a side of this name; give another")


def _take_faces(unopened: MultiBlockGrid, openings: ChartOpenings) -> Iterator[Problem]:
    def covers(opening: Any) -> np.ndarray:
        return np.concatenate([marked.ravel() for marked in opening.part.marked(unopened)])

    known = [(key, opening) for key, opening in numbered(openings=openings) if opening.side in unopened.sides]
    return take_faces(known, covers)


ChartOpening.rules = (names_are_own, _are_in_sides, _take_faces, scalars_exist)


def can_be_opened(unopened: MultiBlockGrid, openings: ChartOpenings) -> bool:
    """Return whether each opening has a side, separate faces and a separate name."""
    problems = (rule(unopened, openings) for rule in (_are_in_sides, _take_faces))
    return not any(any(some) for some in problems) and not any(names_are_own(openings))
