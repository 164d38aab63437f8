"""Recorded templates are proved, and what lacks any one operation, or any one edge of its graph, is not."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskflow.runtime.machine import Mapper
from taskflow.runtime.machine.direct import board
from taskflow.runtime.machine.direct.board import Inboxes
from taskflow.runtime.proof import Hardware, cells, examine, prove
from taskflow.runtime.proof.recording import Recorder, template
from taskflow.runtime.regions import Box, Partition
from taskflow.runtime.regions import partition as regions
from taskflow.runtime.tasks import (
    Analysis,
    Claim,
    Grant,
    Read,
    Reduce,
    Refresh,
    Roles,
    Scalar,
    TaskGraph,
    Write,
    offsets,
    plan,
    repeat,
    star,
    task,
)
from tests.runtime.machine.programs import Everything, Variants, region
from tests.runtime.tasks.palette import partitions, scripts, sweep
from tests.runtime.tasks.spy import ancestors, needed_edges

POLICIES = {name: (name, True) for name in ("none", "comm", "full", "auto")} | {"cpu": ("none", False)}
SIGHTS = {
    "buffers": lambda blocks: None,
    "direct": lambda blocks: (0,) * blocks,
    "hosts": lambda blocks: tuple(2 * block // blocks for block in range(blocks)),
}


def means(policy, sight, partition):
    """A mapper and hardware: the policy, and which blocks see each other's memory (none, all, those of one half)."""
    overlap, streams = POLICIES[policy]
    return Mapper(overlap), Hardware(streams, SIGHTS[sight](len(partition)))


# ------------------------------------------------------------------------------------------------------------- proofs


@task
def fill(p: Write):
    """p = 1"""


@task
def behind(p: Read[offsets(z=(-1, -1))], q: Write):
    """q = p of the cell before"""


@task
def scaled(p: Read[offsets(z=(-1, -1))], q: Write, *, s: Scalar):
    """q = s times p of the cell before"""


@task
def measure(p: Read, *, s: Reduce[max]):
    """s = the largest p"""


def test_a_claim_waits_for_what_others_need_before_on_both_lanes():
    """What reduces is on one lane, what claims on the other: if a message of later stands before the reduction on the
    first block, the reduction waits for what the second one grants after it.
    """
    space = region((4, 4, 8))
    part, first = Partition(space, (1, 1, 2)), Box((0, 0, 3), (4, 4, 4))

    def program(f):
        yield fill(f.p, over=space.cells)
        yield behind(f.p, f.q, over=space.cells)
        yield measure(f.u, over=space.cells, s="s")
        yield scaled(f.p, f.q, over=space.cells, s="s")
        yield fill(f.p, over=space.cells)
        yield behind(f.p, f.b, over=space.cells)
        yield fill(f.p, over=first)

    prove(part, {program: ()}, *means("full", "direct", part)).hold()


@pytest.mark.parametrize("debug", [False, True])
def test_variants_of_a_task(debug):
    space = region((5, 4, 9))
    partition = Partition(space, (1, 2, 2))
    mapper, hardware = means("full", "direct", partition)
    proof = prove(partition, {Variants(space): ()}, replace(mapper, debug=debug), hardware)
    proof.hold()
    assert proof.reads > 0


@pytest.mark.fast("cpu-buffers-False", "full-direct-True")
@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("sight", ["buffers", "direct"])
@pytest.mark.parametrize("policy", ["cpu", "full"])
def test_reductions_and_poison(policy, sight, debug):
    space = region((5, 4, 9))
    partition = Partition(space, (1, 2, 2))
    mapper, hardware = means(policy, sight, partition)
    prove(partition, {Everything(space): ("dt",)}, replace(mapper, debug=debug), hardware).hold()


@pytest.mark.parametrize("sight", ["buffers", "direct"])
def test_loops_and_ways_that_change(sight):
    """Stretches that follow each other in any number of turns, each in any way to overlap."""
    space = region((5, 4, 8))
    partition = Partition(space, (1, 1, 2))

    def there_and_back(f):
        yield sweep(star(1))(f.p, f.q, over=space.cells)
        yield sweep(star(1))(f.q, f.p, over=space.cells)

    def program(f):
        yield sweep(star(1))(f.u, f.p, over=space.cells)
        yield repeat(there_and_back, 5)
        yield sweep(star(1))(f.p, f.u, over=space.cells)

    mapper, hardware = means("auto", sight, partition)
    proof = prove(partition, {program: ()}, mapper, hardware)
    proof.hold()
    assert proof.templates >= 2 * 3 * 3


@pytest.mark.parametrize("shape", [(2, 1, 1), (2, 1, 2)], ids=str)
def test_programs_whose_messages_have_other_rooms(shape):
    """What was one message's in a pass is another's in the next, in any order of the two programs."""
    space = region((6, 4, 6), (True, False, False))
    partition = Partition(space, shape)

    def few(f):
        yield sweep(star(1))(f.p, f.q, over=space.cells)

    def many(f):
        yield sweep(offsets(x=(0, 1), y=(0, 1)))(f.u, f.b, over=space.cells)
        yield sweep(star(1))(f.q, f.u, over=space.cells)
        yield sweep(star(1))(f.u, f.p, over=space.cells)

    mapper, hardware = means("full", "direct", partition)
    prove(partition, {few: (), many: ()}, mapper, hardware).hold()


@st.composite
def proofs(draw):
    """A random program on some blocks of some hardware."""
    partition = draw(partitions())
    policy = draw(st.sampled_from(sorted(POLICIES)))
    sight = draw(st.sampled_from(sorted(SIGHTS))) if policy != "cpu" else "buffers"
    mapper, hardware = means(policy, sight, partition)
    tile = draw(st.tuples(*3 * [st.integers(1, 4)]))
    program = draw(scripts(partition.region, most=3))
    return partition, program, (mapper, replace(hardware, tiles=lambda launch, cells, middle: tile))


def test_programs_that_launch_nothing():
    """They change roles, and what comes next is what counts."""
    space = region((3, 3, 4))

    def swap(f):
        f.swap("p", "q")
        yield from ()

    def nothing(f):
        yield from ()

    def program(f):
        yield repeat(nothing, 3)
        yield sweep(star(1))(f.p, f.q, over=space.cells)

    means = Mapper("none"), Hardware(streams=True)
    assert prove(Partition(space, (1, 1, 2)), {swap: ()}, *means).templates == 0
    proof = prove(Partition(space, (1, 1, 2)), {swap: (), program: ()}, *means)
    proof.hold()
    assert proof.templates >= 2 * 2


@settings(max_examples=settings.default.max_examples // 2, derandomize=True)
@given(st.tuples(proofs(), st.sampled_from((3, 8)), st.sampled_from((1, 64)), st.sampled_from((0, 64))))
def test_random_programs(chosen):
    (partition, program, (mapper, hardware)), narrow, room, few = chosen
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regions, "FEW", few)
        patch.setattr(board, "NARROW", narrow)
        patch.setattr(board, "AT_ONCE", room)
        prove(partition, {program: ("s", "t")}, mapper, hardware).hold()


# ---------------------------------------------------------------------------------------------------------- mutations


def steady(partition, program, mapper, hardware):
    """Two passes that follow each other in the long run."""
    roles, valid, passes = Roles.of(tuple(partition.region.fields)), [{}] * len(partition), []
    for _ in range(5):
        (stretch,), roles = plan(program, roles)
        passes.append(Recorder(partition, hardware).record(stretch, valid, mapper, ("dt",)))
        valid = passes[-1].after
    return passes[-2:]


def changed(passes, block, change):
    """The passes with other traces of one block."""

    def apply(one):
        traces = list(one.traces)
        traces[block] = change(traces[block])
        return replace(one, traces=tuple(traces))

    return [apply(one) for one in passes]


def without(number):
    """A trace without one operation."""
    return lambda trace: replace(trace, operations=[op for n, op in enumerate(trace.operations) if n != number])


class Sweeps:
    """So many messages that they take turns with buffers, and nothing else that blocks wait for."""

    def __init__(self, space):
        self.space = space

    def __call__(self, f):
        for _ in range(3):
            yield sweep(star(1))(f.p, f.q, over=self.space.cells)
            yield sweep(star(1))(f.q, f.p, over=self.space.cells)


KINDS = {
    "turns": {"compute", "pack", "unpack", "send", "post", "receive", "free", "record", "wait"},
    "buffers": {"compute", "copy", "pack", "unpack", "send", "receive", "free", "reduce", "record", "wait"},
    "direct": {"compute", "copy", "pack", "unpack", "signal", "await", "reduce", "record", "wait"},
    "packed": {"compute", "copy", "pack", "unpack", "signal", "await", "reduce", "record", "wait"},
}


@pytest.fixture(params=KINDS)
def two(request):
    """Two passes that follow each other, the hardware, and how messages go ("packed": all rows are short)."""
    turns, sight = request.param == "turns", "direct" if request.param in ("direct", "packed") else "buffers"
    space = region((8 if request.param == "direct" else 4, 4, 6), (not turns, False, not turns))
    partition = Partition(space, (1, 1, 2))
    mapper, hardware = means("full", sight, partition)
    passes = steady(partition, (Sweeps if turns else Everything)(space), mapper, hardware)
    assert not examine(partition, passes, hardware).faults
    return partition, passes, hardware, request.param


def kept(partition, passes, hardware, changes):
    """Which of the changes of the second pass are not noticed: (block, what) of those (block, what, change)."""
    first, second = passes
    return [
        (block, what)
        for block, what, change in changes
        if not examine(partition, [first, *changed([second], block, change)], hardware).faults
    ]


@pytest.mark.slow
def test_no_operation_can_be_left_out(two):
    """None is caught by chance, and none is there without need.

    But where messages go both ways some permissions are given twice: what a block receives may tell that its neighbour
    has come so far.
    """
    partition, passes, hardware, way = two
    changes, kinds = [], set()
    for block, trace in enumerate(passes[1].traces):
        for number, operation in enumerate(trace.operations):
            kinds.add(operation.kind)
            changes.append((block, [trace.graph.nodes[n] for n in operation.nodes], without(number)))
    missed = kept(partition, passes, hardware, changes)
    assert kinds == KINDS[way]
    assert all(isinstance(node, Claim) for _, nodes in missed for node in nodes)
    assert len(missed) == (6 if way in ("direct", "packed") else 0)


@dataclass(frozen=True)
class Hasty(Mapper):
    """Takes some nodes as early as the graph allows."""

    early: frozenset = frozenset()

    def priority(self, node):
        return 0 if node in self.early else 1


def cut(edge, partition, hardware):
    """A trace whose graph lacks an edge, so ordered that the second node comes first."""
    m, n = edge

    def change(trace):
        waits = [waits - {m} if k == n else waits for k, waits in enumerate(trace.graph.waits)]
        graph = TaskGraph(trace.graph.nodes, waits)
        before = ancestors(graph)[n] | 1 << n
        hasty = Hasty("full", early=frozenset(node for k, node in enumerate(graph.nodes) if before >> k & 1))
        return template(Analysis(graph, {}, trace.messages), partition, hasty, hardware)

    return change


def cuts(partition, passes, hardware):
    """A trace of the second pass without each edge of the transitive reduction of its graph, and the edge's nodes."""
    for block, trace in enumerate(passes[1].traces):
        for edge in needed_edges(trace.graph):
            yield block, [trace.graph.nodes[n] for n in edge], cut(edge, partition, hardware)


def permits(nodes):
    """Whether permissions to overwrite ghost cells are among the nodes."""
    return any(isinstance(node, Grant | Claim) for node in nodes)


@pytest.mark.slow
def test_no_edge_of_the_graph_can_be_left_out(two):
    """But permissions: they have nothing to do where messages have buffers, and are given twice where messages go both
    ways.
    """
    partition, passes, hardware, _ = two
    changes = list(cuts(partition, passes, hardware))
    assert sum(not permits(nodes) for _, nodes, _ in changes) > 20
    assert all(permits(nodes) for _, nodes in kept(partition, passes, hardware, changes))


@pytest.mark.parametrize("packed", [False, True])
def test_no_permission_can_be_left_out_where_messages_go_one_way(packed):
    """But for packed messages: each has room of its own, and the first permission of a pass is there for all."""
    space = region((4 if packed else 8, 4, 6))
    partition = Partition(space, (1, 1, 2))

    def program(f):
        for _ in range(2):
            yield sweep(offsets(z=(0, 1)))(f.p, f.q, over=space.cells)
            yield sweep(offsets(z=(0, 1)))(f.q, f.p, over=space.cells)

    mapper, hardware = means("full", "direct", partition)
    passes = steady(partition, program, mapper, hardware)
    assert not examine(partition, passes, hardware).faults
    changes = [] if packed else [change for change in cuts(partition, passes, hardware) if permits(change[1])]
    for block, trace in enumerate(passes[1].traces):
        for number, operation in enumerate(trace.operations):
            if operation.kind in ("signal", "await"):
                changes.append((block, [trace.graph.nodes[n] for n in operation.nodes], without(number)))
    assert len(changes) >= 16
    missed = [node for _, nodes in kept(partition, passes, hardware, changes) for node in nodes]
    assert all(isinstance(node, Claim) for node in missed)
    assert [node.message.number for node in missed] == ([1, 2, 3] if packed else [])


class Shared(Inboxes):
    """Two messages of block 0 have the same room."""

    def rooms(self, messages):
        result = super().rooms(messages)
        first, second = sorted((m for m in result if m.source == 0), key=lambda m: m.number)[:2]
        result[second] = dict(zip(result[second], result[first].values(), strict=True))
        return result


class Heaped(Inboxes):
    """All copies of a message have the same room."""

    def rooms(self, messages):
        result = super().rooms(messages)
        return {m: dict.fromkeys(parts, next(iter(parts.values()))) for m, parts in result.items()}


@pytest.mark.parametrize(("inboxes", "fault"), [(Shared, "not ordered"), (Heaped, "twice")])
def test_packed_copies_need_room_of_their_own(monkeypatch, inboxes, fault):
    space = region((4, 4, 6), (True, False, True))
    partition = Partition(space, (1, 1, 2))
    mapper, hardware = means("full", "direct", partition)
    passes = steady(partition, Everything(space), mapper, hardware)
    assert not examine(partition, passes, hardware).faults
    monkeypatch.setattr(cells, "inboxes", inboxes)
    assert any(fault in text for text in examine(partition, passes, hardware).faults)


def test_a_launch_may_not_read_what_it_fills():
    """Here ghost cells are copied onto themselves."""
    space = region((4, 4, 6))
    partition = Partition(space, (1, 1, 2))
    mapper, hardware = means("full", "direct", partition)
    passes = steady(partition, Everything(space), mapper, hardware)

    def onto_itself(node):
        return replace(node, copies=[(name, replace(copy, source_box=copy.target_box)) for name, copy in node.copies])

    def change(trace):
        nodes = [onto_itself(node) if isinstance(node, Refresh) else node for node in trace.graph.nodes]
        return replace(trace, graph=TaskGraph(nodes, trace.graph.waits))

    faults = examine(partition, changed(passes, 0, change), hardware).faults
    assert any("reads cells that it fills" in fault for fault in faults)
