"""Graphs: topological orders, and what their nodes touch."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import (
    AllReduce,
    Claim,
    Compute,
    Grant,
    Read,
    Receive,
    Reduce,
    Refresh,
    Scalar,
    Send,
    TaskGraph,
    Write,
    analyse,
    task,
)

from .palette import partitions, scripts
from .running import analysed, orders, recorded
from .spy import ancestors, bits, touched

CELLS = Box.of((4, 4, 6))


@task
def smooth(p: Read[1], q: Write, *, dt: Scalar):
    """q from p"""


@task
def largest(p: Read, *, m: Reduce[max]):
    """m = max p"""


@pytest.fixture
def partition():
    return Partition(Region(CELLS, FieldSpace([Field("p"), Field("q")]), (False, True, False)), (1, 1, 2))


@pytest.fixture
def graph(partition):
    return analyse(
        [smooth("p", "q", over=CELLS, dt="dt"), smooth("q", "p", over=CELLS, dt="dt"), largest("p", over=CELLS, m="m")],
        partition,
    ).graph


def follows(graph, order):
    place = {n: k for k, n in enumerate(order)}
    return len(place) == len(graph.nodes) and all(
        place[m] < place[n] for n, waits in enumerate(graph.waits) for m in waits
    )


def test_equal_keys_give_the_earliest_that_is_ready(partition):
    graph = analyse(
        [smooth("p", "q", over=CELLS, dt="dt"), largest("p", over=CELLS, m="m")], partition, blocks=[0]
    ).graph
    assert graph.order(lambda node: 0) == list(range(len(graph.nodes)))


def test_the_lowest_key_that_is_ready_comes_first(graph):
    order = [graph.nodes[n] for n in graph.order(lambda node: node.block)]
    begun = [node.block for node in order]
    waiting = next(n for n, node in enumerate(order) if isinstance(node, Claim) and node.block == 0)
    assert begun.index(1) == waiting - 1  # it waits for the grant of block 1


def test_key_is_asked_once_per_node(graph):
    asked = []
    graph.order(lambda node: asked.append(node) or 0)
    assert len(asked) == len(set(map(id, asked))) == len(graph.nodes)


def test_a_cycle_has_no_order(graph):
    first, last = graph.order(lambda node: 0)[0], graph.order(lambda node: 0)[-1]
    graph.waits[first].add(last)
    with pytest.raises(ValueError, match=r"\d+ nodes of the task graph wait for one another in a cycle"):
        graph.order(lambda node: 0)


def test_an_empty_graph_has_an_empty_order():
    assert TaskGraph().order(lambda node: 0) == []


def test_followers_are_waits_turned_round(graph):
    assert {(m, n) for m, followers in enumerate(graph.followers()) for n in followers} == {
        (m, n) for n, waits in enumerate(graph.waits) for m in waits
    }


def test_of_a_kind(graph):
    kinds = (Compute, Grant, Claim, Send, Receive, Refresh, AllReduce)
    assert sum(len(list(graph.of(kind))) for kind in kinds) == len(graph.nodes)
    assert [node.block for node in graph.of(AllReduce)] == [0, 1]


def test_nodes_say_what_they_are(graph):
    assert [str(node) for node in graph.nodes if node.block == 0] == [
        "grant p to 1",
        "claim p of 1",
        "send p to 1",
        "refresh p",
        "receive p from 1",
        "grant q to 1",
        "claim q of 1",
        "smooth(p, q) edge",
        "smooth(p, q) middle",
        "send q to 1",
        "refresh q",
        "receive q from 1",
        "smooth(q, p) whole",
        "largest(p) whole",
        "max of m over all blocks",
    ]


def test_a_message_counts_its_values(graph):
    assert {node.message.cells for node in graph.of(Send)} == {16}


@settings(max_examples=settings.default.max_examples // 2)
@given(st.data())
def test_every_order_is_topological(data):
    part = data.draw(partitions())
    (result,) = analysed(part, recorded([data.draw(scripts(part.region))]), "first")
    for seed in range(6):
        assert follows(result.graph, result.graph.order(orders(seed)))


@settings(max_examples=settings.default.max_examples // 2)
@given(st.data())
def test_accesses_are_the_cells_that_a_node_touches(data):
    part = data.draw(partitions())
    (result,) = analysed(part, recorded([data.draw(scripts(part.region))]), "first")
    for node in result.graph.nodes:
        frame = part.blocks[node.block].grow(part.region.ghost)
        named = ({}, {})
        for (name, _), box, privilege in node.accesses():
            cells = bits(box, frame) if name in part.region.fields else 1
            kind = named[privilege.changes]
            kind[name] = kind.get(name, 0) | cells
        reads, writes = touched(node, frame)
        for found_here, expected in zip(named, (reads, writes), strict=True):
            assert sorted(found_here.values()) == sorted(expected.values())
            assert {n: c for n, c in found_here.items() if n in part.region.fields} == {
                n: c for n, c in expected.items() if n in part.region.fields
            }


@settings(max_examples=settings.default.max_examples // 2)
@given(st.data())
def test_no_edge_within_a_block_is_implied_by_others(data):
    part = data.draw(partitions())
    (result,) = analysed(part, recorded([data.draw(scripts(part.region))]), "first", blocks=[0])
    before = ancestors(result.graph)
    for node, waits in zip(result.graph.nodes, result.graph.waits, strict=True):
        if not isinstance(node, AllReduce):  # which waits for all shares, those of its own block among them
            assert not any(before[k] >> m & 1 for m in waits for k in waits)
