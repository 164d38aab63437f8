"""Proofs of sweeps: tiles of the second colour read what the first wrote on other blocks and pieces."""

from dataclasses import replace

import pytest

from taskflow.runtime.proof import examine, prove
from taskflow.runtime.proof.recording import Recorder, template
from taskflow.runtime.regions import ROTATIONS, Field, Partition, charted, divided, region
from taskflow.runtime.tasks import Analysis, Compute, Receive, Refresh, Roles, Sweep, TaskGraph, plan

from ..machine.sweeping import program
from ..regions.turned import turned
from .test_proof import means

TILE = (2, 2, 2)
FIELDS = [Field(name) for name in "abx"]


def on_box():
    return Partition(region((5, 4, 7), FIELDS, periodic="x"), (1, 2, 2), multiple=TILE)


def on_charts():
    space = charted(turned((8, 4, 5), ((4,), (), ()), [ROTATIONS[n] for n in (0, 13)])[0], FIELDS)
    return Partition(space, (1, 1, 2), pieces=divided(space.atlas, 2, {0: (2, 1, 2)}, TILE))


PARTITIONS = {"box": on_box, "charts": on_charts}
WAYS = [("cpu", "buffers"), ("full", "direct")]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ordering", ["tiles", "jacobi"])
@pytest.mark.parametrize("name", PARTITIONS)
def test_sweeps_are_proved(name, ordering, way):
    partition = PARTITIONS[name]()
    steps = program(partition.region.charts, ordering, TILE)
    mapper, hardware = means(*way, partition)
    proof = prove(partition, {steps: ()}, replace(mapper, debug=way[0] == "cpu"), hardware)
    proof.hold()
    assert proof.reads > 0


def recorded(partition, way):
    """Two passes after the first ones, which all later ones are like."""
    mapper, hardware = means(*way, partition)
    steps = program(partition.region.charts, "tiles", TILE)
    roles, valid, passes = Roles.of(tuple(partition.fields)), [{}] * len(partition), []
    for _ in range(4):
        (stretch,), roles = plan(steps, roles)
        passes.append(Recorder(partition, hardware).record(stretch, valid, mapper))
        valid = passes[-1].after
    return passes[-2:], hardware


@pytest.mark.parametrize("name", PARTITIONS)
def test_colours_that_exchange_nothing_are_found(monkeypatch, name):
    """The analysis takes the tiles of the second colour for such as read nothing beyond themselves."""
    partition, way = PARTITIONS[name](), ("cpu", "buffers")
    passes, hardware = recorded(partition, way)
    assert not examine(partition, passes, hardware).faults
    monkeypatch.setattr(Sweep, "second", lambda self, direction: False)
    passes, hardware = recorded(partition, way)
    faults = examine(partition, passes, hardware).faults
    assert any("forward" in fault and "unfilled cells" in fault for fault in faults)


@pytest.mark.parametrize(("kind", "name"), [(Receive, "box"), (Refresh, "charts")])
def test_a_second_colour_that_does_not_wait_is_found(kind, name):
    """It may come before what fills its ghost cells, which it no longer waits for."""
    partition = PARTITIONS[name]()
    (first, last), hardware = recorded(partition, ("full", "direct"))
    second = [launch for launch in last.launches if launch.task.name == "forward"][1]
    mapper = means("full", "direct", partition)[0]
    traces = []
    for trace in last.traces:
        graph = trace.graph
        pairs = zip(graph.nodes, graph.waits, strict=True)
        kept = [
            {m for m in before if not isinstance(graph.nodes[m], kind)}
            if isinstance(node, Compute) and node.launch is second else before for node, before in pairs
        ]  # fmt: skip
        analysis = Analysis(TaskGraph(graph.nodes, kept), {}, trace.messages)
        traces.append(template(analysis, partition, mapper, hardware))
    faults = examine(partition, [first, replace(last, traces=tuple(traces))], hardware).faults
    assert any("forward" in fault for fault in faults)


def test_a_piece_that_is_not_swept_is_found():
    """One launch leaves the tiles of a layer out."""
    partition = on_box()
    (first, last), hardware = recorded(partition, ("cpu", "buffers"))
    trace = last.traces[0]
    node = next(n for n in trace.graph.nodes if isinstance(n, Compute))
    nodes = [replace(node, box=node.box.layer(2, 0, 0, 2)) if other is node else other for other in trace.graph.nodes]
    wrong = replace(last, traces=(replace(trace, graph=TaskGraph(nodes, trace.graph.waits)), *last.traces[1:]))
    assert any("another version" in fault for fault in examine(partition, [first, wrong], hardware).faults)
