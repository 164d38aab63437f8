"""Measures of cells from vertices [xyz, k, j, i], in double precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np

from taskflow.hexahedra import Part, cell_volumes, face_areas, in_parts, low_faces
from taskflow.runtime.regions import Triple


def closure(vertices: np.ndarray) -> np.ndarray:
    """Return the length [k, j, i] of the sum of a cell's six outward area vectors over the sum of their lengths: zero
    to rounding.
    """
    across_i, across_j, across_k = (face_areas(vertices, axis) for axis in range(3))
    low_high = [
        (across_i[..., :-1], across_i[..., 1:]),
        (across_j[..., :-1, :], across_j[..., 1:, :]),
        (across_k[:, :-1], across_k[:, 1:]),
    ]
    total = np.sqrt((sum(high - low for low, high in low_high) ** 2).sum(axis=0))
    return np.asarray(total / sum(np.sqrt((s**2).sum(axis=0)) for pair in low_high for s in pair))


@dataclass(frozen=True)
class CellSizes:
    """The sizes of the cells of a chart: the least volume, in the cell `place` (i, j, k) counted from 0, and how many
    are not > 0; the largest one; and the least and the largest thickness by so many first directions: the volume over
    the largest of a cell's low faces across them. By 2 it is there where the chart is one cell thick along the third.
    """

    least: float
    place: Triple
    negative: int
    largest: float
    thickness: Mapping[int, tuple[float, float]]


def cell_sizes(vertices: np.ndarray) -> CellSizes:
    """The sizes of cells between vertices."""
    with np.errstate(divide="ignore", invalid="ignore"):  # faces without an area
        parts = in_parts(vertices, partial(_sizes, vertices.shape[1] == 2))
    lowest = min(parts, key=lambda part: part.least)
    return CellSizes(
        lowest.least,
        lowest.place,
        sum(part.negative for part in parts),
        max(part.largest for part in parts),
        {
            n: (min(part.thickness[n][0] for part in parts), max(part.thickness[n][1] for part in parts))
            for n in lowest.thickness
        },
    )


def _sizes(flat: bool, corners: list[np.ndarray], at: Part) -> CellSizes:
    volumes = cell_volumes(corners)
    squares = [(low_faces(corners, axis) ** 2).sum(axis=0) for axis in range(3)]
    some = (2, 3) if flat else (3,)
    thick = {n: volumes / np.sqrt(reduce(np.maximum, squares[:n])) for n in some}
    k, j, i = (int(n) for n in np.unravel_index(int(volumes.argmin()), volumes.shape))
    return CellSizes(
        float(volumes[k, j, i]),
        (i, j + at[1].start, k + at[0].start),
        int((volumes <= 0).sum()),
        float(volumes.max()),
        {n: (float(size.min()), float(size.max())) for n, size in thick.items()},
    )
