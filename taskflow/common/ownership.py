"""Protection of paths: folders with code to load, or with keys, must belong to this user alone."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from taskflow.common.errors import BadInput

LINKS = 40  # symbolic links followed at most, as in Linux
OTHERS = stat.S_IWGRP | stat.S_IWOTH


def weakness(path: str | Path, *, shared: bool = False, links: int = LINKS) -> str | None:
    """Return why another user could replace a path or write into it, or None if only root and this user can.

    Every folder on the path must belong to root or this user, and others may not write into it unless it is sticky,
    like /tmp. The path itself may be sticky only if `shared`. Raises OSError if it does not exist.
    """
    path = Path.cwd() / path
    trusted = {0, os.geteuid(), Path("/").stat().st_uid}  # in a container root can have another number
    for part in (*reversed(path.parents), path):
        status = part.lstat()
        mode = stat.S_IMODE(status.st_mode)
        if status.st_uid not in trusted:
            return f"{part} belongs to another user (user {status.st_uid}, mode {mode:04o})"
        if stat.S_ISLNK(status.st_mode):
            if not links:
                return f"{part} is one of too many symbolic links"
            target = part.parent / part.readlink()
            if found := weakness(target, shared=shared or part != path, links=links - 1):
                return found
        elif mode & OTHERS and not (mode & stat.S_ISVTX and (shared or part != path)):
            return f"others may write into {part} (mode {mode:04o})"
    return None


def make_private(folder: Path) -> None:
    """Make a folder and its missing parents for this user alone, with any umask. Raises OSError."""
    for part in (*reversed(folder.parents), folder):
        if not part.exists():
            part.mkdir(mode=0o700, exist_ok=True)


def first_own(folders: Iterable[str | Path]) -> Path:
    """Return the first of these folders in which no other user can replace files of this user. Raises BadInput."""
    reasons = []
    for folder in dict.fromkeys(map(Path, folders)):
        try:
            reason = weakness(folder, shared=True)
            if reason is None and os.access(folder, os.W_OK | os.X_OK):
                return folder.resolve(strict=True)
        except OSError as error:
            reason = f"{folder}: {error.strerror}"
        reasons.append(reason or f"{folder} cannot be written")
    raise BadInput(
        f"no folder is safe from other users ({'; '.join(reasons)}); set TMPDIR to a folder"
        " that belongs to you and that no other user can write to"
    )


def scratch_folders() -> tuple[str, ...]:
    """Return the possible parents of scratch folders, the best first."""
    return tempfile.gettempdir(), "/tmp", "/var/tmp"


@contextmanager
def scratch() -> Iterator[Path]:
    """Make an empty folder that no other user can read, change or replace, and remove it at the end.

    It is below TMPDIR, or below /tmp or /var/tmp if others could replace files in TMPDIR. Raises BadInput if all of
    these are unsafe.
    """
    where = first_own(scratch_folders())
    with tempfile.TemporaryDirectory(prefix="taskflow-", dir=where, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def main(task: str, *paths: str) -> str | None:
    """Do a task for shell scripts, and return the problem, if any.

    `scratch` makes such a folder and prints it. `first` prints the first safe one of some folders. `check` only fails
    if a path is unsafe.
    """
    try:
        match task:
            case "scratch":
                print(tempfile.mkdtemp(prefix="taskflow-", dir=first_own(scratch_folders())))
            case "first":
                print(first_own(paths))
            case "check":
                return next(filter(None, map(weakness, paths)), None)
            case _:
                return f"unknown task {task}"
    except BadInput as error:
        return str(error)
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    return None
