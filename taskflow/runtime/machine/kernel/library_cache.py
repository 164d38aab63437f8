"""The cache of compiled kernels: a folder of the user's own, with libraries that are loaded only as they were written.

A library is code that runs as whoever loads it, so nothing is loaded from a folder that somebody else owns or may
write. Its last bytes are a checksum of all others, in one file with them, so that both are there or neither is; loaders
do not look behind the end of a library's tables. A torn library would end the process without a word.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from taskflow.errors import BadInput

CHECKSUM = 32  # bytes, of BLAKE2b


@cache
def cache_folder() -> Path:
    """The folder of compiled kernels, in $XDG_CACHE_HOME or ~/.cache; where that is read-only, a new temporary one.

    Raises BadInput where somebody else could put libraries there.
    """
    try:
        root = os.environ.get("XDG_CACHE_HOME")
        folder = (Path(root) if root else Path.home() / ".cache") / "taskflow"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = folder.resolve(strict=True)
        _check(folder)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # read-only, full, or no home at all
        return Path(tempfile.mkdtemp(prefix="taskflow-kernels-"))  # which nobody else can read


def _check(folder: Path) -> None:
    """Raises BadInput where somebody else could put libraries into a folder, or another folder in its place."""
    status, remedy = folder.stat(), "or set XDG_CACHE_HOME to a folder of your own"
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid != os.geteuid():
        raise BadInput(
            f"{folder}: compiled kernels are not kept in a folder of somebody else (user {status.st_uid}, mode"
            f" {mode:04o}); remove it, {remedy}"
        )
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise BadInput(
            f"{folder}: others may write into it (user {status.st_uid}, mode {mode:04o}), and could put their code"
            f" there; look at what is in it, remove it, {remedy}"
        )
    for parent in folder.parents:
        mode = stat.S_IMODE(parent.stat().st_mode)
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise BadInput(
                f"{folder}: everybody may replace it, since {parent} has mode {mode:04o}; chmod o-w {parent}, {remedy}"
            )


def loaded(path: Path) -> ctypes.CDLL | None:
    """The library in this file; None where there is none, or not what was written there."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    if len(content) <= CHECKSUM or _checksum(content[:-CHECKSUM]) != content[-CHECKSUM:]:
        return None
    with suppress(OSError):  # whole, and yet the loader does not take it: made on another system
        return ctypes.CDLL(str(path))
    return None


def keep(library: Path, path: Path) -> None:
    """Put a library that was built elsewhere in the same folder into its place, with its checksum: whoever looks at
    `path`, now or after the machine has died, finds all of it or what was there before. Raises OSError.
    """
    with library.open("r+b") as file:
        file.write(_checksum(file.read()))
        file.flush()
        os.fsync(file.fileno())
    library.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """While nobody else builds it: the workers of a host begin with the same kernels at the same moment. Where the file
    system knows no locks, each builds its own.
    """
    with path.with_suffix(".lock").open("w") as lock:
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            Path(lock.name).unlink(missing_ok=True)  # whoever waits for this one finds the library


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=CHECKSUM).digest()
