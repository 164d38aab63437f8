"""Marches: through how many planes a thread block goes that does a tile of each, one after the other (see twice.h)."""

from __future__ import annotations

from collections import Counter
from functools import cache

AGAIN = 2  # planes of a march that its neighbours do, too
SHORTEST, LONGEST = 8, 168  # planes: shorter marches do too much again, longer ones lose touch with their neighbours
WAVES = 3  # of a launch that is cut, at least: copies that take a place in them have to wait for one, and delay one
COPIES = (32, 8)  # thread blocks of such copies, and planes that would be done meanwhile
Marches = tuple[tuple[int, int], ...]  # so many thread blocks one after the other, each through so many planes


@cache
def march(tiles: int, planes: int, room: int, edges: int | None = None) -> int:
    """The planes of a march through a box of so many, each covered by so many `tiles`, on a GPU that has `room` for so
    many thread blocks at once. The last march takes what is left. A launch that is cut has `edges` on so many of its
    ends (0: across x and y only), of one march each, and half of it or more behind them, during which their results
    travel; and it has `WAVES`: where that leaves marches of `SHORTEST` or more.

    With marches of these planes the last thread block ends earliest. The numbers above are those with which this is
    closest to the fastest marches on an H200: 0.6 % slower on average (docs/notes/performance_log.md).
    """
    longest = min(planes, LONGEST)
    if edges is not None:
        half = planes // (2 * edges) if edges else planes
        longest = min(longest, max(SHORTEST, min(half, tiles * planes // (WAVES * room))))
    earliest, length = float("inf"), 1
    for candidate in range(longest, min(SHORTEST, longest) - 1, -1):
        pieces = marches(tiles, planes, candidate)
        if sum(count * deep for count, deep in pieces) >= earliest * room:
            break  # shorter ones do even more again
        last = end(pieces if edges is None else (*pieces[:edges], COPIES, *pieces[edges:]), room)
        if last < earliest:
            earliest, length = last, candidate
    return length


def marches(tiles: int, planes: int, length: int) -> Marches:
    """All of a box."""
    return tuple((tiles, AGAIN + min(length, planes - first)) for first in range(0, planes, length))


def end(pieces: Marches, room: int) -> int:
    """Return when the last thread block ends, if each begins as soon as one of `room` places is free, in planes of one:
    they come in waves, and those of the last one keep everybody waiting, be they few or many.
    """
    free, last = Counter({0: room}), 0
    for count, planes in pieces:
        while count:
            begin = min(free)
            taken = min(free[begin], count)
            free[begin] -= taken
            if not free[begin]:
                del free[begin]
            free[begin + planes] += taken
            count, last = count - taken, max(last, begin + planes)
    return last
