"""Files named by users, opened without blocking, and read within limits of size."""

from __future__ import annotations

import os
import resource
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import psutil

from taskflow.common.errors import BadInput
from taskflow.common.units import size

TABLE = 10_000_000  # bytes of a table of numbers as text
SHAPE = 2_000_000_000  # bytes of a surface or a height map
SHARE, SPARE = 100, 1 << 29  # bytes of memory that reading may take per byte of a file, and in addition
ROOM = 700_000_000  # additional bytes for libraries while they read
KINDS = {
    stat.S_ISFIFO: "a pipe",
    stat.S_ISSOCK: "a socket",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
}


@contextmanager
def opened(path: str | Path, most: int, remedy: str, missing: str | None = None) -> Iterator[IO[bytes]]:
    """Open a regular file of at most `most` bytes for reading.

    Raises BadInput, without the path, if it is something else or cannot be opened. Pipes do not block. `remedy` is the
    advice in the message, or `missing` if the file does not exist.
    """
    try:
        file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))  # noqa: SIM115
    except FileNotFoundError:
        raise BadInput(f"file not found; {missing or remedy}") from None
    except (OSError, ValueError) as error:
        raise _unread(error, remedy) from None
    with file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            kind = next((name for holds, name in KINDS.items() if holds(status.st_mode)), "no file")
            raise BadInput(f"cannot be read (it is {kind}); {remedy}")
        if status.st_size > most:
            raise BadInput(f"more than {most} bytes ({status.st_size}); {remedy}")
        with bounded(status.st_size):
            yield file


_checking = False


def only_check() -> None:
    """Limit the memory of readers in this process permanently, for commands that check files and compute nothing."""
    global _checking
    _checking = True


@contextmanager
def bounded(nbytes: int) -> Iterator[None]:
    """Limit memory in proportion to `nbytes` while a checking command reads that many bytes.

    Claimed sizes are checked beforehand. This covers sizes that cannot be checked, such as data that unpack to far more
    bytes than they should: libraries then fail to allocate memory, and the host survives.
    """
    if not _checking:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limits = [limit for limit in (soft, _data() + SHARE * nbytes + ROOM) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(limits), hard))
    try:
        yield
    except MemoryError:
        raise BadInput(
            f"reading it takes more than {size(SHARE * nbytes + ROOM)}, out of proportion to the file ({size(nbytes)});"
            " if the file is not damaged, write it without compression"
        ) from None
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _data() -> int:
    """Return the bytes of this process that RLIMIT_DATA counts."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmData:"))


def content(path: str | Path, most: int, remedy: str, missing: str | None = None) -> bytes:
    """Read a whole file as bytes. Raises BadInput as `opened` does, and if it cannot be read."""
    with opened(path, most, remedy, missing) as file:
        try:
            data = file.read(most + 1)
        except OSError as error:
            raise _unread(error, remedy) from None
    if len(data) > most:  # it grew, or has no known size
        raise BadInput(f"more than {most} bytes; {remedy}")
    return data


def text(path: str | Path, most: int, remedy: str, missing: str | None = None) -> str:
    """Read a whole file as text. Raises BadInput as `content` does, and with the position of invalid UTF-8."""
    data = content(path, most, remedy, missing).removeprefix(BOM_UTF8)  # written by programs on Windows
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1
        raise BadInput(f"line {line}, byte {column}: not a text file in UTF-8; {remedy}") from None


def fits(nbytes: int, what: str, of: int | None = None) -> None:
    """Raise BadInput if reading takes more memory than is free, or out of proportion to a file of `of` bytes.

    Valid packed files unpack to about ten times their size, damaged or hostile ones claim any size.
    """
    free = psutil.virtual_memory().available
    if nbytes > free:
        raise BadInput(f"{what}: reading it takes {size(nbytes)}, of which {size(free)} are free; give a smaller one")
    if of is not None and nbytes > SHARE * of + SPARE:
        raise BadInput(
            f"{what}: reading it takes {size(nbytes)}, out of proportion to the file ({size(of)}); if the file is not"
            " damaged, write it without compression"
        )


def path_of(value: object, name: str, what: str) -> Path:
    """Return the path in an argument called `name`. Raises BadInput for another type."""
    if not isinstance(value, str | os.PathLike):
        raise BadInput(f"{name} = {value!r}; give the path of {what}")
    return Path(value)


def _unread(error: OSError | ValueError, remedy: str) -> BadInput:
    return BadInput(f"cannot be read ({getattr(error, 'strerror', None) or error}); {remedy}")
