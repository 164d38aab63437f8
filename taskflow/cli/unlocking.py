"""`taskflow unlock`: the lock of a run that is over."""

from __future__ import annotations

from pathlib import Path

from taskflow.cli.ending import refuse
from taskflow.cli.words import tell
from taskflow.output import LOCK


def unlock_run(directory: Path) -> None:
    """Remove the lock, and say who had it. Raises BadInput where a run goes on, or there is no directory."""
    from taskflow.simulation.lock import unlock

    if not directory.is_dir():
        refuse(f"{directory}: no such directory; give one that `taskflow run` wrote")
    try:
        found = unlock(directory, tell)
    except OSError as error:
        refuse(f"{directory / LOCK}: {error.strerror or error}; remove it by hand")
    tell("unlocked" if found else f"{directory}: no run has locked it")
