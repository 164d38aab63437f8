"""Store of a run on charts: created first, each shard written by one block, recut for other blocks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from taskflow.common.hexahedra import centres
from taskflow.output.disk.disk import CHARTS
from taskflow.output.store.chart_layout import CELLS, VERTICES, ChartsLayout, Piece
from taskflow.output.store.groups import add_array, consolidate
from taskflow.output.store.layout import CHUNK_BYTES
from taskflow.output.store.metadata import FIRST, UNITS, global_attributes
from taskflow.output.store.packing import PACKING
from taskflow.output.store.rigid_motion import PLACES, REST
from taskflow.output.store.shards import Fetch, ShardWriter, check_whole, cut_anew
from taskflow.output.store.store import Store, add_records
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


def create_charts(path: str | Path, layout: ChartsLayout, attributes: Mapping[str, Any]) -> Store:
    """Create the group of a layout in a store, with `attributes` (title, case, viscosity, history, ...) and times of
    records.

    It has a group for each chart, "charts/0", ..., with vertices, centres, sides, and empty fields. One process does
    this before the blocks open their `ChartsBlockStore`. The returned Store commits records, makes room for more, and
    drops them, for all charts together. Raises zarr.errors.ContainsGroupError if the group exists, and OSError if it
    cannot be written.
    """
    group = zarr.create_group(str(path), path=layout.group, zarr_format=3, attributes=global_attributes(attributes))
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
    add_records(group, layout)
    consolidate(path, layout.group)
    return Store(path, layout.group)


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


class ChartsBlockStore(ShardWriter):
    """Part of one block in a group of a store of charts: its `pieces`, for the process of that block.

    `ShardWriter` has the options `patience`, `files` and `guard`. Raises ValueError if a piece does not consist
    of whole shards, because two writers of one shard lose each other's data without an error.
    """

    def __init__(self, path: str | Path, pieces: Sequence[Piece], group: str = "", **options: Any) -> None:
        super().__init__(path, group, **options)
        self.pieces = tuple(pieces)
        self.fields = tuple(dict.fromkeys(name.rpartition("/")[2] for name in self._fields))
        for piece, field in product(self.pieces, self.fields):
            name = _array(piece, field)
            check_whole(name, self._fields[name], piece.cells)

    def write(self, index: int, values: Mapping[str, Sequence[tuple[Piece, Fetch]]]) -> None:
        """Write this block's part of record `index`: for each field all `pieces`, with functions that return arrays [z,
        y, x].

        Several are fetched and written concurrently. Waits up to `patience` seconds for room in the store. Raises
        RunFailed if none becomes free, or the disk is full.
        """
        parts = [(field, piece, fetch) for field, some in values.items() for piece, fetch in some]
        places = sorted((field, piece.chart, piece.cells) for field, piece, _ in parts)
        if places != sorted((field, piece.chart, piece.cells) for field in self.fields for piece in self.pieces):
            raise ValueError(f"pieces {places} where those of {sorted(self.fields)} are {self.pieces}")
        self.put(index, [(_array(piece, field), piece.cells, fetch) for field, piece, fetch in parts])


def _array(piece: Piece, field: str) -> str:
    return f"{CHARTS}/{piece.chart}/{field}"


def reshard_charts(path: Path, layouts: Sequence[ChartsLayout]) -> None:
    """Ensure that the blocks of each of `layouts` write whole shards of the store in `path`, by copying it if
    necessary.

    Like `reshard` for one box. Raises RunFailed if the disk is full, with the old store unchanged.
    """
    try:
        for layout in layouts:
            for pieces in layout.pieces:
                ChartsBlockStore(path, pieces, layout.group)
    except ValueError:  # a block that would share a shard
        cut_anew(path, layouts, create_charts)
