"""Gaps between bodies, and between bodies and the sides of the domain, counted in cells along the axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from taskflow.regions import Box, Triple, triple


@dataclass(frozen=True, order=True)
class Gap:
    """So many cells, the first of them behind `cell` along an axis."""

    cells: int
    axis: int
    cell: Triple


@dataclass(eq=False)
class Gaps:
    """What was found in the pieces of the domain looked at so far.

    `beside` is by number of a shape: the fewest cells in a row beside it, `none` where there are none. `touching` has,
    for shapes that have cells next to each other, one such place.
    """

    cells: Triple
    periodic: tuple[bool, bool, bool]
    shapes: int
    beside: np.ndarray = field(init=False)
    touching: dict[tuple[int, int], Gap] = field(default_factory=dict)
    narrowest: list[Gap] = field(default_factory=list)  # of each piece and axis

    def __post_init__(self) -> None:
        self.none = int(max(self.cells)) + 1
        self.beside = np.full(self.shapes + 1, self.none, np.int64)

    def look(self, numbers: np.ndarray, piece: Box, axis: int) -> None:
        """Look along the rows of a piece that has whole ones: numbers [z, y, x] of the shapes that have its cells."""
        rows = np.ascontiguousarray(np.moveaxis(numbers, 2 - axis, -1))
        count = rows.shape[-1]
        flat = rows.reshape(-1)
        places = np.flatnonzero(flat)
        if not places.size:
            return
        line, at, has = places // count, places % count, flat[places].astype(np.int64)
        same = line[1:] == line[:-1]
        before, behind = np.flatnonzero(same), np.flatnonzero(same) + 1
        width = at[behind] - at[before] - 1
        meeting = before[(width == 0) & (has[before] != has[behind])]
        for pair, n in _pairs(has[meeting], has[meeting + 1]):
            cell = _cell(rows.shape, piece, axis, int(places[meeting[n]]))
            self.touching.setdefault(pair, Gap(0, axis, cell))
        first, last = np.flatnonzero(np.r_[True, ~same]), np.flatnonzero(np.r_[~same, True])
        if self.periodic[axis]:
            ends = [(last, has[last], has[first], at[first] + count - 1 - at[last])]
        else:
            ends = [(last, has[last], has[last], count - 1 - at[last]), (first, has[first], has[first], at[first])]
        ends.append((before, has[before], has[behind], width))
        for where, one, other, cells in ends:
            open_ = cells > 0
            np.minimum.at(self.beside, one[open_], cells[open_])
            np.minimum.at(self.beside, other[open_], cells[open_])
            if open_.any():
                n = int(np.flatnonzero(open_)[cells[open_].argmin()])
                cell = _cell(rows.shape, piece, axis, int(places[where[n]]))
                self.narrowest.append(Gap(int(cells[n]), axis, cell))


def _pairs(one: np.ndarray, other: np.ndarray) -> Iterator[tuple[tuple[int, int], int]]:
    """The different pairs, whichever comes first, and where each is found."""
    found = np.stack([np.minimum(one, other), np.maximum(one, other)])
    pairs, places = np.unique(found, axis=1, return_index=True)
    return zip(zip(*pairs.tolist(), strict=True), places.tolist(), strict=True)


def _cell(shape: tuple[int, ...], piece: Box, axis: int, place: int) -> Triple:
    """The cell at a place in the rows of a piece."""
    outer = [2 - d for d in range(3) if 2 - d != axis]  # the axes of the rows' array, the last one being `axis`
    found = dict(zip([*outer, axis], (int(n) for n in np.unravel_index(place, shape)), strict=True))
    return triple(piece.lo[d] + found[d] for d in range(3))
