"""What a node of the graph touches, box by box, from the declaration of its task alone: no code of the analysis."""

from __future__ import annotations

from collections.abc import Iterator

from taskflow.regions import Box, triple
from taskflow.tasks import AllReduce, Compute, Launch, Node, Refresh


def reads(launch: Launch, box: Box) -> Iterator[tuple[str, Box]]:
    """Fields and cells that a launch reads when it is done on the cells of `box`."""
    for name, privilege in zip(launch.fields, launch.task.fields.values(), strict=True):
        for first, last in privilege.stencil.offsets if privilege.reads and box else ():
            lo = triple(a + n for a, n in zip(box.lo, first, strict=True))
            yield name, Box(lo, triple(b + n for b, n in zip(box.hi, last, strict=True)))


def writes(launch: Launch, box: Box) -> Iterator[tuple[str, Box]]:
    """Fields and cells that it writes."""
    for name, privilege in zip(launch.fields, launch.task.fields.values(), strict=True):
        if privilege.writes and box:
            yield name, box


def boxes(node: Node) -> Iterator[Box]:
    """Every box that a node touches."""
    if isinstance(node, Compute):
        yield from (box for _, box in (*reads(node.launch, node.box), *writes(node.launch, node.box)))
        yield node.launch.over
    elif not isinstance(node, AllReduce):
        for _, copy in node.copies if isinstance(node, Refresh) else node.message.copies:
            yield copy.source_box
            yield copy.target_box
