"""Recorded templates are proved, and what lacks any one operation, or any one edge of its graph, is not."""

from collections import Counter
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskflow.machine import Mapper
from taskflow.machine.proof import Hardware, Pass, examine, prove
from taskflow.machine.proof.recording import begin, record_pass, template
from taskflow.regions import Partition
from taskflow.simulation.setup import Setup
from taskflow.tasks import Analysis, Claim, Grant, TaskGraph
from tests.machine.programs import Everything, region
from tests.tasks.palette import partitions, scripts
from tests.tasks.spy import ancestors, needed_edges
from tests.test_invariance import BOUNDARIES, stirred

CPU, STREAM, STREAMS = Hardware(0), Hardware(1), Hardware(2)
POLICIES = {"cpu": ("none", CPU), "none": ("none", STREAM), "comm": ("comm", STREAM), "full": ("full", STREAMS)}


def seen(hardware, blocks):
    """The same hardware where all blocks see each other's memory."""
    return replace(hardware, near=(0,) * blocks)


# ------------------------------------------------------------------------------------------------------------- proofs


@pytest.mark.parametrize(("boundaries", "blocks", "policy"), [
    *[(boundaries, (1, 1, 2), policy) for boundaries in BOUNDARIES for policy in POLICIES],
    ("box", (2, 1, 2), "full"), ("periodic", (2, 1, 2), "comm"), ("layer", (2, 2, 2), "full"),
], ids=str)  # fmt: skip
def test_the_flow_solver(boundaries, blocks, policy):
    """All passes of start, step and monitor that a run can come to."""
    case = stirred(BOUNDARIES[boundaries])
    few = case.pressure.model_copy(update={"iterations": 1 if blocks == (2, 2, 2) else 3})
    setup = Setup(case.model_copy(update={"pressure": few}), blocks)
    overlap, hardware = POLICIES[policy]
    model = setup.model
    programs, start = {model.step: ("dt", "ratio"), model.monitor: ()}, {model.start: ("dt",)}
    proof = prove(setup.partition, programs, Mapper(overlap), hardware, start=start)
    proof.hold()
    assert proof.pairs > 2000
    assert proof.reads > 20000


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("policy", ["cpu", "full"])
def test_reductions_and_poison(policy, debug):
    space = region((5, 4, 9))
    overlap, hardware = POLICIES[policy]
    prove(Partition(space, (1, 2, 2)), {Everything(space): ("dt",)}, Mapper(overlap, debug=debug), hardware).hold()


@st.composite
def proofs(draw):
    """A random program on some blocks of some hardware."""
    partition = draw(partitions())
    policy = draw(st.sampled_from(sorted(POLICIES)))
    return partition, draw(scripts(partition.region, most=3)), *POLICIES[policy]


@settings(max_examples=12, derandomize=True)
@given(proofs())
def test_random_programs(chosen):
    partition, program, overlap, hardware = chosen
    prove(partition, {program: ("s", "t")}, Mapper(overlap), hardware).hold()


# ---------------------------------------------------------------------------------------------------------- mutations


def steady(partition, program, mapper, hardware):
    """Two passes that follow each other in the long run."""
    state, passes = begin(partition), []
    for _ in range(5):
        passes.append(Pass(record_pass(partition, program, state, mapper, hardware), state, ("dt",)))
        state = passes[-1].recorded.after
    return passes[-2:]


def changed(passes, block, change):
    """The passes with other traces of one block."""

    def apply(one):
        traces = list(one.recorded.traces)
        traces[block] = change(traces[block])
        return replace(one, recorded=replace(one.recorded, traces=tuple(traces)))

    return [apply(one) for one in passes]


def without(number):
    """A trace without one operation."""
    return lambda trace: replace(trace, operations=[op for n, op in enumerate(trace.operations) if n != number])


def test_no_operation_can_be_left_out():
    """None is caught by chance, and none is there without need."""
    space = region((4, 4, 6), (True, False, True))
    partition = Partition(space, (1, 1, 2))
    first, second = steady(partition, Everything(space), Mapper("full"), STREAMS)
    assert not examine(partition, [first, second], STREAMS).faults
    kinds, missed = Counter(), []
    for block, trace in enumerate(second.recorded.traces):
        for number, operation in enumerate(trace.operations):
            kinds[operation.kind] += 1
            if not examine(partition, [first, *changed([second], block, without(number))], STREAMS).faults:
                missed.append((block, number, operation.kind, [str(trace.graph.nodes[n]) for n in operation.nodes]))
    assert kinds.keys() == {
        "compute", "copy", "pack", "unpack", "send", "receive", "free", "reduce", "record", "wait"
    }  # fmt: skip
    assert not missed


@dataclass(frozen=True)
class Hasty(Mapper):
    """Takes some nodes as early as the graph allows."""

    early: frozenset = frozenset()

    def priority(self, node):
        return 0 if node in self.early else 1


def cut(edge, hardware):
    """A trace whose graph lacks an edge, so ordered that the second node comes first."""
    m, n = edge

    def change(trace):
        waits = [waits - {m} if k == n else waits for k, waits in enumerate(trace.graph.waits)]
        graph = TaskGraph(trace.graph.nodes, waits)
        before = ancestors(graph)[n] | 1 << n
        hasty = Hasty("full", early=frozenset(node for k, node in enumerate(graph.nodes) if before >> k & 1))
        return template(Analysis(graph, {}, trace.messages), trace.roles, hasty, hardware)

    return change


def test_no_edge_of_the_graph_can_be_left_out():
    """Permissions have nothing to do where messages have buffers; all other edges are needed."""
    space = region((4, 4, 6), (True, False, True))
    partition = Partition(space, (1, 1, 2))
    first, second = steady(partition, Everything(space), Mapper("full"), STREAMS)
    count, missed = 0, []
    for block, trace in enumerate(second.recorded.traces):
        for edge in needed_edges(trace.graph):
            nodes = [trace.graph.nodes[n] for n in edge]
            if any(isinstance(node, Grant | Claim) for node in nodes):
                continue
            count += 1
            if not examine(partition, [first, *changed([second], block, cut(edge, STREAMS))], STREAMS).faults:
                missed.append((block, *map(str, nodes)))
    assert count > 50
    assert not missed
