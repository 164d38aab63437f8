"""Replacement of one run by another: the old run is kept until the new one has written its first state.

All steps are within the run directory, whose lock stays in place. A process that dies at any moment leaves its progress
readable:

    .taskflow-new.partial    the new run is being prepared
    .taskflow-new            it is ready, and moves into place as soon as possible
    .taskflow-old.partial    the old content moves in, or back
    .taskflow-old            the old content, a run directory like any other
    .taskflow-gone           to be deleted
"""

from __future__ import annotations

import os
import shutil
import threading
import time
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from taskflow.common.errors import BadInput, RunFailed
from taskflow.output import CASE, CHECKPOINTS, LOCK, STORE, Guard, Store, sync_folder
from taskflow.runs.directory.lock import locked
from taskflow.runs.directory.lock_file import drafts

FILLED, NEW, TAKEN, OLD, GONE = STAGES = (
    ".taskflow-new.partial", ".taskflow-new", ".taskflow-old.partial", ".taskflow-old", ".taskflow-gone",
)  # fmt: skip
OURS = (CASE, STORE)  # files that identify a run directory
LOOK = 1.0  # seconds between two looks at whether a run has written its first state
_one = threading.Lock()  # who moves something is alone in this process, and by the lock in all


@contextmanager
def owned(directory: Path) -> Iterator[Guard]:
    """Lock a run directory, and yield a guard. Interrupted replacements are settled before, and the present one
    afterwards.

    Raises BadInput if a run is active in it, OSError if it cannot be written.
    """
    with locked(directory, _warn) as claim:
        _settle(directory)
        try:
            yield claim.check
        finally:
            with suppress(RunFailed, OSError):  # it is another run's by now; or the next one will do it
                claim.check()
                _settle(directory)


def _settle(directory: Path) -> None:
    if settle(directory):
        _warn(f"{directory}: the run that replaced it wrote no state; the previous data are restored")


def _warn(words: str) -> None:
    warnings.warn(words, stacklevel=3)


def entries(directory: Path) -> list[Path]:
    """Return the content of a run directory, if any, without the lock and the stages of a replacement."""
    if not directory.exists():
        return []
    ours = {directory / name for name in (LOCK, *STAGES)}.union(drafts(directory / LOCK))
    return [path for path in directory.iterdir() if path not in ours]


def interrupted_start(directory: Path) -> bool:
    """Return True if a run was interrupted there while it started."""
    return any((directory / name).exists() for name in (LOCK, *STAGES))


def ours(directory: Path) -> bool:
    """Return True if a directory belongs to a run, at any stage of its replacement."""
    return any((directory / stage / name).exists() for stage in ("", *STAGES) for name in OURS)


def has_state(directory: Path) -> bool:
    if any((directory / CHECKPOINTS).glob("step-*")):
        return True
    try:
        return bool(Store(directory / STORE).times)
    except (OSError, BadInput):  # none that anything can read
        return False


@contextmanager
def placed(directory: Path, *, own: bool) -> Iterator[Path]:
    """Yield a folder to fill, whose content then replaces the content of a directory. On failure the old content is
    restored. Content from an earlier attempt of the same run (`own`) is deleted.

    Raises OSError.
    """
    _let_go(directory)
    own = own and not (directory / OLD).exists()
    settle(directory)
    draft = directory / FILLED
    draft.mkdir(parents=True)
    try:
        yield draft
        with _one:
            _exchange(directory)
            if own and (directory / OLD).exists():
                _bin(directory, [directory / OLD])
    except BaseException:
        settle(directory)
        raise


def _exchange(directory: Path) -> None:
    new, taken, old = (directory / name for name in (NEW, TAKEN, OLD))
    (directory / FILLED).rename(new)
    taken.mkdir()
    _move(entries(directory), taken)
    taken.rename(old)
    _move(list(new.iterdir()), directory)
    new.rmdir()
    with suppress(OSError):  # the old content stays for now
        old.rmdir()


def follow(directory: Path, guard: Guard) -> None:
    """Delete the old content as soon as the new run has written its first state, in a background thread."""
    if not (directory / OLD).exists():
        return

    def look() -> None:
        with suppress(RunFailed, OSError):  # the run has ended, or another one will clean up
            while (directory / OLD).exists():
                time.sleep(LOOK)
                guard()
                _let_go(directory)

    threading.Thread(target=look, name="taskflow-replacing", daemon=True).start()


def settle(directory: Path) -> bool:
    """Finish an interrupted replacement: delete the old content if the new run has written its first state, else
    restore it.

    Returns True if content was restored. No other process may write there meanwhile. Raises OSError.
    """
    _let_go(directory)
    new, taken, old = (directory / name for name in (NEW, TAKEN, OLD))
    with _one:
        if old.exists():
            _bin(directory, entries(directory))
            old.rename(taken)
        back = taken.exists()
        if back:
            _move(list(taken.iterdir()), directory)
            taken.rmdir()
    for path in (new, directory / FILLED, directory / GONE, *drafts(directory / LOCK)):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)  # another process may still read there
        else:
            path.unlink(missing_ok=True)
    return back and bool(entries(directory))


def _let_go(directory: Path) -> None:
    """Delete the old content if the new run is in place, and has written its first state."""
    with _one:
        old = directory / OLD
        if (directory / NEW).exists() or not old.exists():
            return
        if any(old.iterdir()) and not has_state(directory):
            return
        _sync(directory)
        _bin(directory, [old])
    shutil.rmtree(directory / GONE, ignore_errors=True)


def _bin(directory: Path, paths: list[Path]) -> None:
    """Move paths away immediately, to be deleted later."""
    if paths:
        folder = directory / GONE / uuid.uuid4().hex
        folder.mkdir(parents=True)
        _move(paths, folder)


def _move(paths: list[Path], folder: Path) -> None:
    for path in paths:
        path.rename(folder / path.name)


def _sync(directory: Path) -> None:
    """Flush the new run to disk, before the old content is deleted."""
    for path in entries(directory):
        for folder, _, names in os.walk(path):
            for name in names:
                with suppress(FileNotFoundError):  # an active run renames files while it writes
                    sync_folder(Path(folder, name))
            sync_folder(Path(folder))
        if path.is_file():
            sync_folder(path)
    sync_folder(directory)
