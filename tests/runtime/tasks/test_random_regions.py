"""Random programs on several regions: any order that the graph allows has the bits of one processor with one memory."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region, triple
from taskflow.runtime.tasks import (
    Coloured,
    Foreign,
    Read,
    ReadWrite,
    Reduce,
    Scalar,
    Write,
    analyse,
    box,
    lines,
    serial,
    task,
)

from .running import orders

OFFSETS = ((0, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 1), (-1, -1, -1), (1, 1, 1))
FIELDS = (("a", "b"), ("c", "d"), ("e", "g"))


@dataclass(frozen=True)
class Ratio:
    """Where a cell of one region lies in another one."""

    own: tuple
    there: Region

    def places(self, cells, axis, offset):
        """The cells of the other region beside those that correspond, or the last ones that there are."""
        result = np.arange(cells.lo[axis], cells.hi[axis]) * self.own[axis] // self.there.scale[axis] + offset
        bounds = self.there.bounds
        return result if self.there.periodic[axis] else np.clip(result, bounds.lo[axis], bounds.hi[axis] - 1)


@task
def around(f: Foreign[box(1)], here: Foreign, q: ReadWrite, *, ratio: Ratio):
    """q = a mean with cells of another region; `here`, a field of the same one, says which cells these are"""
    total = 0.5 * q[...]
    for weight, offset in enumerate(OFFSETS, 1):
        x, y, z = (ratio.places(here.box, axis, offset[axis]) - f.box.lo[axis] for axis in range(3))
        total = total + weight / 40 * f[...][np.ix_(z, y, x)]
    q[...] = total


@task
def along(f: Foreign[lines("z")], here: Foreign, q: Write, *, ratio: Ratio):
    """q = a weighted sum along z"""
    x, y = (ratio.places(here.box, axis, 0) - f.box.lo[axis] for axis in range(2))
    total = 0.0
    for k in range(f.box.lo[2], f.box.hi[2]):
        total = 0.5 * total + f[...][k - f.box.lo[2]][np.ix_(y, x)]
    q[...] = total


@task
def smooth(here: Read[1], q: Write):
    """q = a mean of the neighbours"""
    q[...] = (here[1, 0, 0] + 2 * here[-1, 0, 0] + here[0, 1, 0] + here[0, -1, 0] + here[0, 0, 1] + here[0, 0, -1]) / 7


@task
def colour(here: Foreign, q: Coloured[1], *, odd: int):
    """q of one colour = a mean of the other"""
    i, j, k = (np.arange(low, high) for low, high in zip(here.box.lo, here.box.hi, strict=True))
    mine = (i + j[:, None] + k[:, None, None]) % 2 == odd
    mean = (q[1, 0, 0] + 2 * q[-1, 0, 0] + q[0, 1, 0] + q[0, -1, 0] + q[0, 0, 1] + q[0, 0, -1]) / 7
    q[...] = np.where(mine, mean, q[...])


@task
def count(here: Foreign, q: Read, *, cells: Reduce["sum"]):
    """The cells: a sum without rounding"""
    cells.fold(np.ones_like(q[...]))


@task
def scale(here: Foreign, q: ReadWrite, *, cells: Scalar):
    """q / cells"""
    q[...] = q[...] / cells


def partition(draw):
    """A region on blocks; a coarse one, on the same or replicated; and one that is cut along an axis of its own. Where
    blocks are wide enough, layers of ghost cells may be computed.
    """
    blocks = draw(st.sampled_from([(1, 1, 2), (1, 1, 3), (2, 1, 1), (2, 2, 1), (1, 2, 2)]))
    count = int(np.prod(blocks))
    cells = tuple(draw(st.integers(n, 7)) for n in blocks)
    periodic = tuple(draw(st.booleans()) for _ in range(3))
    scale = tuple(draw(st.integers(1, 3)) for _ in range(3))
    sizes = (cells, tuple(-(-n // s) for n, s in zip(cells, scale, strict=True)), cells)
    fine, coarse, other = (
        Region(Box.of(size), FieldSpace(map(Field, names)), periodic, scale=item)
        for size, names, item in zip(sizes, FIELDS, ((1, 1, 1), scale, (1, 1, 1)), strict=True)
    )
    reach = [(item.cells.grow(3),) * count for item in (fine, coarse, other)]
    at = tuple(tuple(-(-cut // s) for cut in cuts) for cuts, s in zip(Partition(fine, blocks).cuts, scale, strict=True))
    fits = all(len(set(cuts)) == len(cuts) for cuts in at) and draw(st.booleans())
    same = Partition(coarse, blocks, at, reach=reach[1]) if fits else Partition(coarse, blocks, None, True, reach[1])
    axis = draw(st.integers(0, 2))
    cut = tuple(count if n == axis else 1 for n in range(3))
    apart = Partition(other, cut, replicated=cells[axis] < count, reach=reach[2])
    result = [Partition(fine, blocks, reach=reach[0]), same, apart]
    first, *others = (replace(item, redundant=draw(st.integers(0, min(2, item.narrowest)))) for item in result)
    return replace(first, beside=tuple(others))


def launch(draw, where):
    """A task over some cells of a region."""
    q = draw(st.sampled_from(list(where.fields)))
    region = where.homes[q].region
    here = next(name for name in region.fields if name != q)
    lo = triple(draw(st.integers(0, n - 1)) for n in region.cells.shape)
    hi = triple(draw(st.integers(low + 1, n)) for low, n in zip(lo, region.cells.shape, strict=True))
    over = draw(st.sampled_from([region.cells, Box(lo, hi)]))
    f = draw(st.sampled_from([name for name in where.fields if name != q]))
    ratio = Ratio(region.scale, where.homes[f].region)
    result = draw(
        st.sampled_from(
            [
                around(f, here, q, over=over, ratio=ratio),
                along(f, here, q, over=over, ratio=ratio),
                smooth(here, q, over=over),
                colour(here, q, over=over, odd=0),
                colour(here, q, over=over, odd=1),
                count(here, q, over=over, cells="cells"),
                scale(here, q, over=over, cells="cells"),
            ]
        )
    )
    return result if result.task.reductions or result.coloured else result.with_ghosts(draw(st.integers(0, 2)))


@st.composite
def runs(draw):
    """A partition, a program on it, and how it is analysed."""
    where = partition(draw)
    launches = [launch(draw, where) for _ in range(draw(st.integers(1, 6)))]
    return where, launches, {"split": draw(st.booleans()), "poisoned": draw(st.booleans())}


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples * 2)
@given(runs(), st.integers(0, 1000), st.booleans())
def test_any_order_of_the_graph_has_the_bits_of_the_program(run, seed, direct):
    where, launches, how = run
    regions = [item.region for item in (where, *where.beside)]
    rng = np.random.default_rng(seed)
    memory = {n: rng.random(r.cells.grow(1).shape[::-1]) for r in regions for n in r.fields}
    memories, scalars = serial.scatter(where, memory), [{"cells": 3.0} for _ in range(len(where))]
    expected, numbers = memory, {"cells": 3.0}
    valid = {}
    for _ in range(2):
        result = analyse(launches, where, following=launches, valid=valid, **how)
        serial.run_graph(result.graph, result.graph.order(orders(seed)), where, memories, scalars, direct=direct)
        serial.run_program(regions[0], expected, launches, numbers, regions[1:])
        valid = result.valid
    assert scalars == [numbers] * len(where)
    for share in memories:
        for (name, piece), array in share.items():
            home = where.homes[name]
            owned, first = home.owned[piece], home.region.cells.grow(1).lo
            present = expected[name][owned.slices(first)]
            np.testing.assert_array_equal(array[owned.slices(home.memory[piece].lo)], present)
