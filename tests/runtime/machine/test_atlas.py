"""Kernels on turned charts: the bits of the same program in one memory, for any blocks, pieces, devices and overlap."""

import random
from itertools import chain

import numpy as np
import pytest

from taskflow.runtime.machine import Mapper
from taskflow.runtime.machine.device import cpu, gpu
from taskflow.runtime.machine.threads import run_threads
from taskflow.runtime.regions import ROTATIONS, Field, charted
from taskflow.runtime.tasks import Read, Reduce, Write, box, record, serial, star, task
from taskflow.runtime.tasks.program import Roles

from ..regions import joints
from ..regions.turned import cut, pieces, turned
from ..tasks import test_atlas as plain

AROUND = """
#include "cell.h"
TASK around(Range range, In p, Out q) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    real total = 3 * p[c];
    for (int n = 1; n < 3; ++n)
      total += n * (p[c + n * X] + p[c - n * X] + p[c + n * Y] + p[c - n * Y] + p[c + n * Z] + p[c - n * Z]);
    for (int m = -1; m < 2; m += 2)
      for (int n = -1; n < 2; n += 2) total += 5 * (p[c + m * X + n * Y] + p[c + m * X + n * Z] + p[c + m * Y + n * Z]);
    q[c] = total - 1009 * Index(total / 1009);
  });
}
TASK edge(Range range, Out p) { for_cells(range, CELL(c) { p[c] = 17; }); }
TASK largest(Range range, In p, Partial m) { reduce_cells(range, m, Max{}, CELL(c) { return p[c]; }); }
"""
@task(kernel=AROUND)
def around(p: Read[star(2) | box(1)], q: Write) -> None:
    plain.around.body(p, q)


@task(kernel=AROUND)
def edge(p: Write) -> None:
    plain.edge.body(p)


@task(kernel=AROUND)
def largest(p: Read, *, m: Reduce["max"]) -> None:
    m.fold(p[...])


def program(region):
    beyond = [box for chart in region.own for box in chart[1:]]

    def steps(f):
        yield edge(f.p, over=beyond)
        yield around(f.p, f.q, over=region.charts)
        yield largest(f.q, over=region.charts, m="m")
        f.swap("p", "q")

    return steps


def oracle(region, charts, times):
    memory, scalars, roles = serial.allocate(region), {}, Roles.of(("p", "q"))
    plain.started(region, memory, charts)
    for _ in range(times):
        launches, roles = record(program(region), roles)
        serial.run_program(region, memory, launches, scalars)
    return memory[roles["p"]], scalars


def on_blocks(region, partition, charts, times, device=None, mapper=None):
    """The cells of every piece after some passes, and the numbers."""
    begun, steps = serial.allocate(region), program(region)
    plain.started(region, begun, charts)
    first = region.cells.grow(region.ghost).lo

    def job(shard):
        parts = partition.pieces[shard.block]
        shard.write_parts(["p"], [(part, {"p": begun["p"][part.slices(first)]}) for part in parts])
        for _ in range(times):
            shard.run(steps)
        return [(part, shard.read("p", part)) for part in parts], dict(shard.scalars)

    return run_threads(partition, job, device or cpu(2), mapper or Mapper("none"), patience=30)


AT, DEBUG = ((4,), (3,), ()), Mapper("none", debug=True)


@pytest.fixture(scope="module")
def case():
    number = random.Random(5)
    rotations = [number.choice(ROTATIONS) for _ in cut(plain.CELLS, AT)]
    atlas, places = turned(plain.CELLS, AT, rotations, (True, False, False))
    region = charted(atlas, [Field("p"), Field("q")])
    charts = list(zip(cut(plain.CELLS, AT), places, strict=True))
    return region, charts, oracle(region, charts, 3)


@pytest.mark.fast("False-1-None-none", "True-2-cuts3-*", "True-3-cuts2-full", "False-3-cuts2-none")
@pytest.mark.parametrize("overlap", ["none", "comm", "full"])
@pytest.mark.parametrize(
    ("blocks", "cuts"), [(1, None), (2, None), (3, {1: (1, 2, 1)}), (2, {0: (2, 1, 1), 3: (1, 1, 2)})]
)
@pytest.mark.parametrize("debug", [False, True])
def test_kernels_on_charts_agree_with_the_oracle(case, blocks, cuts, overlap, debug):
    region, charts, (expected, scalars) = case
    first = region.cells.grow(region.ghost).lo
    results = on_blocks(region, pieces(region, blocks, cuts), charts, 3, mapper=Mapper(overlap, debug=debug))
    for cells, numbers in results:
        assert numbers["m"] == scalars["m"]
        for part, values in cells:
            np.testing.assert_array_equal(values, expected[part.slices(first)])


@pytest.mark.parametrize(
    ("blocks", "gpus", "debug"),  # debug fills with NaN from the host, which may not load kernels beside GPUs that wait
    [
        pytest.param(1, 1, True, marks=pytest.mark.gpu),
        pytest.param(1, 1, False, marks=pytest.mark.gpu),
        pytest.param(2, 1, True, marks=pytest.mark.gpu),
        pytest.param(2, 2, False, marks=pytest.mark.multigpu),
    ],
)
@pytest.mark.parametrize("overlap", ["none", "full"])
def test_gpus_agree_with_the_oracle(case, blocks, gpus, overlap, debug):
    region, charts, _ = case
    first, partition = region.cells.grow(region.ghost).lo, pieces(region, blocks, {1: (1, 2, 1)})
    devices = [gpu(n % gpus) for n in range(blocks)] if gpus > 1 else gpu(0)
    results = on_blocks(region, partition, charts, 5, device=devices, mapper=Mapper(overlap, debug=debug))
    expected, scalars = oracle(region, charts, 5)
    for cells, numbers in results:
        assert numbers["m"] == scalars["m"]
        for part, values in cells:
            np.testing.assert_array_equal(values, expected[part.slices(first)])


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_ghost_cell_that_nothing_feeds_is_seen(blocks):
    """Where three charts meet at an edge nobody has its ghost cells: poison comes into the cells beside it, alone."""
    region = charted(joints.around(3), [Field("p"), Field("q")])
    edges = [chart.layer(0, 0, -2, 0).layer(1, 0, -2, 0) for chart in region.charts]
    beyond = [box for own in region.own for box in own[1:] if not any(cells in box for cells in edges)]
    assert len(beyond) + 3 == sum(len(own[1:]) for own in region.own)

    def steps(f):
        yield edge(f.p, over=beyond)
        yield around(f.p, f.q, over=region.charts)

    def job(shard):
        parts = partition.pieces[shard.block]
        shard.write_parts(["p"], [(part, {"p": np.ones(part.shape[::-1])}) for part in parts])
        shard.run(steps)
        return [(part, shard.read("q", part)) for part in parts]

    partition = pieces(region, blocks)
    for part, values in chain.from_iterable(run_threads(partition, job, cpu(1), DEBUG, patience=30)):
        poisoned = np.zeros(values.shape, bool)
        for chart in region.charts:
            if beside := chart.layer(0, 0, 0, 1).layer(1, 0, 0, 1) & part:
                poisoned[beside.slices(part.lo)] = True
        np.testing.assert_array_equal(np.isnan(values), poisoned)


def test_charts_of_one_block_send_no_messages(case):
    partition = pieces(case[0], 1)
    assert partition.neighbours == ((),)
    assert len(partition.parts) == 4
