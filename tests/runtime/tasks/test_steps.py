"""From step to step, and from block to block: what is valid stays valid, and every block comes to the same result."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Roles, Send, analyse, record

from ..regions.cells import cells
from .known import both, fill, jacobi, moved, partition, whole
from .palette import FIELDS, partitions, scripts
from .running import analysed, recorded

# ------------------------------------------------------------------------------------------------------ step after step


def ping_pong(sweeps):
    def program(roles):
        for _ in range(sweeps):
            yield jacobi(roles.p, "rhs", roles.q, over=Box.of((4, 4, 4)))
            roles.swap("p", "q")

    return program


def test_what_the_next_step_reads_travels_in_this_one():
    part = partition((1, 1, 2), (4, 4, 4))
    first, roles = record(ping_pong(1), Roles.of(("p", "q")))
    second, _ = record(ping_pong(1), roles)
    result = analyse(first, part, following=second)
    assert [list(boxes) for _, _, boxes in moved(result)] == [["p"], ["q"], ["p"], ["q"]]
    assert result.valid[0, "q"] == (Box((0, 0, 2), (4, 4, 3)),)
    after = analyse(second, part, valid=result.valid)
    assert not moved(after)
    assert not moved(analyse(second, part, valid=result.valid, split=False))


def test_without_a_following_step_nothing_travels_ahead():
    part = partition((1, 1, 2), (4, 4, 4))
    result = analyse([fill("p", over=whole(part))], part)
    assert not moved(result)
    assert not result.valid.get((0, "p"))


def test_what_the_next_step_writes_before_it_reads_does_not_travel_ahead():
    part = partition((1, 1, 2), (4, 4, 4))
    over = whole(part)
    result = analyse([fill("p", over=over)], part, following=[fill("p", over=over), jacobi("p", "rhs", "q", over=over)])
    assert not moved(result)
    assert not result.valid.get((0, "p"))


def test_what_waits_for_another_field_of_the_next_step_does_not_travel_ahead():
    """One message per moment: p waits for rhs, which the next step writes first."""
    part = partition((1, 1, 2), (4, 4, 8), ghost=2)
    over = whole(part)
    following = [fill("q", over=over), both("p", "q", "r", over=over)]
    assert not moved(analyse([fill("p", over=over)], part, following=following))


def test_in_a_loop_a_sweep_costs_one_exchange():
    part = partition((1, 1, 2), (4, 4, 4))
    steps = recorded([ping_pong(3)] * 3, ("p", "q"))
    assert [len(moved(result)) for result in analysed(part, steps, "next")] == [8, 6, 4]


def test_ghosts_that_are_valid_at_the_start_are_believed():
    part = partition((1, 1, 2), (4, 4, 4))
    plane = Box((0, 0, 2), (4, 4, 3))
    result = analyse([jacobi("p", "rhs", "q", over=whole(part))], part, valid={(0, "p"): (plane,)})
    assert [(source, target) for source, target, _ in moved(result)] == [(0, 1)]
    assert result.valid[0, "p"] == (plane,)


@settings(max_examples=settings.default.max_examples // 2)
@given(st.data())
def test_a_program_that_is_repeated_comes_back_to_the_same_state(data):
    """Roles and valid ghost cells: the machine records a trace per state."""
    part = data.draw(partitions())
    program, roles, valid, seen = data.draw(scripts(part.region)), Roles.of(FIELDS), {}, []
    while (roles.key(), valid) not in seen:
        seen.append((roles.key(), valid))
        assert len(seen) < 12
        launches, after = record(program, roles)
        valid = analyse(launches, part, valid=valid, following=record(program, after)[0]).valid
        roles = after


# -------------------------------------------------------------------------------------------------- from a single block


def summary(node):
    """A node as values: what it is, where, and what moves."""
    copies = getattr(node, "copies", None) or (node.message.copies if hasattr(node, "message") else ())
    number = node.message.number if hasattr(node, "message") else None
    return type(node).__name__, str(node), getattr(node, "box", None), number, tuple(copies)


@settings(max_examples=settings.default.max_examples // 2)
@given(st.data())
def test_a_block_alone_finds_its_part_of_the_whole(data):
    """Nodes, messages, order and validity: control replication stands on this."""
    part = data.draw(partitions())
    steps = recorded(data.draw(st.lists(scripts(part.region), min_size=1, max_size=2)))
    following = data.draw(st.sampled_from(("next", "first", "none")))
    split = data.draw(st.booleans())
    whole = analysed(part, steps, following, split=split)
    for block in range(len(part)):
        for everywhere, alone in zip(whole, analysed(part, steps, following, split=split, blocks=[block]), strict=True):
            numbers = [n for n, node in enumerate(everywhere.graph.nodes) if node.block == block]
            local = {n: m for m, n in enumerate(numbers)}
            assert [summary(everywhere.graph.nodes[n]) for n in numbers] == [
                summary(node) for node in alone.graph.nodes
            ]
            for n, waits in zip(numbers, alone.graph.waits, strict=True):
                assert {local[m] for m in everywhere.graph.waits[n] if m in local} == waits
            assert {pair: n for pair, n in everywhere.messages.items() if block in pair} == {
                pair: n for pair, n in alone.messages.items() if block in pair
            }
            assert {key: boxes for key, boxes in everywhere.valid.items() if key[0] == block} == {
                key: boxes for key, boxes in alone.valid.items() if key[0] == block
            }


@settings(max_examples=settings.default.max_examples // 2)
@given(st.data())
def test_messages_are_counted_and_numbered(data):
    part = data.draw(partitions())
    for result in analysed(part, recorded([data.draw(scripts(part.region))] * 2), "next"):
        sent = [node.message for node in result.graph.of(Send)]
        count = Counter((message.source, message.target) for message in sent)
        assert count == {pair: n for pair, n in result.messages.items() if pair[0] != pair[1]}
        for pair, total in count.items():
            numbers = sorted(m.number for m in sent if (m.source, m.target) == pair)
            assert numbers == list(range(total))
        for message in sent:
            assert message.target in part.neighbours[message.source]
            assert message.cells == sum(len(cells(copy.target_box)) for _, copy in message.copies) > 0
