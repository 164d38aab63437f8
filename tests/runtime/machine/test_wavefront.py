"""Slab by slab or launch by launch: the same bits, whatever fits into the cache."""

import numpy as np

from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.trace import wavefront
from taskflow.runtime.regions import Partition, region
from taskflow.runtime.tasks import Read, ReadWrite, Write, task

SUMS = """
TASK add(Range range, InOut q) {
  for_cells(range, CELL(c) { q[c] += 1; });
}

TASK climb(Range range, In q, Out sums) {
  STRIDES(range)
  Range bottom = range;
  bottom.hi[2] = range.lo[2] + 1;
  for_cells(bottom, CELL(c) {
    real sum = 0;
    for (int n = 0; n < range.hi[2] - range.lo[2]; ++n) sums[c + n * Z] = sum += q[c + n * Z];
  });
}
"""


@task(kernel=SUMS)
def add(q: ReadWrite) -> None:
    """q = q + 1"""


@task(kernel=SUMS, whole=True)
def climb(q: Read, sums: Write) -> None:
    """sums = q and all below it"""


def test_a_task_that_is_whole_is_not_done_slab_by_slab(monkeypatch):
    """Sums along z, between two tasks that could follow each other through the block."""
    monkeypatch.setattr(wavefront, "SLAB", 1)
    monkeypatch.setattr(wavefront, "LARGE", 1)
    where = Partition(region((8, 8, 32), ["q", "sums"], periodic="xyz"), (1, 1, 1))

    def program(f):
        yield add(f.q, over=where.region.cells)
        yield climb(f.q, f.sums, over=where.region.cells)
        yield add(f.sums, over=where.region.cells)

    def job(shard):
        shard.run(program)
        return shard.read("sums"), len(shard.traces[0].operations)

    plane = 10 * 10 * 8
    [(sums, operations)] = run_threads(where, job, cpu(1), Mapper("none", 12 * plane))
    np.testing.assert_array_equal(sums[:, 0, 0], 2.0 + np.arange(32))
    assert operations == 3
