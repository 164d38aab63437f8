"""The sizes of bodies inside charts and the gaps between them, before anything is computed, and refusals of invalid
bodies.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.common.hexahedra import cell_volumes, centres
from taskflow.common.units import plural
from taskflow.flow.boundaries.condition import Side
from taskflow.runtime.regions import Box, triple
from taskflow.systems.artificial_compressibility.bodies import ChartBodies
from taskflow.systems.artificial_compressibility.domain import GHOST
from taskflow.systems.bodies.survey import BodyPart, Gaps, Survey, runs

FEWEST = 4  # cells across a body
NO_GAP = np.iinfo(np.int64).max


@dataclass(frozen=True)
class ChartBodyPart(BodyPart):
    """A body, or all of them. `across`: the most cells in a row in it, along the direction in which they are fewest. Of
    another chart `GHOST` cells count, and more may follow if `at_least`.
    """

    across: int = 0
    at_least: bool = False

    def __str__(self) -> str:
        return f"{super().__str__()}, {'at least ' * self.at_least}{plural(self.across, 'cell')} across"


def survey(bodies: ChartBodies, sides: tuple[Side, ...]) -> Survey:
    """Examine all cells. Raises BadInput if a body has no cell or too few, overlaps another body, or comes
    nearer than a cell to a side that lets fluid through, and if the fluid has no cell.
    """
    found = _Found(bodies)
    for number, chart in enumerate(bodies.domain.grid.charts):
        found.look(number, chart.vertices)
    found.check()
    _check_openings(bodies, sides)
    point = bodies.case.own.pressure_at
    if point is not None and bodies.at(0.0).inside(*np.reshape(point, (3, 1))).any():
        raise BadInput(f"method.pressure_at = {list(point)}: the point is in a body; give a point in the fluid")
    parts = tuple(found.part(name) for name in bodies.names)
    gaps = [part.gap for part in map(found.part, found.groups) if part.gap is not None]
    across = min(map(found.across, found.groups))
    count, volume = int(found.count[1:].sum()), float(found.volume[1:].sum())
    together = ChartBodyPart("all", count, volume, min(gaps, default=None), *across)
    return Survey(together, parts, float(found.volume[0] / found.volume.sum()), found.warnings)


class _Found:
    """Sizes and gaps of bodies in the charts examined so far. Obstacles of one name are one group."""

    def __init__(self, bodies: ChartBodies) -> None:
        self.bodies, self._placed = bodies, bodies.at(0.0)
        labels = [obstacle.name or f"obstacles[{n}]" for n, obstacle in enumerate(bodies.case.obstacles, start=1)]
        self.groups = tuple(dict.fromkeys(labels))
        self._of = np.array([0, *(1 + self.groups.index(label) for label in labels)])
        size = len(self.groups) + 1
        self.count, self.volume = np.zeros(size, np.int64), np.zeros(size)
        self._longest, self._cut = np.zeros((size, 3), np.int64), np.zeros((size, 3), bool)
        self._beside = np.full(size, NO_GAP)
        self._touching: dict[tuple[int, int], int] = {}

    def look(self, chart: int, vertices: np.ndarray) -> None:
        points = centres(vertices)
        numbers = self._of[self._placed.number(*points)]
        self._refuse_overlaps(points, numbers)
        self.count += np.bincount(numbers.ravel(), minlength=self.count.size)
        volumes = cell_volumes(vertices)
        self.volume += np.bincount(numbers.ravel(), volumes.ravel(), self.count.size)
        wide, wall = self._with_ghosts(chart, numbers), len(self.groups) + 1
        cells = triple(wide.shape[::-1])
        gaps = Gaps(cells, (False, False, False), wall, open_ended=True)
        for axis in range(3 if self.bodies.domain.normal is None else 2):
            gaps.look(wide, Box.of(cells), axis)
            rows = np.ascontiguousarray(np.moveaxis(np.where(wide == wall, 0, wide), 2 - axis, -1))
            begin, end, has = runs(rows)
            np.maximum.at(self._longest[:, axis], has, end - begin + 1)
            count = rows.shape[-1]
            np.logical_or.at(self._cut[:, axis], has, (begin % count == 0) | (end % count == count - 1))
        found = np.where(gaps.beside < gaps.none, gaps.beside, NO_GAP)[:wall]
        self._beside = np.minimum(self._beside, found)
        self._touching = {pair: chart for pair in gaps.touching if wall not in pair} | self._touching

    def _with_ghosts(self, chart: int, numbers: np.ndarray) -> np.ndarray:
        """Return numbers in the cells of a chart and in its ghost cells: of a further body, the wall, beyond sides."""
        domain = self.bodies.domain
        own = domain.boxes[chart]
        first, wide = own.grow(GHOST).lo, np.pad(numbers, GHOST)
        for axis, high in product(range(3), (0, 1)):
            wide[own.layer(axis, high, -GHOST, 0).slices(first)] = len(self.groups) + 1
        for seam in domain.atlas.seams:
            if seam.chart == chart:
                points = centres(domain.at_rest(seam.beyond))
                wide[seam.beyond.slices(first)] = self._of[self._placed.number(*points)]
        return wide

    def _refuse_overlaps(self, points: np.ndarray, numbers: np.ndarray) -> None:
        for n, group in enumerate(self._of[1:], start=1):
            common = self._placed.contains(n, *points) & (numbers != group)
            if common.any():
                at = ", ".join(f"{x[common][0]:.4g}" for x in points)
                other = self.groups[numbers[common][0] - 1]
                raise BadInput(
                    f"obstacles[{n}]: it overlaps {other} in {plural(int(common.sum()), 'cell')}, as at ({at}); move"
                    " one of them, or give both the same name"
                )

    def check(self) -> None:
        if not self.count[0]:
            remedy = "make them smaller, expressions negative inside only"
            raise BadInput(f"obstacles: no cell is left for the fluid; {remedy}")
        for number, label in enumerate(self.groups, start=1):
            named = label if label.startswith("obstacles[") else f'the body "{label}"'
            if not self.count[number]:
                raise BadInput(f"{named}: no cell has its centre in it; use smaller cells, or a larger body")
            if (across := self.across(label)[0]) < FEWEST:
                raise BadInput(
                    f"{named}: it is {plural(across, 'cell')} across, and a surface needs {FEWEST}; use smaller cells,"
                    " or a larger body"
                )

    def across(self, label: str) -> tuple[int, bool]:
        """See `ChartBodyPart`."""
        number, axes = self.groups.index(label) + 1, 3 if self.bodies.domain.normal is None else 2
        axis = int(self._longest[number, :axes].argmin())
        return int(self._longest[number, axis]), bool(self._cut[number, axis])

    def part(self, label: str) -> ChartBodyPart:
        number = self.groups.index(label) + 1
        gap = int(self._beside[number])
        about = label, int(self.count[number]), float(self.volume[number]), None if gap == NO_GAP else gap
        return ChartBodyPart(*about, *self.across(label))

    @property
    def warnings(self) -> tuple[str, ...]:
        pairs = ((self.groups[a - 1], self.groups[b - 1], chart) for (a, b), chart in self._touching.items())
        return tuple(
            f"between {one} and {other} in chart {chart + 1} is a gap thinner than a cell, through which nothing flows:"
            " use smaller cells, or close it"
            for one, other, chart in pairs
        )


def _check_openings(bodies: ChartBodies, sides: tuple[Side, ...]) -> None:
    grid = bodies.domain.grid
    for side in sides:
        for patch in grid.sides[side.name] if side.kind.permeable else ():
            points = grid.charts[patch.chart].at(patch.cells.expand((0, 0, 0), (1, 1, 1)))
            covered = bodies.at(0.0).number(*points)
            if covered.any():
                number = int(covered[covered != 0][0])
                raise BadInput(
                    f"obstacles[{number}]: it comes nearer than a cell to the side {side.name}, which lets fluid"
                    " through; leave a cell or more between them"
                )
