"""The oracle against plain NumPy, and the ways in and out of blocks."""

import numpy as np
import pytest
from hypothesis import given

from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Read, Reduce, Write, analyse, box, serial, task

from ..regions.cells import cells
from .palette import partitions
from .running import random_memory


@task
def corners(p: Read[box(1)], q: Write):
    q[...] = p[1, 1, 1] - 2.0 * p[-1, 0, 1] + 3.0 * p[0, -1, 0]


@task
def total(p: Read, *, s: Reduce[sum]):
    s.fold(p[...])


def region(shape, periodic, ghost=1):
    return Region(Box.of(shape), FieldSpace([Field("p"), Field("q", "f4")]), periodic, ghost)


def inside(where, array):
    return array[where.cells.slices(where.cells.grow(where.ghost).lo)]


@pytest.mark.parametrize("shape", [(5, 4, 3), (1, 4, 2), (1, 1, 1)])
@pytest.mark.parametrize("ghost", [1, 2])
def test_periodic_means_np_roll(shape, ghost):
    where = region(shape, (True, True, True), ghost)
    memory = random_memory(where)
    p = inside(where, memory["p"]).copy()
    serial.run_program(where, memory, [corners("p", "q", over=where.cells)], {})
    expected = np.roll(p, (-1, -1, -1), (0, 1, 2)) - 2.0 * np.roll(p, (-1, 1), (0, 2)) + 3.0 * np.roll(p, 1, 1)
    assert np.array_equal(inside(where, memory["q"]), expected)


def test_beyond_walls_are_boundary_layers():
    where = region((4, 4, 4), (False, False, False))
    memory = random_memory(where)
    p = memory["p"].copy()
    serial.run_program(where, memory, [corners("p", "q", over=where.cells)], {})
    expected = p[2:, 2:, 2:] - 2.0 * p[2:, 1:-1, :-2] + 3.0 * p[1:-1, :-2, 1:-1]
    assert np.array_equal(inside(where, memory["q"]), expected)
    assert np.array_equal(memory["p"], p)


def test_memory_of_zeros():
    memory = serial.allocate(region((4, 3, 2), (True, False, True), 2))
    assert {name: (array.dtype.str[1:], array.shape) for name, array in memory.items()} == {
        "p": ("f8", (6, 7, 8)),
        "q": ("f4", (6, 7, 8)),
    }
    assert not any(array.any() for array in memory.values())


@given(partitions())
def test_gather_undoes_scatter(partition):
    where = partition.region
    memory = random_memory(where)
    gathered = serial.gather(partition, serial.scatter(partition, memory))
    origin = where.cells.grow(where.ghost).lo
    inside = np.zeros(memory["a"].shape, bool)
    inside[where.bounds.slices(origin)] = True
    assert np.array_equal(gathered["a"][inside], memory["a"][inside])
    assert not gathered["a"][~inside].any()
    assert inside.sum() == len(cells(where.bounds))


def test_a_sum_is_folded_in_the_order_of_the_blocks_whatever_the_order_of_the_graph():
    where = region((4, 4, 4), (False, False, False))
    partition = Partition(where, (2, 2, 1))
    launches = [total("p", over=where.cells, s="s")]
    memory = serial.allocate(where)
    shares = [1e16, 1.0, -1e16, 3.0]  # 3 in this order, 4 in the other one
    for block, share in zip(partition.blocks, shares, strict=True):
        memory["p"][Box(block.lo, (block.lo[0] + 1, block.lo[1] + 1, block.lo[2] + 1)).slices((-1, -1, -1))] = share
    graph = analyse(launches, partition).graph
    for key in (lambda node: node.block, lambda node: -node.block):
        scalars = [{} for _ in partition.blocks]
        serial.run_graph(graph, graph.order(key), partition, serial.scatter(partition, memory), scalars)
        assert scalars == [{"s": 3.0}] * 4
