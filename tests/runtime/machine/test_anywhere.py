"""Tasks that read a field anywhere in the cells of their block."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.proof import Hardware, prove
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region, region
from taskflow.runtime.tasks import Foreign, Read, ReadWrite, Write, anywhere, moved, task
from tests.runtime.machine.devices import DEVICES, opened

CELLS, POINTS = (5, 4, 6), 9
LOOK = """
TASK look(Range range, In i, In j, In k, Foreign q, Out total) {
  for_cells(range, CELL(c) {
    const int x = int(i[c]), y = int(j[c]), z = int(k[c]);
    total[c] = at(q, x - 1, y - 1, z - 1) + 10 * at(q, x + 1, y + 1, z + 1);
  });
}
TASK grow(Range range, InOut q) { for_cells(range, CELL(c) { q[c] += 1; }); }
"""


@task(kernel=LOOK)
def look(i: Read, j: Read, k: Read, q: Foreign[anywhere(1)], total: Write):
    """total = q before cell (i, j, k) + 10 q behind it, along the diagonal"""


@task(kernel=LOOK)
def grow(q: ReadWrite):
    """q = q + 1"""


def cut(shape, ghost=1):
    """Cells in blocks, and beside them a row of points on each; and the program of a pass."""
    blocks = Partition(region(CELLS, ["q"], ghost=ghost, periodic="xyz"), shape)
    number, fields = len(blocks), FieldSpace(map(Field, ("i", "j", "k", "total")))
    ends = (0, POINTS), (0, 1), tuple(range(number + 1))
    rows = Partition(Region(Box.of((POINTS, 1, number)), fields, ghost=0), (1, 1, number), ends)

    def passes(f):
        yield grow(f.q, over=Box.of(CELLS))
        yield look(f.i, f.j, f.k, f.q, f.total, over=rows.region.cells)

    return Partition(blocks.region, shape, beside=(rows,)), passes


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2), (2, 2, 1)])
def test_points_read_what_is_around_them_wherever_they_are(blocks, device):
    partition, passes = cut(blocks)
    values = np.random.default_rng(1).integers(0, 1000, CELLS[::-1]).astype(float)

    def job(shard):
        mine = shard.cells
        places = np.random.default_rng(shard.block).integers(mine.lo, mine.hi, (POINTS, 3))
        shard.write({"q": values[mine.slices((0, 0, 0))]})
        shard.write({name: places[None, None, :, axis].astype(float) for axis, name in enumerate("ijk")})
        shard.run(passes)
        shard.run(passes)
        return places, shard.read("total").ravel()

    for places, result in run_threads(partition, job, opened(device, 1), Mapper("none")):
        x, y, z = places.T
        nx, ny, nz = CELLS
        before, behind = (values[(z + n) % nz, (y + n) % ny, (x + n) % nx] + 2 for n in (-1, 1))
        np.testing.assert_array_equal(result, before + 10 * behind)


def test_what_they_read_is_proved_and_counted():
    partition, passes = cut((1, 1, 2))
    proof = prove(partition, {passes: ()}, Mapper("none"), Hardware(False, None))
    assert not proof.faults
    assert proof.reads > 0
    launch = look("i", "j", "k", "q", "total", over=Box.of((POINTS, 1, 2)))
    assert moved(launch, partition) == 8 * (4 * 2 * POINTS + partition.region.count)


def test_it_is_refused_where_it_makes_no_sense():
    with pytest.raises(TypeError, match="only a Foreign field can be read anywhere in the block"):
        _ = Read[anywhere(1)]
    partition, passes = cut((1, 1, 2), ghost=0)
    with pytest.raises(BadInput, match="let the field's partition reach there"):
        run_threads(partition, lambda shard: shard.run(passes), cpu(1), Mapper("none"))
