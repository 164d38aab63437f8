"""What a mapper decides about where nodes are done."""

import pytest

from taskflow.machine import Mapper
from taskflow.tasks import Claim, Compute, Grant, Receive, Send, analyse
from tests.tasks.known import CELLS, adjust, jacobi, partition


def lanes(launches, direct, overlap="full"):
    """Of block 0: (kind, part of the launch that it comes before or behind, whether it is urgent)."""
    nodes = analyse(launches, partition((1, 1, 2)), blocks=[0]).graph.nodes
    urgent = Mapper(overlap).urgent(nodes, lambda message: direct)
    return [(type(node), getattr(node, "part", None), here) for node, here in zip(nodes, urgent, strict=True)]


@pytest.mark.parametrize("direct", [True, False])
def test_what_a_launch_that_is_cut_exchanges_is_urgent(direct):
    found = lanes([jacobi("p", "rhs", "q", over=CELLS), jacobi("q", "rhs", "p", over=CELLS)], direct)
    assert {(kind, part) for kind, part, urgent in found if not urgent} == {(Compute, "middle"), (Compute, "whole")}
    assert {kind for kind, _, urgent in found if urgent} == {Grant, Claim, Compute, Send, Receive}


def test_what_a_launch_that_stays_whole_is_granted_and_receives_stands_in_line():
    launches = [adjust("p", over=CELLS, s="s"), jacobi("p", "rhs", "q", over=CELLS)]
    assert {kind for kind, _, urgent in lanes(launches, True) if urgent} == {Claim, Send}
    assert {kind for kind, _, urgent in lanes(launches, False) if urgent} == {Grant, Claim, Send, Receive}


@pytest.mark.parametrize("overlap", ["none", "comm"])
def test_with_one_stream_nothing_is_urgent(overlap):
    found = lanes([jacobi("p", "rhs", "q", over=CELLS), jacobi("q", "rhs", "p", over=CELLS)], True, overlap)
    assert not any(urgent for *_, urgent in found)
