"""The partitions of levels: cut like the finest one as long as they are large, and then on every block as a whole.

On coarse levels a block has few cells and as many neighbours as ever. From some level on each block computes all cells
for itself: that costs one gather of a right-hand side per cycle, and of coefficients when they change, and nothing is
exchanged below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from taskflow.errors import BadInput
from taskflow.flow.poisson.coefficients import COEFFICIENTS, Faces
from taskflow.flow.poisson.multigrid.levels import Level
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region

Cuts = tuple[tuple[int, ...], ...]


def partitions(
    levels: Sequence[Level], main: Partition, single: bool = False, redundant: int = 0
) -> tuple[Partition, ...]:
    """Return a partition for each level, and one for the parts of gathered fields that a block computes; on the blocks
    of `main`, with the precision of its fields, or of `single` precision but for the finest part.

    Ghost cells are computed on levels where those of a launch are no more than `redundant`. Levels of which some block
    would have no cell are on every block, too. Raises BadInput where `single` precision is no other than that of
    `main`.
    """
    cuts = [main.cuts]
    for fine, coarse in pairwise(levels):
        cuts.append(_coarser(cuts[-1], fine, coarse))
    dtype = next(iter(main.region.fields.values())).dtype
    if single and np.dtype(dtype) != np.float64:
        raise BadInput(f"multigrid: single = {single} is for fields of double precision, not {dtype}; leave it out")
    made, parts = [], []
    for n, (level, at) in enumerate(zip(levels, cuts, strict=True)):
        precision = "f4" if single else dtype
        fields = [Field(name, precision) for name in (level.rhs, level.p, level.spare)]
        made.append(_partition(level, [*fields, *_on_faces(level.faces, precision)], main, at, level.whole))
        if _worthwhile(made[-1], level.layers.most, redundant):
            made[-1] = replace(made[-1], redundant=level.layers.most)
        received = precision if n else dtype
        part = [Field(level.part, received), *_on_faces(level.face_parts, received)]
        parts.append(_partition(level, part, main, at, False) if level.part else None)
    return tuple(_reaching(made, parts))


def _on_faces(names: Faces, dtype: str) -> list[Field]:
    return [Field(name, dtype, location) for name, location in zip(names, COEFFICIENTS.values(), strict=bool(names))]


def _coarser(cuts: Cuts, fine: Level, coarse: Level) -> Cuts:
    """A coarse cell belongs to the block that has the first of its fine ones."""
    factors = (b // a for a, b in zip(fine.scale, coarse.scale, strict=True))
    return tuple(tuple(-(-cut // factor) for cut in at) for at, factor in zip(cuts, factors, strict=True))


def _partition(level: Level, fields: Sequence[Field], main: Partition, at: Cuts, whole: bool) -> Partition:
    region = Region(level.mesh.box, FieldSpace(fields), level.mesh.periodic, 1, level.scale)
    if whole or any(a >= b for places in at for a, b in pairwise(places)):
        return Partition(region, main.shape, replicated=True)
    return Partition(region, main.shape, at=at)


def _worthwhile(here: Partition, layers: int, most: int) -> bool:
    """Return whether so many layers of ghost cells, and those beside them, are of neighbours alone, and few."""
    inside = (block.grow(layers) & here.region.cells for block in here.blocks)
    more = max(grown.volume - block.volume for grown, block in zip(inside, here.blocks, strict=True))
    return layers < here.narrowest and more <= most


def _reaching(levels: Sequence[Partition], parts: Sequence[Partition | None]) -> Iterator[Partition]:
    """Yield the same with memory for what is read of each from the level above, from the one below, by a gather."""
    for n, (here, part) in enumerate(zip(levels, parts, strict=True)):
        above = levels[n - 1] if n else None
        below = next(iter(p for p in (*parts[n + 1 : n + 2], *levels[n + 1 : n + 2]) if p), None)
        yield _with_reach(here, [(above, 1), (below, 2), (here if here.redundant else None, 2)])
        if part:
            faces = any(field.location != "c" for field in part.region.fields.values())
            yield _with_reach(part, [(here, int(faces)), (below, 0)])


def _with_reach(here: Partition, readers: Sequence[tuple[Partition | None, int]]) -> Partition:
    """Return the partition with memory for what the blocks of each reader compute, and so many cells more."""
    reach = [Box.of((0, 0, 0))] * len(here)
    for reader, width in readers:
        for block in range(len(here) if reader else 0):
            assert reader is not None
            box = reader.computed(block, reader.redundant) & reader.region.cells
            reach[block] |= here.region.corresponding(box, reader.region).grow(width)
    return replace(here, reach=tuple(reach))
