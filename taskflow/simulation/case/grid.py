"""The box and its cells: [grid]."""

from collections.abc import Iterable, Iterator
from typing import Annotated

import numpy as np

from taskflow.errors import BadInput
from taskflow.flow.grid import Flags, StaggeredGrid
from taskflow.simulation.case.problems import Key, Problem, shown, wrong
from taskflow.simulation.case.stretching import Stretching
from taskflow.simulation.case.table import Positive, Table, Vector, WholeVector, entry, reads
from taskflow.simulation.values import positive, three

AXES = ("x", "y", "z")
NOWHERE = (False, False, False)  # periodic
SMALLEST, LARGEST = 1e-100, 1e100
JUMP = 2.0  # the largest ratio of neighbouring widths
MOST = 100_000  # cells along each direction of a stretched grid, whose places all are kept
NEAR = 1e-9  # relative: places this close are one


def _length(value: object) -> float:
    length = positive(value)
    if not SMALLEST <= length <= LARGEST:
        raise BadInput(f"give a number between {SMALLEST:g} and {LARGEST:g}")
    return length


class Grid(Table):
    """A box of cells."""

    cells: WholeVector = entry(
        "how many cells, along x, y and z", remedy="give three whole numbers >= 1, in the order x, y, z"
    )
    lengths: Annotated[tuple[Positive, Positive, Positive], reads(three(_length, "three numbers > 0"))] = entry(
        "the size of the domain", remedy="give three numbers > 0, in the order x, y, z"
    )
    origin: Vector = entry("its lowest corner", (0.0, 0.0, 0.0))
    stretching: Stretching | None = entry(
        "how wide cells are along `x`, `y` or `z`; see below", None, otherwise="all cells are equal"
    )

    def staggered(self, periodic: Flags) -> StaggeredGrid:
        """Cells and places. Needs `stretching.*.faces` that fit."""
        along = dict(self.stretching or ())
        x, y, z = (
            spacing.edges(n, start, length) if (spacing := along.get(axis)) else None
            for axis, n, start, length in zip("xyz", self.cells, self.origin, self.lengths, strict=True)
        )
        return StaggeredGrid(self.cells, self.lengths, self.origin, periodic, (x, y, z))

    @property
    def ends(self) -> list[tuple[float, float]]:
        """The begin and the end of the domain along each axis."""
        return [(low, low + length) for low, length in zip(self.origin, self.lengths, strict=True)]

    def contains(self, *points: Iterable[float]) -> bool:
        """Whether all points are in the domain, its sides included."""
        return all(low <= x <= high for point in points for x, (low, high) in zip(point, self.ends, strict=True))

    def beyond(self, key: Key, value: object) -> Problem:
        """The problem with a value that lies outside the domain."""
        domain = shown([list(corner) for corner in zip(*self.ends, strict=True)])
        return wrong(key, value, f"beyond the domain {domain}; move it inside")


def cells_fit(grid: Grid) -> Iterator[Problem]:
    """Problems with the places of cells: with faces that are given, or that follow from a spacing, or else with
    coordinates that coincide. A grid has metrics only where there are none.
    """
    faces = list(_faces_fit(grid))
    yield from faces or _coordinates_differ(grid)


def _coordinates_differ(grid: Grid) -> Iterator[Problem]:
    """Faces and centres of neighbouring cells are different numbers in double precision, in which they are stored."""
    for axis, (name, width) in enumerate(zip(AXES, narrowest(grid.staggered(NOWHERE)), strict=True)):
        start, length = grid.origin[axis], grid.lengths[axis]
        apart = float(np.spacing(max(abs(start), abs(start + length))))
        if not width / 2 > apart:
            remedy = (
                f"numbers are {apart:.3g} apart there, and cells {width:.3g} wide in {name}, so that neighbours have"
                " one coordinate; give an origin nearer to 0, or wider cells"
            )
            key = "origin" if abs(start) > length else "cells"
            yield wrong(("grid", key), getattr(grid, key), remedy)


def _faces_fit(grid: Grid) -> Iterator[Problem]:
    """Problems with faces that are given, or that follow from a spacing."""
    if grid.stretching is None:
        return
    for axis, count in zip(AXES, grid.cells, strict=True):
        if count > MOST:
            remedy = f"{count} cells in {axis}; give at most {MOST} in each direction of a grid with grid.stretching"
            yield wrong(("grid", "cells"), grid.cells, remedy)
            return
    for axis, spacing in grid.stretching:
        if spacing is None:
            continue
        n, start, length = (values[AXES.index(axis)] for values in (grid.cells, grid.origin, grid.lengths))
        faces, key = spacing.faces, ("grid", "stretching", axis, "faces")
        if faces is None:
            if min(np.diff(spacing.edges(n, start, length))) <= 0:
                remedy = f"of {n} cells some are too narrow to be told apart; give fewer, or a spacing nearer to even"
                yield wrong(key[:-1], spacing.written(), remedy)
        elif len(faces) != n + 1:
            yield wrong(key, f"{len(faces)} numbers", f"{n} cells in {axis} have {n + 1} faces; give as many numbers")
        elif min(np.diff(faces)) <= 0:
            worst = int(np.argmin(np.diff(faces)))
            yield wrong(key, list(faces[worst : worst + 2]), "faces have to increase; give each behind the last")
        elif max(abs(faces[0] - start), abs(faces[-1] - start - length)) > NEAR * length:
            ends = f"from {faces[0]:g} to {faces[-1]:g}"
            remedy = f"the grid goes from {start:g} to {start + length:g} in {axis}; give these, or other grid.lengths"
            yield wrong(key, ends, remedy)


def narrowest(cells: StaggeredGrid) -> tuple[float, float, float]:
    """The narrowest cells along x, y and z."""
    x, y, z = (cells.narrowest(axis) for axis in range(3))
    return x, y, z


def width_ratios(grid: StaggeredGrid, axis: int) -> np.ndarray:
    """The ratios of neighbouring widths, the wider one over the narrower one."""
    widths = grid.widths(axis)
    return np.asarray(np.maximum(widths[1:] / widths[:-1], widths[:-1] / widths[1:]))


def _cells_do_not_jump(grid: Grid, cells: StaggeredGrid) -> Iterator[Problem]:
    for axis, spacing in grid.stretching or ():
        ratios = width_ratios(cells, AXES.index(axis))
        if spacing is not None and ratios.size and ratios.max() > JUMP:
            worst = int(np.argmax(ratios))
            remedy = (
                f"cells {worst} and {worst + 1} differ by a factor of {ratios[worst]:.3g}; give a spacing with at most"
                f" {JUMP:g}, and 1.2 for second order"
            )
            yield wrong(("grid", "stretching", axis), spacing.written(), remedy)


RULES = (cells_fit, _cells_do_not_jump)
