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
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import zarr
from numcodecs import BitRound, Blosc, blosc
from zarr.codecs import BloscCodec, Crc32cCodec

from taskflow.output.disk.damage import MISSING, checksum
from taskflow.output.disk.disk import DRAFT, Guard, locked, replacing, unguarded

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
Sealed = tuple[Packed, Packed]  # a chunk and its checksum


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
    token: str = "",
) -> list[Path]:
    """Write values, whole chunks, from `corner` on into an array [time, z, y, x] stored in a folder, and return the
    shards that are complete then.

    Each shard gets its name when it is complete. Other blocks of this host may write the rest of a shard, with the same
    `token`, which no earlier run has used. Raises OSError. Memory holds the values, the chunks being packed by
    `packers`, and `AHEAD` packed ones.
    """
    packing, widths, written = Packing.of(array), array.shards or array.chunks, list[Path]()
    for number, first, part in _cut(corner, values, widths):
        path = folder / array.metadata.encode_chunk_key(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        chunks = [*_cut(first, part, packing.chunk)]
        packed = _ahead(packers, packing, (points for _, _, points in chunks), buffers)
        grid = [width // size for width, size in zip(widths, packing.chunk, strict=True)]
        stored = (min(width, n - k * width) for k, width, n in zip(number, widths, array.shape, strict=True))
        needed = prod(-(-n // size) for n, size in zip(stored, packing.chunk, strict=True))
        places = np.ravel_multi_index(np.transpose([chunk for chunk, _, _ in chunks]), grid, mode="wrap").tolist()
        index = np.full((prod(grid), 2), MISSING, "<u8")
        if len(chunks) < needed:
            if not _joined(path, index, zip(places, packed, strict=True), needed, guard, token):
                continue
        else:
            with replacing(path, guard) as draft, draft.open("wb") as file:
                _fill(file, index, zip(places, packed, strict=True))
                file.write(_sealed(index) if array.shards else b"")
        written.append(path)
    return written


def _joined(
    path: Path, index: np.ndarray, chunks: Iterable[tuple[int, Sealed]], needed: int, guard: Guard, token: str
) -> bool:
    """Add numbered chunks to a shard that other blocks of this host write, too, and return True if it is complete.

    Until then its index is in a separate file, replaced after the chunks are written. A block that fails or is killed
    thus leaves a valid draft.
    """
    draft, table = (path.with_name(f"{path.name}.{token}{kind}{DRAFT}") for kind in ("", ".index"))
    with locked(draft):
        if table.exists():
            index = np.frombuffer(table.read_bytes(), "<u8").reshape(-1, 2).copy()
        with draft.open("r+b") as file:
            _fill(file, index, chunks)
            complete = np.count_nonzero(index[:, 0] != MISSING) == needed
            if complete:
                file.write(_sealed(index))
                file.truncate()
        if complete:
            guard()
            draft.replace(path)
            table.unlink(missing_ok=True)
        else:
            with replacing(table) as new:
                new.write_bytes(index.tobytes())
    return complete


def _cut(
    corner: Sequence[int], values: np.ndarray, widths: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], np.ndarray]]:
    """Yield the pieces of an array that begins at `corner`, cut at multiples of `widths`: number, corner and values."""
    ends = [low + n for low, n in zip(corner, values.shape, strict=True)]
    for number in product(*(range(lo // w, -(-hi // w)) for lo, hi, w in zip(corner, ends, widths, strict=True))):
        first = tuple(max(lo, k * w) for lo, k, w in zip(corner, number, widths, strict=True))
        last = (min(hi, (k + 1) * w) for hi, k, w in zip(ends, number, widths, strict=True))
        inside = (slice(a - lo, b - lo) for a, b, lo in zip(first, last, corner, strict=True))
        yield number, first, values[tuple(inside)]


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


def _fill(file: BinaryIO, index: np.ndarray, chunks: Iterable[tuple[int, Sealed]]) -> None:
    """Write numbered chunks after those in the index of a shard, offset and size of each, and add them to it."""
    end = int(index[index[:, 0] != MISSING, 1].sum())
    file.seek(end)
    for number, chunk in chunks:
        index[number] = end, sum(map(len, chunk))
        file.writelines(chunk)
        end += int(index[number, 1])


def _sealed(index: np.ndarray) -> bytes:
    return index.tobytes() + checksum(index)
