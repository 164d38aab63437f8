"""Initial fields given as Python callables and arrays, which blocks cannot compute: evaluated once, stored with the
run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr

from taskflow.common.errors import BadInput
from taskflow.output.store.layout import StoreLayout, divide
from taskflow.output.store.metadata import field_attributes
from taskflow.runtime.regions import Box, hull, triple

if TYPE_CHECKING:
    from taskflow.output.checkpoint.remapping import RemappedField  # which loads xarray

EVALUATED = 2**21  # points passed to a callable together, and one stored chunk

Function = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]


def save_initial(path: str | Path, layout: StoreLayout, sources: Mapping[str, Function | RemappedField]) -> None:
    """Evaluate f(x, y, z) at the points of each field of the layout, or take its values, and store them in double
    precision.

    A function gets three arrays of one shape, for piece after piece of the grid, and returns an array of that shape or
    a number. Raises BadInput if it fails or is not finite.
    """
    group = zarr.create_group(str(path), zarr_format=3)
    for name, source in sources.items():
        dims, shape = layout.dims(name), layout.shape(name)
        chunk = divide(shape, EVALUATED)
        array = group.create_array(
            name,
            shape=shape,
            chunks=chunk,
            dtype="f8",
            fill_value=np.nan,
            dimension_names=dims,
            attributes=field_attributes(layout.fields[name]),
        )
        for corner in product(*(range(0, n, width) for n, width in zip(shape, chunk, strict=True))):
            piece = triple(slice(start, start + width) for start, width in zip(corner, chunk, strict=True))
            places = [layout.coordinate(dim)[part] for dim, part in zip(dims, piece, strict=True)]
            if callable(source):
                array[piece] = _evaluate(name, source, *np.meshgrid(*places, indexing="ij"))
            else:
                array[piece] = source.part(piece)


def save_parts(path: str | Path, boxes: Sequence[Box], fields: Mapping[str, Sequence[np.ndarray]]) -> None:
    """Store the values [z, y, x] of fields in each of some boxes of an index space, in double precision."""
    group = zarr.create_group(str(path), zarr_format=3)
    for name, parts in fields.items():
        shape = hull(boxes).hi[::-1]
        chunks = divide(shape, EVALUATED)
        array = group.create_array(name, shape=shape, chunks=chunks, dtype="f8", fill_value=np.nan)
        for box, values in zip(boxes, parts, strict=True):
            array[box.slices((0, 0, 0))] = values


def load_initial(path: str | Path, field: str, box: Box) -> np.ndarray:
    """Return a field's values [z, y, x] in a box of its index space. Raises ValueError outside of it."""
    array = zarr.open_group(str(path), mode="r", zarr_format=3)[field]
    if not isinstance(array, zarr.Array) or box not in Box.of(array.shape[::-1]):
        raise ValueError(f"{path}: {field} has no values in the box {box}")
    return np.asarray(array[box.slices((0, 0, 0))])


def _evaluate(name: str, function: Function, z: np.ndarray, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the function's values at points given as three arrays of one shape."""
    called = f"initial field {name}: {getattr(function, '__qualname__', function)}(x, y, z)"
    try:
        values = np.broadcast_to(np.asarray(function(x, y, z), dtype="f8"), x.shape)
    except BadInput as error:  # its message names the function
        raise BadInput(f"initial field {name}: {error}") from error
    except Exception as error:
        raise BadInput(
            f"{called} failed with {type(error).__name__}: {error}; return an array of the shape of the three arguments"
        ) from error
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        at = tuple(bad[0])
        raise BadInput(f"{called} is {values[at]} at ({x[at]:g}, {y[at]:g}, {z[at]:g}); it must be finite everywhere")
    return values
