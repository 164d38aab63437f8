"""Groups of a store and their arrays, as Zarr has them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import zarr
from zarr.errors import ZarrUserWarning

from taskflow.output.damage import Damaged, regular
from taskflow.output.packing import codecs

SHARDS = "sharding_indexed"  # the codec of an array with shards
MOST = 2**28  # bytes of metadata that are read
WHOLE: Any = {"write_empty_chunks": True}  # a chunk that is not there is damage, not one without values
TIME_CHUNK = 1024  # times that one commit rewrites


def opened(path: str | Path, group: str, mode: Literal["r", "r+"] = "r+") -> tuple[zarr.Group, dict[str, zarr.Array]]:
    """A group of a store, and its arrays by name; time is one of them. Raises Damaged where nothing can read it."""
    folder, name = Path(path, group), ""
    try:
        node = zarr.open_group(str(path), path=group, mode=mode, use_consolidated=False)
        arrays = {}
        members = (file.parent for file in folder.glob("*/zarr.json"))
        for name in sorted({"time", *(member.name for member in members if not any(member.glob("*/zarr.json")))}):
            if isinstance(array := node[name], zarr.Array):
                arrays[name] = array
        name = "time"
        arrays[name] = array_of(node, name)
        return node, arrays
    except Exception as error:  # whatever Zarr makes of metadata that nobody wrote
        about = folder / name / "zarr.json"
        raise Damaged(f"{about}: it is missing, or damaged ({type(error).__name__}: {f'{error}'[:200]})") from None


def moving(array: zarr.Array) -> bool:
    """Whether an array has records in time."""
    return "time" in (getattr(array.metadata, "dimension_names", None) or ())


def metadata(path: Path) -> dict[str, Any]:
    """The object in a file of metadata. Raises Damaged where it cannot be read."""
    try:
        if regular(path) > MOST:
            raise Damaged(f"{path}: it is longer than any that a run writes")
        if isinstance(content := json.loads(path.read_bytes()), dict):
            return content
        raise ValueError("no object")
    except (OSError, ValueError, RecursionError) as error:
        raise Damaged(f"{path}: it is not as it was written ({error})") from None


def without_time(array: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of an array but for the number of records, which may be about to change."""
    timed, shape = "time" in (array.get("dimension_names") or ()), array.get("shape")
    return {**array, "shape": shape[1:] if timed and isinstance(shape, list) else shape}


def uncut(array: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of an array but for how it is cut into chunks and shards."""
    codecs = array["codecs"]
    if codecs[0]["name"] == SHARDS:
        codecs = codecs[0]["configuration"]["codecs"]
    return {**array, "chunk_grid": None, "codecs": codecs}


def array_of(group: zarr.Group, name: str) -> zarr.Array:
    """The array of this name."""
    array = group[name]
    if not isinstance(array, zarr.Array):
        raise TypeError(f"{name} is not an array in {group.store_path}")
    return array


def consolidate(group: zarr.Group) -> None:
    """Copy the metadata of all arrays into that of the group, and into that of the store, each in one write."""
    with warnings.catch_warnings():
        # Zarr warns that version 3 of the format does not speak of this; other readers ignore the copy.
        warnings.simplefilter("ignore", ZarrUserWarning)
        for path in dict.fromkeys((group.path, "")):
            zarr.consolidate_metadata(group.store, path=path, zarr_format=3)


def add_places(
    group: zarr.Group, name: str, values: np.ndarray, dims: Sequence[str], attributes: Mapping[str, Any]
) -> None:
    """Coordinates, in double precision."""
    array = group.create_array(
        name,
        shape=values.shape,
        chunks=values.shape,
        dtype="f8",
        compressors=codecs(),
        dimension_names=tuple(dims),
        config=WHOLE,
        attributes=dict(attributes),
    )
    array[:] = values


def add_column(group: zarr.Group, name: str, slots: int, attributes: Mapping[str, Any]) -> None:
    """A number for each record, such as its time; NaN where there is none yet."""
    array = group.create_array(
        name,
        shape=(slots,),
        chunks=(TIME_CHUNK,),
        dtype="f8",
        fill_value=np.nan,
        compressors=codecs(),
        dimension_names=("time",),
        config=WHOLE,
        attributes=dict(attributes),
    )
    array[:] = np.nan
