"""Grids from charts alone: coincident faces are joined, the rest are sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.common.hexahedra import area
from taskflow.geometry.grids.multiblock.grid import (
    Chart,
    GridSeam,
    MultiBlockGrid,
    Vector,
    all_right,
    corners,
    oriented,
)
from taskflow.geometry.grids.multiblock.matching import coincident
from taskflow.geometry.grids.multiblock.merging import mismatches, welded
from taskflow.runtime.regions import ROTATIONS, SIDES, Patch, Turn

LEAST = 4  # cells across a direction with a seam, so that two ghost layers at each end are cells of other charts
FLAT = 1e-14  # of the square of a face's longest edge: area of a face with a collapsed edge


@dataclass(frozen=True)
class Part:
    """Chart by its vertices [xyz, k, j, i], and the names of its sides that are not seams."""

    vertices: np.ndarray
    names: Mapping[str, str]

    def turned(self, turn: Turn) -> Part:
        """Return the same cells with permuted directions: direction a was |axes[a]| - 1."""
        names = {}
        for number, side in enumerate(SIDES):
            axis, end = turn.axes[number // 2], number % 2
            was = SIDES[2 * (abs(axis) - 1) + (end if axis > 0 else 1 - end)]
            if was in self.names:
                names[side] = self.names[was]
        return Part(np.ascontiguousarray(oriented(turn, self.vertices)), names)


def turned(parts: Sequence[Part], seed: int) -> list[Part]:
    """Return charts turned at random, each by one of the 24 rotations of its indices."""
    random = np.random.default_rng(seed)
    return [part.turned(ROTATIONS[random.integers(len(ROTATIONS))]) for part in parts]


def assembled(parts: Sequence[Part], translations: Sequence[Vector] = ()) -> MultiBlockGrid:
    """Return the grid of these charts, joined where faces coincide, directly or after a translation.

    The remaining faces become sides, named by the parts, or `side_chart` without a name. Raises BadGrid with all cells
    without positive volume, collapsed faces, and seams whose vertices do not coincide.
    """
    charts = [Chart(part.vertices) for part in parts]
    all_right(malformed(charts))
    seams, rest = coincident(charts, translations)
    sides: dict[str, list[Patch]] = {}
    for patch in rest:
        name = parts[patch.chart].names.get(patch.side) or f"{patch.side}_{patch.chart + 1}"
        sides.setdefault(name, []).append(patch)
    return joined(charts, seams, sides)


def joined(charts: Sequence[Chart], seams: Sequence[GridSeam], sides: Mapping[str, Sequence[Patch]]) -> MultiBlockGrid:
    """Return the grid of charts, seams and sides that cover all faces once, with shared vertices made bitwise
    identical.

    Raises BadGrid with all seams whose vertices do not coincide, and charts with too few cells across them.
    """
    all_right([*mismatches(charts, seams), *thin(charts, seams)])
    return MultiBlockGrid(*welded(charts, seams), {name: tuple(patches) for name, patches in sides.items()})


def malformed(charts: Sequence[Chart]) -> Iterator[BadInput]:
    """Yield problems of single charts: values, volumes, collapsed faces."""
    for number, chart in enumerate(charts, start=1):
        if not np.isfinite([chart.vertices.min(), chart.vertices.max()]).all():
            k, j, i = (np.argwhere(~np.isfinite(chart.vertices).all(axis=0))[0] + 1).tolist()
            yield BadInput(f"chart {number}, vertex ({i}, {j}, {k}): not finite; correct the grid")
        elif collapsed := _collapsed(chart):
            yield BadInput(
                f"chart {number}, {collapsed}: collapsed faces (poles) are not available in this version; make a grid"
                " with a chart in the middle, as the shape pipe has"
            )
        else:
            yield from _negative(number, chart)


def _collapsed(chart: Chart) -> str:
    """Return the first side with a face of zero area, or ""."""
    for side in SIDES:
        a, b, c, d = corners(chart, Patch.whole(0, side, chart.cells))
        size, *edges = (np.sqrt((q**2).sum(axis=0)) for q in (area(a, b, c, d), b - a, c - b, d - c, a - d))
        longest = np.maximum.reduce(edges)
        if (size <= FLAT * longest**2).any():
            return side
    return ""


def _negative(number: int, chart: Chart) -> Iterator[BadInput]:
    sizes, count = chart.sizes, chart.box.volume
    if sizes.negative == count:
        yield BadInput(f"chart {number}: all volumes are negative, the chart is left-handed; reverse an index of it")
    elif sizes.negative:
        i, j, k = sizes.place
        yield BadInput(
            f"chart {number}, cell ({i + 1}, {j + 1}, {k + 1}): volume {sizes.least:.3g}, not > 0, as {sizes.negative}"
            f" of {count} are; correct the grid there, or reverse an index of a chart that is left-handed"
        )


def thin(charts: Sequence[Chart], seams: Sequence[GridSeam]) -> Iterator[BadInput]:
    """Yield problems of charts with too few cells across a direction with seams.

    A single cell joined to itself is allowed: a grid in two dimensions.
    """
    across = {(patch.chart, patch.axis) for seam in seams for patch in (seam.one, seam.other)}
    own = {(s.one.chart, s.one.axis) for s in seams if (s.one.chart, s.one.axis) == (s.other.chart, s.other.axis)}
    for chart, axis in sorted(across):
        count = charts[chart].cells[axis]
        if count < LEAST and not (count == 1 and (chart, axis) in own):
            remedy = f"give at least {LEAST}, or join it to its neighbour"
            yield BadInput(f"chart {chart + 1}: {count} cells along {'ijk'[axis]}, a direction with a seam; {remedy}")
