"""Partitions of a region into blocks, and the copies that fill ghost cells from their owners."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from numbers import Integral

from taskflow.errors import BadArgument
from taskflow.runtime.regions.box import Box, Triple, periodic_images, triple
from taskflow.runtime.regions.region import FieldSpace, Region


@dataclass(frozen=True, slots=True)
class Copy:
    """Cells to copy: `source_box` of block `source` holds what `target_box` of block `target` needs.

    The boxes have one shape; they differ by a whole number of periods where the copy crosses a periodic face.
    """

    source: int
    source_box: Box
    target: int
    target_box: Box


def cuts(cells: int, blocks: int, least: int = 1) -> tuple[int, ...]:
    """Return where blocks begin (and, last, where they end) when `cells` in a row are cut into so many blocks.

    Every block is as wide as the widest has to be, ceil(cells / blocks), and the last takes what remains: the widest
    block sets the time of a step, and equal widths let each block be one shard of a regular Zarr grid. Where fewer than
    `least` cells would remain for the last block the cut is balanced instead: widths differ by at most one.
    """
    width = -(-cells // blocks)
    if cells - (blocks - 1) * width >= min(least, width):
        return (*(n * width for n in range(blocks)), cells)
    return tuple(n * cells // blocks for n in range(blocks + 1))


@dataclass(frozen=True, eq=False)
class Partition:
    """A disjoint and complete partition of a region into nx x ny x nz blocks; slabs are (1, 1, n).

    Blocks are numbered with x fastest. `at` are explicit places where blocks begin and the last one ends, along x, y
    and z. In a `replicated` partition every block owns all cells, and computes them for itself: nothing is exchanged.
    `reach`, a box per block, are cells that the block has memory for besides its own and their ghost layers. Up to
    `redundant` layers of ghost cells blocks compute themselves where launches ask for it (`Launch.ghosts`). `beside`
    are partitions of other regions, with other fields, into as many blocks: what a program uses together lives on the
    same blocks.

    Raises BadInput where a direction has more blocks than cells, and ValueError where partitions do not fit together or
    more layers are redundant than the narrowest block has.
    """

    region: Region
    shape: Triple
    at: tuple[tuple[int, ...], ...] | None = None
    replicated: bool = False
    reach: tuple[Box, ...] | None = None
    redundant: int = 0
    beside: tuple[Partition, ...] = ()

    def __post_init__(self) -> None:
        if len(self.shape) != 3 or not all(isinstance(blocks, Integral) for blocks in self.shape):
            raise BadArgument("blocks", str(self.shape), "", "give three whole numbers, of blocks along x, y and z")
        for name, cells, blocks in zip("xyz", self.region.cells.shape, self.shape, strict=True):
            if not self.replicated and not 1 <= blocks <= cells:
                problem = f": {blocks} blocks along {name} do not fit {cells} planes of cells"
                raise BadArgument("blocks", str(list(self.shape)), problem, f"use 1 to {cells} there")
        if any(len(other) != len(self) or other.beside for other in self.beside):
            raise ValueError("partitions beside each other have as many blocks, and none beside themselves")
        if len(self.homes) < sum(len(each.region.fields) for each in (self, *self.beside)):
            names = [name for each in (self, *self.beside) for name in each.region.fields]
            raise ValueError(f"two regions have a field of one name among {', '.join(names)}; rename one of them")
        if self.at is not None and not all(
            map(_cuts_into, self.at, self.region.cells.lo, self.region.cells.hi, self.shape)
        ):
            raise ValueError(f"{self.at} do not cut {self.region.cells} into {self.shape} blocks")
        if self.reach is not None and len(self.reach) != len(self):
            raise ValueError(f"{len(self.reach)} boxes reached by {len(self)} blocks: give one for each")
        if self.redundant > self.narrowest:
            raise ValueError(f"{self.redundant} layers are redundant; the narrowest block has {self.narrowest}")

    def __len__(self) -> int:
        x, y, z = self.shape
        return x * y * z

    @cached_property
    def homes(self) -> dict[str, Partition]:
        """For each field the partition of the region that has it."""
        return {name: each for each in (self, *self.beside) for name in each.region.fields}

    @cached_property
    def fields(self) -> FieldSpace:
        """The fields of all regions."""
        return FieldSpace(field for each in (self, *self.beside) for field in each.region.fields.values())

    @cached_property
    def cuts(self) -> tuple[tuple[int, ...], ...]:
        """The places where blocks begin, and the last one ends, along x, y and z."""
        cells = self.region.cells
        if self.at is not None:
            return self.at
        return tuple(
            tuple(low + cut for cut in cuts(size, blocks, max(1, self.region.ghost)))
            for low, size, blocks in zip(cells.lo, cells.shape, self.shape, strict=True)
        )

    @cached_property
    def blocks(self) -> tuple[Box, ...]:
        """The cells of each block."""
        if self.replicated:
            return (self.region.cells,) * len(self)
        x, y, z = (list(pairwise(cuts)) for cuts in self.cuts)
        return tuple(Box((a, c, e), (b, d, f)) for (e, f), (c, d), (a, b) in product(z, y, x))

    @cached_property
    def memory(self) -> tuple[Box, ...]:
        """The cells that the arrays of each block cover: its own with their ghost layers, and those that it reaches."""
        reach = self.reach or (Box.of((0, 0, 0)),) * len(self)
        return tuple(block.grow(self.region.ghost) | more for block, more in zip(self.blocks, reach, strict=True))

    def nbytes(self, block: int) -> int:
        """Bytes of the fields of all regions on a block."""
        return sum(each.region.nbytes(each.memory[block]) for each in (self, *self.beside))

    def place(self, block: int) -> Triple:
        """Return how many blocks lie before this one along x, y and z."""
        nx, ny, _ = self.shape
        return block % nx, block // nx % ny, block // (nx * ny)

    @cached_property
    def owned(self) -> tuple[Box, ...]:
        """The cells of each block and the boundary layers it touches: a disjoint, complete partition of the bounds."""
        cells, bounds = self.region.cells, self.region.bounds
        return tuple(
            Box(
                triple(bounds.lo[a] if block.lo[a] == cells.lo[a] else block.lo[a] for a in range(3)),
                triple(bounds.hi[a] if block.hi[a] == cells.hi[a] else block.hi[a] for a in range(3)),
            )
            for block in self.blocks
        )

    @cached_property
    def widths(self) -> Triple:
        """The least cells of a block along x, y and z; means nothing in a replicated partition."""
        return triple(min(b - a for a, b in pairwise(cuts)) for cuts in self.cuts)

    @property
    def narrowest(self) -> int:
        """The least cells of a block along a direction that is cut; those of the region where none is."""
        cut = (w for w, blocks in zip(self.widths, self.shape, strict=True) if blocks > 1 and not self.replicated)
        return min(cut, default=min(self.region.cells.shape))

    def computed(self, block: int, ghosts: int) -> Box:
        """The cells that a block computes: those it owns, and those of others in `ghosts` layers of ghost cells, as far
        as these are redundant. Cells across periodic faces are left to their owners.
        """
        return self._computed[min(ghosts, self.redundant)][block]

    @cached_property
    def _computed(self) -> tuple[tuple[Box, ...], ...]:
        layers, bounds = range(self.redundant + 1), self.region.bounds
        return tuple(tuple(owned.grow(ghosts) & bounds for owned in self.owned) for ghosts in layers)

    def clip(self, box: Box) -> Box:
        """`box` without the cells that exist nowhere: beyond the bounds, across directions that are not periodic."""
        bounds, periodic = self.region.bounds, self.region.periodic
        return Box(
            triple(box.lo[a] if periodic[a] else max(box.lo[a], bounds.lo[a]) for a in range(3)),
            triple(box.hi[a] if periodic[a] else min(box.hi[a], bounds.hi[a]) for a in range(3)),
        )

    def sources(self, target: int, boxes: Iterable[Box], among: Iterable[int] | None = None) -> list[Copy]:
        """Find the owners of the cells of `boxes` (disjoint, possibly beyond periodic faces), as copies into block
        `target`; of all blocks, or of those `among` which is looked.
        """
        copies = []
        for box in boxes:
            for piece, shift in periodic_images(box, self.region.cells, self.region.periodic):
                owners = self.overlapping(piece) if among is None else among
                for source in [target] if self.replicated else owners:
                    common = piece & self.owned[source]
                    if common:
                        copies.append(Copy(source, common, target, common.shift(shift)))
        return copies

    def overlapping(self, box: Box) -> list[int]:
        """The blocks that own cells of `box` (inside the bounds), in order."""
        if not box:
            return []
        x, y, z = (
            range(max(0, min(blocks, bisect_right(cuts, low)) - 1), min(blocks, max(1, bisect_left(cuts, high))))
            for cuts, low, high, blocks in zip(self.cuts, box.lo, box.hi, self.shape, strict=True)
        )
        nx, ny, _ = self.shape
        return [a + nx * (b + ny * c) for c, b, a in product(z, y, x)]

    def targets(self, some: Collection[int]) -> set[int]:
        """The blocks that have memory for cells of some blocks in this region, across periodic faces too, and these."""
        if self.replicated:
            return {*some}
        owned, holders = [self.owned[block] for block in some], {*some}
        for block, memory in enumerate(self.memory):
            images = periodic_images(self.clip(memory), self.region.cells, self.region.periodic)
            if any(box.meets(piece) for piece, _ in images for box in owned):
                holders.add(block)
        return holders

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """Per block: the other blocks whose cells, of any region, it has memory for, or which have memory for its own;
        periodic images included.
        """
        neighbours: list[set[int]] = [set() for _ in range(len(self))]
        for each in (self, *self.beside):
            for block, memory in enumerate(each.memory):
                for copy in each.sources(block, [each.clip(memory)]):
                    neighbours[block].add(copy.source)
                    neighbours[copy.source].add(block)
        return tuple(tuple(sorted(others - {block})) for block, others in enumerate(neighbours))


def _cuts_into(at: tuple[int, ...], low: int, high: int, blocks: int) -> bool:
    """Return whether these are the places where so many blocks of [low, high) begin, and the last one ends."""
    return (at[0], at[-1], len(at)) == (low, high, blocks + 1) and all(a < b for a, b in pairwise(at))
