"""`taskflow check`: a case, and its cost on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from taskflow.cases import Case
from taskflow.cli.format import report
from taskflow.runs.estimate.estimate import estimate


def check_case(path: Path, settings: Sequence[str], *, proves: bool = False, as_json: bool = False) -> None:
    """Validate a case and print its cost.

    Raises BadInput if it cannot run on this machine, and RunFailed if a requested proof fails.
    """
    case = Case.load(path, settings)
    costs = estimate(case)
    rows = [*costs.rows(), *([costs.proof_row()] if proves else [])]
    report(f"{case.title}: the case is valid", rows, as_json=as_json)
