"""Groups of charts in a store: the positions of their cells, and their sides."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import zarr

from taskflow.common.hexahedra import centres
from taskflow.output.disk.disk import CHARTS
from taskflow.output.store.chart_layout import CELLS, VERTICES, ChartsLayout
from taskflow.output.store.groups import add_array
from taskflow.output.store.layout import CHUNK_BYTES
from taskflow.output.store.metadata import FIRST, SOLID, SOLID_ATTRIBUTES, UNITS
from taskflow.output.store.packing import PACKING
from taskflow.output.store.rigid_motion import PLACES, REST
from taskflow.runtime.regions import Box, Patch

CHART = "chart"  # an attribute of a part of a chart: the number of that one in the whole
PATCHES = "sides"  # an attribute of a chart: its patches by name of the side, as JSON
GRID: dict[str, Any] = {
    "cf_role": "grid_topology",
    "long_name": "cells between vertices: cell (i, j, k) lies between vertices (i, j, k) and (i + 1, j + 1, k + 1)",
    "topology_dimension": 3,
    "node_dimensions": " ".join(reversed(VERTICES)),
    "volume_dimensions": " ".join(f"{dim}: {dim}_vertex (padding: none)" for dim in reversed(CELLS)),
    "node_coordinates": "x y z",
    "volume_coordinates": "x_c y_c z_c",
}


def add_charts(
    group: zarr.Group, layout: ChartsLayout, solid: Callable[[Box], np.ndarray] | None = None
) -> None:
    """Create groups "charts/0", ..., with vertices, centres and sides, and the mask `solid` [z, y, x] of a box."""
    for number, vertices in enumerate(layout.vertices):
        names = [*PLACES, *(f"{name}{REST}" for name in PLACES if layout.moves)]
        about: dict[str, Any] = {"coordinates": " ".join(names), PATCHES: as_json(layout.patches(number))}
        if layout.first:
            whole, cell = layout.first[number]
            about |= {CHART: whole, FIRST: json.dumps(cell)}
        chart = group.create_group(f"{CHARTS}/{number}", attributes=about)
        add_array(chart, "grid", (), (), GRID, dtype="i4")[...] = 0
        for axis, at_vertices, in_centres in zip("xyz", vertices, centres(vertices), strict=True):
            _add_places(chart, layout, axis, VERTICES, at_vertices, f"{axis} of vertices")
            _add_places(chart, layout, f"{axis}_c", CELLS, in_centres, f"{axis} of cell centres")
        if solid is not None:
            mask, packing = solid(layout.charts[number]).astype("i1"), PACKING[layout.compression]
            add_array(chart, SOLID, mask.shape, CELLS, SOLID_ATTRIBUTES, dtype="i1", packing=packing)[...] = mask


def _add_places(
    chart: zarr.Group, layout: ChartsLayout, name: str, dims: tuple[str, str, str], values: np.ndarray, words: str
) -> None:
    """Store positions. If charts move, store those at rest, and room for the positions of each record."""
    (k, j, i), packing = values.shape, PACKING[layout.compression]
    chunks = (min(k, max(1, CHUNK_BYTES // (j * i * values.itemsize))), j, i)
    about = {"long_name": f"{words}{' at rest' * layout.moves}", "units": UNITS}
    at_rest = f"{name}{REST * layout.moves}"
    add_array(chart, at_rest, (k, j, i), dims, about, chunks=chunks, packing=packing)[...] = values
    if layout.moves:
        shape, about = (layout.slots, k, j, i), {"long_name": words, "units": UNITS}
        options: dict[str, Any] = {"chunks": (1, k, j, i), "fill_value": np.nan, "packing": packing}
        add_array(chart, name, shape, ("time", *dims), about, **options)


def as_json(sides: Mapping[str, Iterable[Patch]]) -> str:
    """Return patches by name of the side as JSON: side of the chart, first cell, and end."""
    return json.dumps(
        {
            name: [{"side": patch.side, "lo": patch.cells.lo, "hi": patch.cells.hi} for patch in patches]
            for name, patches in sides.items()
        },
        ensure_ascii=False,
    )


def from_json(chart: int, text: str) -> dict[str, list[Patch]]:
    """Return the patches of a chart from that text. Raises ValueError, TypeError or KeyError if it is invalid."""

    def patch(about: Mapping[str, Any]) -> Patch:
        return Patch(chart, about["side"], Box(tuple(about["lo"]), tuple(about["hi"])))

    return {name: [patch(about) for about in patches] for name, patches in json.loads(text).items()}
