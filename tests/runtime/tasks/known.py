"""Tasks and partitions whose messages and edges are known by hand."""

from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Read, ReadWrite, Reduce, Scalar, Send, Write, offsets, star, task

CELLS = Box.of((4, 4, 4))


@task
def jacobi(p: Read[1], rhs: Read, q: Write):
    """A 7-point stencil of p."""


@task
def both(p: Read[1], q: Read[star(2)], r: Write):
    """A stencil of p and a wider one of q."""


@task
def above(p: Read[offsets(z=(0, 1))], q: Write):
    """Reads one side."""


@task
def duplicate(p: Read, q: Write):
    """q = p"""


@task
def fill(p: Write):
    """Writes only."""


@task
def implicit(p: ReadWrite[offsets(z=(0, 1))]):
    """Reads a neighbour of the field that it writes."""


@task
def scale(p: ReadWrite, *, s: Scalar):
    """p *= s"""


@task
def measure(p: Read, *, s: Reduce[max]):
    """s = max p"""


@task
def steepest(p: Read[1], *, s: Reduce[max]):
    """s = max of what a 7-point stencil makes of p"""


@task
def adjust(p: ReadWrite, *, s: Reduce[max]):
    """Writes and reduces."""


def partition(shape=(1, 1, 1), cells=(4, 4, 4), periodic=(False, False, False), ghost=1):
    """Blocks of a region with the fields p, q, r and rhs, by default with walls on all sides."""
    names = ("p", "q", "r", "rhs")
    return Partition(Region(Box.of(cells), FieldSpace([Field(name) for name in names]), periodic, ghost), shape)


def whole(part):
    """All cells of the region."""
    return part.region.cells


def moved(analysis):
    """Every message: its source and target, and the cells of each field in it, which are in one piece."""
    result = []
    for node in analysis.graph.of(Send):
        boxes = {name: copy.source_box for name, copy in node.message.copies}
        assert len(boxes) == len(node.message.copies)
        result.append((node.message.source, node.message.target, boxes))
    return result
