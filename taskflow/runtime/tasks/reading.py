"""Reading: the cells that a launch reads of each field, in the region of the field."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from taskflow.runtime.regions import Box, Partition, Region, triple
from taskflow.runtime.tasks.privilege import Privilege
from taskflow.runtime.tasks.stencil import ALL, POINT, Stencil
from taskflow.runtime.tasks.task import Launch


@dataclass(frozen=True)
class Projected:
    """A stencil around the cells of a region, cut as in `home`, that correspond to cells of another region."""

    stencil: Stencil
    home: Partition
    other: Region

    def around(self, box: Box) -> list[Box]:
        if not box:
            return []
        cells, ends = self.home.region.corresponding(box, self.other), self.home.region.cells
        boxes = []
        for first, last in self.stencil.offsets:
            lo = (end if n == -ALL else at + n for at, n, end in zip(cells.lo, first, ends.lo, strict=True))
            hi = (end if n == ALL else at + n for at, n, end in zip(cells.hi, last, ends.hi, strict=True))
            boxes.append(self.home.clip(Box(triple(lo), triple(hi))))
        return boxes


@dataclass(frozen=True)
class Roaming:
    """A stencil around all cells of a block in a region, cut as in `home`, for points of another region, `place`."""

    stencil: Stencil
    home: Partition
    place: Partition

    def around(self, box: Box) -> list[Box]:
        cells = (self.home.parts[self.place.beside_piece(piece, self.home)] for piece in self.place.overlapping(box))
        return [self.home.clip(around) for mine in cells for around in self.stencil.around(mine)]


@dataclass(frozen=True)
class Within:
    """A stencil that is not read beyond the charts."""

    stencil: Stencil
    charts: tuple[Box, ...]

    def around(self, box: Box) -> list[Box]:
        return list(common(self.stencil.around(box), self.charts))


Way = Stencil | Projected | Roaming | Within
"""`around(box)` returns the cells that a launch over `box`, a box of its region, reads: overlapping boxes."""


def place(launch: Launch, partition: Partition) -> Partition:
    """Return the partition of the region over which a launch is launched, to which its fields belong that are not
    foreign.
    """
    return partition.homes[launch.own]


def shares(launch: Launch, partition: Partition, piece: int) -> tuple[Box, ...]:
    """Return the cells of a launch on a piece of its region."""
    home = place(launch, partition)
    near: Iterable[Box] = launch.boxes
    if len(launch.boxes) > 1:  # of many charts most are not here
        near = filter(home.owned[piece].grow(launch.ghosts).meets, near)
    return common(near, home.computed(piece, launch.ghosts))


def shares_of(launch: Launch, partition: Partition, block: int) -> list[tuple[int, Box]]:
    """Return the cells of a launch on a block, as boxes with their pieces."""
    pieces = place(launch, partition).pieces_of(block)
    return [(piece, cells) for piece in pieces for cells in shares(launch, partition, piece)]


def common(boxes: Iterable[Box], others: Sequence[Box]) -> tuple[Box, ...]:
    """Return the intersections of some boxes with others."""
    return tuple(both for box in boxes for other in others if (both := box & other))


def reading(name: str, privilege: Privilege, launch: Launch, partition: Partition) -> Way:
    """Return how a launch reads a field. In a sweep only tiles of the second colour read beyond themselves."""
    if privilege.stencil.roams:
        return Roaming(privilege.stencil, partition.homes[name], place(launch, partition))
    if privilege.foreign:
        return Projected(privilege.stencil, partition.homes[name], place(launch, partition).region)
    if privilege.swept and launch.swept:
        _, direction, sweep = launch.swept
        stencil = privilege.stencil if sweep.second(direction) else POINT
        return Within(stencil, place(launch, partition).region.charts)
    return privilege.stencil


def readings(launch: Launch, partition: Partition) -> dict[str, list[Way]]:
    """Return the fields that a launch reads, each with all its ways."""
    ways: dict[str, list[Way]] = {}
    joined = launch.stencils
    for name, privilege in launch.requirements:
        if privilege.foreign or privilege.swept:
            ways.setdefault(name, []).append(reading(name, privilege, launch, partition))
        elif privilege.reads and name not in ways:
            ways[name] = [joined[name]]
    return ways
