"""What all measurements share: how a median is taken, and what is said about the machine."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from taskflow.host import Place
from taskflow.simulation.provenance import provenance

BUDGET = 1.5  # seconds for the samples of one measurement
SAMPLES = 5, 50  # least and most of them
LENGTH = 0.02  # seconds that a sample takes at least: many passes of a short one, the device waited for once


def timed(operation: Callable[[], object], wait: Callable[[], None], repeats: int = 1) -> tuple[float, int]:
    """Median seconds of an operation, divided by `repeats`, and the number of samples. First calls do not count."""

    def sample(calls: int) -> float:
        start = time.perf_counter()
        for _ in range(calls):
            operation()
        wait()
        return (time.perf_counter() - start) / calls

    sample(4)
    once = sample(1)
    calls = max(1, math.ceil(LENGTH / once))
    least, most = SAMPLES
    count = min(max(least, int(BUDGET / (calls * once))), most)
    return median(sample(calls) for _ in range(count)) / repeats, count


def about(place: Place, device: str, threads: int) -> dict[str, Any]:
    """What ran and where: versions, command, host, processor; the name of a GPU, or so many cores of a CPU."""
    return {
        **provenance(),
        "host": socket.gethostname(),
        "processor": place.processor,
        "gpu": place.gpus[0].name if device == "gpu" else None,
        "threads": threads if device == "cpu" else None,
    }
