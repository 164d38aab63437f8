"""Checks of launches against a region and its partition, before anything is executed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import product

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.runtime.regions import Field, Partition, Triple, difference, overlapping, triple
from taskflow.runtime.tasks.privilege import Privilege
from taskflow.runtime.tasks.reading import common, place, reading, shares
from taskflow.runtime.tasks.stencil import ALL, Stencil
from taskflow.runtime.tasks.sweep import Sweep
from taskflow.runtime.tasks.task import Launch

COMPILED = ("float32", "float64", "uint8", "uint16")  # types of fields in kernel texts


def check(launches: Iterable[Launch], partition: Partition, possible: set[Hashable]) -> None:
    """Raises BadInput for the first launch that is impossible.

    Causes are cells or fields that do not exist, fields that differ in precision or have a type that no kernel takes, a
    stencil beyond the bounds, the ghost layers or the next block, and point tasks that read cells that others of the
    launch write. `possible` has launches that passed before, and gains these.
    """
    for launch in launches:
        key = launch.task, launch.fields, launch.boxes, launch.ghosts, launch.swept
        if key not in possible:
            _check(launch, partition)
            possible.add(key)


def _check(launch: Launch, partition: Partition) -> None:
    for name in launch.fields:
        if name not in partition.homes:
            raise BadInput(f"{launch} uses the field {name!r}; the region has {', '.join(partition.fields)}")
    home = place(launch, partition)
    if difference(launch.boxes, [box for chart in home.region.own for box in chart]):
        raise BadInput(f"{launch} is launched over {launch.over}, outside the region's bounds {home.region.bounds}")
    if len(launch.boxes) > 1 and (twice := overlapping(launch.boxes)):
        once = "a cell would be done twice: launch it over disjoint boxes"
        raise BadInput(f"{launch} is launched over {twice[0]} and {twice[1]}, which overlap; {once}")
    for name, privilege in launch.requirements:
        if privilege.foreign:
            _check_memory(launch, name, privilege, partition)
            continue
        if partition.homes[name] is not home:
            raise BadInput(
                f"{launch}: {name!r} is of another region than {launch.own!r}; a task reads one of those if it is"
                " declared Foreign"
            )
        field = partition.fields[name]
        if (field.private, field.rows) != (privilege.unshared, privilege.in_rows):
            _refuse_private(launch, name, privilege, field)
        if privilege.unshared and difference(launch.boxes, home.region.charts):
            raise BadInput(f"{launch} is launched over {launch.over}, where {name!r}, which is private, has no cells")
        if field.tile is not None:
            _check_tile(launch, name, field.tile)
        if privilege.writes and partition.fields[name].constant:
            raise BadInput(f"{launch} writes {name!r}, which is constant: declare the field without constant=True")
        if privilege.swept:
            _check_sweep(launch, name, home)
        elif privilege.reads:
            _check_reach(launch, name, privilege, home)
        _check_ghosts(launch, name, privilege, home)
        if privilege.reads and privilege.writes and not privilege.coloured:
            _check_race(launch, name, privilege.stencil, home)
    precisions = {}
    for name, privilege in launch.requirements:
        precision = np.dtype(partition.fields[name].dtype)
        if privilege.precision is None:
            precisions[name] = precision.name
            if launch.task.kernel is not None and precision.name not in COMPILED:
                raise BadInput(
                    f"{launch}: {name!r} is {precision.name}, but a kernel takes {', '.join(COMPILED)}: declare the"
                    " field as one of these, or the task without a kernel"
                )
        elif privilege.precision == "any":
            if precision.name not in ("float32", "float64"):
                raise BadInput(f"{launch}: {name!r} is {precision.name}, but the task takes it as float32 or float64")
        elif precision != np.dtype(privilege.precision):
            raise BadInput(
                f"{launch}: {name!r} is {precision.name}, but the task takes it as {np.dtype(privilege.precision).name}"
            )
        if (values := partition.fields[name].values) != privilege.values:
            taken = f"the task takes {privilege.values}: declare it {'Read' if privilege.reads else 'Write'} * {values}"
            raise BadInput(f"{launch}: {name!r} has {values} values per cell, but {taken}")
    if launch.task.kernel is not None and len(set(precisions.values())) > 1:
        listed = ", ".join(f"{name} is {precision}" for name, precision in precisions.items())
        remedy = "a kernel text is compiled for one precision: declare these fields with the same dtype"
        raise BadInput(f"{launch}: {listed}; {remedy}")


def _refuse_private(launch: Launch, name: str, privilege: Privilege, field: Field) -> None:
    if privilege.unshared and not field.private:
        raise BadInput(f"{launch} takes {name!r} as a private field: declare the field with private=True")
    word = "Write" if not privilege.reads else "ReadWrite" if privilege.writes else "Read"
    kind, word = ("private, in rows", f"{word}.private.rows") if field.rows else ("private", f"{word}.private")
    raise BadInput(f"{launch} uses {name!r}, which is {kind}: declare it {word}, and read no neighbours")


def _check_tile(launch: Launch, name: str, tile: Triple) -> None:
    """Only kernels access a field that is stored by tiles, and its sweeps have the same tiles."""
    if launch.task.kernel is None:
        raise BadInput(f"{launch} uses {name!r}, which is stored by tiles: only kernels read and write it")
    if launch.swept is not None and launch.swept[2].tile != tile:
        raise BadInput(
            f"{launch} goes through tiles of {launch.swept[2].tile or 'whole charts'}, and {name!r} is stored by tiles"
            f" of {tile}: declare the field with the same tile, or with none"
        )


def _check_memory(launch: Launch, name: str, privilege: Privilege, partition: Partition) -> None:
    """Each block has memory for the cells of a foreign field that it reads."""
    way, home, own = reading(name, privilege, launch, partition), partition.homes[name], place(launch, partition)
    for piece in range(len(own.parts)):
        memory = home.memory[own.beside_piece(piece, home)]
        for box in (box for cells in shares(launch, partition, piece) for box in way.around(cells)):
            if box not in memory:
                raise BadInput(
                    f"{launch} reads {name!r} in {box} on block {own.block_of[piece]}, which has memory for {memory}:"
                    " let the field's partition reach there"
                )


def _check_reach(launch: Launch, name: str, privilege: Privilege, partition: Partition) -> None:
    region, stencil = partition.region, privilege.stencil
    if stencil.width >= ALL:
        raise BadInput(
            f"{launch} reads {name!r} along whole lines; only fields declared Foreign can be read in this way"
        )
    if stencil.width > region.ghost:
        raise BadInput(
            f"{launch} reads {name!r} {stencil.width} cells away; the region has {region.ghost} ghost layers: give it"
            f" ghost={stencil.width}"
        )
    for axis, reach in enumerate(stencil.reach):
        narrowest, blocks = partition.widths[axis], partition.shape[axis]
        if blocks > 1 and partition.pieces is None and axis not in partition.whole and reach > narrowest:
            raise BadInput(
                f"{launch} reads {name!r} {reach} cells away along {'xyz'[axis]}, beyond the next block: the narrowest"
                f" of {blocks} blocks there is {narrowest} wide; use fewer blocks along {'xyz'[axis]} or more cells"
            )
    for box in (box for cells in launch.boxes for box in stencil.around(cells)):
        inside = any(box in chart.grow(region.ghost) for chart in region.charts)
        if not inside if region.atlas is not None else partition.clip(box) != box:
            raise BadInput(
                f"{launch} is launched over {launch.over} and reads {name!r} in {box}, beyond the region's bounds"
                f" {region.bounds}: launch it over fewer cells"
            )


def _check_sweep(launch: Launch, name: str, partition: Partition) -> None:
    """A sweep is over cells of charts, which are cut between its tiles only."""
    region = partition.region
    _, direction, sweep = launch.swept or ("", "up", Sweep())
    if difference(launch.boxes, region.charts):
        raise BadInput(f"{launch} is launched over {launch.over}, with boundary layers: a sweep is over region.charts")
    if sweep.second(direction) and not region.ghost:
        raise BadInput(f"{launch} reads {name!r} in tiles of other blocks; the region has no ghost layers: ghost=1")
    for piece in partition.parts if sweep.within == "chart" else ():
        chart = sweep.around(region, piece)
        if sweep.tile is None and piece != chart:
            raise BadInput(
                f"{launch} goes through whole charts, of which {chart} is cut: {piece} is a piece of it. Do not cut it,"
                ' or use a sweep with tiles, sweeps("tiles", ...)'
            )
        for axis, (low, high, size) in enumerate(zip(piece.lo, piece.hi, sweep.tile or chart.shape, strict=True)):
            cuts = [cut for cut in (low, high) if cut != chart.hi[axis] and (cut - chart.lo[axis]) % size]
            if cuts:
                raise BadInput(
                    f"{launch} has tiles of {size} cells along {'xyz'[axis]}, counted from {chart.lo[axis]}, and the"
                    f" cut at {cuts[0]} goes through one: cut at multiples, Partition(..., multiple={sweep.tile})"
                )


def _check_ghosts(launch: Launch, name: str, privilege: Privilege, partition: Partition) -> None:
    """Each block has memory for the cells that it reads to compute ghost cells itself."""
    for piece in range(len(partition.parts) if launch.ghosts else 0):
        mine = common(launch.boxes, partition.computed(piece, launch.ghosts))
        for box in (box for cells in mine for box in privilege.stencil.around(cells)):
            if box not in partition.memory[piece]:
                raise BadInput(
                    f"{launch} on {launch.ghosts} layers of ghost cells reads {name!r} in {box} on block"
                    f" {partition.block_of[piece]}, which has memory for {partition.memory[piece]}: let the partition"
                    " reach there"
                )


def _check_race(launch: Launch, name: str, stencil: Stencil, partition: Partition) -> None:
    """Point tasks of one launch run concurrently: none may read a cell that another task writes."""
    boxes = [zip(first, last, strict=True) for first, last in stencil.offsets]
    offsets = {triple(at) for box in boxes for at in product(*(range(a, b + 1) for a, b in box))}
    for offset in offsets - {(0, 0, 0)}:
        images = [image for box in launch.boxes for image, _ in partition.region.images(box.shift(offset))]
        if any(image.meets(box) for image in images for box in launch.boxes):
            raise BadInput(
                f"{launch} reads {name!r} at the offset {offset}, where it also writes it: use a second field"
            )
