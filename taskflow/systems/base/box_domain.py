"""The cells of a Cartesian grid: one box of an index space, in which every block has a box of cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskflow.cases.tables.grid import width_ratios
from taskflow.cases.tables.pictures import PictureTable
from taskflow.cases.tables.probes import Across
from taskflow.common.rows import Row
from taskflow.common.units import times
from taskflow.flow import StaggeredGrid
from taskflow.flow.model import Ends
from taskflow.output import StoreLayout
from taskflow.runtime.regions import Box, FieldSpace, Location, Partition, Region, Triple
from taskflow.systems.base.domain import Domain, Points
from taskflow.systems.records.series import InterpolationStencil, corners

SMOOTH = 1.2  # the largest ratio of neighbouring widths with which differences are as good as of second order


@dataclass(frozen=True)
class BoxDomain(Domain):
    """The cells of a Cartesian grid."""

    derives = True
    grid: StaggeredGrid

    @property
    def cells(self) -> list[int]:
        return list(self.grid.cells)

    @property
    def boxes(self) -> tuple[Box, ...]:
        return (self.grid.box,)

    @property
    def inverse_spacing(self) -> float:
        return sum(1 / self.grid.narrowest(axis) for axis in range(3))

    def rows(self) -> Iterator[Row]:
        grid = self.grid
        mean = "" if all(grid.uniform) else " on average"
        yield Row("grid", f"{times(grid.cells)} cells of {times(f'{d:.6g}' for d in grid.spacing)}{mean}")
        for axis, name in enumerate("xyz"):
            if not grid.uniform[axis]:
                widths, ratio = grid.widths(axis), width_ratios(grid, axis).max(initial=1.0)
                narrow, wide = widths.min(), widths.max()
                text = f"{name} is stretched: {narrow:.6g} to {wide:.6g}, ratio of neighbours at most {ratio:.4g}"
                yield Row("", text)
                if ratio > SMOOTH:
                    text = f"warning: more than {SMOOTH:g} in {name} costs accuracy; stretch less, or give more cells"
                    yield Row("", text, "warning")

    def counted(self, blocks: Triple) -> str:
        return times(blocks)

    def partition(self, fields: FieldSpace, ghost: int, blocks: Triple) -> Partition:
        return Partition(Region(self.grid.box, fields, self.grid.periodic, ghost), blocks, redundant=1)

    def points(self, location: Location, box: Box, time: float = 0.0) -> Points:
        return self.grid.points(location, box)

    def corners(self, location: Location, points: np.ndarray, ends: Ends) -> InterpolationStencil:
        return corners(self.grid, location, points, ends)

    def layers(self, plane: Across) -> tuple[Box, ...]:
        """Return the layer whose centres are nearest to the plane."""
        index = int(np.abs(self.grid.coordinates("c", plane.axis) - plane.position).argmin())
        return (self.grid.box.layer(plane.axis, 0, index, index + 1),)

    def shown(self, picture: PictureTable) -> tuple[Box, ...]:
        return self.boxes if picture.isosurface is not None else self.layers(picture)

    def place(self, location: Location, cell: Triple, block: int) -> str:
        x, y, z = (float(self.grid.coordinates(location, a, at, at + 1)[0]) for a, at in enumerate(cell))
        return f"in cell {cell} of block {block}, at x = {x:.6g}, y = {y:.6g}, z = {z:.6g}"

    def _layout(self, plane: Across | None, **about: Any) -> StoreLayout:
        grid = self.grid
        whole = StoreLayout(
            cells=grid.cells,
            lengths=grid.lengths,
            origin=grid.origin,
            periodic=grid.periodic,
            edges=grid.edges,
            **about,
        )
        return whole if plane is None else whole.layer(plane.axis, self.layers(plane)[0].lo[plane.axis])
