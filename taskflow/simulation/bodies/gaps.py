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
        begin, end, has = _runs(rows)
        if not has.size:
            return
        line, first, last = begin // count, begin % count, end % count
        same = line[1:] == line[:-1]
        before, behind = np.flatnonzero(same), np.flatnonzero(same) + 1
        width = first[behind] - last[before] - 1
        meeting = before[width == 0]
        for pair, n in _pairs(has[meeting], has[meeting + 1]):
            cell = _cell(rows.shape, piece, axis, int(end[meeting[n]]))
            self.touching.setdefault(pair, Gap(0, axis, cell))
        low, high = np.flatnonzero(np.r_[True, ~same]), np.flatnonzero(np.r_[~same, True])  # the outermost of each row
        if self.periodic[axis]:
            ends = [(end[high], has[high], has[low], first[low] + count - 1 - last[high])]
        else:
            ends = [
                (end[high], has[high], has[high], count - 1 - last[high]),
                (begin[low], has[low], has[low], first[low]),
            ]
        ends.append((end[before], has[before], has[behind], width))
        for where, one, other, cells in ends:
            open_ = cells > 0
            np.minimum.at(self.beside, one[open_], cells[open_])
            np.minimum.at(self.beside, other[open_], cells[open_])
            if open_.any():
                n = int(np.flatnonzero(open_)[cells[open_].argmin()])
                cell = _cell(rows.shape, piece, axis, int(where[n]))
                self.narrowest.append(Gap(int(cells[n]), axis, cell))


def _runs(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cells in a row that the same shape has: the places of the first and of the last one, and the number."""
    flat, begins = rows.reshape(-1), np.empty(rows.shape, bool)
    begins[..., 0] = True
    np.not_equal(rows[..., 1:], rows[..., :-1], out=begins[..., 1:])
    begin = np.flatnonzero(begins)
    has, end = flat[begin].astype(np.int64), np.r_[begin[1:], flat.size] - 1
    solid = has > 0
    return begin[solid], end[solid], has[solid]


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
