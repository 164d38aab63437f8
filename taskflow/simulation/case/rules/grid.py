"""What cells of different widths must have in common with the rest of a case."""

from collections.abc import Iterator

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.simulation.case.boundaries import AXES, FACES, Boundaries
from taskflow.simulation.case.initial import Initial
from taskflow.simulation.case.obstacles import Obstacle
from taskflow.simulation.case.physics import Body, Fluid, Grid, Heat
from taskflow.simulation.case.pressure import Pressure
from taskflow.simulation.case.problems import Problem, wrong
from taskflow.simulation.case.scalars import Scalars
from taskflow.simulation.case.turbulence import Turbulence

JUMP = 2.0  # the largest ratio of neighbouring widths
NEAR = 1e-9  # relative: places this close are one
LATER = "not available in this version on stretched grids"


def _faces_fit(grid: Grid) -> Iterator[Problem]:
    if grid.stretching is None:
        return
    for axis, spacing in grid.stretching:
        if spacing is None or spacing.faces is None:
            continue
        n, faces, key = grid.cells[AXES.index(axis)], spacing.faces, ("grid", "stretching", axis, "faces")
        start, length = grid.origin[AXES.index(axis)], grid.lengths[AXES.index(axis)]
        if len(faces) != n + 1:
            yield wrong(key, f"{len(faces)} numbers", f"{n} cells in {axis} have {n + 1} faces; give as many numbers")
        elif min(np.diff(faces)) <= 0:
            worst = int(np.argmin(np.diff(faces)))
            yield wrong(key, list(faces[worst : worst + 2]), "faces have to increase; give each behind the last")
        elif max(abs(faces[0] - start), abs(faces[-1] - start - length)) > NEAR * length:
            ends = f"from {faces[0]:g} to {faces[-1]:g}"
            remedy = f"the grid goes from {start:g} to {start + length:g} in {axis}; give these, or other grid.lengths"
            yield wrong(key, ends, remedy)


def _cells_do_not_jump(grid: Grid) -> Iterator[Problem]:
    if grid.stretching is None or list(_faces_fit(grid)):
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
    reason, solver = untransformed(grid, boundaries), pressure.solver
    if solver == "multigrid" and grid.stretching is not None:
        yield wrong(("pressure", "solver"), solver, f'{LATER}; give "fft" or "jacobi"')
    elif reason and not (solver == "jacobi" or (solver == "auto" and pressure.iterations is not None)):
        yield wrong(("pressure", "solver"), solver, f'{reason}; stretch z alone, between walls, or give "jacobi"')


def _stretched_alone(
    grid: Grid,
    boundaries: Boundaries,
    obstacles: tuple[Obstacle, ...],
    initial: Initial,
    body: Body,
    heat: Heat | None,
    scalars: Scalars,
    turbulence: Turbulence | None,
) -> Iterator[Problem]:
    if grid.stretching is None:
        return
    for face in FACES:
        side = getattr(boundaries, face)
        if side is not None and side.type in ("inflow", "outflow"):
            yield wrong(("boundaries", face, "type"), side.type, f"{LATER}; give walls, slip or periodic directions")
    if body.bulk_velocity is not None:
        yield wrong(("body", "bulk_velocity"), body.bulk_velocity.written(), f"{LATER}; give body.force")
    for key, table in ((("heat",), heat), *((("scalars", f"[{n}]"), each) for n, each in enumerate(scalars, start=1))):
        if table is not None and table.sources:
            yield wrong((*key, "sources"), f"{len(table.sources)} of them", f"{LATER}; leave them out")
    if turbulence is not None:
        yield wrong(("turbulence", "model"), turbulence.model, f"{LATER}; leave [turbulence] out")
    if obstacles:
        yield wrong(("grid", "stretching"), grid.stretching.written(), f"{LATER} around [[obstacles]]; leave one out")
    if initial.noise is not None:
        yield wrong(("initial", "noise"), initial.noise.written(), f"{LATER}; give expressions, or leave it out")


def _stretched_centrally(grid: Grid, fluid: Fluid) -> Iterator[Problem]:
    if grid.stretching is not None and fluid.scheme != "central":
        yield wrong(("fluid", "scheme"), fluid.scheme, f'{LATER}; give "central"')


RULES = (
    (_stretched_centrally, ("grid", "fluid")),
    (_faces_fit, ("grid",)),
    (_cells_do_not_jump, ("grid",)),
    (_pressure_can_be_solved, ("grid", "boundaries", "pressure")),
    (
        _stretched_alone,
        ("grid", "boundaries", "obstacles", "initial", "body", "heat", "scalars", "turbulence"),
    ),
)
