"""Marches: through how many planes a thread block goes that does a tile of each, one after the other (see twice.h)."""

from __future__ import annotations

from functools import cache

MORE = 3  # planes: two that the neighbours do again, and as long as a thread block takes to get going
SHORTEST = 8  # planes: of shorter marches too much would be done again
WAVES, PIECES = 3, 4  # of a launch that is cut: waves, and marches one behind the other, at least


@cache
def march(tiles: int, planes: int, room: int, *, cut: bool = False) -> int:
    """The planes of a march through a box of so many, each covered by so many `tiles`, on a GPU that has `room` for so
    many thread blocks at once.

    Thread blocks come in waves, and those of the last one keep everybody waiting, be they few or many: so the least
    (planes of a march + `MORE`) x waves is best. On an H200 it was within 1 % of the best that could be found, for 20
    of 20 boxes (docs/performance.md). Where a launch is `cut` other kernels take the place of some of its thread blocks
    for a while, and in few waves nobody makes up for that; and its edges are whole marches, whose results travel while
    the rest is done: it has `WAVES` and `PIECES` or more, where there are enough planes for that.
    """
    lengths = {-(-planes // count) for count in range(1, max(1, planes // SHORTEST) + 1)}
    pieces = {length: -(-planes // length) for length in lengths}
    taken = {length: -(-tiles * pieces[length] // room) for length in lengths}
    if cut:
        lengths = {length for length in lengths if taken[length] >= WAVES} or lengths
        lengths = {length for length in lengths if pieces[length] >= PIECES} or lengths
    return min(lengths, key=lambda length: (taken[length] * (length + MORE), length))
