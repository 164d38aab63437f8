"""Which ghost cells travel, when, and to whom: exact messages of programs whose messages are known."""

import re
from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskflow.errors import BadInput
from taskflow.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.tasks import Read, ReadWrite, Refresh, Roles, Send, Write, analyse, box, offsets, record, star, task

from ..regions.cells import cells
from .palette import FIELDS, mix, partitions, races, ranges, reach, readable, relax, scripts, stencils, sweep
from .running import analysed, recorded, relaxed

WALLS = (False, False, False)


@task
def jacobi(p: Read[1], rhs: Read, q: Write):
    """A 7-point stencil of p."""


@task
def both(p: Read[1], q: Read[star(2)], r: Write):
    """A stencil of p and a wider one of q."""


@task
def fill(p: Write):
    """Writes only."""


def read(stencil):
    return sweep(stencil)


def partition(shape, cells, periodic=WALLS, ghost=1):
    names = ("p", "q", "r", "rhs")
    return Partition(Region(Box.of(cells), FieldSpace([Field(name) for name in names]), periodic, ghost), shape)


def moved(analysis):
    """Every message: its source and target, and the cells of each field in it, which are in one piece."""
    found = []
    for node in analysis.graph.of(Send):
        boxes = {name: copy.source_box for name, copy in node.message.copies}
        assert len(boxes) == len(node.message.copies)
        found.append((node.message.source, node.message.target, boxes))
    return found


def whole(part):
    return part.region.cells


# ------------------------------------------------------------------------------------------------------- what and whom


def test_two_slabs_send_each_other_one_plane_of_the_one_field_that_is_read_beside():
    part = partition((1, 1, 2), (4, 5, 6))
    found = analyse([jacobi("p", "rhs", "q", over=whole(part))], part)
    assert moved(found) == [(0, 1, {"p": Box((0, 0, 2), (4, 5, 3))}), (1, 0, {"p": Box((0, 0, 3), (4, 5, 4))})]
    assert found.messages == {(0, 1): 1, (1, 0): 1}


def test_a_star_needs_faces_only():
    part = partition((2, 2, 2), (4, 6, 8))
    found = analyse([jacobi("p", "rhs", "q", over=whole(part))], part)
    faces = {1: (1, 3, 4), 2: (2, 1, 4), 4: (2, 3, 1)}  # blocks differ by 1 along x, by 2 along y, by 4 along z
    assert len(moved(found)) == 24
    for source, target, boxes in moved(found):
        assert boxes.keys() == {"p"}
        assert boxes["p"].shape == faces[source ^ target]
        assert boxes["p"] in part.blocks[source]


def test_a_box_needs_edges_and_corners_too():
    part = partition((2, 2, 2), (4, 6, 8))
    found = analyse([read(box(1))("p", "q", over=whole(part))], part)
    assert found.messages == dict.fromkeys(permutations(range(8), 2), 1)
    ghosts = {block: set() for block in range(8)}
    for node in found.graph.of(Send):
        for _, copy in node.message.copies:
            assert copy.source_box in part.owned[node.block]
            assert ghosts[copy.target].isdisjoint(cells(copy.target_box))
            ghosts[copy.target] |= cells(copy.target_box)
    for block, owned, around in zip(range(8), part.owned, part.bloat(1), strict=True):
        assert ghosts[block] == cells(around) - cells(owned)


def test_only_the_high_side():
    part = partition((1, 1, 3), (4, 4, 6))
    found = analyse([read(offsets(z=(0, 1)))("p", "q", over=whole(part))], part)
    assert moved(found) == [(1, 0, {"p": Box((0, 0, 2), (4, 4, 3))}), (2, 1, {"p": Box((0, 0, 4), (4, 4, 5))})]


def test_only_the_diagonal():
    part = partition((2, 1, 2), (4, 4, 4))
    found = analyse([read(offsets(x=(1, 1), z=(-1, -1)))("p", "q", over=Box((0, 0, 1), (3, 4, 4)))], part)
    assert moved(found) == [
        (0, 2, {"p": Box((1, 0, 1), (2, 4, 2))}),  # the rest of the layer below
        (1, 0, {"p": Box((2, 0, 0), (3, 4, 1))}),  # beside: seen from one layer higher
        (1, 2, {"p": Box((2, 0, 1), (3, 4, 2))}),  # the diagonal itself
        (1, 3, {"p": Box((3, 0, 1), (4, 4, 2))}),
        (3, 2, {"p": Box((2, 0, 2), (3, 4, 3))}),
    ]


def test_only_where_it_is_launched():
    part = partition((1, 1, 2), (4, 4, 6))
    found = analyse([jacobi("p", "rhs", "q", over=Box((1, 2, 1), (3, 3, 6)))], part)
    assert moved(found) == [(0, 1, {"p": Box((1, 2, 2), (3, 3, 3))}), (1, 0, {"p": Box((1, 2, 3), (3, 3, 4))})]
    assert not moved(analyse([jacobi("p", "rhs", "q", over=Box((0, 0, 0), (4, 4, 2)))], part))


def test_one_message_per_neighbour_and_moment_with_all_fields_in_their_widths():
    part = partition((1, 1, 2), (4, 4, 8), ghost=2)
    found = analyse([both("p", "q", "r", over=whole(part))], part)
    assert moved(found) == [
        (0, 1, {"p": Box((0, 0, 3), (4, 4, 4)), "q": Box((0, 0, 2), (4, 4, 4))}),
        (1, 0, {"p": Box((0, 0, 4), (4, 4, 5)), "q": Box((0, 0, 4), (4, 4, 6))}),
    ]


def test_periodic_slabs_are_neighbours_on_both_sides():
    part = partition((1, 1, 2), (4, 4, 6), (False, False, True))
    found = analyse([jacobi("p", "rhs", "q", over=whole(part))], part)
    planes = [(n.block, {copy.target_box.lo[2] for _, copy in n.message.copies}) for n in found.graph.of(Send)]
    assert planes == [(0, {2, 6}), (1, {-1, 3})]
    assert found.messages == {(0, 1): 1, (1, 0): 1}


def test_a_block_alone_refreshes_its_own_ghosts():
    part = partition((1, 1, 1), (4, 4, 1), (False, False, True))
    found = analyse([jacobi("p", "rhs", "q", over=whole(part))], part)
    assert not moved(found)
    (refresh,) = found.graph.of(Refresh)
    plane = whole(part)
    assert {(name, copy.source_box, copy.target_box) for name, copy in refresh.copies} == {
        ("p", plane, plane.shift((0, 0, -1))),
        ("p", plane, plane.shift((0, 0, 1))),
    }


def test_points_and_writes_need_nothing():
    part = partition((2, 2, 2), (4, 4, 4), (True, True, True))
    found = analyse([read(star(0))("p", "q", over=whole(part)), fill("p", over=whole(part))], part)
    assert not moved(found)
    assert found.messages == {}


# ---------------------------------------------------------------------------------------------------------------- when


def positions(analysis, block):
    """The nodes of a block in program order, by what they are."""
    return [str(node) for node in analysis.graph.nodes if node.block == block]


def test_copies_begin_when_the_last_of_their_fields_is_written():
    part = partition((1, 1, 2), (4, 4, 4))
    over = whole(part)
    found = analyse(
        [fill("q", over=over), fill("p", over=over), fill("r", over=over), jacobi("p", "q", "rhs", over=over)],
        part,
        split=False,
    )
    assert positions(found, 0) == [
        "fill(q) whole",
        "fill(p) whole",
        "send p to 1",
        "receive p from 1",
        "fill(r) whole",
        "jacobi(p, q, rhs) whole",
    ]


def test_nothing_is_sent_twice_while_it_is_valid():
    part = partition((1, 1, 2), (4, 4, 4))
    over = whole(part)
    step = [
        jacobi("p", "rhs", "q", over=over),
        jacobi("p", "rhs", "r", over=over),
        read(offsets(z=(-1, 0)))("p", "r", over=over),
    ]
    assert len(moved(analyse(step, part))) == 2


def test_a_wider_reader_gets_the_layers_that_are_missing_in_the_same_message():
    part = partition((1, 1, 2), (4, 4, 8), ghost=2)
    over = whole(part)
    found = analyse([jacobi("p", "rhs", "q", over=over), read(star(2))("p", "r", over=over)], part)
    (first, second) = found.graph.of(Send)
    assert [copy.source_box for _, copy in first.message.copies] == [
        Box((0, 0, 3), (4, 4, 4)),
        Box((0, 0, 2), (4, 4, 3)),
    ]
    assert [copy.source_box for _, copy in second.message.copies] == [
        Box((0, 0, 4), (4, 4, 5)),
        Box((0, 0, 5), (4, 4, 6)),
    ]


def test_what_was_written_again_is_sent_again():
    part = partition((1, 1, 2), (4, 4, 4))
    over = whole(part)
    found = analyse(
        [jacobi("p", "rhs", "q", over=over), fill("p", over=over), jacobi("p", "rhs", "q", over=over)], part
    )
    assert [(source, node.message.number) for node in found.graph.of(Send) for source in [node.message.source]] == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
    ]
    assert found.messages == {(0, 1): 2, (1, 0): 2}


def test_a_write_somewhere_else_leaves_ghosts_valid():
    part = partition((1, 1, 2), (4, 4, 6))
    away = Box((0, 0, 0), (4, 4, 2))
    step = [jacobi("p", "rhs", "q", over=whole(part)), fill("p", over=away), jacobi("p", "rhs", "q", over=whole(part))]
    assert len(moved(analyse(step, part))) == 2


def test_after_a_write_to_a_boundary_layer_only_its_cells_travel():
    part = partition((2, 1, 1), (4, 4, 4))
    region, beside = part.region, read(offsets(x=(-1, 0)))
    layer, both = region.cells.layer(2, 0, -1, 0), region.cells.expand((0, 0, 1), (0, 0, 0))
    step = [
        beside("p", "q", over=both),
        fill("p", over=layer),
        beside("p", "q", over=both),
    ]
    found = analyse(step, part)
    assert moved(found) == [(0, 1, {"p": Box((1, 0, -1), (2, 4, 4))}), (0, 1, {"p": Box((1, 0, -1), (2, 4, 0))})]


def test_boundary_layers_of_a_neighbour_travel_like_any_cells():
    part = partition((1, 1, 2), (4, 4, 4))
    layer = part.region.bounds.layer(0, 0, 0, 1)
    found = analyse([read(offsets(z=(0, 1)))("p", "q", over=layer & whole(part).expand((1, 0, 0), (0, 0, 0)))], part)
    assert moved(found) == [(1, 0, {"p": Box((-1, 0, 2), (0, 4, 3))})]


# ----------------------------------------------------------------------------------------------------- step after step


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
    found = analyse(first, part, following=second)
    assert [list(boxes) for _, _, boxes in moved(found)] == [["p"], ["q"], ["p"], ["q"]]
    assert found.valid[0, "q"] == (Box((0, 0, 2), (4, 4, 3)),)
    after = analyse(second, part, valid=found.valid)
    assert not moved(after)
    assert not moved(analyse(second, part, valid=found.valid, split=False))


def test_without_a_following_step_nothing_travels_ahead():
    part = partition((1, 1, 2), (4, 4, 4))
    found = analyse([fill("p", over=whole(part))], part)
    assert not moved(found)
    assert not found.valid.get((0, "p"))


def test_what_the_next_step_writes_before_it_reads_does_not_travel_ahead():
    part = partition((1, 1, 2), (4, 4, 4))
    over = whole(part)
    found = analyse([fill("p", over=over)], part, following=[fill("p", over=over), jacobi("p", "rhs", "q", over=over)])
    assert not moved(found)
    assert not found.valid.get((0, "p"))


def test_what_waits_for_another_field_of_the_next_step_does_not_travel_ahead():
    """One message per moment: p waits for rhs, which the next step writes first."""
    part = partition((1, 1, 2), (4, 4, 8), ghost=2)
    over = whole(part)
    following = [fill("q", over=over), both("p", "q", "r", over=over)]
    assert not moved(analyse([fill("p", over=over)], part, following=following))


def test_in_a_loop_a_sweep_costs_one_exchange():
    part = partition((1, 1, 2), (4, 4, 4))
    steps = recorded([ping_pong(3)] * 3, ("p", "q"))
    assert [len(moved(found)) for found in analysed(part, steps, "next")] == [8, 6, 4]


def test_ghosts_that_are_valid_at_the_start_are_believed():
    part = partition((1, 1, 2), (4, 4, 4))
    plane = Box((0, 0, 2), (4, 4, 3))
    found = analyse([jacobi("p", "rhs", "q", over=whole(part))], part, valid={(0, "p"): (plane,)})
    assert [(source, target) for source, target, _ in moved(found)] == [(0, 1)]
    assert found.valid[0, "p"] == (plane,)


@settings(relaxed, max_examples=60)
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


# ------------------------------------------------------------------------------------------------- from a single block


def summary(node):
    """A node as values: what it is, where, and what moves."""
    copies = getattr(node, "copies", None) or (node.message.copies if hasattr(node, "message") else ())
    number = node.message.number if hasattr(node, "message") else None
    return type(node).__name__, str(node), getattr(node, "box", None), number, tuple(copies)


@settings(relaxed, max_examples=60)
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


@settings(relaxed, max_examples=60)
@given(st.data())
def test_messages_are_counted_and_numbered(data):
    part = data.draw(partitions())
    for found in analysed(part, recorded([data.draw(scripts(part.region))] * 2), "next"):
        sent = [node.message for node in found.graph.of(Send)]
        count = Counter((message.source, message.target) for message in sent)
        assert count == {pair: n for pair, n in found.messages.items() if pair[0] != pair[1]}
        for pair, total in count.items():
            numbers = sorted(m.number for m in sent if (m.source, m.target) == pair)
            assert numbers == list(range(total))
        for message in sent:
            assert message.target in part.neighbours[message.source]
            assert message.cells == sum(len(cells(copy.target_box)) for _, copy in message.copies) > 0


# ------------------------------------------------------------------------------------------------------------ refusals


@task
def implicit(p: ReadWrite[offsets(z=(0, 1))]):
    """Reads a neighbour of the field that it writes."""


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        (
            lambda cells: fill("p", over=cells.grow(2)),
            "fill(p) is launched over [-2,6)x[-2,6)x[-2,6), outside the region's bounds [-1,5)x[-1,5)x[-1,5)",
        ),
        (lambda cells: fill("s", over=cells), "fill(s) uses the field 's'; the region has p, q, r, rhs"),
        (
            lambda cells: read(star(2))("p", "q", over=cells),
            "sweep(p, q) reads 'p' 2 cells away; the region has 1 ghost layers: give it ghost=2",
        ),
        (
            lambda cells: jacobi("p", "rhs", "q", over=cells.expand((1, 0, 0), (0, 0, 0))),
            "jacobi(p, rhs, q) is launched over [-1,4)x[0,4)x[0,4) and reads 'p' in [-2,5)x[0,4)x[0,4), beyond the"
            " region's bounds [-1,5)x[-1,5)x[-1,5): launch it over fewer cells",
        ),
        (
            lambda cells: implicit("p", over=cells),
            "implicit(p) reads 'p' at the offset (0, 0, 1), where it also writes it: use a second field",
        ),
    ],
)
def test_impossible_launches(launch, message):
    part = partition((1, 1, 2), (4, 4, 4))
    for launches, following in (([launch(whole(part))], []), ([], [launch(whole(part))])):
        with pytest.raises(BadInput, match=re.escape(message)):
            analyse(launches, part, following=following)


def test_a_layer_may_read_the_next_layer_of_its_own_field():
    part = partition((1, 1, 2), (4, 4, 4))
    assert analyse([implicit("p", over=whole(part).layer(2, 0, -1, 0))], part).graph.nodes


def test_a_periodic_row_of_one_cell_reads_itself():
    part = partition((1, 1, 1), (4, 4, 1), (False, False, True))
    with pytest.raises(BadInput, match="where it also writes it"):
        analyse([implicit("p", over=whole(part))], part)


def test_no_bounds_across_periodic_faces():
    part = partition((1, 1, 2), (4, 4, 4), (True, True, True))
    assert list(analyse([jacobi("p", "rhs", "q", over=whole(part))], part).graph.of(Send))
    with pytest.raises(BadInput, match="outside the region's bounds"):
        analyse([fill("p", over=whole(part).grow(1))], part)


@settings(relaxed, max_examples=150)
@given(st.data())
def test_refused_is_what_races_or_reads_beyond_bounds(data):
    part = data.draw(partitions())
    region = part.region
    stencil, over = data.draw(stencils(region.ghost)), data.draw(ranges(region))
    beyond = readable(over, stencil, region) != over and bool(over)
    accepted = {}
    for name, launch in {
        "mix": mix(stencil, star(0))("a", "b", "c", over=over),
        "relax": relax(stencil)("a", over=over),
    }.items():
        try:
            analyse([launch], part)
            accepted[name] = True
        except BadInput:
            accepted[name] = False
    assert accepted["mix"] == (not beyond)
    assert accepted["relax"] == (not beyond and not races(over, stencil, region))
    assert all(max(map(abs, o)) <= region.ghost for o in reach(stencil))
