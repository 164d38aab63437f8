"""Marches: through how many planes a thread block goes that does a tile of each, one after the other (see twice.h)."""

from __future__ import annotations

from functools import cache

MORE = 3  # planes: two that the neighbours do again, and as long as a thread block takes to get going
SHORTEST = 8  # planes: of shorter marches too much would be done again
CUT = 3  # waves, at least, of a launch that is cut


@cache
def march(tiles: int, planes: int, room: int, waves: int = 1) -> int:
    """The planes of a march through a box of so many, each covered by so many `tiles`, on a GPU that has `room` for so
    many thread blocks at once; in so many `waves` or more, where there are enough planes for that.

    Thread blocks come in waves, and those of the last one keep everybody waiting, be they few or many: so the least
    (planes of a march + `MORE`) x waves is best. On an H200 it was within 1 % of the best that could be found, for 20
    of 20 boxes (docs/performance.md). Where a launch is `CUT`, others take the place of some of its thread blocks for a
    while, and in too few waves nobody makes up for that.
    """
    lengths = {-(-planes // count) for count in range(1, max(1, planes // SHORTEST) + 1)}
    taken = {length: -(-tiles * -(-planes // length) // room) for length in lengths}
    enough = {length for length in lengths if taken[length] >= waves} or lengths
    return min(enough, key=lambda length: (taken[length] * (length + MORE), length))
