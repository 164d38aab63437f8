"""The process that leads a run: who it is, and whether it is still there."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any

import psutil

SAME = 2.0  # seconds by which two readings of when a process began may differ


def leader() -> dict[str, Any]:
    """This process: its host, its number, and since when it is there, in seconds since 1970; numbers are used again."""
    return {"host": socket.gethostname(), "process": os.getpid(), "since": psutil.Process().create_time()}


def alive(report: Mapping[str, Any]) -> bool | None:
    """Whether the process that leads a run still exists; None where that cannot be seen from here."""
    known = report.get("leader", {})
    if known.get("host") != socket.gethostname():
        return None
    try:
        process = psutil.Process(known["process"])
        since = process.create_time()
        return process.status() != psutil.STATUS_ZOMBIE and abs(since - known.get("since", since)) < SAME
    except psutil.NoSuchProcess:
        return False
