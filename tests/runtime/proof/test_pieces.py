"""Proofs of lists of pieces: one operation for many point tasks, which must not depend on each other."""

import re

import pytest

from taskflow.runtime.machine.trace import gather, tracer
from taskflow.runtime.tasks import TaskGraph

from ..regions.turned import pieces
from .test_atlas import Rounds, check, edge, faults, four, on, sweep


@pytest.fixture(autouse=True)
def lists(monkeypatch):
    """These tasks have no texts: lists are not asked for them."""
    monkeypatch.setattr(gather, "listed", lambda launch, partition, block, **_: len(partition.cells_of(block)) > 1)


@pytest.mark.parametrize(
    ("blocks", "cuts", "way"),
    [
        (1, None, ("cpu", "buffers")),
        pytest.param(2, {0: (1, 2, 1)}, ("full", "direct"), marks=pytest.mark.slow),
        pytest.param(2, None, ("comm", "buffers"), marks=pytest.mark.slow),
    ],
)
def test_programs_with_lists_are_proved(blocks, cuts, way):
    check(four(), blocks, cuts, way)


@pytest.mark.parametrize("way", [("cpu", "buffers"), pytest.param(("none", "direct"), marks=pytest.mark.slow)])
def test_lists_of_what_depends_on_each_other_are_found(monkeypatch, way):
    partition = pieces(on(four()), 1)
    assert not faults(partition, way)

    def careless(graph, order, keys):
        return gather.gathered(TaskGraph(graph.nodes, [set() for _ in graph.waits]), order, keys)

    monkeypatch.setattr(tracer, "gathered", careless)
    monkeypatch.setattr(Rounds, "__call__", twice)
    assert any(re.search("are not ordered", fault) for fault in faults(partition, way))


def twice(self, f):
    """Two rounds, so that a task is launched again on what it made itself."""
    for p, q in ((f.p, f.q), (f.q, f.p)):
        yield edge(p, over=self.beyond)
        yield sweep(p, f.k, q, over=self.charts)
