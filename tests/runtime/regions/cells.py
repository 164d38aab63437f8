"""Boxes as sets of cells, and boxes to try: the plain meaning that the algebra is compared with."""

from itertools import product

from hypothesis import strategies as st

from taskflow.runtime.regions import Box, Field, FieldSpace, Region

flags = st.tuples(st.booleans(), st.booleans(), st.booleans())


def cells(box):
    """Every cell of a box, as (x, y, z)."""
    return set(product(*(range(a, b) for a, b in zip(box.lo, box.hi, strict=True))))


def count(boxes):
    """The number of cells of all boxes, those in two boxes twice."""
    return sum(len(cells(box)) for box in boxes)


def together(boxes):
    """The cells in any of the boxes."""
    return set().union(*(cells(box) for box in boxes))


@st.composite
def boxes(draw, least=0, most=4, reach=3):
    """A box of `least` to `most` cells per direction, near the origin."""
    lo = draw(st.tuples(*[st.integers(-reach, reach)] * 3))
    shape = draw(st.tuples(*[st.integers(least, most)] * 3))
    return Box(lo, tuple(a + n for a, n in zip(lo, shape, strict=True)))


@st.composite
def regions(draw, most=5, ghosts=(1, 2), fields=("a",)):
    """A small region anywhere, with any combination of periodic directions."""
    return Region(
        draw(boxes(least=1, most=most)),
        FieldSpace([Field(name) for name in fields]),
        draw(flags),
        draw(st.sampled_from(ghosts)),
    )


def shapes(region, most=3):
    """Numbers of blocks per direction that fit a region."""
    return st.tuples(*(st.integers(1, min(most, cells)) for cells in region.cells.shape))
