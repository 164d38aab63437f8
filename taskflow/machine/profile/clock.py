"""Clocks: the moments of hosts and devices on one scale, nanoseconds since the epoch, and how well they agree.

A host's moments are those of its monotonic clock, moved once by its distance from the time of day. Blocks of one host
agree to the accuracy stated; blocks of different hosts as well as their hosts' times of day do (some 0.1 to 10 ms with
NTP), which nothing here can see.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

TRIES = 50


@dataclass(frozen=True)
class Offset:
    """What has to be added to a clock to get to another one, and by how much that may be wrong: nanoseconds."""

    add: int
    accuracy: int


def narrowest(windows: Iterable[tuple[int, int, int]]) -> Offset:
    """From a clock to a reference, of which each window says: reference before, clock in between, reference after.

    What was seen happened within its window. The narrowest counts, and half of its width is the accuracy.
    """
    before, there, after = min(windows, key=lambda window: window[2] - window[0])
    return Offset((before + after) // 2 - there, -(-(after - before) // 2))


def host_offset() -> Offset:
    """From this process's monotonic clock to the time of day of its host."""
    found = narrowest((time.perf_counter_ns(), time.time_ns(), time.perf_counter_ns()) for _ in range(TRIES))
    return Offset(-found.add, found.accuracy)
