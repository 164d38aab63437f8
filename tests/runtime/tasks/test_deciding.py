"""What decides how a pass goes: where that is equal in two states, the pass is the same in both."""

from hypothesis import given, settings
from hypothesis import strategies as st

from taskflow.runtime.tasks import Geometries, Roles, analyse, deciding, exchange, record, star

from .known import fill, jacobi, partition, whole
from .palette import FIELDS, partitions, scripts, sweep


@st.composite
def passes(draw):
    """A pass with what may follow it, on one block of a partition, and two states of ghost cells there: those that
    programs left before, less those of some fields.
    """
    part = draw(partitions())
    block = draw(st.integers(0, len(part) - 1))
    launches, roles = record(draw(scripts(part.region)), Roles.of(FIELDS))
    following = draw(st.sampled_from(((), launches, record(draw(scripts(part.region)), roles)[0])))
    before = [record(draw(scripts(part.region)), roles)[0] for _ in range(2)]
    states = [exchange(some, part, blocks=[block]).valid for some in draw(st.sampled_from((before, 2 * before[:1])))]
    left = [draw(st.sets(st.sampled_from(FIELDS))) for _ in states]
    states = [
        {key: boxes for key, boxes in valid.items() if key[1] not in gone}
        for valid, gone in zip(states, left, strict=True)
    ]
    return part, block, launches, following, states


def told(analysis):
    """Its nodes and messages, by what they do."""
    nodes = [
        (type(node), getattr(node, "box", None), getattr(node, "part", None), getattr(node, "copies", None))
        + (node.message.copies if hasattr(node, "message") else ())
        for node in analysis.graph.nodes
    ]
    return nodes, analysis.graph.waits, analysis.messages


@settings(max_examples=settings.default.max_examples // 4)
@given(passes())
def test_where_it_is_equal_the_pass_is(run):
    part, block, launches, following, states = run
    known = Geometries.of(part, [block])
    one, other = (deciding(launches, following, valid, known) for valid in states)
    first, second = (
        analyse(launches, part, following=following, valid=valid, blocks=[block]) for valid in states
    )
    if one.read == other.read:
        assert told(first) == told(second)
        assert other.after(first.valid) == second.valid
        assert one.after(second.valid) == first.valid


def test_ghost_cells_that_nobody_reads_decide_nothing():
    part = partition((1, 1, 2), (4, 4, 6))
    known, over = Geometries.of(part, [0]), whole(part)
    launches = [fill("p", over=over), jacobi("p", "rhs", "q", over=over)]
    valid = exchange([sweep(star(1))(name, "p", over=over) for name in ("q", "rhs")], part, blocks=[0]).valid
    assert {name for _, name in valid} == {"q", "rhs"}
    empty, full = (deciding(launches, (), state, known) for state in ({}, valid))
    assert full.read == empty.read
    assert set(full.read) == {"p"}, "rhs is read at a point, and q is overwritten"
    after = exchange(launches, part, valid={}, blocks=[0]).valid
    assert full.after(after) == exchange(launches, part, valid=valid, blocks=[0]).valid != after


def test_what_follows_leaves_nothing_in_the_pass():
    """It overwrites q before it reads ghost cells of it; behind the pass these are as they were."""
    part = partition((1, 1, 2), (4, 4, 6))
    known, over = Geometries.of(part, [0]), whole(part)
    following = [fill("q", over=over), jacobi("q", "rhs", "p", over=over)]
    valid = exchange([sweep(star(1))("q", "p", over=over)], part, blocks=[0]).valid
    empty, full = (deciding([], following, state, known) for state in ({}, valid))
    assert full.read != empty.read
    assert full.after(valid) == exchange([], part, following=following, valid=valid, blocks=[0]).valid == valid


def test_ghost_cells_that_are_read_decide():
    part = partition((1, 1, 2), (4, 4, 6))
    known, launches = Geometries.of(part, [0]), [jacobi("p", "rhs", "q", over=whole(part))]
    after = exchange(launches, part, blocks=[0]).valid
    assert deciding(launches, (), after, known).read != deciding(launches, (), {}, known).read
