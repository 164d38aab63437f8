"""The checks of the other files notice what they are there for: a graph that lacks any one needed edge is caught."""

from dataclasses import replace

import pytest

from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import AllReduce, Claim, Grant, Send, TaskGraph, box, offsets, star

from .palette import FIELDS, correct, measure, mix, relax, scaled, sweep
from .running import analysed, assert_bits, check_versions, recorded
from .spy import ancestors, conflicts, needed_edges, unordered


def flow(region):
    """Something like a time step: sweeps, boundary layers, a reduction that scales the result."""
    cells = region.cells

    def program(roles):
        yield mix(offsets(x=(0, 1)), offsets(z=(0, 1)))(roles.a, roles.b, roles.c, over=cells)
        for _ in range(2):
            yield sweep(star(1))(roles.a, roles.b, over=cells)
            roles.swap("a", "b")
            yield relax(offsets(z=(1, 1)))(roles.a, over=cells.layer(2, 0, -1, 0))
        yield correct(box(1), "max")(roles.a, roles.c, roles.b, over=cells, t="t", s="s")
        yield scaled(roles.a, over=cells, s="s")
        yield measure(offsets(x=(-1, 0)), "min")(roles.c, over=cells, s="t")

    return program


def layers(region):
    """Reads and writes that overlap in part."""
    cells = region.cells
    low = Box(cells.lo, (cells.hi[0], cells.hi[1], cells.lo[2] + 2))

    def program(roles):
        yield sweep(star(1))(roles.a, roles.b, over=cells)
        yield sweep(offsets(z=(0, 1)))(roles.b, roles.c, over=low)
        yield sweep(star(1))(roles.c, roles.b, over=low)
        yield sweep(star(1))(roles.b, roles.a, over=cells)

    return program


CASES = [
    (flow, (1, 1, 2), (3, 2, 6), (False, True, False)),
    (flow, (2, 1, 2), (4, 1, 4), (False, True, False)),
    (flow, (2, 2, 1), (4, 4, 3), (True, True, False)),
    (layers, (1, 1, 3), (3, 3, 6), (False, False, False)),
    (layers, (2, 1, 1), (4, 3, 3), (True, False, True)),
]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0].__name__}-{'x'.join(map(str, case[1]))}")
def run(request):
    """A partition, two steps of a program, and their analyses."""
    program, blocks, shape, periodic = request.param
    region = Region(Box.of(shape), FieldSpace([Field(name) for name in FIELDS]), periodic)
    partition = Partition(region, blocks)
    steps = recorded([program(region)] * 2)
    return partition, steps, analysed(partition, steps, "next")


def without(graph, edge):
    """The graph without one edge."""
    m, n = edge
    return TaskGraph(graph.nodes, [waits - {m} if k == n else waits for k, waits in enumerate(graph.waits)])


def reversed_order(graph, edge):
    """Priorities that do the second node of a deleted edge before the first, and before both what the first needs."""
    m, n = edge
    before = ancestors(graph)
    numbers = {id(node): k for k, node in enumerate(graph.nodes)}

    def priority(node):
        bit = 1 << numbers[id(node)]
        return 0 if before[m] & bit else 1 if (before[n] | 1 << n) & bit else 2

    return priority


def test_the_transitive_reduction_is_enough(run):
    partition, _, (analysis, _) = run
    graph = analysis.graph
    reduced = TaskGraph(graph.nodes, [set() for _ in graph.nodes])
    for m, n in needed_edges(graph):
        reduced.waits[n].add(m)
    assert ancestors(reduced) == ancestors(graph)
    assert not unordered(reduced, conflicts(graph, partition))


def test_every_needed_edge_is_missed_when_it_is_gone(run):
    partition, _, (analysis, _) = run
    graph = analysis.graph
    pairs = conflicts(graph, partition)
    edges = needed_edges(graph)
    assert len(edges) > 20
    for edge in edges:
        assert edge in unordered(without(graph, edge), pairs)


def noticed(check, run, graph, priority):
    """Whether a check notices, in two steps, that the first has a graph in which something is missing: with buffers for
    messages, or with sends straight into ghost cells.
    """
    partition, steps, (first, second) = run
    for direct in (False, True):
        try:
            check(partition, steps, [replace(first, graph=graph), second], [priority, lambda node: 0], direct)
        except (AssertionError, KeyError):  # KeyError: a message was to be unpacked before it was sent
            return True
    return False


@pytest.mark.fast("flow-2x1x2", "layers-2x1x1")
def test_an_order_that_a_missing_edge_allows_has_other_bits(run):
    """Versions notice every edge but those that only keep all-reduces in one order. Bits notice fewer: a maximum may be
    the same with half of the shares, and a grant moves none.
    """
    graph = run[2][0].graph
    edges = [
        (m, n)
        for m, n in needed_edges(graph)
        if not isinstance(graph.nodes[m], AllReduce) or not isinstance(graph.nodes[n], AllReduce)
    ]
    edges = edges[:: 1 + len(edges) // 60]
    lacking = {edge: (less, reversed_order(less, edge)) for edge in edges for less in [without(graph, edge)]}
    assert all(noticed(check_versions, run, *less) for less in lacking.values())
    silent = Grant | Claim
    moving = [less for edge, less in lacking.items() if not any(isinstance(graph.nodes[n], silent) for n in edge)]
    assert sum(noticed(assert_bits, run, *less) for less in moving) > 0.8 * len(moving) > 10


def test_a_missing_copy_is_noticed(run):
    """Nothing travels that nobody needs: without any one copy a task reads old values, in this step or in the next."""
    graph = run[2][0].graph
    messages = [node.message for node in graph.of(Send)]
    for message in messages[:: 1 + len(messages) // 20]:
        for copy in message.copies:
            less = replace(message, copies=tuple(other for other in message.copies if other is not copy))
            nodes = [
                replace(node, message=less) if getattr(node, "message", None) is message else node
                for node in graph.nodes
            ]
            assert noticed(check_versions, run, TaskGraph(nodes, graph.waits), lambda node: 0)
