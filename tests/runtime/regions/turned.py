"""Atlases made of one box: cut into charts, each turned and put elsewhere, so that whatever is computed on them can be
compared with the same on the box.
"""

from itertools import pairwise, product

from taskflow.runtime.regions import Atlas, Box, Partition, Seam, Turn, divided, triple

GHOST = 2


def cut(cells, at):
    """The boxes into which a box is cut at some places along x, y and z."""
    ends = [[0, *places, size] for places, size in zip(at, cells, strict=True)]
    ranges = [list(pairwise(row)) for row in ends]
    return [Box((a, c, e), (b, d, f)) for (e, f), (c, d), (a, b) in product(*reversed(ranges))]


def turned(cells, at, rotations, periodic=(False, False, False), ghost=GHOST):
    """An atlas of the parts of a box that is cut at some places, and per chart the turn that takes cells of the box to
    those of the chart, which begins with one of these rotations.
    """
    return sewn(cut(cells, at), rotations, [n * p for n, p in zip(cells, periodic, strict=True)], ghost)


def sewn(parts, rotations, periods=(0, 0, 0), ghost=GHOST):
    """The same of any parts that lie beside each other: joined where they have faces in common."""
    places, start = [], 0
    for part, rotation in zip(parts, rotations, strict=True):
        image = Turn(rotation.axes)(part)
        place = (start - image.lo[0], 7 - image.lo[1], 3 - image.lo[2])
        places.append(Turn(rotation.axes, place))
        start += image.shape[0] + 2 * ghost + 1
    seams = []
    for n, part in enumerate(parts):
        for axis, end in product(range(3), range(2)):
            beyond = part.layer(axis, end, -ghost, 0)
            for m, other in enumerate(parts):
                for period in (-1, 0, 1) if periods[axis] else (0,):
                    shift = triple(period * periods[axis] * (a == axis) for a in range(3))
                    common = beyond & other.shift(shift)
                    if common and common.shape[axis] == ghost:
                        back = Turn(shift=triple(-s for s in shift))
                        seams.append(Seam(n, places[n](common), places[m] @ back @ places[n].inverse))
    return Atlas(tuple(place(part) for place, part in zip(places, parts, strict=True)), tuple(seams), ghost), places


def pieces(region, blocks, cuts=None):
    """A partition of a region on an atlas into so many blocks."""
    return Partition(region, (1, 1, blocks), pieces=divided(region.atlas, blocks, cuts))
