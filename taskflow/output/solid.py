"""The cells that bodies take: a variable of the store without time, so that readers can mask fields with it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import zarr
from zarr.codecs import BloscCodec

from taskflow.output.arrays import WHOLE
from taskflow.output.layout import Layout, divide
from taskflow.output.packing import codecs
from taskflow.regions import Box

SOLID = "solid"
PIECE = 2**24  # cells that are asked for at once, and one stored chunk at most

# `ds.p.where(ds.solid == 0)` leaves the fluid.
ATTRIBUTES: dict[str, Any] = {
    "long_name": "cells with their centre in a body",
    "flag_values": [0, 1],
    "flag_meanings": "fluid solid",
    "units": "1",
    "grid": "grid",
    "location": "volume",
}


def save_solid(
    group: zarr.Group, layout: Layout, inside: Callable[[Box], np.ndarray], packing: BloscCodec | None
) -> None:
    """Store which cells are solid; `inside` gives the mask [z, y, x] of a box of cells."""
    shape = layout.shape(SOLID)
    chunk = divide(shape, PIECE)
    array = group.create_array(
        SOLID,
        shape=shape,
        chunks=chunk,
        dtype="i1",
        compressors=codecs(packing),
        config=WHOLE,
        dimension_names=layout.dims(SOLID),
        attributes=ATTRIBUTES,
    )
    for k, j, i in product(*(range(0, n, width) for n, width in zip(shape, chunk, strict=True))):
        box = Box((i, j, k), (i + chunk[2], j + chunk[1], k + chunk[0]))
        array[box.slices((0, 0, 0))] = inside(box).astype("i1")
