"""Partitions of a region into blocks, and the copies that fill ghost cells from their owners."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import pairwise, product
from math import prod
from numbers import Integral

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadArgument
from taskflow.runtime.regions.atlas import STRAIGHT, Turn
from taskflow.runtime.regions.box import Box, Triple, hull, triple
from taskflow.runtime.regions.pieces import complete, cuts, cuts_into
from taskflow.runtime.regions.region import FieldSpace, Region

FEW = 64  # blocks: up to this number all messages of a moment travel at once


def rows(shape: Triple) -> tuple[tuple[int, ...], ...]:
    """Return the axes along which cells travel before the last one, more and more: none if blocks are few, or cut along
    one axis only.
    """
    cut = tuple(axis for axis in range(3) if shape[axis] > 1)
    return tuple(cut[:n] for n in range(1, len(cut))) if prod(shape) > FEW else ()


@dataclass(frozen=True, slots=True)
class Copy:
    """Cells to copy: `source_box` of the piece `source` holds the values for `target_box` of the piece `target`.

    The second box is the image of the first by a turn with these axes, or by whole periods across a periodic face.
    """

    source: int
    source_box: Box
    target: int
    target_box: Box
    axes: Triple = STRAIGHT

    @property
    def turn(self) -> Turn:
        """Turn from the source cells to the target cells."""
        corner = Turn(self.axes)(self.source_box).lo
        return Turn(self.axes, triple(b - a for a, b in zip(corner, self.target_box.lo, strict=True)))


@dataclass(frozen=True, eq=False)
class Partition:
    """Disjoint, complete decomposition of a region into nx x ny x nz blocks, numbered with x fastest.

    On a box each block has one piece, a box of cells. On an atlas a block may have several pieces, numbered block by
    block, and copies between pieces of one block are made as between blocks.

    Parameters
    ----------
    region : Region
    shape : (int, int, int)
        Blocks along x, y and z. Slabs are (1, 1, n).
    at : tuple of tuples of int, optional
        First cells of the blocks along x, y and z, and the end of the last block.
    replicated : bool
        Every block owns and computes all cells. Nothing is exchanged.
    along : tuple of int, optional
        Axes along which every block owns and computes the cells of its whole row of blocks.
    reach : tuple of Box, optional
        Further cells per block that have memory on it.
    redundant : int
        Layers of ghost cells that blocks may compute themselves (see `Launch.ghosts`).
    beside : tuple of Partition
        Partitions of other regions, with other fields, into the same number of blocks. Partitions that one program uses
        share the blocks.
    pieces : tuple of tuples of Box, optional
        Boxes of each block, for a region on an atlas.
    multiple : (int, int, int)
        Granularity of the cuts, in cells, such as the tiles of a sweep.

    Raises
    ------
    BadInput
        If a direction has more blocks than cells.
    ValueError
        If partitions do not match, `redundant` exceeds the narrowest block, or the pieces are not the cells of the
        charts.
    """

    region: Region
    shape: Triple
    at: tuple[tuple[int, ...], ...] | None = None
    replicated: bool = False
    reach: tuple[Box, ...] | None = None
    redundant: int = 0
    beside: tuple[Partition, ...] = ()
    pieces: tuple[tuple[Box, ...], ...] | None = None
    multiple: Triple = (1, 1, 1)
    along: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.shape) != 3 or not all(isinstance(blocks, Integral) for blocks in self.shape):
            raise BadArgument("blocks", str(self.shape), "", "give three integers, of blocks along x, y and z")
        if len(self.multiple) != 3 or min(self.multiple) < 1:
            raise BadArgument("multiple", str(self.multiple), "", "give three integers from 1")
        shapes = self.region.cells.shape, self.shape, self.multiple
        for name, cells, blocks, multiple in zip("xyz", *shapes, strict=True):
            most = -(-cells // multiple)
            if self.pieces is None and not self.replicated and not 1 <= blocks <= most:
                groups = f"{cells} planes of cells" if multiple == 1 else f"{most} groups of {multiple} planes of cells"
                problem = f": {blocks} blocks along {name} do not fit {groups}"
                raise BadArgument("blocks", str(list(self.shape)), problem, f"use 1 to {most} there")
        if (self.pieces is None) != (self.region.atlas is None):
            raise ValueError("a region on an atlas is cut into pieces, one on a box is not")
        if self.pieces is not None and (self.shape != (1, 1, len(self.pieces)) or not all(self.pieces)):
            raise ValueError(f"pieces for {len(self.pieces)} blocks, in {self.shape}: every block has one or more")
        if self.pieces is not None and not complete(self.parts, self.region.charts):
            raise ValueError("the pieces are not the cells of the charts, each once")
        if any(len(other) != len(self) or other.beside for other in self.beside):
            raise ValueError("partitions in `beside` have the same number of blocks, and no `beside` of their own")
        if len(self.homes) < sum(len(home.region.fields) for home in (self, *self.beside)):
            names = [name for home in (self, *self.beside) for name in home.region.fields]
            raise ValueError(f"two regions have a field of one name among {', '.join(names)}; rename one of them")
        if self.at is not None and not all(
            map(cuts_into, self.at, self.region.cells.lo, self.region.cells.hi, self.shape)
        ):
            raise ValueError(f"{self.at} do not cut {self.region.cells} into {self.shape} blocks")
        if self.along and (self.replicated or self.redundant or self.pieces is not None):
            raise ValueError("blocks with the cells of their rows have no redundant layers and no pieces")
        if self.reach is not None and len(self.reach) != len(self):
            raise ValueError(f"{len(self.reach)} boxes reached by {len(self)} blocks: give one for each")
        if self.redundant > self.narrowest:
            raise ValueError(f"{self.redundant} layers are redundant; the narrowest block has {self.narrowest}")

    def __len__(self) -> int:
        x, y, z = self.shape
        return x * y * z

    @property
    def whole(self) -> tuple[int, ...]:
        """Axes along which every block has the cells of all blocks in its row."""
        return (0, 1, 2) if self.replicated else self.along

    @property
    def copies(self) -> int:
        """Blocks that own each cell."""
        return prod(self.shape[axis] for axis in self.whole)

    def first(self, block: int) -> bool:
        """Return whether a block is the first one that owns its cells."""
        return not any(self._row(block))

    def _row(self, block: int) -> tuple[int, ...]:
        """Return the place of a block in the rows in which all blocks own its cells."""
        place = self.place(block)
        return tuple(place[axis] for axis in self.whole)

    @cached_property
    def homes(self) -> dict[str, Partition]:
        """Partition of the region that has each field, by name."""
        return {name: home for home in (self, *self.beside) for name in home.region.fields}

    @cached_property
    def fields(self) -> FieldSpace:
        """Fields of all regions."""
        return FieldSpace(field for home in (self, *self.beside) for field in home.region.fields.values())

    @cached_property
    def cuts(self) -> tuple[tuple[int, ...], ...]:
        """First cells of the blocks along x, y and z, and the end of the last block."""
        cells = self.region.cells
        if self.at is not None:
            return self.at
        return tuple(
            tuple(low + cut for cut in cuts(size, blocks, max(1, self.region.ghost), multiple))
            for low, size, blocks, multiple in zip(cells.lo, cells.shape, self.shape, self.multiple, strict=True)
        )

    @cached_property
    def parts(self) -> tuple[Box, ...]:
        """Cells of each piece."""
        return self.blocks if self.pieces is None else tuple(piece for block in self.pieces for piece in block)

    @cached_property
    def block_of(self) -> tuple[int, ...]:
        """Block of each piece."""
        if self.pieces is None:
            return tuple(range(len(self)))
        return tuple(block for block, pieces in enumerate(self.pieces) for _ in pieces)

    def pieces_of(self, block: int) -> range:
        """Return the numbers of the pieces of a block."""
        if self.pieces is None:
            return range(block, block + 1)
        return range(bisect_left(self.block_of, block), bisect_right(self.block_of, block))

    def cells_of(self, block: int) -> tuple[Box, ...]:
        """Return the cells of a block, as the boxes of its pieces."""
        return tuple(self.parts[piece] for piece in self.pieces_of(block))

    def own_of(self, block: int, name: str | None = None) -> tuple[Box, ...]:
        """Return the cells that a block owns, as disjoint boxes, with boundary layers unless the field is private."""
        if name is not None and self.fields[name].private:
            return self.cells_of(block)
        return tuple(box for piece in self.pieces_of(block) for box in self.own[piece])

    def allocated(self, name: str, piece: int) -> Box:
        """Return the cells that the array of a field of this region covers on a piece."""
        return (self.parts if self.region.fields[name].private else self.memory)[piece]

    def beside_piece(self, piece: int, other: Partition) -> int:
        """Return the piece of another partition with the same position on the same block, else the first piece there.
        """
        block = self.block_of[piece]
        mine, theirs = self.pieces_of(block), other.pieces_of(block)
        return theirs[piece - mine[0]] if len(mine) == len(theirs) else theirs[0]

    @cached_property
    def blocks(self) -> tuple[Box, ...]:
        """Cells of each block; for several pieces, the box that contains them."""
        if self.pieces is not None:
            return tuple(map(hull, self.pieces))
        cells = self.region.cells
        ends = enumerate(zip(cells.lo, cells.hi, self.cuts, self.shape, strict=True))
        x, y, z = ([(lo, hi)] * n if axis in self.whole else list(pairwise(at)) for axis, (lo, hi, at, n) in ends)
        return tuple(Box((a, c, e), (b, d, f)) for (e, f), (c, d), (a, b) in product(z, y, x))

    @cached_property
    def memory(self) -> tuple[Box, ...]:
        """Cells that the arrays of each piece cover: its cells, their ghost layers and `reach`. Private fields have no
        more than the cells.
        """
        reach = self.reach or (Box.of((0, 0, 0)),) * len(self.parts)
        return tuple(piece.grow(self.region.ghost) | more for piece, more in zip(self.parts, reach, strict=True))

    def nbytes(self, block: int) -> int:
        """Return the bytes of the fields of all regions on a block."""
        homes = self.homes.items()
        arrays = ((name, home.allocated(name, piece)) for name, home in homes for piece in home.pieces_of(block))
        return sum(box.volume * self.fields[name].nbytes for name, box in arrays)

    def place(self, block: int) -> Triple:
        """Return the index of a block along x, y and z."""
        nx, ny, _ = self.shape
        return block % nx, block // nx % ny, block // (nx * ny)

    @cached_property
    def owned(self) -> tuple[Box, ...]:
        """Cells of each piece and its boundary layers, as a box; on an atlas, the box that contains them."""
        return tuple(map(hull, self.own))

    @cached_property
    def own(self) -> tuple[tuple[Box, ...], ...]:
        """Cells of each piece, first, and its boundary layers: a partition of all such cells."""
        return tuple(map(self._own, self.parts))

    def _own(self, piece: Box) -> tuple[Box, ...]:
        region = self.region
        chart, own = next((c, o) for c, o in zip(region.charts, region.own, strict=True) if piece in c)
        margin = region.margin if region.atlas is None else (region.ghost,) * 3
        wide = Box(
            triple(a - n * (a == c) for a, c, n in zip(piece.lo, chart.lo, margin, strict=True)),
            triple(b + n * (b == c) for b, c, n in zip(piece.hi, chart.hi, margin, strict=True)),
        )
        return (wide,) if region.atlas is None else tuple(box & wide for box in own if box.meets(wide))

    @cached_property
    def widths(self) -> Triple:
        """Least number of cells of a piece along x, y and z. Undefined for a replicated partition."""
        if self.pieces is not None:
            return triple(min(piece.shape[axis] for piece in self.parts) for axis in range(3))
        return triple(min(b - a for a, b in pairwise(cuts)) for cuts in self.cuts)

    @property
    def narrowest(self) -> int:
        """Least number of cells of a block along a direction that is cut; if none is cut, of the region."""
        cut = [axis for axis in range(3) if self.shape[axis] > 1 and axis not in self.whole]
        return min((self.widths[axis] for axis in cut), default=min(self.region.cells.shape))

    @property
    def relayed(self) -> bool:
        """True if blocks may pass on cells between blocks that share no face."""
        return self.pieces is None and bool(rows(self.shape))

    def computed(self, piece: int, ghosts: int) -> tuple[Box, ...]:
        """Return the cells that a piece computes: its own, and up to `ghosts` layers of redundant ghost cells.

        Cells across periodic faces are not computed redundantly.
        """
        return self._computed[min(ghosts, self.redundant)][piece]

    @cached_property
    def _computed(self) -> tuple[tuple[tuple[Box, ...], ...], ...]:
        bounds = self.region.bounds
        more = (tuple((owned.grow(n) & bounds,) for owned in self.owned) for n in range(1, self.redundant + 1))
        return self.own, *more

    def clip(self, box: Box) -> Box:
        """Return `box` without cells outside the bounds along directions that are not periodic."""
        bounds, periodic = self.region.bounds, self.region.periodic
        return Box(
            triple(box.lo[a] if periodic[a] else max(box.lo[a], bounds.lo[a]) for a in range(3)),
            triple(box.hi[a] if periodic[a] else min(box.hi[a], bounds.hi[a]) for a in range(3)),
        )

    def sources(self, target: int, boxes: Iterable[Box], among: Iterable[int] | None = None) -> list[Copy]:
        """Return copies from the owners of the cells of `boxes` into the piece `target`.

        Boxes are disjoint and may extend across periodic faces and seams. `among` limits the owners that are searched.
        Of several owners of a cell it is the one in the row of the target.
        """
        copies = []
        for box in boxes:
            for image, turn in self.region.images(box):
                for source in self.overlapping(image, target) if among is None or self.whole else among:
                    for own in self.own[source]:
                        common = image & own
                        if common:
                            copies.append(Copy(source, common, target, turn(common), turn.axes))
        return copies

    def overlapping(self, box: Box, beside: int = 0) -> list[int]:
        """Return the pieces that own cells of `box`, in order. Of several owners of a cell it is the one in the row of
        the piece `beside`.
        """
        if not box:
            return []
        if self.pieces is not None:
            return [n for n, owned in enumerate(self.owned) if box.meets(owned)]
        x, y, z = (
            range(at, at + 1)
            if axis in self.whole
            else range(max(0, min(blocks, bisect_right(cuts, low)) - 1), min(blocks, max(1, bisect_left(cuts, high))))
            for axis, (cuts, low, high, blocks, at) in enumerate(
                zip(self.cuts, box.lo, box.hi, self.shape, self.place(beside), strict=True)
            )
        )
        nx, ny, _ = self.shape
        return [a + nx * (b + ny * c) for c, b, a in product(z, y, x)]

    def targets(self, some: Collection[int]) -> set[int]:
        """Return these pieces and all pieces with memory for their cells, also across periodic faces and seams."""
        own, holders = defaultdict[tuple[int, ...], list[Box]](list), {*some}
        for piece in some:
            own[self._row(piece)] += self.own[piece]
        for piece, memory in enumerate(self.memory):
            images = self.region.images(self.clip(memory)) if (boxes := own.get(self._row(piece))) else ()
            if any(box.meets(image) for image, _ in images for box in boxes or ()):
                holders.add(piece)
        return holders

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """Blocks that exchange cells with each block, in any region, also across periodic faces and seams."""
        neighbours: list[set[int]] = [set() for _ in range(len(self))]
        for home in (self, *self.beside):
            for piece, memory in enumerate(home.memory):
                for copy in home.sources(piece, [home.clip(memory)]):
                    block, source = home.block_of[piece], home.block_of[copy.source]
                    neighbours[block].add(source)
                    neighbours[source].add(block)
        return tuple(tuple(sorted(others - {block})) for block, others in enumerate(neighbours))
