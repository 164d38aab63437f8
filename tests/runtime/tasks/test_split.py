"""Launches whose results travel are cut into edge and middle, so that the middle overlaps with the transfer."""

from itertools import product

import pytest

from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Compute, Read, ReadWrite, Refresh, Send, Write, analyse, task
from taskflow.runtime.tasks.split import ROWS

from .known import CELLS, adjust, fill, jacobi, partition, steepest
from .spy import ancestors


@task
def pairs(p: Read[2], q: Write):
    """Two steps around a cell of p."""


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
    grant, claim = names.index("grant q to 1"), names.index("claim q of 1")
    assert graph.waits[send] == {claim, edge}
    assert graph.waits[grant] == set()
    assert graph.waits[receive] == {grant}
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


@pytest.mark.parametrize("split", [{0}, {1, 3}, [0, 1, 2, 3], range(2, 9), set(), (), True, False])
def test_only_the_launches_that_are_named_are_cut(split):
    """By their position in the program. The last one is whole in any case: nobody reads what it writes."""
    launches = sweeps(4)
    graph = analyse(launches, partition((2, 1, 2)), split=split).graph
    cut = {launches.index(node.launch) for node in graph.of(Compute) if node.part != "whole"}
    whole = {launches.index(node.launch) for node in graph.of(Compute) if node.part == "whole"}
    named = {n for n in range(4) if (split if isinstance(split, bool) else n in split)}
    assert cut == named - {3}
    assert whole == set(range(4)) - cut


def test_a_block_without_neighbours_has_no_edge():
    graph = analyse(sweeps(3), partition(periodic=(True, True, True))).graph
    assert {part for part, _ in parts(graph, 0)} == {"whole"}
    assert len(list(graph.of(Refresh))) == 3


def test_a_reduction_is_computed_in_one_piece():
    """The order in which its values are folded does not depend on the split."""
    graph = analyse([adjust("p", over=CELLS, s="s"), jacobi("p", "rhs", "q", over=CELLS)], partition((1, 1, 2))).graph
    assert parts(graph, 0)[0] == ("whole", Box((0, 0, 0), (4, 4, 2)))


def test_a_task_that_is_whole_is_computed_in_one_piece():
    @task(kernel="TASK everything(Range range, InOut p) {\n}\n", whole=True)
    def everything(p: ReadWrite):
        """Its cells depend on each other."""

    graph = analyse([everything("p", over=CELLS), jacobi("p", "rhs", "q", over=CELLS)], partition((1, 1, 2))).graph
    assert parts(graph, 0)[0] == ("whole", Box((0, 0, 0), (4, 4, 2)))


def test_where_what_travels_is_computed_in_one_piece_what_waits_for_it_is_cut():
    """The first launch that reads it, but for one that is whole, too; those behind it find it there."""
    launches = [adjust("p", over=CELLS, s="s"), *sweeps(2)]
    graph = analyse(launches, partition((1, 1, 2)), blocks=[0]).graph
    names = [str(node) for node in graph.nodes]
    edge, middle = (names.index(f"jacobi(p, rhs, q) {part}") for part in ("edge", "middle"))
    receive, before = names.index("receive p from 1"), ancestors(graph)
    assert [node.box for node in graph.nodes[edge : middle + 1]] == [
        Box((0, 0, 1), (4, 4, 2)),
        Box((0, 0, 0), (4, 4, 1)),
    ]
    assert before[edge] >> receive & 1
    assert not before[middle] >> receive & 1


def test_what_arrives_before_all_launches_is_waited_for_by_the_edge():
    result = parts(analyse(sweeps(1), partition((1, 1, 2))).graph, 0)
    assert result == [("edge", Box((0, 0, 1), (4, 4, 2))), ("middle", Box((0, 0, 0), (4, 4, 1)))]


def test_where_what_waits_first_reduces_nothing_is_cut():
    launches = [adjust("p", over=CELLS, s="s"), steepest("p", over=CELLS, s="t"), jacobi("p", "rhs", "q", over=CELLS)]
    assert {part for part, _ in parts(analyse(launches, partition((1, 1, 2))).graph, 0)} == {"whole"}


def test_only_the_last_writer_of_what_travels_is_cut():
    launches = [fill("p", over=CELLS), fill("p", over=CELLS), fill("q", over=CELLS), jacobi("p", "q", "r", over=CELLS)]
    graph = analyse(launches, partition((1, 1, 2))).graph
    assert [part for part, _ in parts(graph, 0)] == ["whole", "edge", "middle", "whole", "whole"]


def test_both_writers_are_cut_where_each_wrote_some_of_what_travels():
    west = Box((0, 0, 0), (2, 4, 4))
    launches = [fill("p", over=CELLS), fill("p", over=west), jacobi("p", "rhs", "q", over=CELLS)]
    result = parts(analyse(launches, partition((1, 1, 2))).graph, 0)
    assert [part for part, _ in result] == ["edge", "middle", "edge", "middle", "whole"]


def test_the_middle_keeps_what_it_can():
    """Of the ways to cut a layer off, the one that leaves most: a cut across one cell leaves nothing."""
    launches = [jacobi("p", "rhs", "q", over=Box.of((8, 1, 8))), jacobi("q", "rhs", "p", over=Box.of((8, 1, 8)))]
    result = parts(analyse(launches, partition((1, 1, 2), (8, 1, 8), (False, True, False))).graph, 0)
    assert result[:2] == [("edge", Box((0, 0, 3), (8, 1, 4))), ("middle", Box((0, 0, 0), (8, 1, 3)))]


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


@pytest.mark.parametrize(("deep", "edge"), [(1, 2), (3, 3), (5, 5), (6, 6), (8, 8), (9, 2), (12, 2)])
def test_edges_are_whole_tiles_where_that_leaves_a_middle(deep, edge):
    """Counted from the side where the edge is: so edges and middle are as many tiles as the launch would be."""
    part = partition((1, 1, 2), (4, 4, 24), ghost=2)
    both = [pairs(p, q, over=part.region.cells) for p, q in ("pq", "qp")]
    graph = analyse(both, part, tiles=lambda launch, cells, middle: (4, 4, deep)).graph
    low, high = parts(graph, 0)[:2], parts(graph, 1)[:2]
    assert high == [("edge", Box((0, 0, 12), (4, 4, 12 + edge))), ("middle", Box((0, 0, 12 + edge), (4, 4, 24)))]
    assert low == [("edge", Box((0, 0, 12 - edge), (4, 4, 12))), ("middle", Box((0, 0, 0), (4, 4, 12 - edge)))]


def test_an_edge_across_x_is_as_wide_as_memory_likes_it():
    """A layer of one cell along x would use a fraction of what each access moves."""
    part = partition((2, 1, 1), (200, 4, 4))
    sweep = [jacobi(p, "rhs", q, over=part.region.cells) for p, q in ("pq", "qp")]
    graph = analyse(sweep, part).graph
    row = ROWS[0]
    thin = 100 // row * row  # and four cells behind it
    for block, edge in ((0, Box((thin - row, 0, 0), (100, 4, 4))), (1, Box((100, 0, 0), (100 + row, 4, 4)))):
        assert parts(graph, block)[0] == ("edge", edge)


def test_pieces_know_the_middle_of_what_is_cut():
    graph = analyse(sweeps(2), partition((1, 1, 2))).graph
    nodes = [node for node in graph.nodes if isinstance(node, Compute)]
    assert {node.part for node in nodes} == {"edge", "middle", "whole"}
    for node in nodes:
        together = [other for other in nodes if (other.block, other.launch) == (node.block, node.launch)]
        assert [node.middle] == ([other.box for other in together if other.part == "middle"] or [None])
