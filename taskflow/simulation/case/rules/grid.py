"""What cells of different widths must have in common with the rest of a case."""

from collections.abc import Iterator

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.simulation.case.boundaries import AXES, Boundaries
from taskflow.simulation.case.physics import Grid
from taskflow.simulation.case.pressure import Pressure
from taskflow.simulation.case.problems import Problem, wrong

JUMP = 2.0  # the largest ratio of neighbouring widths
MOST = 100_000  # cells along each direction of a stretched grid, whose places all are kept
NEAR = 1e-9  # relative: places this close are one


def cells_fit(grid: Grid) -> Iterator[Problem]:
    """What is wrong with the places of cells: with faces that are given, or that follow from a spacing, or else with
    coordinates that coincide. Only where nothing is wrong has the grid metrics.
    """
    faces = list(_faces_fit(grid))
    yield from faces or _coordinates_differ(grid)


def _coordinates_differ(grid: Grid) -> Iterator[Problem]:
    """Faces and centres of neighbouring cells are different numbers in double precision, in which they are stored."""
    for axis, (name, width) in enumerate(zip(AXES, narrowest(grid), strict=True)):
        start, length = grid.origin[axis], grid.lengths[axis]
        apart = float(np.spacing(max(abs(start), abs(start + length))))
        if not width / 2 > apart:
            remedy = (
                f"numbers are {apart:.3g} apart there, and cells {width:.3g} wide in {name}, so that neighbours have"
                " one coordinate; give an origin nearer to 0, or wider cells"
            )
            key = "origin" if abs(start) > length else "cells"
            yield wrong(("grid", key), getattr(grid, key), remedy)


def narrowest(grid: Grid) -> tuple[float, float, float]:
    """The narrowest cells along x, y and z. Needs faces that fit."""
    staggered = grid.staggered((False, False, False))
    x, y, z = (staggered.narrowest(axis) for axis in range(3))
    return x, y, z


def _faces_fit(grid: Grid) -> Iterator[Problem]:
    """What is wrong with faces that are given, or that follow from a spacing."""
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


def sound(grid: Grid, boundaries: Boundaries) -> StaggeredGrid | None:
    """The cells between boundaries, unless something is wrong with their places."""
    if any(cells_fit(grid)):
        return None
    x, y, z = (getattr(boundaries, axis) is not None for axis in AXES)
    return grid.staggered((x, y, z))


def _cells_do_not_jump(grid: Grid) -> Iterator[Problem]:
    if grid.stretching is None or list(cells_fit(grid)):
        return
    for axis, spacing in grid.stretching:
        if spacing is None:
            continue
        ratios = neighbours(grid.staggered((False, False, False)), AXES.index(axis))
        if ratios.size and ratios.max() > JUMP:
            worst = int(np.argmax(ratios))
            remedy = (
                f"cells {worst} and {worst + 1} differ by a factor of {ratios[worst]:.3g}; give a spacing with at most"
                f" {JUMP:g}, and 1.2 for second order"
            )
            yield wrong(("grid", "stretching", axis), spacing.written(), remedy)


def neighbours(grid: StaggeredGrid, axis: int) -> np.ndarray:
    """The ratios of neighbouring widths, the wider one over the narrower one."""
    widths = grid.widths(axis)
    return np.asarray(np.maximum(widths[1:] / widths[:-1], widths[:-1] / widths[1:]))


def untransformed(grid: Grid, boundaries: Boundaries) -> str | None:
    """Why an FFT cannot solve for the pressure; None where it can."""
    stretched = [axis for axis in AXES if grid.stretching and getattr(grid.stretching, axis) is not None]
    if sideways := [axis for axis in stretched if axis != "z"]:
        verb = "is" if len(sideways) == 1 else "are"
        return f"FFT transforms along x and y, and {' and '.join(sideways)} {verb} stretched"
    return "z is stretched and periodic" if stretched and boundaries.z is not None else None


def _pressure_can_be_solved(grid: Grid, boundaries: Boundaries, pressure: Pressure) -> Iterator[Problem]:
    reason = untransformed(grid, boundaries)
    if reason and pressure.solver == "fft":
        yield wrong(("pressure", "solver"), pressure.solver, f'{reason}; stretch z alone, or give "multigrid"')


RULES = (
    (cells_fit, ("grid",)),
    (_cells_do_not_jump, ("grid",)),
    (_pressure_can_be_solved, ("grid", "boundaries", "pressure")),
)
