"""What a mapper decides about where nodes are done."""

import pytest

from taskflow.runtime.machine import Mapper
from taskflow.runtime.proof import Hardware
from taskflow.runtime.proof.recording import _Near, template
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Claim, Compute, Grant, Receive, Send, analyse
from tests.runtime.tasks.known import CELLS, adjust, duplicate, fill, jacobi, partition, steepest


def lanes(launches, direct, overlap="full"):
    """Of block 0: (kind, part of the launch that it comes before or behind, whether it is urgent)."""
    nodes = analyse(launches, partition((1, 1, 2)), blocks=[0]).graph.nodes
    urgent = Mapper(overlap).urgent(nodes, lambda message: direct)
    return [(type(node), getattr(node, "part", None), here) for node, here in zip(nodes, urgent, strict=True)]


@pytest.mark.parametrize("direct", [True, False])
def test_what_a_launch_that_is_cut_exchanges_is_urgent(direct):
    result = lanes([jacobi("p", "rhs", "q", over=CELLS), jacobi("q", "rhs", "p", over=CELLS)], direct)
    assert {(kind, part) for kind, part, urgent in result if not urgent} == {(Compute, "middle"), (Compute, "whole")}
    assert {kind for kind, _, urgent in result if urgent} == {Grant, Claim, Compute, Send, Receive}


def test_what_a_launch_that_stays_whole_is_granted_and_receives_stands_in_line():
    launches = [adjust("p", over=CELLS, s="s"), steepest("p", over=CELLS, s="t")]
    assert {kind for kind, _, urgent in lanes(launches, True) if urgent} == {Claim, Send}
    assert {kind for kind, _, urgent in lanes(launches, False) if urgent} == {Grant, Claim, Send, Receive}


def test_what_the_edge_of_the_next_launch_waits_for_is_urgent():
    launches = [adjust("p", over=CELLS, s="s"), jacobi("p", "rhs", "q", over=CELLS)]
    result = lanes(launches, True)
    assert {kind for kind, _, urgent in result if urgent} == {Claim, Send, Receive, Compute}
    assert (Compute, "edge", True) in result


@pytest.mark.parametrize("overlap", ["none", "comm"])
def test_with_one_stream_nothing_is_urgent(overlap):
    result = lanes([jacobi("p", "rhs", "q", over=CELLS), jacobi("q", "rhs", "p", over=CELLS)], True, overlap)
    assert not any(urgent for *_, urgent in result)


@pytest.mark.parametrize(("overlap", "lane"), [("comm", 0), ("full", 1)])
def test_a_message_goes_out_before_the_middle_and_before_edges_that_wait_for_others(overlap, lane):
    """A claim waits on its lane only: what is later in the program comes behind it, also where it was ready before."""
    launches = [
        fill("q", over=CELLS),
        adjust("r", over=CELLS, s="s"),
        duplicate("r", "p", over=CELLS),
        jacobi("q", "r", "rhs", over=CELLS),
        jacobi("p", "r", "rhs", over=CELLS),
    ]
    part, mapper = partition((1, 1, 2)), Mapper(overlap)
    graph = analyse(launches, part, blocks=[0], split=mapper.cuts(launches))
    operations = template(graph, part, mapper, Hardware(True, (0, 0))).operations
    names = [str(graph.graph.nodes[op.nodes[0]]) for op in operations if op.lane == lane and op.kind != "wait"]
    send = names.index("send q to 1")
    assert names.index("fill(q) edge") < send < names.index("duplicate(r, p) edge")
    if overlap == "comm":
        assert send < names.index("fill(q) middle")


@pytest.mark.parametrize(("overlap", "hidden"), [("none", False), ("comm", False), ("full", True)])
def test_a_copy_is_hidden_where_a_middle_goes_on_on_the_other_lane(monkeypatch, overlap, hidden):
    result, nothing = [], [lambda: None]
    monkeypatch.setattr(_Near, "send", lambda self, *_, hidden: result.append(hidden) or nothing)
    launches, part = [fill("q", over=CELLS), jacobi("q", "r", "rhs", over=CELLS)], partition((1, 1, 2))
    graph = analyse(launches, part, blocks=[0], split=Mapper(overlap).cuts(launches))
    template(graph, part, Mapper(overlap), Hardware(True, (0, 0)))
    assert result
    assert set(result) == {hidden}


@pytest.mark.parametrize("overlap", ["none", "comm", "full"])
def test_what_a_block_sends_at_a_moment_is_one_wait_one_copy_and_one_signal(overlap):
    over, mapper = Box.of((4, 4, 9)), Mapper(overlap)
    launches, part = (
        [jacobi("p", "rhs", "q", over=over), jacobi("q", "rhs", "p", over=over)],
        partition((1, 1, 3), (4, 4, 9)),
    )
    graph = analyse(launches, part, blocks=[1], split=mapper.cuts(launches))
    operations = template(graph, part, mapper, Hardware(True, (0, 0, 0))).operations
    copies = [n for n, op in enumerate(operations) if op.kind == "pack"]
    assert [[(op.kind, len(op.nodes)) for op in operations[n - 1 : n + 2]] for n in copies] == 2 * [
        [("await", 2), ("pack", 2), ("signal", 2)]
    ]
