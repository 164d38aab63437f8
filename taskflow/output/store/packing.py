"""Pack values and write shards on several cores, each chunk directly from the field into the file.

Zarr writes the same files. But it first copies each chunk and compares it with the fill value, and finally joins them,
all on one core, which takes longer than packing. Blosc is also called directly, because numcodecs packs into new memory
and copies the result while it holds the interpreter lock (times: docs/decisions/output.md).
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import cache
from itertools import chain, product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from numcodecs import BitRound, Blosc, blosc
from zarr.codecs import BloscCodec, Crc32cCodec

from taskflow.output.disk.damage import MISSING, checksum
from taskflow.output.disk.disk import Guard, replacing, unguarded

BITS = "quantization_nsb"  # attribute: number of stored bits of the fraction
# Available in every Zarr reader. LZ4 on shuffled bytes is fastest on velocity fields, Zstandard packs more.
PACKING = {
    "lz4": BloscCodec(cname="lz4", clevel=5, shuffle="shuffle"),
    "zstd": BloscCodec(cname="zstd", clevel=5, shuffle="bitshuffle"),
    "none": None,
}
SHUFFLE = {"noshuffle": Blosc.NOSHUFFLE, "shuffle": Blosc.SHUFFLE, "bitshuffle": Blosc.BITSHUFFLE}
AHEAD = 4  # chunks of a shard that are packed before they can be written
OVERHEAD = 16  # bytes by which packed values may exceed unpacked ones: BLOSC_MAX_OVERHEAD

Buffers = deque[np.ndarray]  # free memory for packed chunks
Packed = bytes | memoryview
Sealed = tuple[Packed, ...]  # a chunk and its checksum, or nothing


def codecs(packing: BloscCodec | None = None) -> list[BloscCodec | Crc32cCodec]:
    """Return the codecs of a chunk: `packing`, if any, and its checksum."""
    return [*([packing] if packing else []), Crc32cCodec()]


def take_buffer(free: Buffers, nbytes: int) -> np.ndarray:
    """Return a buffer large enough for `nbytes` bytes of values when packed."""
    try:
        buffer = free.pop()
    except IndexError:
        buffer = np.empty(0, np.uint8)
    return buffer if buffer.size >= nbytes + OVERHEAD else np.empty(nbytes + OVERHEAD, np.uint8)


def pack(codec: Blosc, values: np.ndarray, buffer: np.ndarray) -> Packed:
    """Return C-ordered values packed by `codec`, in `buffer` if the library can be called."""
    compress = _compressor()
    if compress is None:
        return codec.encode(values)
    source, size = values.ctypes.data, values.nbytes
    how = (codec.clevel, codec.shuffle, values.itemsize)
    most = size + OVERHEAD  # for any size of buffer: data that do not pack are copied beyond this size
    packed = compress(*how, size, source, buffer.ctypes.data, most, codec.cname.encode(), codec.blocksize, 1)
    if packed <= 0:
        raise RuntimeError(f"Blosc ({codec}) could not pack {size} bytes: error {packed}")
    return buffer[:packed].data


@cache
def _compressor() -> Callable[..., int] | None:
    """Return the function `blosc_compress_ctx` of the library in numcodecs, or None if it is hidden."""
    try:
        function = ctypes.CDLL(blosc.__file__).blosc_compress_ctx
    except (OSError, AttributeError):
        return None
    number, size, place = ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p
    function.argtypes = (number, number, size, size, place, place, size, ctypes.c_char_p, size, number)
    function.restype = number
    return function


@dataclass(frozen=True)
class Packing:
    """Storage of a chunk of an array. Values outside the domain, which fill up the last chunk, are NaN."""

    dtype: np.dtype
    chunk: tuple[int, ...]
    bits: int  # of the fraction of a number, 0 for all
    codec: Blosc | None

    @classmethod
    def of(cls, array: zarr.Array) -> Packing:
        """Return the packing of an array [time, z, y, x]."""
        codec, bits = None, int(str(array.attrs.get(BITS, 0)))
        compressor: Any = array.compressors[0]
        if isinstance(compressor, BloscCodec):
            how: Any = compressor.to_dict()["configuration"]
            codec = Blosc(how["cname"], how["clevel"], SHUFFLE[how["shuffle"]], how["blocksize"])
        return cls(array.dtype, array.chunks, bits, codec)

    @property
    def nbytes(self) -> int:
        """Bytes of an unpacked chunk."""
        return prod(self.chunk) * self.dtype.itemsize

    def __call__(self, values: np.ndarray, buffer: np.ndarray) -> Sealed:
        """Return the values of a chunk, complete or not, packed into `buffer` if they are packed."""
        if not values.size:
            return ()
        with np.errstate(over="ignore"):  # values of a diverging run may exceed single precision
            chunk = np.ascontiguousarray(values, self.dtype)
        if chunk.shape != self.chunk:
            widths = [(0, whole - n) for whole, n in zip(self.chunk, chunk.shape, strict=True)]
            chunk = np.pad(chunk, widths, constant_values=np.nan)
        if self.bits:
            chunk = BitRound(self.bits).encode(chunk)
        packed = pack(self.codec, chunk, buffer) if self.codec else chunk.data.cast("B")
        return packed, checksum(packed)


def write_shards(
    folder: Path,
    array: zarr.Array,
    corner: tuple[int, ...],
    values: np.ndarray,
    packers: Executor,
    buffers: Buffers,
    guard: Guard = unguarded,
) -> list[Path]:
    """Write values, whole shards, from `corner` on into an array [time, z, y, x] stored in a folder, and return the
    files.

    Each shard is written atomically. Raises OSError. Memory holds the values, the chunks being packed by `packers`, and
    `AHEAD` packed ones.
    """
    packing, widths, written = Packing.of(array), array.shards or array.chunks, list[Path]()
    for number, shard in _cut(values, values.shape, widths):
        place = (first // width + n for first, width, n in zip(corner, widths, number, strict=True))
        path = folder / array.metadata.encode_chunk_key(tuple(place))
        path.parent.mkdir(parents=True, exist_ok=True)
        packed = _ahead(packers, packing, (chunk for _, chunk in _cut(shard, widths, packing.chunk)), buffers)
        with replacing(path, guard) as draft, draft.open("wb") as file:
            file.writelines(_indexed(packed) if array.shards else chain.from_iterable(packed))
        written.append(path)
    return written


def _cut(
    values: np.ndarray, shape: Sequence[int], widths: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Yield the pieces of an array of this shape with their numbers, restricted to existing values."""
    for number in product(*(range(-(-n // width)) for n, width in zip(shape, widths, strict=True))):
        yield number, values[tuple(slice(k * w, (k + 1) * w) for k, w in zip(number, widths, strict=True))]


def _ahead(packers: Executor, packing: Packing, chunks: Iterable[np.ndarray], buffers: Buffers) -> Iterator[Sealed]:
    """Yield packed chunks in order, each valid until the next is requested, while at most `AHEAD` others wait."""
    waiting = deque[tuple[np.ndarray, Future[Sealed]]]()

    def first() -> Iterator[Sealed]:
        buffer, packed = waiting.popleft()
        yield packed.result()
        buffers.append(buffer)

    for chunk in chunks:
        buffer = take_buffer(buffers, packing.nbytes)
        waiting.append((buffer, packers.submit(packing, chunk, buffer)))
        if len(waiting) > AHEAD:
            yield from first()
    while waiting:
        yield from first()


def _indexed(chunks: Iterable[Sealed]) -> Iterator[Packed]:
    """Yield the chunks, then the index of a shard: offset and size of each, with a checksum."""
    index, end = list[tuple[int, int]](), 0
    for chunk in chunks:
        size = sum(map(len, chunk))
        index.append((end, size) if chunk else (MISSING, MISSING))
        end += size
        yield from chunk
    table = np.array(index, "<u8").tobytes()
    yield table + checksum(table)
