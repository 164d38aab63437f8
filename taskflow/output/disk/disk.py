"""Atomically written files, and system errors raised as errors of a run."""

from __future__ import annotations

import fcntl
import os
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile

from taskflow.common.errors import RunFailed

CASE, REPORT, LOG, LOCK = "case.toml", "report.json", "log.jsonl", "lock"
STORE, INITIAL, CHECKPOINTS = "fields.zarr", "initial.zarr", "checkpoints"
CHARTS = "charts"  # the group of a store with a group for each chart
DRAFT = ".partial"  # suffix of drafts, also of Zarr's
Guard = Callable[[], None]  # raises RunFailed if writing is no longer permitted


def unguarded() -> None:
    """Do nothing: the guard of a single writer."""


def has_charts(path: str | Path, group: str = "") -> bool:
    return Path(path, group, CHARTS, "0", "zarr.json").exists()


@contextmanager
def on_disk(what: str) -> Iterator[None]:
    """Raise RunFailed, in one line, if the system fails to store `what`."""
    try:
        yield
    except OSError as error:
        raise RunFailed(f"{what}: {error.strerror or error}") from error


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let the blocks of a host, in any process, write a file sequentially. Creates it if missing. Raises OSError."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)  # unlocks it, as does the end of the process


def lockable(folder: Path) -> bool:
    """Return True if the file system of a folder has the locks of `locked`. Some that are shared do not."""
    try:
        with TemporaryFile(dir=folder) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
    except OSError:
        return False
    return True


def write_synced(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file and wait until it is on disk. Raises OSError."""
    write_parts(path, parts)
    sync_folder(path)


def write_parts(path: Path, parts: Iterable[bytes | memoryview], begin: int = 0) -> None:
    """Write a file from a byte on, up to its new end. Raises OSError."""
    with path.open("r+b" if begin else "wb") as file:
        file.seek(begin)
        file.truncate()
        for part in parts:
            file.write(part)
            if hasattr(os, "posix_fadvise"):  # the disk immediately starts to write pages that memory no longer needs
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@contextmanager
def replacing(path: Path, guard: Guard = unguarded) -> Iterator[Path]:
    """Yield the name of a draft that replaces the file at the end, so that the file is complete or unchanged.

    `guard` is called before the replacement. A killed process leaves the draft: see `sweep`. Raises OSError.
    """
    draft = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}{DRAFT}")
    try:
        yield draft
        guard()
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def replace_synced(path: Path, text: str) -> None:
    """Write a text file atomically. Raises OSError."""
    with replacing(path) as draft:
        write_synced(draft, [text.encode()])


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder, or the content of a file, are on disk. Raises OSError."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def sweep(path: Path) -> None:
    """Remove the drafts of killed processes in a folder, at any depth. Raises OSError."""
    for draft in path.rglob(f"*{DRAFT}"):
        draft.unlink(missing_ok=True)


class Unsynced:
    """Written files that may not be on disk yet. Thread-safe."""

    def __init__(self) -> None:
        self._files, self._folders, self._lock = dict[Path, None](), dict[Path, None](), threading.Lock()

    def note(self, root: Path, files: Iterable[Path]) -> None:
        """Note files in the folder `root`, at any depth, that must survive a power failure."""
        with self._lock:
            for path in files:
                self._files[path] = None
                for folder in path.parents:
                    self._folders[folder] = None
                    if folder == root:
                        break

    def sync(self) -> None:
        """Wait until all noted files that still exist are on disk. Raises RunFailed on failure."""
        with self._lock:
            files, folders = self._files, self._folders
            self._files, self._folders = {}, {}
        for path in (*files, *folders):
            with on_disk(f"{path}"), suppress(FileNotFoundError):
                sync_folder(path)
