"""A file that one process at a time can make, on any shared file system, and that no process removes by mistake.

Its first line is unique to its maker. The rest may change.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
import uuid
from contextlib import suppress
from pathlib import Path

MOST = 4096  # bytes that are read
BUSY = 0.1  # seconds to wait for a process that removes the file


def content(path: Path) -> bytes | None:
    """Return the content of the file, or None if it does not exist. Raises OSError."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe would make others wait
    except FileNotFoundError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        return os.read(file, MOST)
    finally:
        os.close(file)


def make(path: Path, text: bytes) -> int:
    """Make the file atomically with its full text, flushed to disk, and return it open.

    Raises FileExistsError if it exists, FileNotFoundError if its folder does not, and OSError.
    """
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        file = _written(draft, text)
        try:
            os.link(draft, path)
        except FileExistsError:
            if os.fstat(file).st_nlink != 2:  # an answer of NFS that got lost: it was made after all
                os.close(file)
                raise
        except FileNotFoundError:
            os.close(file)
            raise
        except OSError:  # a file system that knows no links
            os.close(file)
            file = _written(path, text)
    finally:
        draft.unlink(missing_ok=True)
    return file


def _written(path: Path, text: bytes) -> int:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        os.write(file, text)
        os.fsync(file)
    except OSError:
        os.close(file)
        raise
    return file


def remove(path: Path, line: bytes) -> None:
    """Remove the file if it has this first line; otherwise, or if it does not exist, do nothing.

    Of several processes that remove and make the file concurrently, none removes the file of another: they compare it
    under a system lock. If the file system has no such locks, a file moved by mistake is put back. Raises OSError.
    """
    with suppress(FileNotFoundError):
        writable = os.access(path, os.W_OK)  # which NFS wants for a lock
        file = os.open(path, (os.O_RDWR if writable else os.O_RDONLY) | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            _remove(path, file, line)
        finally:
            os.close(file)


def _remove(path: Path, file: int, line: bytes) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        time.sleep(BUSY)
        return
    except OSError:
        pass
    if first(os.read(file, MOST)) != line or not os.path.samestat(os.fstat(file), path.stat()):
        return
    aside = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    path.rename(aside)
    if first(content(aside) or b"") != line:
        with suppress(FileExistsError):
            os.link(aside, path)
    aside.unlink()


def drafts(path: Path) -> list[Path]:
    """Return the files left next to it by processes that died while they made or removed it."""
    return list(path.parent.glob(f".{path.name}.{'[0-9a-f]' * 32}"))


def first(text: bytes) -> bytes:
    return text.partition(b"\n")[0]
