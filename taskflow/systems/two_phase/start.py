"""The phases at the start: the shapes that they fill, [[two_phase.shapes]], and quick checks for `taskflow check`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from taskflow.cases.language.problems import Problem, numbered, shown
from taskflow.cases.language.table import entry
from taskflow.cases.tables.grid import AXES, GridTable
from taskflow.cases.tables.initial import Function, Profile
from taskflow.cases.tables.magnitudes import places_have_squares
from taskflow.cases.tables.obstacles import SHAPES, ShapeTable
from taskflow.common.errors import BadInput, named
from taskflow.common.rows import Row, warning_rows
from taskflow.flow import StaggeredGrid
from taskflow.flow.grid import Grid
from taskflow.flow.operators.phases import Phases
from taskflow.geometry import ClosedSurface, Composition, Distance, Pointwise, SurfaceDistance
from taskflow.runtime.regions import triple
from taskflow.systems.bodies.images import is_over
from taskflow.systems.bodies.shapes import shape

REACH = 3  # spacings up to which distances to triangles are computed: the first iterations extend them
FARTHEST = 1e50  # where a corner of a triangle may be: squares of its areas are finite
SAMPLES = 1 << 21  # cells in which phi is looked at: of larger grids coarser ones
POINTS = 20_000  # of the interface at which its curvature is looked at
FEWER = 2_000  # where phi takes long
HALVINGS = 12
LONG = 2  # times as long as wide: of longer cells many find no foot on the interface
THIN = 4  # cells across a two-dimensional flow, at most
FLAT, COARSE = 1e4, 4  # cells of a radius that bends hardly, and of one that is hardly resolved
MOST = 0.95  # share of the interface that is bent less than its smallest radius says: corners do not count
SHIFTS = np.linspace(0, 1, 17)[:, None]  # of an interface within a cell

Phi = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class PhaseShape(ShapeTable):
    """A shape that a phase fills at the start."""

    type: Literal["box", "sphere", "cylinder", "implicit", "surface", "heights"] = entry(
        "the shape, with its keys, as of [obstacles](#obstacles)", remedy=f"give one of {', '.join(SHAPES)}"
    )
    phase: Literal[1, 2] = entry("the phase in it", remedy="give the phase in it, 1 or 2")


def composed(shapes: Sequence[PhaseShape], background: int, grid: GridTable) -> Profile | Composition:
    """Return phi of phases that fill shapes in sequence: the distance to the interface, positive in phase 1. With
    Python functions it is a function itself, computed once. Raises BadInput if a file cannot be read, or its
    triangles are outside the domain.
    """
    parts = []
    for number, table in enumerate(shapes, start=1):
        with named(f"two_phase.shapes[{number}]"):
            outline = _outline(table, grid, f"two_phase.shapes[{number}].inside")
            parts.append((outline, table.phase == 1))
    far = math.hypot(*grid.lengths)
    phi = Composition(tuple(parts), far if background == 1 else -far)
    return Function(phi) if any(isinstance(table.inside, Function) for table in shapes) else phi


def _outline(table: PhaseShape, grid: GridTable, inside: str) -> Distance:
    outline = shape(table.type, table, grid, inside)
    if not isinstance(outline, ClosedSurface):
        return cast(Pointwise, outline)  # as all other shapes are
    for axis, low, high, (start, end) in zip(AXES, *outline.bounds, grid.ends, strict=True):
        if high <= start or low >= end or max(-low, high) > FARTHEST:
            raise BadInput(
                f"{table.file}: its triangles go from {low:g} to {high:g} along {axis}, and the domain from {start:g}"
                f" to {end:g}; give a scale or a shift that places them inside"
            )
    return SurfaceDistance(outline, REACH * max(a / n for a, n in zip(grid.lengths, grid.cells, strict=True)))


def shapes_are_inside(two_phase: Any, grid: GridTable) -> Iterator[Problem]:
    """Yield problems with shapes of `two_phase` outside the domain; files are not checked here."""
    for place, table in numbered(shapes=two_phase.shapes or ()):
        key = ("two_phase", *place)
        if unfit := list(places_have_squares(key, table)):
            yield from unfit
        elif table.type not in ("surface", "heights"):
            low, high = shape(table.type, table, grid).bounds
            if any(a >= end or b <= start for a, b, (start, end) in zip(low, high, grid.ends, strict=True)):
                yield grid.beyond((*key, "type"), table.type)


def cut_shapes(shapes: Sequence[PhaseShape], table: GridTable, grid: StaggeredGrid) -> Iterator[str]:
    """Warn of shapes that end at a periodic side, except across two-dimensional flows. Files are not read."""
    for number, one in enumerate(shapes, start=1):
        if one.type in ("surface", "heights"):
            continue
        over = is_over(shape(one.type, one, table), grid)
        if crossed := [axis for axis, crosses, n in zip(AXES, over, grid.cells, strict=True) if crosses and n > THIN]:
            yield (
                f"two_phase.shapes[{number}]: it crosses a periodic side along {' and '.join(crossed)} and ends there;"
                " give it a second time, shifted by the length of the domain, or move it inside"
            )


@dataclass(frozen=True)
class InitialPhases:
    """The share of phase 1 in the domain, True if phi has both signs, and the smallest radius of the interface in cells
    (95 % of the interface is less curved), infinite if it is flat or absent.
    """

    share: float
    both: bool
    radius: float

    def rows(self) -> Iterator[Row]:
        """Yield rows of `taskflow check`."""
        yield Row("", f"phase 1 fills {self.share:.4g} of the domain, phase 2 {1 - self.share:.4g}")
        if self.radius < FLAT:
            yield Row("", f"smallest radius about {self.radius:.3g} cells: larger on 95 % of the interface")
        if self.radius < COARSE:
            few = f"the smallest radius is {self.radius:.2g} cells; give more cells: {COARSE} or better ten"
            yield from warning_rows([few])


def initial_phases(phi: Phi, grid: StaggeredGrid, points: int = POINTS) -> InitialPhases:
    """Sample phi in the centres of cells, of coarser ones if the grid has more than `SAMPLES` cells, and at some
    `points` of the interface.

    Raises BadInput if a value is not finite.
    """
    wider = math.ceil((grid.box.volume / SAMPLES) ** (1 / 3))
    cells = triple(max(1, n // wider) for n in grid.cells)
    domain = zip(grid.origin, cells, grid.lengths, strict=True)
    axes = [begin + (np.arange(n) + 0.5) * length / n for begin, n, length in domain]
    values = np.asarray(phi(*np.meshgrid(*axes, indexing="ij")))
    low, high = float(values.min()), float(values.max())
    share = float(_shares(values).mean())
    ends = _crossings(values, axes, points)
    radius = math.inf
    if len(ends[0]):
        radius = _radius(phi, _between(phi, *ends), grid)
    return InitialPhases(share, low < 0 < high, radius)


def _shares(values: np.ndarray) -> np.ndarray:
    """Return the approximate share of each cell with positive phi, as for a plane."""
    across = sum(np.abs(np.gradient(values, axis=axis)) for axis in range(3) if values.shape[axis] > 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.clip(0.5 + values / across, 0, 1)
    return np.where(across == 0, values > 0, shares)


def _crossings(values: np.ndarray, axes: list[np.ndarray], points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return centres of neighbouring cells [n, xyz], the first in phase 1 and the others in phase 2, for about `points`
    pairs.
    """
    inside, outside = [], []
    for axis in range(3):
        first, second = (np.take(values > 0, range(n, values.shape[axis] - 1 + n), axis) for n in (0, 1))
        places = np.argwhere(first != second)
        here = np.stack([axes[n][places[:, n]] for n in range(3)], axis=1)
        beyond = here.copy()
        beyond[:, axis] = axes[axis][places[:, axis] + 1]
        begins = first[first != second][:, None]
        inside.append(np.where(begins, here, beyond))
        outside.append(np.where(begins, beyond, here))
    thin = 1 + sum(map(len, inside)) // points
    return np.concatenate(inside)[::thin], np.concatenate(outside)[::thin]


def _between(phi: Phi, inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """Return points of the interface between others."""
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        positive = (_at(phi, middle) > 0)[:, None]
        inside, outside = np.where(positive, middle, inside), np.where(positive, outside, middle)
    return (inside + outside) / 2


def _at(phi: Phi, points: np.ndarray) -> np.ndarray:
    """Return the values at points [n, xyz]. A Python function gets three-dimensional arrays, as on a grid."""
    return np.asarray(phi(*points.T[:, :, None, None])).reshape(-1)


def _radius(phi: Phi, points: np.ndarray, grid: StaggeredGrid) -> float:
    """Return the smallest radius in cells, from the larger principal curvature of phi = 0 by differences over a cell.
    """
    wide = [axis for axis in range(3) if grid.cells[axis] > 2]
    steps = np.diag([grid.spacing[axis] if axis in wide else 0.0 for axis in range(3)])
    low = np.array(grid.origin) + steps.sum(axis=0)
    points = np.clip(points, low, np.array(grid.origin) + grid.lengths - steps.sum(axis=0))

    def at(shift: np.ndarray) -> np.ndarray:
        return _at(phi, points + shift)

    here, slope, bent = at(np.zeros(3)), np.zeros((3, len(points))), np.zeros((3, 3, len(points)))
    for a in wide:
        h, up, down = grid.spacing[a], at(steps[a]), at(-steps[a])
        slope[a], bent[a, a] = (up - down) / (2 * h), (up - 2 * here + down) / h**2
        for b in (b for b in wide if b < a):
            alike, apart = steps[a] + steps[b], steps[a] - steps[b]
            bent[a, b] = bent[b, a] = (at(alike) - at(apart) - at(-apart) + at(-alike)) / (4 * h * grid.spacing[b])
    largest = np.quantile(_curvature(slope, bent), MOST)
    return float(1 / (largest * max(grid.spacing[axis] for axis in wide))) if largest > 0 else math.inf


def _curvature(g: np.ndarray, hessian: np.ndarray) -> np.ndarray:
    """Return the magnitude of the larger principal curvature of level surfaces (R. Goldman 2005, Comput. Aided Geom.
    Design 22, 632), from first [xyz] and second derivatives [xyz, xyz].
    """
    square = (g**2).sum(axis=0)
    once = np.einsum("an,abn,bn->n", g, hessian, g)
    minors = np.cross(hessian[[1, 2, 0]], hessian[[2, 0, 1]], axis=1)  # rows of the adjugate of a symmetric matrix
    gauss = np.einsum("an,abn,bn->n", g, minors, g)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (square * np.trace(hessian) - once) / (2 * square**1.5)
        gauss = gauss / square**2
    curvature = np.abs(mean) + np.sqrt(np.maximum(mean**2 - gauss, 0))
    return np.where(square > 0, curvature, 0.0)


def long_cells(grid: Grid, thickness: float) -> Iterator[str]:
    """Warn of cells much longer than wide: the density transition is `thickness` of the longest spacings wide, and the
    curvature is found within two of the shortest.
    """
    short, long = min(grid.resolved), max(grid.resolved)
    if long > LONG * short:
        yield (
            f"grid.cells = {shown(grid.cells)}: cells are {long / short:.3g} times as long as wide, and both phases mix"
            f" over {2 * thickness * long:.3g}, {thickness:g} of the longest spacings on either side of the interface;"
            " give more cells along that, or a single one"
        )


def friction(phases: Phases, spacing: tuple[float, float, float], width: float) -> float:
    """Return the approximate largest `friction_rate` on faces next to a flat interface of half this width, at any
    position in a cell. `spacing` is infinite without variation.
    """
    most = 0.0
    for axis, across in enumerate(spacing):
        if across == math.inf:
            continue
        cells = (np.arange(-8, 9) + SHIFTS) * across / width
        f = np.where(np.abs(cells) < 1, (1 + cells + np.sin(np.pi * cells) / np.pi) / 2, cells > 0)
        rho = phases.density_2 + (phases.density_1 - phases.density_2) * f
        mu, edges = _viscosity(phases, f), _viscosity(phases, (f[:, 1:] + f[:, :-1]) / 2)
        others = sum(2 / spacing[n] ** 2 for n in range(3) if n != axis)
        normal = ((mu[:, 1:] + mu[:, :-1]) / across**2 + others * edges) / (rho[:, 1:] + rho[:, :-1])
        inner = slice(1, -1)
        beside = ((edges[:, 1:] + edges[:, :-1]) / across**2 + others * mu[:, inner]) / (2 * rho[:, inner])
        most = max(most, float(normal.max()), float(beside.max()))
    return most


def _viscosity(phases: Phases, f: np.ndarray) -> np.ndarray:
    """Return the viscosity at the share f of phase 1: the mean of both phases with the weight 2 f - 1/2, from 0 to 1.
    """
    weight = np.clip(2 * f - 0.5, 0, 1)
    if phases.arithmetic:
        return phases.viscosity_2 + (phases.viscosity_1 - phases.viscosity_2) * weight
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(weight > 0, weight / np.float64(phases.viscosity_1), 0)
        second = np.where(weight < 1, (1 - weight) / np.float64(phases.viscosity_2), 0)
    return 1 / (first + second)


def one_phase(own: Any, start: InitialPhases) -> Iterator[str]:
    """Warn if one phase fills the domain, unless the table `own` says so by a number."""
    if start.both or (own.initial is not None and not isinstance(own.initial.source, str)):
        return
    phase = 1 if start.share > 0.5 else 2
    if own.shapes is not None:
        yield f"two_phase.shapes: phase {phase} fills the domain; give shapes that leave room for the other"
        return
    remedy = f"give an expression with both signs in the domain, or the number {2 - phase} if that is meant"
    yield f"two_phase.initial = {shown(own.initial.source)}: phase {phase} fills the domain; {remedy}"
