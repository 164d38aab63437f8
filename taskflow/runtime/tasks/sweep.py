"""Sweeps: launches whose cells depend on each other in a declared order, such as triangular solves.

The cells of a chart are cut into *tiles*, counted from its first cell, with colours 0 and 1 like the squares of a chess
board. A launch does the tiles of one colour, or all of them. Within a tile the order is i, then j, then k upwards, or
the reverse. Tiles of one launch are independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, Literal, get_args

import numpy as np

from taskflow.runtime.regions import Box, Region, Triple, triple

Direction = Literal["up", "down"]
Ordering = Literal["tiles", "colours", "hyperplanes", "blocks", "jacobi"]
TILE = (8, 8, 8)
CELL = (1, 1, 1)


def tile_of(charts: Sequence[Box]) -> Triple:
    """Return the default tile of charts: `TILE`, doubled along x and y for charts that are one cell thick along k.

    A direction is doubled only if all charts have at least two such tiles along it.
    """
    flat = all(chart.shape[2] == 1 for chart in charts)
    x, y = (2 * n if flat and all(chart.shape[a] >= 4 * n for chart in charts) else n for a, n in enumerate(TILE[:2]))
    return x, y, TILE[2]


@dataclass(frozen=True)
class Sweep:
    """Annotation and value of the parameter that selects the cells and the order of a swept launch.

    Parameters
    ----------
    tile : (int, int, int), optional
        Cells of a tile along x, y and z. None: one tile.
    colour : {0, 1}, optional
        Tiles of the launch. None: all.
    within : {"chart", "piece"}
        Box that is cut into tiles.

    Raises
    ------
    ValueError
        If a tile has no cells, or the colour is invalid.
    """

    tile: Triple | None = TILE
    colour: Literal[0, 1] | None = None
    within: Literal["chart", "piece"] = "chart"
    defines: ClassVar[tuple[str, ...]] = ()  # in the kernel text, see sweep.h

    def __post_init__(self) -> None:
        if self.tile is not None and (len(self.tile) != 3 or min(self.tile) < 1):
            raise ValueError(f"a tile of {self.tile} cells; give 1 or more along x, y and z")
        if self.colour not in (None, 0, 1):
            raise ValueError(f"colour {self.colour!r}: tiles have the colours 0 and 1, and None is all of them")

    def second(self, direction: Direction) -> bool:
        """Return True if tiles of the other colour come earlier: with "up" colour 0 precedes 1, with "down" it follows.
        """
        return self.colour == (1 if direction == "up" else 0)

    def around(self, region: Region, piece: Box) -> Box:
        """Return the cells that are cut into the tiles of a piece."""
        return piece if self.within == "piece" else next(chart for chart in region.charts if piece in chart)

    def shuffled(self) -> Sweep:
        """Return the same sweep with tiles and cells in another permitted order, and with delays."""
        return SHUFFLED[type(self)](**vars(self))

    @property
    def number(self) -> int:
        """The colour or plane as kernels take it: -1 if a launch has all tiles."""
        return -1 if self.colour is None else self.colour

    def has(self, total: int) -> bool:
        """Return True if a launch has the tiles whose numbers along x, y and z add up to this."""
        return self.colour in (None, total % 2)


class SingleSweep(Sweep):
    """A sweep whose tiles are single cells."""

    defines: ClassVar[tuple[str, ...]] = ("SINGLE",)


class WholeSweep(Sweep):
    """A sweep of one tile."""

    defines: ClassVar[tuple[str, ...]] = ("WHOLE",)


@dataclass(frozen=True)
class PlaneSweep(SingleSweep):
    """A sweep of the cells of one hyperplane i + j + k = `plane`, counted from the first cell of the chart.

    Launches of all planes in turn do the same as a sweep of one tile, and show what each plane takes.
    """

    defines: ClassVar[tuple[str, ...]] = ("SINGLE", "PLANE")
    tile: Triple | None = CELL
    plane: int = 0

    def second(self, direction: Direction) -> bool:
        """Return True: earlier neighbours are in other planes."""
        return True

    @property
    def number(self) -> int:
        """The plane."""
        return self.plane

    def has(self, total: int) -> bool:
        """Return True for this plane."""
        return total == self.plane


# The same in another order: one class of each kind, as tasks and kernels are known by it.
SHUFFLED: dict[type[Sweep], type[Sweep]] = {
    kind: type(f"Shuffled{kind.__name__}", (kind,), {"defines": (*kind.defines, "SHUFFLED")})
    for kind in (Sweep, SingleSweep, WholeSweep, PlaneSweep)
}


def sweeps(ordering: Ordering, direction: Direction, tile: Triple = TILE) -> tuple[Sweep, ...]:
    """Return the sweeps, one per launch, that visit all cells once in an ordering.

    The table gives, for direction "up", the neighbours of a cell in its chart that come earlier. For "down" exchange
    lower and upper, and the colours.

    =============  ==================================================================
    "tiles"        lower neighbours in the same tile; for colour 1, all of colour 0
    "colours"      the same, with tiles of single cells
    "hyperplanes"  lower neighbours
    "blocks"       lower neighbours in the same piece
    "jacobi"       none
    =============  ==================================================================

    Raises ValueError for another ordering or direction.
    """
    if direction not in get_args(Direction):
        raise ValueError(f"direction {direction!r}: a sweep goes {' or '.join(get_args(Direction))}")
    colours: tuple[Literal[0, 1], ...] = (0, 1) if direction == "up" else (1, 0)
    ways: dict[str, tuple[Sweep, ...]] = {
        "tiles": tuple(Sweep(tile, colour) for colour in colours),
        "colours": tuple(SingleSweep(CELL, colour) for colour in colours),
        "hyperplanes": (WholeSweep(None),),
        "blocks": (WholeSweep(None, within="piece"),),
        "jacobi": (SingleSweep(CELL),),
    }
    if ordering not in ways:
        raise ValueError(f"ordering {ordering!r} is not one of {', '.join(ways)}")
    return ways[ordering]


def planes(shape: Triple, direction: Direction) -> list[PlaneSweep]:
    """Return the sweeps of all planes of a chart in turn, one per launch."""
    numbers = range(sum(shape) - 2)
    return [PlaneSweep(plane=n) for n in (numbers if direction == "up" else reversed(numbers))]


@dataclass(frozen=True)
class PlacedSweep:
    """Sweep in a direction, with the chart or piece that its tiles cover."""

    sweep: Sweep
    direction: Direction
    within: Box

    @property
    def tile(self) -> Triple:
        """Cells of a tile along x, y and z."""
        return self.sweep.tile or self.within.shape

    def numbers(self, cells: Box) -> tuple[range, range, range]:
        """Return the indices along x, y and z of the tiles that contain some of these cells."""
        ends = zip(cells.lo, cells.hi, self.within.lo, self.tile, strict=True)
        return triple(range((a - low) // n, -(-(b - low) // n)) for a, b, low, n in ends)

    def volume(self, cells: Box) -> int:
        """Return the number of these cells that the launch visits."""
        counts, first = np.ones(1, np.int64), 0  # cells by the sum of the numbers of their tile
        for axis, numbers in enumerate(self.numbers(cells)):
            lows = self.within.lo[axis] + self.tile[axis] * np.array(numbers)
            along = np.minimum(lows + self.tile[axis], cells.hi[axis]) - np.maximum(lows, cells.lo[axis])
            counts, first = np.convolve(counts, along), first + numbers.start
        return int(sum(count for total, count in enumerate(counts, first) if self.sweep.has(total)))

    def points(self, cells: Box) -> Iterator[Point]:
        """Yield the cells that the launch visits, in a permitted order."""
        step = 1 if self.direction == "up" else -1
        for number in product(*self.numbers(cells)):
            if not self.sweep.has(sum(number)):
                continue
            lo = triple(low + n * m for low, n, m in zip(self.within.lo, number, self.tile, strict=True))
            tile = Box(lo, triple(low + n for low, n in zip(lo, self.tile, strict=True))) & self.within
            both = tile & cells
            x, y, z = (range(a, b)[::step] for a, b in zip(both.lo, both.hi, strict=True))
            yield from (Point((i, j, k), tile, self) for k, j, i in product(z, y, x))


@dataclass(frozen=True)
class Point:
    """A cell of a tile on its turn in a sweep."""

    cell: Triple
    tile: Box
    placed: PlacedSweep

    @property
    def box(self) -> Box:
        """The cell."""
        return Box(self.cell, triple(n + 1 for n in self.cell))

    def earlier(self, x: int, y: int, z: int) -> bool:
        """Return True if the neighbour at this offset, one of the six, comes earlier."""
        there, direction = self.box.shift((x, y, z)), self.placed.direction
        if abs(x) + abs(y) + abs(z) != 1:
            return False
        if there in self.tile:
            return (x + y + z < 0) == (direction == "up")
        return there in self.placed.within and self.placed.sweep.second(direction)
