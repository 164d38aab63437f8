"""What waits for what: exact edges of small programs, and what may overlap."""

from itertools import product
from time import process_time

import pytest

from taskflow.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.tasks import (
    AllReduce,
    Compute,
    Read,
    ReadWrite,
    Receive,
    Reduce,
    Refresh,
    Scalar,
    Send,
    Write,
    analyse,
    offsets,
    task,
)

from .running import check_versions, orders
from .spy import ancestors, conflicts, unordered

CELLS = Box.of((4, 4, 4))


@task
def jacobi(p: Read[1], rhs: Read, q: Write):
    """A 7-point stencil of p."""


@task
def duplicate(p: Read, q: Write):
    """q = p"""


@task
def fill(p: Write):
    """Writes only."""


@task
def scale(p: ReadWrite, *, s: Scalar):
    """p *= s"""


@task
def measure(p: Read, *, s: Reduce[max]):
    """s = max p"""


@task
def adjust(p: ReadWrite, *, s: Reduce[max]):
    """Writes and reduces."""


@task
def above(p: Read[offsets(z=(0, 1))], q: Write):
    """Reads one side."""


def partition(shape=(1, 1, 1), cells=(4, 4, 4), periodic=(False, False, False), ghost=1):
    names = ("p", "q", "r", "rhs")
    return Partition(Region(Box.of(cells), FieldSpace([Field(name) for name in names]), periodic, ghost), shape)


def waits(*launches):
    """What each launch waits for, on one block."""
    graph = analyse(launches, partition()).graph
    assert all(isinstance(node, Compute) for node in graph.nodes)
    return graph.waits


# ---------------------------------------------------------------------------------------------------------- one block


def test_read_after_write():
    assert waits(fill("p", over=CELLS), duplicate("p", "q", over=CELLS)) == [set(), {0}]


def test_write_after_read():
    assert waits(duplicate("p", "q", over=CELLS), fill("p", over=CELLS)) == [set(), {0}]


def test_write_after_write():
    assert waits(fill("p", over=CELLS), fill("p", over=CELLS)) == [set(), {0}]


def test_reads_do_not_wait_for_reads():
    assert waits(duplicate("p", "q", over=CELLS), duplicate("p", "r", over=CELLS)) == [set(), set()]


def test_a_write_waits_for_all_readers():
    found = waits(
        duplicate("p", "q", over=CELLS), duplicate("p", "r", over=CELLS), fill("p", over=CELLS), fill("p", over=CELLS)
    )
    assert found == [set(), set(), {0, 1}, {2}]


def test_other_cells_and_other_fields_are_independent():
    low, high = Box((0, 0, 0), (4, 4, 2)), Box((0, 0, 2), (4, 4, 4))
    assert waits(fill("p", over=low), fill("p", over=high), fill("q", over=low)) == [set(), set(), set()]


def test_a_neighbour_counts_where_the_stencil_reaches_it():
    below, layer, beside = Box((0, 0, 0), (4, 4, 2)), Box((0, 0, 2), (4, 4, 3)), Box((0, 0, 3), (4, 4, 4))
    found = waits(
        fill("p", over=layer), above("p", "q", over=below), fill("p", over=beside), above("p", "r", over=below)
    )
    assert found == [set(), {0}, set(), {0}]


def test_edges_that_others_imply_are_left_out():
    found = waits(
        fill("p", over=CELLS), duplicate("p", "q", over=CELLS), jacobi("p", "q", "r", over=CELLS), fill("p", over=CELLS)
    )
    assert found == [set(), {0}, {1}, {2}]


def test_a_write_to_some_cells_keeps_earlier_writes_of_the_others():
    low = Box((0, 0, 0), (4, 4, 1))
    found = waits(
        fill("p", over=CELLS), fill("p", over=low), duplicate("p", "q", over=low), duplicate("p", "r", over=CELLS)
    )
    assert found == [set(), {0}, {1}, {1}]
    high = Box((0, 0, 1), (4, 4, 4))
    found = waits(fill("p", over=CELLS), fill("p", over=low), duplicate("p", "q", over=high))
    assert found == [set(), {0}, {0}]


def test_scalars_wait_for_their_reduction():
    launches = [
        scale("p", over=CELLS, s="s"),
        measure("p", over=CELLS, s="s"),
        scale("q", over=CELLS, s="s"),
        measure("r", over=CELLS, s="s"),
    ]
    graph = analyse(launches, partition()).graph
    kinds = [type(node) for node in graph.nodes]
    assert kinds == [Compute, Compute, AllReduce, Compute, Compute, AllReduce]
    assert graph.waits == [set(), {0}, {1}, {2}, {3}, {4}]


def test_another_scalar_is_independent():
    graph = analyse([measure("p", over=CELLS, s="s"), scale("q", over=CELLS, s="t")], partition()).graph
    assert graph.waits == [set(), {0}, set()]


def test_all_reduces_keep_their_order():
    """Blocks that fold in different orders would wait for each other in a circle."""
    graph = analyse([measure("p", over=CELLS, s="s"), measure("q", over=CELLS, s="t")], partition()).graph
    assert graph.waits == [set(), {0}, set(), {1, 2}]


# ----------------------------------------------------------------------------------------------------- across blocks


def of(graph, kind, block=None):
    return [
        n
        for n, node in enumerate(graph.nodes)
        if isinstance(node, kind) and node.block == (node.block if block is None else block)
    ]


def test_a_receive_waits_for_its_send():
    graph = analyse([jacobi("p", "rhs", "q", over=CELLS)], partition((1, 1, 2))).graph
    sends = {(graph.nodes[n].message.source, graph.nodes[n].message.number): n for n in of(graph, Send)}
    for n in of(graph, Receive):
        message = graph.nodes[n].message
        assert graph.waits[n] == {sends[message.source, message.number]}


def test_everybody_waits_for_all_shares_of_a_reduction():
    graph = analyse([measure("p", over=CELLS, s="s")], partition((2, 2, 1))).graph
    for n in of(graph, AllReduce):
        assert graph.waits[n] == set(of(graph, Compute))


def test_a_block_without_cells_of_a_launch_folds_all_the_same():
    graph = analyse([measure("p", over=Box((0, 0, 0), (4, 4, 1)), s="s")], partition((1, 1, 2))).graph
    (compute,) = of(graph, Compute)
    assert len(of(graph, AllReduce)) == 2
    assert all(graph.waits[n] == {compute} for n in of(graph, AllReduce))


def test_one_launch_object_may_occur_twice():
    part = partition((1, 1, 2))
    largest = measure("p", over=CELLS, s="s")
    graph = analyse([largest, fill("p", over=CELLS), largest], part).graph
    assert len(of(graph, AllReduce)) == 4
    assert graph.order(lambda node: 0)
    assert not unordered(graph, conflicts(graph, part))
    first, second = dict.fromkeys(graph.nodes[n].launch for n in of(graph, AllReduce))
    assert first is largest
    assert second.requirements == largest.requirements


# ------------------------------------------------------------------------------------------------------ edge and middle


def parts(graph, block):
    return [(node.part, node.box) for node in graph.nodes if isinstance(node, Compute) and node.block == block]


def sweeps(count):
    fields = ["p", "q"] * (count + 1)
    return [jacobi(fields[n], "rhs", fields[n + 1], over=CELLS) for n in range(count)]


def test_what_travels_is_computed_first():
    graph = analyse(sweeps(2), partition((1, 1, 2))).graph
    low, high = Box((0, 0, 0), (4, 4, 2)), Box((0, 0, 2), (4, 4, 4))
    assert parts(graph, 0) == [
        ("edge", Box((0, 0, 1), (4, 4, 2))),
        ("middle", Box((0, 0, 0), (4, 4, 1))),
        ("whole", low),
    ]
    assert parts(graph, 1) == [
        ("edge", Box((0, 0, 2), (4, 4, 3))),
        ("middle", Box((0, 0, 3), (4, 4, 4))),
        ("whole", high),
    ]


def test_a_transfer_does_not_wait_for_the_middle():
    graph = analyse(sweeps(2), partition((1, 1, 2)), blocks=[0]).graph
    names = [str(node) for node in graph.nodes]
    edge, middle = names.index("jacobi(p, rhs, q) edge"), names.index("jacobi(p, rhs, q) middle")
    send, receive = names.index("send q to 1"), names.index("receive q from 1")
    assert graph.waits[send] == {edge}
    assert graph.waits[receive] == set()
    before = ancestors(graph)
    assert not before[send] >> middle & 1
    assert not before[middle] >> send & 1
    assert before[names.index("jacobi(q, rhs, p) whole")] >> receive & 1


def test_the_edge_of_a_sweep_waits_for_the_middle_of_the_one_before():
    """What overlap written by hand gets wrong: the edge reads a layer of the middle, and overwrites what the middle
    still reads.
    """
    graph = analyse(sweeps(3), partition((1, 1, 2)), blocks=[0]).graph
    names = [str(node) for node in graph.nodes]
    edge, middle = names.index("jacobi(q, rhs, p) edge"), names.index("jacobi(p, rhs, q) middle")
    assert middle in graph.waits[edge]


def test_without_split_launches_stay_whole():
    graph = analyse(sweeps(3), partition((1, 1, 2)), split=False).graph
    assert {part for part, _ in parts(graph, 0)} == {"whole"}


def test_a_block_without_neighbours_has_no_edge():
    graph = analyse(sweeps(3), partition(periodic=(True, True, True))).graph
    assert {part for part, _ in parts(graph, 0)} == {"whole"}
    assert len(of(graph, Refresh)) == 3


def test_a_reduction_is_computed_in_one_piece():
    """The order in which its values are folded does not depend on the split."""
    graph = analyse([adjust("p", over=CELLS, s="s"), jacobi("p", "rhs", "q", over=CELLS)], partition((1, 1, 2))).graph
    assert {part for part, _ in parts(graph, 0)} == {"whole"}


def test_only_the_last_writer_of_what_travels_is_cut():
    launches = [fill("p", over=CELLS), fill("p", over=CELLS), fill("q", over=CELLS), jacobi("p", "q", "r", over=CELLS)]
    graph = analyse(launches, partition((1, 1, 2))).graph
    assert [part for part, _ in parts(graph, 0)] == ["whole", "edge", "middle", "whole", "whole"]


def test_both_writers_are_cut_where_each_wrote_some_of_what_travels():
    west = Box((0, 0, 0), (2, 4, 4))
    launches = [fill("p", over=CELLS), fill("p", over=west), jacobi("p", "rhs", "q", over=CELLS)]
    found = parts(analyse(launches, partition((1, 1, 2))).graph, 0)
    assert [part for part, _ in found] == ["edge", "middle", "edge", "middle", "whole"]


def test_the_middle_keeps_what_it_can():
    """Of the ways to cut a layer off, the one that leaves most: a cut across one cell leaves nothing."""
    launches = [jacobi("p", "rhs", "q", over=Box.of((8, 1, 8))), jacobi("q", "rhs", "p", over=Box.of((8, 1, 8)))]
    found = parts(analyse(launches, partition((1, 1, 2), (8, 1, 8), (False, True, False))).graph, 0)
    assert found[:2] == [("edge", Box((0, 0, 3), (8, 1, 4))), ("middle", Box((0, 0, 0), (8, 1, 3)))]


def test_edges_and_middle_are_the_launch_and_all_that_travels_is_in_the_edges():
    part = partition((2, 2, 2), (8, 8, 8), (True, False, True), 2)
    over = part.region.cells
    launches = [jacobi("p", "rhs", "q", over=over), jacobi("q", "rhs", "p", over=over)]
    graph = analyse(launches, part, blocks=[3]).graph
    first = [node for node in graph.of(Compute) if node.launch is launches[0]]
    assert sum(node.box.volume for node in first) == part.blocks[3].volume
    assert not [1 for a, b in product(first, first) if a is not b and a.box & b.box]
    (middle,) = (node.box for node in first if node.part == "middle")
    assert middle == Box((5, 5, 1), (7, 8, 3))
    travelling = [copy.source_box for node in graph.of(Send) for name, copy in node.message.copies if name == "q"]
    assert len(travelling) == 5
    assert not any(box & middle for box in travelling)


# ------------------------------------------------------------------------------------------------------- what it costs


def long_program(sweeps, cells):
    fields = ["p", "q"] * (sweeps + 1)
    bottom = cells.layer(2, 0, -1, 0)
    for n in range(sweeps):
        yield jacobi(fields[n], "rhs", fields[n + 1], over=cells)
        yield above(fields[n + 1], "r", over=bottom)
        yield duplicate("r", fields[n + 1], over=bottom)


@pytest.mark.parametrize("blocks", [[0], None])
def test_edges_grow_with_the_program_and_not_with_its_square(blocks):
    part = partition((2, 2, 2), (8, 8, 8), (False, True, False))
    edges = {}
    for sweeps in (10, 20, 40):
        graph = analyse(list(long_program(sweeps, part.region.cells)), part, blocks=blocks).graph
        edges[sweeps] = sum(map(len, graph.waits))
        assert max(map(len, graph.waits)) < 30
    assert edges[40] - edges[20] == 2 * (edges[20] - edges[10])


def test_a_block_analyses_three_hundred_launches_in_a_moment():
    """Measured: 0.2 s. The limit is far above, and far below what a quadratic cost would need."""
    part = partition((2, 2, 2), (64, 64, 64), (False, True, False))
    launches = list(long_program(100, part.region.cells))
    begin = process_time()
    analyse(launches, part, following=launches, blocks=[0])
    assert process_time() - begin < 5.0


def test_the_long_program_is_right():
    part = partition((2, 1, 2), (4, 3, 5), (False, True, False))
    launches = list(long_program(4, part.region.cells))
    found = analyse(launches, part)
    assert not unordered(found.graph, conflicts(found.graph, part))
    for seed in range(5):
        check_versions(part, [launches], [found], [orders(seed)])
