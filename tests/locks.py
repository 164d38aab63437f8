"""Locks of runs that other processes have, or are said to have."""

import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from taskflow.runs.directory.lock import Owner, _stat


def owner(process: int, **changes: Any) -> Owner:
    """A process of this host."""
    return replace(Owner.this(), process=process, began=_stat(process)[1], **changes)


ALIVE = owner(os.getppid())
GONE = replace(ALIVE, process=2**22 + 1)
ANOTHER = replace(ALIVE, began=ALIVE.began + 1000)  # its number was used again
ELSEWHERE = replace(ALIVE, host="elsewhere", boot="another", process=1)


def write_lock(directory: Path, who: Owner, beats: int = 0) -> Path:
    """The lock of a run directory, as another process would have written it."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "lock"
    path.write_text(f"{json.dumps({'token': 'another', **asdict(who)})}\n{beats:020}\n")
    return path
