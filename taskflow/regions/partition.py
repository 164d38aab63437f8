"""Partitions of a region into blocks, and the copies that fill ghost cells from their owners."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product

from taskflow.errors import BadInput
from taskflow.regions.box import Box, Triple, difference, periodic_images, triple
from taskflow.regions.region import Region


@dataclass(frozen=True, slots=True)
class Copy:
    """Cells to copy: `source_box` of block `source` holds what `target_box` of block `target` needs.

    The boxes have one shape; they differ by a whole number of periods where the copy crosses a periodic face.
    """

    source: int
    source_box: Box
    target: int
    target_box: Box


def cuts(cells: int, blocks: int) -> tuple[int, ...]:
    """Where blocks begin (and, last, where they end) when `cells` in a row are cut into so many blocks.

    Every block is as wide as the widest has to be, ceil(cells / blocks), and the last takes what remains: the widest
    block sets the time of a step, and equal widths let each block be one shard of a regular Zarr grid. Where nothing
    would remain for the last block the cut is balanced instead: widths differ by at most one.
    """
    width = -(-cells // blocks)
    if (blocks - 1) * width < cells:
        return (*(n * width for n in range(blocks)), cells)
    return tuple(n * cells // blocks for n in range(blocks + 1))


@dataclass(frozen=True, eq=False)
class Partition:
    """A disjoint and complete partition of a region into nx x ny x nz blocks; slabs are (1, 1, n).

    Blocks are numbered with x fastest. Raises BadInput where a direction has more blocks than cells.
    """

    region: Region
    shape: Triple

    def __post_init__(self) -> None:
        for name, cells, blocks in zip("xyz", self.region.cells.shape, self.shape, strict=True):
            if not 1 <= blocks <= cells:
                raise BadInput(
                    f"machine.blocks = {list(self.shape)}: {blocks} blocks along {name} do not fit {cells} planes of"
                    f" cells; use 1 to {cells} there"
                )

    def __len__(self) -> int:
        return len(self.blocks)

    @cached_property
    def blocks(self) -> tuple[Box, ...]:
        """The cells of each block."""
        origin = self.region.cells.lo
        sides = [
            [(o + a, o + b) for a, b in pairwise(cuts(cells, blocks))]
            for o, cells, blocks in zip(origin, self.region.cells.shape, self.shape, strict=True)
        ]
        return tuple(
            Box((x[0], y[0], z[0]), (x[1], y[1], z[1])) for z, y, x in product(sides[2], sides[1], sides[0])
        )

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

    def bloat(self, width: int) -> tuple[Box, ...]:
        """Each block with `width` more cells on every side: an aliased partition.

        Across periodic faces the boxes reach out of the domain, where `sources` finds the periodic images; elsewhere
        they end at the region's bounds.
        """
        return tuple(self.clip(block.grow(width)) for block in self.blocks)

    def clip(self, box: Box) -> Box:
        """`box` without the cells that exist nowhere: beyond the bounds, across directions that are not periodic."""
        bounds, periodic = self.region.bounds, self.region.periodic
        return Box(
            triple(box.lo[a] if periodic[a] else max(box.lo[a], bounds.lo[a]) for a in range(3)),
            triple(box.hi[a] if periodic[a] else min(box.hi[a], bounds.hi[a]) for a in range(3)),
        )

    def middle(self, block: int, width: int) -> Box:
        """The cells of a block at least `width` away from all its neighbours, its own periodic images included."""
        box, cells, periodic = self.blocks[block], self.region.cells, self.region.periodic
        low = triple(0 if box.lo[a] == cells.lo[a] and not periodic[a] else -width for a in range(3))
        high = triple(0 if box.hi[a] == cells.hi[a] and not periodic[a] else -width for a in range(3))
        return box.expand(low, high)

    def edges(self, block: int, width: int) -> list[Box]:
        """The cells of a block that are not in its `middle`: with it a disjoint, complete partition of the block."""
        return self.blocks[block].subtract(self.middle(block, width))

    def sources(self, target: int, boxes: Iterable[Box]) -> list[Copy]:
        """Who owns the cells of `boxes` (disjoint, possibly beyond periodic faces), as copies into block `target`."""
        copies = []
        for box in boxes:
            for piece, shift in periodic_images(box, self.region.cells, self.region.periodic):
                for source in self.overlapping(piece):
                    common = piece & self.owned[source]
                    if common:
                        copies.append(Copy(source, common, target, common.shift(shift)))
        return copies

    def halo(self, width: int) -> list[Copy]:
        """The plan that fills `width` ghost layers of every block: all 26 neighbours, periodic images included."""
        return [
            copy
            for block, box in enumerate(self.bloat(width))
            for copy in self.sources(block, difference([box], [self.owned[block]]))
        ]

    def overlapping(self, box: Box) -> list[int]:
        """The blocks that own cells of `box` (inside the bounds), in order."""
        return [n for n, owned in enumerate(self.owned) if owned.meets(box)]

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """Per block: the other blocks within the region's ghost width of it, periodic images included."""
        return tuple(
            tuple(sorted({copy.source for copy in self.sources(block, [box])} - {block}))
            for block, box in enumerate(self.bloat(self.region.ghost))
        )
