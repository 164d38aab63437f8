"""Zarr stores written by other programs, checked before they are opened.

A store names the code that unpacks it. One entry of Zarr's registry executes its input, others belong to any installed
package. Keys of a store are files, which can link to other files, pipes and devices.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr.abc.store import ByteRequest
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import LocalStore, WrapperStore

from taskflow.common.errors import BadInput
from taskflow.common.files import bounded, content, fits

if TYPE_CHECKING:
    import xarray as xr

METADATA = (".zarray", ".zgroup", ".zattrs", ".zmetadata", "zarr.json")
MOST = 1 << 28  # bytes of metadata
REMEDY = "give a Zarr store"
PACKED = ("blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd")
NUMBERS = ("bitround", "delta", "fixedscaleoffset", "packbits", "quantize", "shuffle")
CHECKED = ("adler32", "crc32", "crc32c", "fletcher32", "jenkins_lookup3")
TEXT = ("vlen-bytes", "vlen-utf8")
STRUCTURE = ("bytes", "endian", "sharding_indexed", "transpose")
# None of these executes content of a store. Zarr 3 has separate names for the codecs of numcodecs.
ALLOWED = {*PACKED, *NUMBERS, *CHECKED, *TEXT, *STRUCTURE, *(f"numcodecs.{n}" for n in (*PACKED, *NUMBERS, *CHECKED))}


class BoundStore(WrapperStore[LocalStore]):
    """Store of regular files below its folder. Raises BadInput for links out of it and files that could block."""

    def _with_store(self, store: LocalStore) -> BoundStore:
        return type(self)(store)

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Return the bytes of a key."""
        within(self._store.root, self._store.root / key)
        return await super().get(key, prototype, byte_range)


def within(root: Path, path: Path) -> None:
    """Raise BadInput if an existing path is not a regular file below a folder."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return
    if stat.S_ISDIR(mode):
        return
    if not stat.S_ISREG(mode):
        raise BadInput(f"{path}: it is not a regular file; {REMEDY}")
    if not path.resolve().is_relative_to(root.resolve()):
        raise BadInput(f"{path}: it leads to a file outside of the store, which is not read; copy the file there")


def opened(path: Path) -> xr.Dataset:
    """Return the arrays of a store, lazy. Raises BadInput if one is not safe to read."""
    import xarray as xr  # which a run does without

    for name, array in described(path):
        accept(name, array)
    with bounded(_size(path)):
        return xr.open_zarr(BoundStore(LocalStore(path, read_only=True)), chunks=None, consolidated=False)


def _size(path: Path) -> int:
    """Return the total size in bytes of the files directly in the folders of arrays."""
    return sum(file.lstat().st_size for file in path.glob("*/*"))


def described(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the metadata of arrays, of Zarr 2 and 3, individual and consolidated. Raises BadInput."""
    for folder, folders, names in os.walk(path):
        if Path(folder) != path:
            folders.clear()  # arrays are in the store or directly below it; there may be many files of chunks
        for name in sorted({*METADATA} & {*names}):
            file = Path(folder, name)
            within(path, file)
            where = f"{file.relative_to(path)}"
            try:
                metadata = json.loads(content(file, MOST, REMEDY))
                if name != ".zattrs":
                    yield from _arrays(where, metadata)
            except (ValueError, RecursionError, TypeError, AttributeError) as error:
                raise BadInput(f"{where}: it is not valid Zarr metadata ({error}); {REMEDY}") from None


def _arrays(where: str, content: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if "zarr_format" not in content and "metadata" not in content:
        raise ValueError("it says no format")
    if "shape" in content or where.endswith(".zarray"):
        yield where, content
    inside = content.get("metadata", {}), (content.get("consolidated_metadata") or {}).get("metadata", {})
    for members in inside:
        for key, member in members.items():
            if isinstance(member, dict) and "shape" in member:
                yield f"{where}, {key}", member


def accept(name: str, array: Mapping[str, Any]) -> None:
    """Raise BadInput for a forbidden codec, or a one-dimensional array, read at opening, that needs too much memory."""
    unknown = [codec for codec in _codecs(array) if codec not in ALLOWED]
    if unknown:
        raise BadInput(
            f"{name}: it is packed by {unknown[0]!r}, which is not read; use one of {', '.join((*PACKED, *TEXT))}"
        )
    try:
        shape = [int(n) for n in array["shape"]]
        grid = array.get("chunk_grid") or {}
        chunks = [int(n) for n in array.get("chunks") or grid.get("configuration", {}).get("chunk_shape") or []]
        width = _width(array.get("dtype") or array.get("data_type"))
        if min(shape + chunks, default=0) < 0:
            raise ValueError(f"an array of shape {shape} in chunks {chunks}")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"{name}: it is not valid Zarr metadata ({type(error).__name__}: {error}); {REMEDY}") from None
    if len(shape) < 2:
        fits(prod(shape) * width, name, 0)
        fits(prod(chunks) * width, f"{name}: a chunk", 0)
    else:
        fits(prod(chunks) * width, f"{name}: a chunk")


def _width(dtype: Any) -> int:
    """Return the bytes of a value, or an estimate if they vary."""
    if isinstance(dtype, dict):  # an extension of Zarr 3
        return max(1, int(dtype.get("configuration", {}).get("length_bytes", 16)))
    try:
        return max(1, np.dtype(dtype if isinstance(dtype, str) else [tuple(part) for part in dtype]).itemsize)
    except TypeError:
        return 16


def _codecs(array: Mapping[str, Any]) -> Iterator[object]:
    """Yield the names of all codecs of an array, or the entry itself if it has no name."""
    for codec in (array.get("compressor"), *(array.get("filters") or [])):
        if codec is not None:
            yield codec.get("id") if isinstance(codec, dict) else codec
    pending = [*(array.get("codecs") or [])]
    for codec in pending:
        yield codec.get("name") if isinstance(codec, dict) else codec
        about = codec.get("configuration") if isinstance(codec, dict) else None
        for key in ("codecs", "index_codecs"):
            pending += (about or {}).get(key) or []  # of shards: the loop meets them, too
