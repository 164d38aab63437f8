"""Groups of a store and their Zarr arrays: created, opened, and read with damage as an error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np
import zarr
from zarr.abc.store import ByteRequest
from zarr.codecs import BloscCodec
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import LocalStore, WrapperStore

from taskflow.output.disk.damage import RESTORE, Damaged, check_file, ends_in_checksum, file_size
from taskflow.output.disk.disk import CHARTS, replacing
from taskflow.output.store.foreign_store import accept
from taskflow.output.store.packing import codecs

CHUNK = re.compile(r"(.+)/c(?:/\d+)*")  # the key of a chunk, or of a shard
OF_CHARTS = re.compile(r"(charts/\d+/)?[^/]+")  # the path in a group of an array that is the group's own, or a chart's
SHARDS = "sharding_indexed"  # the codec of an array with shards
MOST = 2**28  # bytes of metadata that are read
INLINE = {"kind": "inline", "must_understand": False}  # Zarr's mark of copied metadata
WHOLE: Any = {"write_empty_chunks": True}  # a missing chunk is damage, not an empty one
TIME_CHUNK = 1024  # times that one commit rewrites


def open_group(
    path: str | Path, group: str, mode: Literal["r", "r+"] = "r+"
) -> tuple[zarr.Group, dict[str, zarr.Array]]:
    """Return a group and its arrays by name, with time and charts ("charts/0/p"). Raises Damaged if unreadable."""
    folder, name = Path(path, group), ""
    try:
        node = zarr.open_group(str(path), path=group, mode=mode, use_consolidated=False, zarr_format=3)
        arrays = {}
        members = (file.parent for way in ("*", f"{CHARTS}/*/*") for file in folder.glob(f"{way}/zarr.json"))
        arrays_of = (m.relative_to(folder).as_posix() for m in members if not any(m.glob("*/zarr.json")))
        for name in sorted({"time", *arrays_of}):
            described = metadata(folder / name / "zarr.json")
            if described.get("node_type") != "group" or name == "time":  # which has to be an array
                arrays[name] = zarr.Array.from_dict(node.store_path / name, described)
        return node, arrays
    except Damaged:
        raise
    except Exception as error:  # any error of Zarr for damaged metadata
        about = folder / name / "zarr.json"
        raise Damaged(f"{about}: it is missing, or damaged ({type(error).__name__}: {f'{error}'[:200]})") from None


def array_of(group: zarr.Group, name: str) -> zarr.Array:
    array = group[name]
    if not isinstance(array, zarr.Array):
        raise TypeError(f"{name} is not an array in {group.store_path}")
    return array


def arrays_of(group: zarr.Group) -> Iterator[tuple[str, zarr.Array]]:
    yield from group.arrays()
    charts = group.get(CHARTS)
    for number, chart in charts.groups() if isinstance(charts, zarr.Group) else ():
        yield from ((f"{CHARTS}/{number}/{name}", array) for name, array in chart.arrays())


def has_records(array: zarr.Array) -> bool:
    return "time" in (getattr(array.metadata, "dimension_names", None) or ())


def metadata(path: Path) -> dict[str, Any]:
    """Return the object in a metadata file. Raises Damaged if it cannot be read."""
    try:
        if file_size(path) > MOST:
            raise Damaged(f"{path}: it is longer than any that a run writes")
        if isinstance(content := json.loads(path.read_bytes()), dict):
            return content
        raise ValueError("no object")
    except (OSError, ValueError, RecursionError) as error:
        raise Damaged(f"{path}: it is not as it was written ({error})") from None


def without_time(array: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of an array without the number of records, which may be changing."""
    timed, shape = "time" in (array.get("dimension_names") or ()), array.get("shape")
    return {**array, "shape": shape[1:] if timed and isinstance(shape, list) else shape}


def without_cuts(array: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of an array without its division into chunks and shards."""
    codecs = array["codecs"]
    if codecs[0]["name"] == SHARDS:
        codecs = codecs[0]["configuration"]["codecs"]
    return {**array, "chunk_grid": None, "codecs": codecs}


def consolidate(path: str | Path, group: str = "") -> None:
    """Copy the metadata of all arrays into the metadata of a group and of the store, each in one write.

    `zarr.consolidate_metadata` writes the same, but warns that version 3 of the format does not cover this. Warning
    filters belong to the whole process: runs in threads that silence it temporarily would restore each other's filters.
    """
    for folder in dict.fromkeys((Path(path, group), Path(path))):
        members = sorted(_members(folder), key=lambda name: (name.count("/"), name))
        copied = {name: metadata(folder / name / "zarr.json") for name in members}
        for described in copied.values():
            if described.get("node_type") == "group":
                described["consolidated_metadata"] = {**INLINE, "metadata": {}}
        own = {**metadata(folder / "zarr.json"), "consolidated_metadata": {**INLINE, "metadata": copied}}
        with replacing(folder / "zarr.json") as draft:
            draft.write_text(json.dumps(own))


def _members(folder: Path, above: str = "") -> Iterator[str]:
    for file in folder.glob("*/zarr.json"):
        name = f"{above}{file.parent.name}"
        yield name
        yield from _members(file.parent, f"{name}/")


def add_array(
    group: zarr.Group,
    name: str,
    shape: tuple[int, ...],
    dims: Sequence[str],
    attributes: Mapping[str, Any],
    *,
    chunks: tuple[int, ...] | None = None,
    dtype: Any = "f8",
    packing: BloscCodec | None = None,
    **options: Any,
) -> zarr.Array:
    """Create an array with chunks (default: one), packed if requested, that end in their checksum."""
    return group.create_array(
        name,
        shape=shape,
        chunks=shape if chunks is None else chunks,
        dtype=dtype,
        compressors=codecs(packing),
        dimension_names=tuple(dims),
        config=WHOLE,
        attributes=dict(attributes),
        **options,
    )


def add_column(group: zarr.Group, name: str, slots: int, attributes: Mapping[str, Any]) -> None:
    """Create an array with one number per record, such as its time, NaN for records to come."""
    array = add_array(group, name, (slots,), ("time",), attributes, chunks=(TIME_CHUNK,), fill_value=np.nan)
    array[:] = np.nan


class CheckedStore(WrapperStore[LocalStore]):
    """Store that never returns a missing or damaged chunk: reading raises Damaged at any time.

    `shards` are the arrays with checksums, by path, with the number of chunks in a shard, or 0 without shards. Other
    arrays, in stores older than checksums, are read unchecked.
    """

    def __init__(self, store: LocalStore, shards: Mapping[str, int] | None = None) -> None:
        super().__init__(store)
        self._shards = shards or {}

    def _with_store(self, store: LocalStore) -> CheckedStore:
        return type(self)(store, self._shards)

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the stored bytes.

        A part of a shard is usually a chunk or the index and ends in its checksum. If it does not, the whole shard is
        verified.
        """
        value = await super().get(key, prototype, byte_range)
        match = CHUNK.fullmatch(key)
        chunks = self._shards.get(match[1]) if match is not None else None
        if chunks is None:
            return value
        if value is not None and byte_range is not None and ends_in_checksum(value.as_numpy_array()):
            return value
        try:
            check_file(self._store.root / key, chunks)
        except Damaged as error:
            raise Damaged(f"{error}; {RESTORE}") from None
        return value


def checked(path: Path, group: str) -> CheckedStore:
    """Return a store for reading one of its groups.

    Raises Damaged if the group's metadata of its arrays differ from their own, and FileNotFoundError if the group does
    not exist.
    """
    about = path / group / "zarr.json"
    if not about.exists():
        raise FileNotFoundError(about)
    described, shards = metadata(about), {}
    try:
        arrays = dict(described["consolidated_metadata"]["metadata"])
        for name, array in arrays.items():
            if array["node_type"] == "array":
                accept(name, array)
            if array["node_type"] == "array" and OF_CHARTS.fullmatch(name):
                where = path / group / name / "zarr.json"
                if without_time(metadata(where)) != without_time(array):
                    raise Damaged(f"{about}: its entry of {name} differs from {where}; {RESTORE}")
                if (chunks := _shard(array)) is not None:
                    shards["/".join(filter(None, (group, name)))] = chunks
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, IndexError) as error:
        raise Damaged(f"{about}: it is not as it was written ({type(error).__name__}: {error}); {RESTORE}") from None
    return CheckedStore(LocalStore(path, read_only=True), shards)


def _shard(array: Mapping[str, Any]) -> int | None:
    """Return the number of chunks in a shard of an array, 0 without shards, None without checksums."""
    outer, codecs = array["chunk_grid"]["configuration"]["chunk_shape"], array["codecs"]
    inner, chunks = outer, 0
    if codecs[0]["name"] == SHARDS:
        inner, codecs = codecs[0]["configuration"]["chunk_shape"], codecs[0]["configuration"]["codecs"]
        chunks = prod(whole // part for whole, part in zip(outer, inner, strict=True))
    return chunks if codecs[-1]["name"] == "crc32c" else None
