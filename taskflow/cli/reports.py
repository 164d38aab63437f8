"""`taskflow check`, `info` and `unlock`: rows about a case, this machine or a run, and the lock of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from taskflow.terminal.exit_codes import refuse
from taskflow.terminal.format import report, tell
from taskflow.terminal.process import loading


def tell_case(
    path: Path, settings: Sequence[str], *, proves: bool = False, details: bool = False, as_json: bool = False
) -> None:
    """Validate a case and print its cost on this machine, with or without details.

    Raises BadInput if it cannot run on this machine, and RunFailed if a requested proof fails.
    """
    with loading():
        from taskflow.cases import Case
        from taskflow.runs.estimate.estimate import estimate

    case = Case.load(path, settings)
    costs = estimate(case)
    rows = [*costs.rows(), *([costs.proof_row()] if proves else [])]
    report(f"{case.title}: the case is valid", rows, as_json=as_json, details=details)


def tell_machine(*, as_json: bool = False) -> None:
    """Print the hardware and software of this machine, and why parts are missing."""
    from taskflow.runs.directory.provenance import build, machine_rows

    report(f"taskflow {build()}", machine_rows(), as_json=as_json)


def tell_run(directory: Path, *, as_json: bool = False) -> None:
    """Print the state of a run. Raises BadInput if the directory is not a run directory."""
    from taskflow.runs.directory.record import Record

    record = Record(directory)
    report(record.title, record.rows(), as_json=as_json)


def unlock_run(directory: Path) -> None:
    """Remove the lock, and print its owner. Raises BadInput if the run is active, or the directory does not exist."""
    from taskflow.output import LOCK
    from taskflow.runs.directory.lock import unlock

    if not directory.is_dir():
        refuse(f"{directory}: no such directory; give one that `taskflow run` wrote")
    try:
        locked = unlock(directory, tell)
    except OSError as error:
        refuse(f"{directory / LOCK}: {error.strerror or error}; remove it manually")
    tell("unlocked" if locked else f"{directory}: no run has locked it")
