"""The sides of a grid for the model: patches of cells, values, kinds, and velocities at a moment; edges that are not
between two sides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np

from taskflow.cases import FACES, Case
from taskflow.cases.tables.charts.sides import ChartSide, ChartSides
from taskflow.common.errors import named
from taskflow.common.hexahedra import centres, feet
from taskflow.flow.boundaries.collocated import Condition, PatchCells, outward
from taskflow.flow.boundaries.condition import Side
from taskflow.flow.models.artificial_compressibility.edges import Edge
from taskflow.geometry.grids import Border, MultiBlockGrid, Patch, borders, faces
from taskflow.runtime.regions import Atlas, Box, difference, triple
from taskflow.systems.artificial_compressibility.domain import ChartDomain
from taskflow.systems.artificial_compressibility.moment import BEGINNING, TimeLevels
from taskflow.systems.artificial_compressibility.profiles import parabolic, walls_of
from taskflow.systems.base.physics import SideValues


def patch_of(border: Border) -> PatchCells:
    """Return the cells inside of a patch, and their face."""
    return PatchCells(FACES[2 * border.axis + border.end], border.inside)


def sides_of(case: Case, grid: MultiBlockGrid, ghost: int, *, planar: bool) -> tuple[Side, ...]:
    """Return the sides of a grid in its order, with values of the case. Of a `planar` grid not those across k."""
    boundaries, where = case.table("boundaries").sides, borders(grid, ghost)
    reference = case.heat.reference if case.heat else 0.0
    if planar:
        where = {name: tuple(border for border in patches if border.axis < 2) for name, patches in where.items()}
    sides = (_side(name, boundaries[name], where[name], reference) for name in grid.sides if where[name])
    if case.motion is not None:
        sides = (replace(side, varying=side.varying or side.kind.solid) for side in sides)
    return tuple(replace(side, scalars=dict(_scalars(case, side, boundaries[side.name]))) for side in sides)


def _scalars(case: Case, side: Side, table: ChartSide) -> Iterator[tuple[str, Condition]]:
    """Yield the condition of each passive scalar on a side, by default 0 at inflows."""
    for scalar in case.scalars:
        condition: Any = scalar.boundaries.sides.get(side.name)  # of numbers alone
        given: Any = table.released.get(scalar.name)
        if condition is not None:
            warm, value, flux = condition.value is not None, condition.value or 0.0, condition.flux or 0.0
            yield scalar.name, Condition(warm=warm, temperature=value, flux=flux)
        elif given is not None or side.kind.enters:
            yield scalar.name, Condition(warm=True, temperature=given or 0.0)


def _side(name: str, table: ChartSide, patches: tuple[Border, ...], reference: float) -> Side:
    given = SideValues(table, lambda *_: 0.0)  # varying velocities are in separate fields
    temperature = given.number("temperature")
    if temperature is None and table.kind.enters:
        temperature = reference
    condition = Condition(
        velocity=given.vector("velocity"),
        pressure=given.number("pressure") or 0.0,
        warm=temperature is not None,
        temperature=temperature or 0.0,
        flux=given.number("heat_flux") or 0.0,
        transfer=given.number("heat_transfer") or 0.0,
        outside=given.number("outside_temperature") or 0.0,
    )
    return Side(name, given.condition, tuple(map(patch_of, patches)), condition, table.varies)


def velocities(
    name: str, tables: ChartSides, domain: ChartDomain, moment: TimeLevels = BEGINNING
) -> Iterator[tuple[Border, np.ndarray]]:  # fmt: skip
    """Yield the velocity [xyz, k, j, i] in the faces of each patch of a side, at a moment. Walls move with the grid,
    with the velocity of `_feet`. Raises BadInput if a velocity is not finite.
    """
    grid, motion, table = domain.grid, domain.motion, tables.sides[name]
    patches = grid.sides[name]
    at_rest = [_feet(grid, patch) if table.kind.solid else faces(grid, patch)[0] for patch in patches]
    with named(f"{tables.place(name)}.velocity"):
        if table.profile is not None:
            values = parabolic(grid, patches, walls_of(grid, tables.sides), np.array(table.numbers))
        else:
            places = [domain.moved(points, moment.time) for points in at_rest]
            values = [np.stack(table.at(x, y, z, moment.time)) for x, y, z in places]
    if motion is not None and table.kind.solid:
        values = [own + moment.speeds(motion, points) for own, points in zip(values, at_rest, strict=True)]
    for border, velocity in zip(borders(grid)[name], values, strict=True):
        yield border, np.expand_dims(velocity, 3 - border.axis)


def _feet(grid: MultiBlockGrid, patch: Patch) -> np.ndarray:
    """Return the feet [xyz, n, m] of the centres of cells inside on their faces, halfway to `mirrored` ghost cells."""
    vertices = grid.charts[patch.chart].at(patch.cells.expand((0, 0, 0), (1, 1, 1)))
    return feet(np.array(centres(vertices)).squeeze(3 - patch.axis), *faces(grid, patch))


def more_edges(grid: MultiBlockGrid, mapped: Atlas, *, planar: bool) -> tuple[Edge, ...]:
    """Return edges outside two faces of a chart that are neither between two sides nor filled by other cells: if a seam
    ends at a side differently on both charts, and if other than four charts meet. A `planar` grid has none across k.
    """
    patches = [border for some in borders(grid, mapped.ghost).values() for border in some]
    edges: dict[tuple[str, str, bool], list[Box]] = {}
    for n, chart in enumerate(mapped.charts):
        own = [border for border in patches if border.chart == n]
        for (a, s), (b, t) in combinations(product(range(3), range(2)), 2):
            if a == b or (planar and b == 2):
                continue
            line = chart.layer(a, s, -1, 0).layer(b, t, -1, 0)
            one, other = FACES[2 * a + s], FACES[2 * b + t]
            fed = [box for box, _ in mapped.fed[n]]
            between = [
                (p.inside & q.inside).shift(outward(one)).shift(outward(other))
                for p in own if (p.axis, p.end) == (a, s) for q in own if (q.axis, q.end) == (b, t)
            ]  # fmt: skip
            three = list(_among_three(mapped, n, line, one, other))
            edges.setdefault((one, other, True), []).extend(three)
            edges.setdefault((one, other, False), []).extend(difference([line], [*fed, *between, *three]))
    return tuple(Edge((one, other), tuple(ghosts), three) for (one, other, three), ghosts in edges.items() if ghosts)


def _among_three(mapped: Atlas, n: int, line: Box, one: str, other: str) -> Iterator[Box]:
    """Yield the parts of a line of ghost cells outside two faces of chart n at which three charts meet: the path
    through one face and the next seam leads to the cells adjacent to this chart through the other face.
    """
    seams = [seam for seam in mapped.seams if seam.chart == n]
    inward = triple(-step for step in outward(one))
    for near, far in product(seams, repeat=2):
        ghosts = near.beyond.shift(outward(other)) & far.beyond.shift(outward(one)) & line
        for seam in mapped.seams if ghosts else ():
            image = near.turn(ghosts) & seam.beyond
            part = near.turn.inverse(image)
            if part and seam.turn(image) == far.turn(part.shift(inward)):
                yield part
