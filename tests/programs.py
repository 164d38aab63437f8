"""Content hashes of the programs that cases record, and of the kernel texts in them: equal before and after a move.

`python -m tests.programs CASE.toml...` prints a digest of each program of each case: its launches, their fields,
constants, boxes and complete kernel texts.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.cases import Case
from taskflow.common.errors import TaskflowError
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine.kernel.text import complete, packed
from taskflow.runtime.tasks import Launch, LookupTable, Roles, record

PROGRAMS = "start", "step", "refresh"


def digests(path: Path) -> dict[str, tuple[int, str]]:
    """Return the number of launches of each program of a case, and its digest."""
    sim = RunSetup(Case.load(path, ['machine.device="cpu"']), (1, 1, 1))
    roles = Roles.of(tuple(sim.partition.fields))
    found = {}
    for name in PROGRAMS:
        launches, _ = record(getattr(sim.system.model, name), roles.copy())
        rows = json.dumps([_row(launch, np.dtype(sim.dtype)) for launch in launches], default=str)
        found[name] = len(launches), hashlib.sha256(rows.encode()).hexdigest()[:16]
    return found


def _row(launch: Launch, real: np.dtype) -> tuple[Any, ...]:
    text = hashlib.sha256(complete(launch.task, real, "").encode()).hexdigest() if launch.task.kernel else None
    values = [(name, _value(value, real)) for name, value in launch.values]
    return launch.task.name, launch.fields, values, [(box.lo, box.hi) for box in launch.boxes], launch.ghosts, text


def _value(value: Any, real: np.dtype) -> str:
    if isinstance(value, LookupTable):
        return "table"
    if isinstance(value, str):
        return value
    try:
        return packed(value, real, lambda table: 0).tobytes().hex()
    except (TaskflowError, TypeError, ValueError, AttributeError):
        return type(value).__name__


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        print(path.name, digests(path))
