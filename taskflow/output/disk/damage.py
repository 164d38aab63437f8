"""Whether files are as they were written: what is stored ends in its CRC-32C, least byte first, as Zarr has it.

A shard is chunks, one after the other, each with its checksum, and behind them an index: place and size of each, with a
checksum. CRC-32C sees every single bit that has changed, and whatever lies within 32 bits of each other.
"""

from __future__ import annotations

import stat
from pathlib import Path

import google_crc32c
import numpy as np

from taskflow.common.errors import BadInput

SUMMED = 2**19  # bytes whose checksum is made at a time, in a tenth of a millisecond
PIECE = 16 * 2**20  # bytes that are read at a time
SIZE = 4  # bytes of a checksum
ENTRY = 16  # bytes of an index for each chunk
MISSING = 2**64 - 1  # as place and size: there is no such chunk
RESTORE = "restore it from a copy, or have it computed again (--resume goes back to before it, --force begins again)"


class Damaged(BadInput):
    """Something that is not as it was written; the message names the file and what is wrong with it."""


def crc32c(data: np.ndarray | bytes | memoryview, crc: int = 0) -> int:
    """Return the checksum, so far `crc`, after this data too. To make it holds the interpreter: little at a time, so
    that the thread which steps, and the one that answers, need not wait for it.
    """
    flat = data.reshape(-1).view(np.uint8) if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8)
    for begin in range(0, flat.size, SUMMED):
        crc = google_crc32c.extend(crc, flat[begin : begin + SUMMED])
    return crc


def checksum(data: np.ndarray | bytes | memoryview) -> bytes:
    """Return the bytes that stand behind this data in a file."""
    return crc32c(data).to_bytes(SIZE, "little")


def ends_in_checksum(data: np.ndarray | bytes) -> bool:
    """Return whether data ends in its checksum."""
    flat = np.frombuffer(data, np.uint8)
    return flat.size >= SIZE and checksum(flat[:-SIZE]) == flat[-SIZE:].tobytes()


def file_size(path: Path) -> int:
    """Return the size of a file. Raises Damaged where it is missing or not regular: a pipe would make us wait."""
    try:
        about = path.stat()
    except (OSError, ValueError) as error:
        raise Damaged(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if not stat.S_ISREG(about.st_mode):
        raise Damaged(f"{path}: it is not a regular file")
    return about.st_size


def check_file(path: Path, chunks: int, *, contents: bool = True) -> None:
    """Raises Damaged where a file of chunks is not as it was written: a shard of so many, or, with 0, one chunk alone.
    Without `contents` the chunks of a shard are not read, only its index.
    """
    size = file_size(path)
    try:
        with path.open("rb") as file:
            if not chunks:
                if not ends_in_checksum(file.read()):
                    raise Damaged(f"{path}: its checksum is not that of what was written")
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
                    raise Damaged(f"{path}: {size} bytes, which are not those of its index")
                known += length
                if contents:
                    file.seek(place)
                    if not ends_in_checksum(file.read(length)):
                        raise Damaged(f"{path}: the checksum of a chunk is not that of what was written")
            if known != end:
                raise Damaged(f"{path}: {size} bytes, which are not those of its index")
    except OSError as error:
        raise Damaged(f"{path}: {error.strerror or error}") from None
