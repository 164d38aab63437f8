"""A cluster that somebody else started."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from taskflow.errors import BadInput

if TYPE_CHECKING:
    from distributed import Client


@contextmanager
def by_scheduler_file(path: Path, *, timeout: float = 30.0) -> Iterator[Client]:
    """A client of the cluster whose scheduler wrote `path`. Raises BadInput where there is none, or no answer."""
    from distributed import Client

    if not path.is_file():
        raise BadInput(
            f"--scheduler-file {path}: there is no such file;"
            f" start a cluster with: dask scheduler --scheduler-file {path}"
        )
    if not _has_address(path):
        raise BadInput(f"--scheduler-file {path}: no Dask scheduler wrote this file; give the one that yours wrote")
    try:
        client = Client(scheduler_file=str(path), direct_to_workers=True, timeout=timeout)
    except (OSError, TimeoutError, ValueError) as error:
        raise BadInput(
            f"--scheduler-file {path}: the scheduler does not answer ({error}); is it still running?"
        ) from error
    with client:
        yield client


def _has_address(path: Path) -> bool:
    """Whether a file says where a scheduler is."""
    try:
        return isinstance(json.loads(path.read_text(encoding="utf-8")).get("address"), str)
    except (OSError, ValueError, AttributeError):
        return False
