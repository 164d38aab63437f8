"""Slabs across one direction, in which lines along the others are whole."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region, Triple, cuts, triple


@dataclass(frozen=True)
class Slabs:
    """So many `cells`, cut across an `axis` into one slab per block, as a partition cuts them; where there are more
    blocks than planes, the last slabs are beyond the cells.
    """

    cells: Triple
    axis: int
    count: int

    @property
    def cuts(self) -> tuple[int, ...]:
        """Where slabs begin, and the last one ends."""
        return cuts(max(self.cells[self.axis], self.count), self.count)

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The cells of each slab."""
        whole = Box.of(self.cells)
        return tuple(whole.layer(self.axis, 0, low, high) & whole for low, high in pairwise(self.cuts))

    def are(self, main: Partition) -> bool:
        """Whether blocks have these cells."""
        return main.blocks == self.boxes

    def partition(
        self, names: tuple[str, ...], shape: Triple, dtype: str, reach: tuple[Box, ...] | None = None
    ) -> Partition:
        """Fields over the box of a `shape` whose planes across the axis are those of the slabs."""
        across = {self.axis: self.cuts}
        at = tuple(across.get(axis, (0, size)) for axis, size in enumerate(shape))
        region = Region(Box.of(cuts[-1] for cuts in at), FieldSpace(Field(name, dtype) for name in names), ghost=0)
        return Partition(region, triple(len(cuts) - 1 for cuts in at), at=at, reach=reach)
