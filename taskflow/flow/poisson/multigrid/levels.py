"""Levels of a hierarchy: meshes, names of their fields, and partitions.

Large levels are cut like the finest one. On coarse levels a block has few cells but as many neighbours, so each block
computes all cells of them. This costs one gather of a right-hand side per cycle, and of coefficients when they change,
and nothing is exchanged on coarser levels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from math import prod

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.flow.poisson.coefficients import COEFFICIENTS, SCREEN, Faces
from taskflow.flow.poisson.mesh import Mesh
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region, Triple, triple

Cuts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Iterate:
    """Two fields of a level: p, and the spare field that the next relaxation writes."""

    p: str
    spare: str

    @property
    def swapped(self) -> Iterate:
        """The same fields, exchanged."""
        return Iterate(self.spare, self.p)


@dataclass(frozen=True)
class Layers:
    """Layers of valid ghost cells: in the result of a level, after its correction, after smoothing before that, and the
    most.

    On `restricted` layers the right-hand side is computed from the finer level. If 0 it is received.
    """

    returned: int = 0
    corrected: int = 0
    smoothed: int = 0
    most: int = 0
    restricted: int = 0


@dataclass(frozen=True)
class Level:
    """Mesh with fields for a right-hand side and two iterates, and for coefficients on `faces` unless they are 1, the
    last of four being a screen.

    `scale` is the approximate cell size in finest cells, a power of two per direction. A `whole` level has all its
    cells on every block. On the first whole level blocks compute their `part` of the right-hand side and `face_parts`
    of the coefficients, which are then gathered. The finest level also has a `part` if its right-hand side has another
    precision. `layers` of ghost cells are computed if the partition allows it. Between many blocks parts are gathered
    axis after axis, by way of fields that blocks have for their whole row, `along` these axes.
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
    along: tuple[tuple[int, ...], ...] = ()

    def ways(self, part: str) -> list[str]:
        """Return a part, and the fields by way of which it is gathered."""
        return [part, *(f"{part}_{''.join('xyz'[axis] for axis in axes)}" for axes in self.along)]

    @property
    def iterate(self) -> Iterate:
        """The two iterates."""
        return Iterate(self.p, self.spare)

    @property
    def coefficients(self) -> Faces | None:
        """Fields of the coefficients, or None if b = 1."""
        return self.faces[:3] or None

    @property
    def screen(self) -> str | None:
        """Field of the screen, or None without one."""
        return self.faces[3] if len(self.faces) > 3 else None

    @property
    def target(self) -> str:
        """Field that receives the restricted residual of the finer level."""
        return self.part or self.rhs


def levels(
    finest: Mesh,
    depth: int | None,
    gathered: int,
    exact: int = 1,
    *,
    single: bool = False,
    coefficients: Faces = (),
    along: tuple[tuple[int, ...], ...] = (),
) -> tuple[Level, ...]:
    """Return all levels down to the first of at most `exact` cells, or the first `depth` levels.

    Levels of at most `gathered` cells are whole, as is the last one if it has at most `exact`. `single`: levels have
    another precision than p. `coefficients`: their roles in an operator. `along`: see `Level`.
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
        faces = tuple(f"level{n}_{role}" for role in coefficients)
        parts = tuple(f"{name}_part" for name in faces) if gathers else ()
        received = gathers or (single and n == 0)
        made.append(Level(mesh, scale, rhs, p, spare, part if received else "", whole[n], faces, parts))
        if gathers:
            made[-1] = replace(made[-1], along=along)
    return tuple(made)


def layered(levels: Sequence[Level], before: int, after: int, blocks: Triple, redundant: int) -> list[Level]:
    """Return the levels with the ghost layers that leave only right-hand sides of a V cycle to exchange.

    `before` and `after` are the launches of the smoother around the correction. Each relaxation needs one layer more
    than it returns, the interpolation the layers of the surrounding coarse cells, and the restriction two. The last
    level has many sweeps, so no ghost cells are computed on it. Right-hand sides are not exchanged either if the finer
    level can be smoothed on the additional layers with at most `redundant` / 2 ghost cells: two launches of work save
    one exchange.
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
    """Return True if `layers` around a block are on adjacent blocks, not periodic, with at most `most` cells."""
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
    """Return one partition per level on the blocks of `main`, and one per gathered `part`, and per way to gather it.

    The precision is the same as in `main`; with `single`, coarser parts have single precision. Ghost cells are computed
    on levels where a launch has at most `redundant` of them. Levels on which a block would have no cell are on every
    block, too. Raises BadInput if `single` is given and `main` has not double precision.
    """
    cuts = [main.cuts]
    for fine, coarse in pairwise(levels):
        factors = (b // a for a, b in zip(fine.scale, coarse.scale, strict=True))
        # a coarse cell belongs to the block that has the first of its fine ones
        cuts.append(tuple(tuple(-(-cut // n) for cut in at) for at, n in zip(cuts[-1], factors, strict=True)))
    dtype = next(iter(main.region.fields.values())).dtype
    if single and np.dtype(dtype) != np.float64:
        raise BadInput(f"multigrid: single = {single} is for fields of double precision, not {dtype}; omit it")
    made, parts = list[Partition](), list[list[Partition]]()
    for n, (level, at) in enumerate(zip(levels, cuts, strict=True)):
        precision = "f4" if single else dtype
        fields = [Field(name, precision) for name in (level.rhs, level.p, level.spare)]
        made.append(_partition(level, [*fields, *_on_faces(level.faces, precision)], main, at, level.whole))
        if _worthwhile(made[-1], level.layers.most, redundant):
            made[-1] = replace(made[-1], redundant=level.layers.most)
        received = precision if n else dtype
        ways = zip(((), *level.along), *map(level.ways, (level.part, *level.face_parts)), strict=True)
        parts.append(
            [
                _partition(level, [Field(name, received), *_on_faces(faces, received)], main, at, False, along)
                for along, name, *faces in (ways if level.part else ())
            ]
        )
    return tuple(_reaching(made, parts))


def _on_faces(names: Sequence[str], dtype: str) -> list[Field]:
    return [Field(name, dtype, at) for name, at in zip(names, (COEFFICIENTS | SCREEN).values(), strict=False)]


def _partition(
    level: Level, fields: Sequence[Field], main: Partition, at: Cuts, whole: bool, along: tuple[int, ...] = ()
) -> Partition:
    region = Region(level.mesh.box, FieldSpace(fields), level.mesh.periodic, 1, level.scale)
    if whole or any(a >= b for places in at for a, b in pairwise(places)):
        return Partition(region, main.shape, replicated=True)
    return Partition(region, main.shape, at=at, along=along)


def _worthwhile(here: Partition, layers: int, most: int) -> bool:
    """Return True if these layers of ghost cells belong to adjacent blocks only and hold at most `most` cells."""
    inside = (block.grow(layers) & here.region.cells for block in here.blocks)
    more = max(grown.volume - block.volume for grown, block in zip(inside, here.blocks, strict=True))
    return layers < here.narrowest and more <= most


def _reaching(levels: Sequence[Partition], parts: Sequence[Sequence[Partition]]) -> Iterator[Partition]:
    """Yield the same partitions with memory for cells read by the level above, by the level below and by gathers."""
    for n, (here, ways) in enumerate(zip(levels, parts, strict=True)):
        above = levels[n - 1] if n else None
        below = next(chain(*parts[n + 1 : n + 2], levels[n + 1 : n + 2]), None)
        yield _with_reach(here, [(above, 1), (below, 2), (here if here.redundant else None, 2)])
        for part, reader in pairwise((*ways, here)):
            faces = any(field.location != "c" for field in part.region.fields.values())
            yield _with_reach(part, [(reader, int(faces)), (below if len(ways) == 1 else None, 0)])


def _with_reach(here: Partition, readers: Sequence[tuple[Partition | None, int]]) -> Partition:
    """Return the partition with memory for the cells that the blocks of each reader compute, grown by its width."""
    reach = [Box.of((0, 0, 0))] * len(here)
    for reader, width in readers:
        for block in range(len(here) if reader else 0):
            assert reader is not None
            box = reader.computed(block, reader.redundant)[0] & reader.region.cells
            reach[block] |= here.region.corresponding(box, reader.region).grow(width)
    return replace(here, reach=tuple(reach))
