"""Stores of charts for tests: grids by formula, pieces as blocks have them, values that name their place."""

from functools import partial
from pathlib import Path

import numpy as np

from taskflow.geometry.grids import MultiBlockGrid, shape
from taskflow.geometry.grids.atlas import atlas
from taskflow.output import BlockStore, ChartsLayout, FieldMetadata, create
from taskflow.output.store.shards import BlockPart
from taskflow.runtime.regions import Box
from taskflow.runtime.regions.pieces import divided

METADATA = {
    "p": FieldMetadata("pressure divided by density"),
    "u": FieldMetadata("velocity along x"),
    "v": FieldMetadata("velocity along y"),
    "w": FieldMetadata("velocity along z"),
}
GRIDS = {
    "annulus": {"cells": (8, 32, 1), "radii": (0.5, 1.0), "charts": 4},
    "pipe": {"cells": (6, 5, 9), "length": 3.0, "first": 0.02},
    "box": {"cells": (8, 10, 12), "lengths": (1.0, 2.0, 1.5), "charts": (2, 2, 1), "turned": True, "distortion": 0.05},
}


def grid_of(name: str) -> MultiBlockGrid:
    return shape(name, GRIDS[name]).grid()


def layout_of(grid: MultiBlockGrid, blocks: int = 1, cuts=None, **rest) -> ChartsLayout:
    """A layout whose blocks have the pieces that the runtime deals out."""
    region = atlas(grid)
    about = {"fields": METADATA, "precision": "double", "sides": grid.sides, **rest}
    vertices, corners = (chart.vertices for chart in grid.charts), (chart.lo for chart in region.charts)
    return ChartsLayout(
        vertices=tuple(vertices), corners=tuple(corners), blocks=divided(region, blocks, cuts), **about
    )


def value(field: str, index: int, chart: int, cells: Box) -> np.ndarray:
    """A number [z, y, x] that names field, record, chart and cell."""
    z, y, x = np.meshgrid(*(np.arange(cells.lo[a], cells.hi[a]) for a in (2, 1, 0)), indexing="ij")
    place = x + 16.0 * y + 256.0 * z + 4096.0 * chart
    return place + 2.0**17 * index + 0.125 * list(METADATA).index(field)


def write(path: Path, layout: ChartsLayout, index: int) -> None:
    """All blocks' parts of a record."""
    for cells in layout.blocks:
        block = BlockStore(path, layout.charts, cells)
        values = {part: partial(value, part.field, index, chart_of(part), part.points) for part in block.parts}
        block.write(index, values)


def chart_of(part: BlockPart) -> int:
    """The number of the chart of a part."""
    return int(part.array.split("/")[1])


def written(path: Path, layout: ChartsLayout, times=(0.0, 0.5, 1.0), about=None) -> Path:
    """A finished store with records at these times."""
    store = create(path, layout, {"title": "A test", **(about or {})})
    for index, time in enumerate(times):
        store.grow(index + 1)
        write(path, layout, index)
        store.commit(index, time)
    store.finish()
    return path


def filled(path: Path, grid: MultiBlockGrid, functions, about=None, times=(0.0,)) -> Path:
    """A store with fields that are functions of the centres of cells x, y, z."""
    layout = layout_of(grid, fields={name: METADATA.get(name, FieldMetadata(name)) for name in functions})
    store = create(path, layout, {"title": "A test", **(about or {})})
    for index, time in enumerate(times):
        store.grow(index + 1)
        block = BlockStore(path, layout.charts, *layout.blocks)
        centres = [middle(chart.vertices) for chart in grid.charts]
        values = {}
        for part in block.parts:
            x = centres[chart_of(part)]
            values[part] = partial(np.broadcast_to, functions[part.field](*x), x.shape[1:])
        block.write(index, values)
        store.commit(index, time)
    store.finish()
    return path


def middle(vertices: np.ndarray) -> np.ndarray:
    """Centres [xyz, k, j, i] of cells."""
    ends = slice(None, -1), slice(1, None)
    return sum(vertices[:, a, b, c] for a in ends for b in ends for c in ends) / 8
