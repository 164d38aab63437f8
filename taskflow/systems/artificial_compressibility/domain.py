"""Charts of body-fitted cells: their places in an index space, their pieces, metrics and layout in the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from taskflow.cases.tables.charts.grid import BodyFittedGrid
from taskflow.cases.tables.charts.probes import cells_of
from taskflow.cases.tables.motion import GridMotion
from taskflow.cases.tables.planes import PlaneTable
from taskflow.cases.timing.intervals import Tick
from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.common.hexahedra import centres
from taskflow.common.rows import Row
from taskflow.common.units import plural, times
from taskflow.flow.model import Ends
from taskflow.flow.models.artificial_compressibility.equations import power_of_two
from taskflow.geometry.grids import MultiBlockGrid, atlas, ghosted, places
from taskflow.geometry.grids.multiblock.plane import normal
from taskflow.output import ChartsLayout
from taskflow.output.store.rigid_motion import COLUMNS, RATES, pose
from taskflow.runtime.regions import Atlas, Box, FieldSpace, Location, Partition, Patch, Region, Triple, divided, triple
from taskflow.runtime.tasks import tile_of
from taskflow.systems.artificial_compressibility.moment import TimeLevels
from taskflow.systems.artificial_compressibility.sampling import CellAround
from taskflow.systems.base.domain import Domain, Points
from taskflow.systems.records.series import InterpolationStencil

GHOST = 2  # layers
NONE, ONE = (0, 0, 0), (1, 1, 1)  # vertices before the first one of a cell, and after
LISTED = 8  # charts and blocks that are listed; of more the first


@dataclass(frozen=True)
class ChartDomain(Domain):
    """The charts of a grid. Blocks receive the keys of the grid: each process makes it once.

    - `cuts`: cuts of charts made beforehand, by chart number from 0, along i, j and k of the file or shape
    - `steady`: time counts steps of pseudo-time
    - `motion`: gives the initial position of the grid
    - `ordering`: with "tiles" charts are cut only between tiles, with "hyperplanes" not at all
    """

    table: BodyFittedGrid
    cuts: tuple[tuple[int, Triple], ...] = ()
    steady: bool = True
    motion: GridMotion | None = None
    ordering: str = ""

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("table", "cuts", "steady", "motion", "ordering")}

    @cached_property
    def grid(self) -> MultiBlockGrid:
        return self.table.grid()

    @cached_property
    def atlas(self) -> Atlas:
        return atlas(self.grid, GHOST)

    @cached_property
    def first(self) -> list[Triple]:
        """The first cell of each chart in the index space."""
        return places(self.grid, GHOST)

    @cached_property
    def tile(self) -> Triple:
        """The cells of a tile along x, y and z."""
        return tile_of(self.boxes)

    @property
    def cells(self) -> list[list[int]]:
        return [list(chart.cells) for chart in self.grid.charts]

    @property
    def boxes(self) -> tuple[Box, ...]:
        return self.atlas.charts

    @cached_property
    def normal(self) -> int | None:
        """The axis across the plane of a flow in two dimensions, or None. Charts are one cell thick along k then."""
        return normal(self.grid)

    @property
    def planar(self) -> bool:
        """True if nothing is computed across k."""
        return self.normal is not None

    @cached_property
    def thickness(self) -> tuple[float, float]:
        """The thickness of the thinnest and of the thickest cell: volume over the largest face."""
        sizes = [chart.sizes.thickness[2 if self.planar else 3] for chart in self.grid.charts]
        return min(least for least, _ in sizes), max(largest for _, largest in sizes)

    @cached_property
    def unit(self) -> float:
        """A length between the sizes of the smallest and the largest cell, a power of two."""
        return unit_of(self.grid)

    def rows(self) -> Iterator[Row]:
        grid = self.grid
        seams = plural(len(grid.seams), "seam")
        yield Row("grid", f"{self.table.size}{' in two dimensions' if self.planar else ''}, {seams}")
        for number, chart in enumerate(grid.charts[:LISTED], start=1):
            yield Row("", f"chart {number}: {times(chart.cells)} cells{grid.turned(number - 1)}", "detail")
        if len(grid.charts) > LISTED:
            yield Row("", f"and {len(grid.charts) - LISTED} charts more", "detail")
        yield Row("", f"sides: {', '.join(grid.sides)}")

    def counted(self, blocks: Triple) -> str:
        return str(blocks[2])

    def shares(self, partition: Partition) -> Iterator[Row]:
        charts = partition.region.charts
        if len(partition) == 1:
            return
        for block in range(min(len(partition), LISTED)):
            of = [0] * len(charts)
            for piece in partition.cells_of(block):
                of[next(n for n, chart in enumerate(charts) if piece in chart)] += piece.volume
            parts = [
                f"{n / chart.volume:.3g} of chart {number}" if n < chart.volume else f"chart {number}"
                for number, (n, chart) in enumerate(zip(of, charts, strict=True), start=1) if n
            ]  # fmt: skip
            listed = parts if len(parts) <= LISTED else [*parts[:LISTED], f"and {len(parts) - LISTED} charts more"]
            yield Row("", f"block {block}: {sum(of):,} cells, {', '.join(listed)}")
        if len(partition) > LISTED:
            yield Row("", f"and {len(partition) - LISTED} blocks more")

    def partition(self, fields: FieldSpace, ghost: int, blocks: Triple) -> Partition:
        mapped = atlas(self.grid, ghost)
        region = Region(mapped.hull, fields, ghost=ghost, atlas=mapped)
        cuts = {n: self.grid.directed(n, pieces) for n, pieces in self.cuts}
        pieces = divided(mapped, blocks[2], cuts, self.tile if self.ordering == "tiles" else ONE)
        whole = self.ordering == "hyperplanes"
        if whole and (cut := {piece for block in pieces for piece in block}.difference(mapped.charts)):
            number = 1 + min(self.chart_of(piece) for piece in cut)
            raise BadInput(
                f'method.linear.ordering = "hyperplanes": it goes through whole charts, and chart {number} is cut into'
                ' pieces; give "tiles", or machine.blocks = 1 without machine.cuts'
            )
        return Partition(region, blocks, pieces=pieces)

    def nearest(self, point: tuple[float, float, float]) -> Triple:
        """Return the cell of the atlas whose centre is nearest to a point."""
        near = []
        for chart, first in zip(self.grid.charts, self.first, strict=True):
            apart = ((centres(chart.vertices) - np.reshape(point, (3, 1, 1, 1))) ** 2).sum(axis=0)
            place = np.unravel_index(int(apart.argmin()), apart.shape)
            near.append((float(apart[place]), triple(int(n) + at for n, at in zip(place[::-1], first, strict=True))))
        return min(near)[1]

    def chart_of(self, box: Box) -> int:
        """Return the number, from 0, of the chart with these cells or ghost cells."""
        return next(n for n, chart in enumerate(self.atlas.charts) if box in chart.grow(GHOST))

    def vertices(self, box: Box) -> np.ndarray:
        """Return the initial vertices [xyz, k, j, i] of the cells of a box, including ghost cells."""
        return self.moved(self.at_rest(box), 0.0)

    @property
    def chart_vertices(self) -> list[np.ndarray]:
        return [self.vertices(box) for box in self.boxes]

    def moved(self, points: np.ndarray, time: float) -> np.ndarray:
        """Return points [xyz, ...] of the grid at rest in their positions at a time."""
        return self.motion.moved(points, time) if self.motion else points

    @property
    def time(self) -> str:
        return "steps of pseudo-time" if self.steady else "time"

    def placed(self, tick: Tick) -> dict[str, float]:
        if self.motion is None:
            return {}
        return pose(*self.motion.pose(tick.time)) | pose(*TimeLevels.of(tick).rates(self.motion), RATES)

    def at_rest(self, box: Box) -> np.ndarray:
        """Return the vertices of the cells of a box in the grid at rest."""
        chart = self.chart_of(box)
        first = triple(at - GHOST for at in self.first[chart])
        return _ghosted(self.grid)[chart][:, *box.expand((0, 0, 0), (1, 1, 1)).slices(first)]

    def points(self, location: Location, box: Box, time: float = 0.0) -> Points:
        return triple(centres(self.moved(self.at_rest(box), time)))

    def corners(self, location: Location, points: np.ndarray, ends: Ends) -> InterpolationStencil:
        """Return the cells of linear interpolation, see `sampling`. Each point has to lie in a cell."""
        axes = (0, 1) if self.planar else (0, 1, 2)
        places = cells_of(self.grid, tuple((x, y, z) for x, y, z in points.tolist()))
        weights = []
        for point, (chart, k, j, i) in zip(points, filter(None, places), strict=True):
            cell = triple(at + n for at, n in zip(self.first[chart], (i, j, k), strict=True))
            around = self.at_rest(_one(cell).grow(1))
            weights.append(CellAround(self.atlas, cell, self.boxes[chart], around, axes).weights(point, ends))
        cells = {cell for some in weights for cell in some}
        filled = any(all(_one(cell) not in box for box in self.boxes) for cell in cells)
        return InterpolationStencil.of(weights, filled=filled)

    def layers(self, plane: PlaneTable) -> tuple[Box, ...]:
        """Return the layer of a chart, or the layers adjacent to the patches of a side, in the order of charts."""
        if plane.side is None:
            chart, axis, number = plane.layer
            return (self.boxes[chart].layer(self.grid.direction(chart, axis), 0, number, number + 1),)
        patches = sorted(self.grid.sides[plane.side], key=lambda patch: patch.chart)
        beside = (patch.cells.shift(self.first[patch.chart]) for patch in patches)
        return tuple(dict.fromkeys(beside))  # both ends of a chart one cell thick have the same

    def place(self, location: Location, cell: Triple, block: int) -> str:
        box = _one(cell)
        chart = self.chart_of(box)
        x, y, z = (float(at[0, 0, 0]) for at in self.points(location, box))
        own = triple(n - low + 1 for n, low in zip(cell, self.first[chart], strict=True))
        return f"in cell {own} of chart {chart + 1}, at x = {x:.6g}, y = {y:.6g}, z = {z:.6g}"

    def _layout(self, plane: PlaneTable | None, **about: Any) -> ChartsLayout:
        """Return the layout of all charts, or of the layers of a plane, each of which is a separate chart. The plane of
        a side has this side, the plane of a chart the sides of its cells.
        """
        layers = self.boxes if plane is None else self.layers(plane)
        owners = [next(n for n, chart in enumerate(self.boxes) if layer in chart) for layer in layers]
        corners = [self.boxes[chart].lo for chart in owners]
        parts = [(n, layer.shift(triple(-x for x in at))) for n, layer, at in zip(owners, layers, corners, strict=True)]
        names = self.grid.sides if plane is None or plane.side is None else (plane.side,)
        return ChartsLayout(
            vertices=tuple(self.grid.charts[chart].at(cells.expand(NONE, ONE)) for chart, cells in parts),
            corners=tuple(layer.lo for layer in layers),
            sides={name: self._patches(name, parts) for name in names},
            first=() if plane is None else tuple((chart, cells.lo) for chart, cells in parts),
            columns=COLUMNS if self.motion else {},
            **about,
        )

    def _patches(self, name: str, parts: Sequence[tuple[int, Box]]) -> tuple[Patch, ...]:
        """Return the patches of a side on parts of charts (number, cells), each clipped to the part with most of it."""
        patches = []
        for patch in self.grid.sides[name]:
            own = {n: patch.cells & cells for n, (chart, cells) in enumerate(parts) if chart == patch.chart}
            if any(own.values()):
                number = max(own, key=lambda n: own[n].volume)
                cells = own[number].shift(triple(-low for low in parts[number][1].lo))
                patches.append(Patch(number, patch.side, cells))
        return tuple(patches)

    def around(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and the largest coordinates of a side."""
        points = [self.grid.charts[p.chart].at(p.vertices).reshape(3, -1) for p in self.grid.sides[name]]
        corners = np.concatenate(points, axis=1)
        return corners.min(axis=1), corners.max(axis=1)


def _one(cell: Triple) -> Box:
    return Box(cell, triple(at + 1 for at in cell))


def unit_of(grid: MultiBlockGrid) -> float:
    """Return a length between the sizes of the smallest and the largest cell, a power of two in 2^-100 to 2^100."""
    volumes = [size for chart in grid.charts for size in (chart.sizes.least, chart.sizes.largest)]
    length = (min(volumes) ** 0.5 * max(volumes) ** 0.5) ** (1 / 3)
    return power_of_two(min(max(length, 2.0**-100), 2.0**100))


@lru_cache(maxsize=1)
def _ghosted(grid: MultiBlockGrid) -> list[np.ndarray]:
    """Return the vertices of all charts with ghost layers, cached for one grid: a process has blocks of one."""
    return ghosted(grid, GHOST)
