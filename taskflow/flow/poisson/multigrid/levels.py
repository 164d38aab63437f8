"""The levels of a hierarchy: meshes, the names of their fields, and their partitions.

Levels are cut like the finest one as long as they are large, and then on every block as a whole. On coarse levels a
block has few cells and as many neighbours as ever. From some level on each block computes all cells for itself: that
costs one gather of a right-hand side per cycle, and of coefficients when they change, and nothing is exchanged below
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import prod

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.flow.poisson.coefficients import COEFFICIENTS, Faces
from taskflow.flow.poisson.mesh import Mesh
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region, Triple, triple

Cuts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Iterate:
    """Two fields of a level: the one that holds p, and the one that the next relaxation writes."""

    p: str
    spare: str

    @property
    def swapped(self) -> Iterate:
        """The same fields with exchanged parts."""
        return Iterate(self.spare, self.p)


@dataclass(frozen=True)
class Layers:
    """Layers of ghost cells: those that have to be right in what a level returns, where it was corrected, where it was
    smoothed before that, and the most of all launches. On `restricted` layers the right-hand side is computed from the
    finer level; if 0 it is received.
    """

    returned: int = 0
    corrected: int = 0
    smoothed: int = 0
    most: int = 0
    restricted: int = 0


@dataclass(frozen=True)
class Level:
    """A mesh with fields for a right-hand side and two iterates, and for coefficients on `faces` unless they are 1.

    `scale` is how many cells of the finest level one of its cells is long, about: a power of two per direction. A
    level is `whole` if every block has all its cells; on the first such one blocks compute the `part` of the
    right-hand side that is theirs, which is then gathered, and `face_parts` of the coefficients. So they do with the
    right-hand side on the finest level if that is of another precision than what it solves for. `layers` of ghost cells
    are computed, too, where the partition lets blocks do so.
    """

    mesh: Mesh
    scale: Triple
    rhs: str
    p: str
    spare: str
    part: str = ""
    whole: bool = False
    faces: Faces = ()
    face_parts: Faces = ()
    layers: Layers = field(default_factory=Layers)

    @property
    def iterate(self) -> Iterate:
        """The two iterates."""
        return Iterate(self.p, self.spare)

    @property
    def coefficients(self) -> Faces | None:
        """The fields with coefficients, None where they are 1."""
        return self.faces or None

    @property
    def target(self) -> str:
        """The field that receives what the finer level restricts."""
        return self.part or self.rhs


def levels(
    finest: Mesh, depth: int | None, gathered: int, exact: int = 1, *, single: bool = False, variable: bool = False
) -> tuple[Level, ...]:
    """Return all levels down to the first of at most `exact` cells, or the first `depth`; those of at most `gathered`
    cells are whole, and the last one is if it has no more than `exact`. `single`: their precision is another one than
    that of p; `variable`: they have coefficients.
    """
    meshes, scales = [finest], [(1, 1, 1)]
    while meshes[-1].box.volume > exact and len(meshes) != depth:
        meshes.append(meshes[-1].coarser)
    for fine, coarse in pairwise(meshes):
        halved = (1 if n == m else 2 for n, m in zip(fine.cells, coarse.cells, strict=True))
        scales.append(triple(scale * factor for scale, factor in zip(scales[-1], halved, strict=True)))
    whole = [mesh.box.volume <= max(gathered, exact) for mesh in meshes]
    made = []
    for n, (mesh, scale) in enumerate(zip(meshes, scales, strict=True)):
        rhs, p, spare, part = (f"level{n}_{name}" for name in ("rhs", "p", "spare", "part"))
        gathers = whole[n] and not any(whole[:n])
        faces = tuple(f"level{n}_{role}" for role in COEFFICIENTS) if variable else ()
        parts = tuple(f"{name}_part" for name in faces) if gathers else ()
        received = gathers or (single and n == 0)
        made.append(Level(mesh, scale, rhs, p, spare, part if received else "", whole[n], faces, parts))
    return tuple(made)


def layered(levels: Sequence[Level], before: int, after: int, blocks: Triple, redundant: int) -> list[Level]:
    """The levels with the ghost cells on which they have to be computed so that of a V cycle with so many launches of a
    smoother before and after the correction nothing but right-hand sides has to be exchanged.

    Each relaxation needs one layer more than it returns, the interpolation those of coarse cells around the fine ones,
    and the restriction two. On the last level, where there are many sweeps, no ghost cells are computed. Nor is a
    right-hand side exchanged where the finer level can be smoothed on as many more layers, with no more than half of
    `redundant` ghost cells: that is work for two launches, in place of one exchange.
    """
    returned, corrections = 1, []
    for level in levels[:-1]:
        corrected = returned + after
        corrections.append(Layers(returned, corrected))
        returned = (-(-corrected // 2) if len(level.mesh.halved) == 3 else corrected) + 1
    upward = [levels[-1]]
    for level, layers in zip(levels[-2::-1], reversed(corrections), strict=True):
        coarse, smoothed = upward[-1], max(layers.corrected, 2)
        further = 2 * coarse.layers.most + 2
        if not coarse.whole and coarse.layers.most and _few(level, further + before - 1, blocks, redundant // 2):
            upward[-1] = replace(coarse, layers=replace(coarse.layers, restricted=coarse.layers.most))
            smoothed = max(smoothed, further)
        upward.append(replace(level, layers=replace(layers, smoothed=smoothed, most=smoothed + before - 1)))
    return upward[::-1]


def _few(level: Level, layers: int, blocks: Triple, most: int) -> bool:
    """Return whether so many layers around one of the blocks are no more than `most` cells, and of its neighbours
    alone: not of those across a periodic face, which nobody computes twice.
    """
    cut = [axis for axis in range(3) if blocks[axis] > 1]
    n, periodic = level.mesh.cells, level.mesh.periodic
    if not cut or any(periodic[axis] or layers >= n[axis] // blocks[axis] for axis in cut):
        return False
    block = triple(n[axis] // blocks[axis] for axis in range(3))
    grown = (min(block[axis] + 2 * layers * (axis in cut), n[axis]) for axis in range(3))
    return prod(grown) - prod(block) <= most


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
        factors = (b // a for a, b in zip(fine.scale, coarse.scale, strict=True))
        # a coarse cell belongs to the block that has the first of its fine ones
        cuts.append(tuple(tuple(-(-cut // n) for cut in at) for at, n in zip(cuts[-1], factors, strict=True)))
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
            box = reader.computed(block, reader.redundant)[0] & reader.region.cells
            reach[block] |= here.region.corresponding(box, reader.region).grow(width)
    return replace(here, reach=tuple(reach))
