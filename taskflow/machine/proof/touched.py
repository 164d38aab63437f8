"""What a node of the graph touches, box by box, from the declaration of its task alone: no code of the analysis."""

from __future__ import annotations

from collections.abc import Iterator

from taskflow.regions import Box, Partition, Region, triple
from taskflow.tasks import AllReduce, Compute, Launch, Node, Refresh
from taskflow.tasks.stencil import ALL


def reads(launch: Launch, box: Box, partition: Partition) -> Iterator[tuple[str, Box]]:
    """Fields and cells that a launch reads when it is done on the cells of `box`."""
    declared = list(zip(launch.fields, launch.task.fields.values(), strict=True))
    own = next(partition.homes[name].region for name, privilege in declared if not privilege.foreign)
    for name, privilege in declared:
        there = partition.homes[name].region
        for first, last in privilege.stencil.offsets if privilege.reads and box else ():
            lo, hi = box.lo, box.hi
            if privilege.foreign:
                lo = triple(n * s // t for n, s, t in zip(lo, own.scale, there.scale, strict=True))
                hi = triple((n * s + t - 1) // t for n, s, t in zip(hi, own.scale, there.scale, strict=True))
                ends = zip(hi, box.hi, own.cells.hi, there.cells.hi, strict=True)
                hi = triple(most if at <= end and n > most else n for n, at, end, most in ends)
            lo = triple(a + n for a, n in zip(lo, first, strict=True))
            hi = triple(b + n for b, n in zip(hi, last, strict=True))
            yield name, _existing(Box(lo, hi), there) if privilege.foreign else Box(lo, hi)


def _existing(box: Box, region: Region) -> Box:
    """What there is of the cells that a foreign reader reads; all along an axis where it reads from end to end."""
    lo, hi = list(box.lo), list(box.hi)
    for axis, size in enumerate(region.cells.shape):
        if hi[axis] - lo[axis] > ALL:
            lo[axis], hi[axis] = region.cells.lo[axis], region.cells.lo[axis] + size
        elif not region.periodic[axis]:
            lo[axis], hi[axis] = max(lo[axis], region.bounds.lo[axis]), min(hi[axis], region.bounds.hi[axis])
    return Box(triple(lo), triple(hi))


def writes(launch: Launch, box: Box) -> Iterator[tuple[str, Box]]:
    """Fields and cells that it writes."""
    for name, privilege in zip(launch.fields, launch.task.fields.values(), strict=True):
        if privilege.writes and box:
            yield name, box


def boxes(node: Node) -> Iterator[Box]:
    """Every box that a node touches."""
    if isinstance(node, Compute):
        yield from (box for _, box in (*reads(node.launch, node.box, node.partition), *writes(node.launch, node.box)))
        yield node.launch.over
    elif not isinstance(node, AllReduce):
        for _, copy in node.copies if isinstance(node, Refresh) else node.message.copies:
            yield copy.source_box
            yield copy.target_box
