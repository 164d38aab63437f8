"""Files that are there completely or not at all, and what the system says when they cannot be."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from taskflow.errors import RunFailed

Guard = Callable[[], None]  # raises RunFailed where nothing may be written any more


def unguarded() -> None:
    """Whoever writes is alone."""


@contextmanager
def on_disk(what: str) -> Iterator[None]:
    """Errors of the system while it stores `what` as RunFailed, in one line."""
    try:
        yield
    except OSError as error:
        raise RunFailed(f"{what}: {error.strerror or error}") from error


def write_synced(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file, and wait until the disk has it. Raises OSError."""
    with path.open("wb") as file:
        for part in parts:
            file.write(part)
            if hasattr(os, "posix_fadvise"):  # the disk begins at once to write what memory has no more use for
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def replacing(path: Path, guard: Guard = unguarded) -> Iterator[Path]:
    """The name of a draft, to be written: the file is there completely or as it was. `guard` is called in between.
    Raises OSError.
    """
    draft = path.with_name(path.name + ".partial")
    try:
        yield draft
        guard()
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def replace_synced(path: Path, text: str) -> None:
    """Write a text file that is there completely or as it was. Raises OSError."""
    with replacing(path) as draft:
        write_synced(draft, [text.encode()])


def sync_folder(path: Path) -> None:
    """Wait until the disk has the names in a folder. Raises OSError."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
