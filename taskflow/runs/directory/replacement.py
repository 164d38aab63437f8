"""The replacement of one run by another: the old one is kept until the new one has written its first state.

Within the run directory, whose lock stays where it is. Whoever dies at any moment leaves what tells how far it was:

    .taskflow-new.partial    the new run is being prepared
    .taskflow-new            it is, and moves out, into its place, as soon as there is
    .taskflow-old.partial    what was there moves in, or back
    .taskflow-old            what was there, a run directory like any other
    .taskflow-gone           what nobody needs any more
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
OURS = (CASE, STORE)  # what shows that a directory is one of ours
LOOK = 1.0  # seconds between two looks at whether a run has written its first state
_one = threading.Lock()  # who moves something is alone in this process, and by the lock in all


@contextmanager
def owned(directory: Path) -> Iterator[Guard]:
    """A run directory to oneself, with its lock. What another one has begun in it is brought to its end before, and
    what this one has begun, afterwards.

    Raises BadInput where a run goes on in it, OSError where it cannot be written.
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
        _warn(f"{directory}: the run that was to replace it has written no state; what was there before is back")


def _warn(words: str) -> None:
    warnings.warn(words, stacklevel=3)


def entries(directory: Path) -> list[Path]:
    """The content of a run directory, without the lock and what replacing needs; nothing where there is none."""
    if not directory.exists():
        return []
    ours = {directory / name for name in (LOCK, *STAGES)}.union(drafts(directory / LOCK))
    return [path for path in directory.iterdir() if path not in ours]


def begun(directory: Path) -> bool:
    """Return whether a run has been there that died amid its beginning."""
    return any((directory / name).exists() for name in (LOCK, *STAGES))


def ours(directory: Path) -> bool:
    """Return whether a directory is one of a run, wherever its replacing stopped."""
    return any((directory / stage / name).exists() for stage in ("", *STAGES) for name in OURS)


def has_state(directory: Path) -> bool:
    """Return whether a run has written its first state."""
    if any((directory / CHECKPOINTS).glob("step-*")):
        return True
    try:
        return bool(Store(directory / STORE).times)
    except (OSError, BadInput):  # none that anything can read
        return False


@contextmanager
def placed(directory: Path, *, own: bool) -> Iterator[Path]:
    """A folder to be filled, whose content on leaving takes the place of what is in a directory. Where that fails, what
    was there is back. Of what is the run's `own`, of an earlier attempt, nothing is kept.

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
    with suppress(OSError):  # what was there stays for now
        old.rmdir()


def follow(directory: Path, guard: Guard) -> None:
    """Let go of what was there as soon as the new run has written its first state; while it goes on, beside it."""
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
    """Bring what was begun to its end: what was there before goes if the new run has written its first state, and is
    back if not; whether it is. Nobody may write there meanwhile. Raises OSError.
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
            shutil.rmtree(path, ignore_errors=True)  # somebody may still read there
        else:
            path.unlink(missing_ok=True)
    return back and bool(entries(directory))


def _let_go(directory: Path) -> None:
    """Remove what was there before if the new run is in its place, and has written its first state."""
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
    """Take these away, at once; they are removed later."""
    if paths:
        folder = directory / GONE / uuid.uuid4().hex
        folder.mkdir(parents=True)
        _move(paths, folder)


def _move(paths: list[Path], folder: Path) -> None:
    for path in paths:
        path.rename(folder / path.name)


def _sync(directory: Path) -> None:
    """Have the disk take the new run, before what was there goes."""
    for path in entries(directory):
        for folder, _, names in os.walk(path):
            for name in names:
                with suppress(FileNotFoundError):  # a run that goes on renames what it writes
                    sync_folder(Path(folder, name))
            sync_folder(Path(folder))
        if path.is_file():
            sync_folder(path)
    sync_folder(directory)
