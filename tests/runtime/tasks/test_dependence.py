"""What waits for what: exact edges of small programs."""

from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import AllReduce, Claim, Compute, Grant, Receive, Send, analyse

from .known import CELLS, above, duplicate, fill, jacobi, measure, partition, scale
from .palette import extremes
from .spy import conflicts, unordered


def waits(*launches):
    """What each launch waits for, on one block."""
    graph = analyse(launches, partition()).graph
    assert all(isinstance(node, Compute) for node in graph.nodes)
    return graph.waits


# ------------------------------------------------------------------------------------------------------------ one block


def test_read_after_write():
    assert waits(fill("p", over=CELLS), duplicate("p", "q", over=CELLS)) == [set(), {0}]


def test_write_after_read():
    assert waits(duplicate("p", "q", over=CELLS), fill("p", over=CELLS)) == [set(), {0}]


def test_write_after_write():
    assert waits(fill("p", over=CELLS), fill("p", over=CELLS)) == [set(), {0}]


def test_reads_do_not_wait_for_reads():
    assert waits(duplicate("p", "q", over=CELLS), duplicate("p", "r", over=CELLS)) == [set(), set()]


def test_a_write_waits_for_all_readers():
    result = waits(
        duplicate("p", "q", over=CELLS), duplicate("p", "r", over=CELLS), fill("p", over=CELLS), fill("p", over=CELLS)
    )
    assert result == [set(), set(), {0, 1}, {2}]


def test_other_cells_and_other_fields_are_independent():
    low, high = Box((0, 0, 0), (4, 4, 2)), Box((0, 0, 2), (4, 4, 4))
    assert waits(fill("p", over=low), fill("p", over=high), fill("q", over=low)) == [set(), set(), set()]


def test_a_neighbour_counts_where_the_stencil_reaches_it():
    below, layer, beside = Box((0, 0, 0), (4, 4, 2)), Box((0, 0, 2), (4, 4, 3)), Box((0, 0, 3), (4, 4, 4))
    result = waits(
        fill("p", over=layer), above("p", "q", over=below), fill("p", over=beside), above("p", "r", over=below)
    )
    assert result == [set(), {0}, set(), {0}]


def test_edges_that_others_imply_are_left_out():
    result = waits(
        fill("p", over=CELLS), duplicate("p", "q", over=CELLS), jacobi("p", "q", "r", over=CELLS), fill("p", over=CELLS)
    )
    assert result == [set(), {0}, {1}, {2}]


def test_a_write_to_some_cells_keeps_earlier_writes_of_the_others():
    low = Box((0, 0, 0), (4, 4, 1))
    result = waits(
        fill("p", over=CELLS), fill("p", over=low), duplicate("p", "q", over=low), duplicate("p", "r", over=CELLS)
    )
    assert result == [set(), {0}, {1}, {1}]
    high = Box((0, 0, 1), (4, 4, 4))
    result = waits(fill("p", over=CELLS), fill("p", over=low), duplicate("p", "q", over=high))
    assert result == [set(), {0}, {0}]


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


def test_all_that_a_launch_reduces_is_folded_at_once():
    (fold,) = (n for n in analyse([extremes("p", over=CELLS, low="low", high="high")], partition()).graph.of(AllReduce))
    assert fold.scalars == {"low": "min", "high": "max"}
    assert str(fold) == "min of low, max of high over all blocks"


# -------------------------------------------------------------------------------------------------------- across blocks


def of(graph, kind, block=None):
    return [
        n
        for n, node in enumerate(graph.nodes)
        if isinstance(node, kind) and node.block == (node.block if block is None else block)
    ]


def test_a_receive_waits_for_its_send_that_for_its_claim_and_that_for_its_grant():
    graph = analyse([jacobi("p", "rhs", "q", over=CELLS)], partition((1, 1, 2))).graph
    sends = {graph.nodes[n].message: n for n in of(graph, Send)}
    grants = {graph.nodes[n].message: n for n in of(graph, Grant)}
    claims = {graph.nodes[n].message: n for n in of(graph, Claim)}
    for message in sends:
        assert graph.waits[sends[message]] == {claims[message]}
        assert graph.waits[claims[message]] == {grants[message]}
    for n in of(graph, Receive):
        message = graph.nodes[n].message
        assert graph.waits[n] == {sends[message], grants[message]}


def test_a_grant_waits_for_all_who_read_the_ghost_cells():
    """The sweep before read them in its edge, and only there: the middle may still be under way."""
    sweeps = [jacobi(p, "rhs", q, over=CELLS) for p, q in ("pq", "qp", "pq")]
    graph = analyse(sweeps, partition((1, 1, 2)), blocks=[0]).graph
    names = [str(node) for node in graph.nodes]
    last = max(of(graph, Grant))
    assert names[last] == "grant p to 1"
    assert graph.waits[last] == {names.index("jacobi(p, rhs, q) edge")}


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
