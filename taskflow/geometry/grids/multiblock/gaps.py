"""Narrow gaps between sides whose faces were perhaps meant to coincide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from taskflow.geometry.grids.multiblock.grid import Chart, MultiBlockGrid
from taskflow.geometry.grids.multiblock.matching import DIRECTION, FaceGaps, SideFaces, close
from taskflow.geometry.grids.multiblock.merging import TOLERANCE

NARROW = 0.1  # of the shortest edge of a face
BATCH = 1 << 13  # faces at a time, a slice across DIRECTION
ACROSS = np.array([0.7289, -0.0113, -0.6845])  # along which the faces of a slice are sorted


@dataclass(frozen=True, order=True)
class Gap:
    """Number of opposite faces of two sides, and the largest distance of their corners."""

    one: str
    other: str
    faces: int
    apart: float

    def __str__(self) -> str:
        return (
            f"sides {self.one} and {self.other} nearly coincide in {self.faces} faces, at most {self.apart:.3g} apart,"
            " and are not joined there; if they should be, give them the same vertices"
        )


def gaps(grid: MultiBlockGrid) -> list[Gap]:
    """Return pairs of sides with faces whose corners are all closer than a tenth of an edge.

    The faces must face each other without a cell between them, as in a thin slice. Faces with the same vertices are
    separate on purpose and not reported.
    """
    patches = [(name, patch) for name, patches in grid.sides.items() for patch in patches]
    if not patches:
        return []
    faces = SideFaces.of(grid.charts, [patch for _, patch in patches])
    names = np.repeat([name for name, _ in patches], [patch.cells.volume for _, patch in patches])
    first, second, apart = (np.concatenate(column) for column in zip(*_opposite(grid.charts, faces), strict=True))
    pairs = np.sort(np.stack([names[first], names[second]], axis=1), axis=1)
    distinct, group = np.unique(pairs, axis=0, return_inverse=True)
    distances = ((*sides, apart[group.ravel() == n]) for n, sides in enumerate(distinct.tolist()))
    return [Gap(one, other, len(far), float(far.max())) for one, other, far in distances]


def _opposite(charts: Sequence[Chart], faces: SideFaces) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield pairs of faces, and the largest distance of their corners, slice by slice."""
    centres, reach, between = faces.corners.mean(axis=1), NARROW * faces.edge, FaceGaps(charts, faces)
    order = np.argsort(centres @ DIRECTION, kind="stable")
    places = (centres @ DIRECTION)[order]
    for begin in range(0, len(order), BATCH):
        here = order[begin : begin + BATCH]
        low, high = places[begin] - reach[here].max(), places[begin + len(here) - 1] + reach[here].max()
        others = order[np.searchsorted(places, low) : np.searchsorted(places, high, "right")]
        one, other = close(centres[here], centres[others], reach[here], ACROSS)
        first, second = here[one], others[other]
        facing = (first < second) & between.nothing(first, second)
        first, second = first[facing], second[facing]
        corners = faces.corners[first][:, :, None] - faces.corners[second][:, None]
        apart = np.sqrt((corners**2).sum(axis=3)).min(axis=2).max(axis=1)
        near = (apart > TOLERANCE * faces.edge[first]) & (apart <= reach[first])
        yield first[near], second[near], apart[near]
