"""Grids with openings: parts of their sides that are sides with separate names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from taskflow.geometry.grids.multiblock.grid import MultiBlockGrid, faces
from taskflow.geometry.grids.multiblock.matching import rectangles
from taskflow.runtime.regions import Patch


@dataclass(frozen=True)
class GridOpening:
    """A part of a side, with a name. `contains` marks points x, y, z, the centres of its faces."""

    name: str
    side: str
    contains: Callable[[np.ndarray], np.ndarray]

    def marked(self, grid: MultiBlockGrid) -> list[np.ndarray]:
        """Return for each patch of its side whether its faces, in the order of `faces`, belong to it."""
        return [self.contains(faces(grid, patch)[0]) for patch in grid.sides.get(self.side, ())]


def opened(grid: MultiBlockGrid, openings: Sequence[GridOpening]) -> MultiBlockGrid:
    """Return a grid whose openings, which share no face, are sides. Sides that they cover entirely are omitted."""
    sides = dict(grid.sides)
    for opening in openings:
        marks = opening.marked(replace(grid, sides=sides))
        own, left = list[Patch](), list[Patch]()
        for patch, marked in zip(sides[opening.side], marks, strict=True):
            own += _parts(patch, marked)
            left += _parts(patch, ~marked)
        sides |= {opening.side: tuple(left), opening.name: tuple(own)}
    return replace(grid, sides={name: patches for name, patches in sides.items() if patches})


def _parts(patch: Patch, marked: np.ndarray) -> Iterator[Patch]:
    cells = np.argwhere(np.expand_dims(marked, 2 - patch.axis))[:, ::-1] + np.array(patch.cells.lo)
    for box in rectangles(cells) if cells.size else ():
        yield Patch(patch.chart, patch.side, box)
