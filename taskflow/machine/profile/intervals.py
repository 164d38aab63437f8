"""Sets of moments as sorted, disjoint intervals [start, end)."""

from __future__ import annotations

from collections.abc import Iterable

Interval = tuple[int, int]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """All moments in at least one of them."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if start >= end:
            continue
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def common(one: Iterable[Interval], other: Iterable[Interval]) -> list[Interval]:
    """All moments in both; both are sorted and disjoint."""
    found: list[Interval] = []
    ones, others = list(one), list(other)
    i = j = 0
    while i < len(ones) and j < len(others):
        start, end = max(ones[i][0], others[j][0]), min(ones[i][1], others[j][1])
        if start < end:
            found.append((start, end))
        if ones[i][1] < others[j][1]:
            i += 1
        else:
            j += 1
    return found


def length(intervals: Iterable[Interval]) -> int:
    """Moments of disjoint intervals."""
    return sum(end - start for start, end in intervals)
