"""Detection of damaged files: stored data end in their CRC-32C, least significant byte first, as in Zarr.

A shard is a sequence of chunks, each followed by its checksum, and an index of their offsets and sizes, with a
checksum. CRC-32C detects any single changed bit, and any changes within 32 bits of each other.
"""

from __future__ import annotations

import stat
from pathlib import Path

import google_crc32c
import numpy as np

from taskflow.common.errors import BadInput

SUMMED = 2**19  # bytes per checksum call of 0.1 ms
PIECE = 16 * 2**20  # bytes read together
SIZE = 4  # bytes of a checksum
ENTRY = 16  # bytes of an index for each chunk
MISSING = 2**64 - 1  # as offset and size: the chunk does not exist
RESTORE = "restore it from a copy, or recompute it (--resume restarts before it, --force starts over)"


class Damaged(BadInput):
    """Changed or missing stored data. The message names the file and the problem."""


def crc32c(data: np.ndarray | bytes | memoryview, crc: int = 0) -> int:
    """Return the checksum of this data, continued from `crc`.

    The computation holds the interpreter lock, so data are processed in small parts that do not delay the threads that
    step and answer.
    """
    flat = data.reshape(-1).view(np.uint8) if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8)
    for begin in range(0, flat.size, SUMMED):
        crc = google_crc32c.extend(crc, flat[begin : begin + SUMMED])
    return crc


def checksum(data: np.ndarray | bytes | memoryview) -> bytes:
    """Return the checksum bytes that follow this data in a file."""
    return crc32c(data).to_bytes(SIZE, "little")


def ends_in_checksum(data: np.ndarray | bytes) -> bool:
    flat = np.frombuffer(data, np.uint8)
    return flat.size >= SIZE and checksum(flat[:-SIZE]) == flat[-SIZE:].tobytes()


def file_size(path: Path) -> int:
    """Return the size of a file. Raises Damaged if it is missing or not regular, because reading a pipe could block."""
    try:
        about = path.stat()
    except (OSError, ValueError) as error:
        raise Damaged(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if not stat.S_ISREG(about.st_mode):
        raise Damaged(f"{path}: it is not a regular file")
    return about.st_size


def check_file(path: Path, chunks: int, *, contents: bool = True) -> None:
    """Raise Damaged if a shard of `chunks`, or 0 a single chunk, has changed, without `contents` by its index."""
    size = file_size(path)
    try:
        with path.open("rb") as file:
            if not chunks:
                if not ends_in_checksum(file.read()):
                    raise Damaged(f"{path}: its checksum differs from the recorded one")
                return
            end = size - chunks * ENTRY - SIZE
            file.seek(max(end, 0))
            index = file.read()
            if end < 0 or not ends_in_checksum(index):
                raise Damaged(f"{path}: the index of its chunks is not as it was written")
            places = sorted(map(tuple, np.frombuffer(index[:-SIZE], "<u8").reshape(-1, 2).tolist()))
            known = 0
            for place, length in places:
                if place == length == MISSING:
                    continue
                if place != known or length > end - known:
                    raise Damaged(f"{path}: it has {size} bytes, and its index describes another number")
                known += length
                if contents:
                    file.seek(place)
                    if not ends_in_checksum(file.read(length)):
                        raise Damaged(f"{path}: the checksum of a chunk differs from the recorded one")
            if known != end:
                raise Damaged(f"{path}: it has {size} bytes, and its index describes another number")
    except OSError as error:
        raise Damaged(f"{path}: {error.strerror or error}") from None
