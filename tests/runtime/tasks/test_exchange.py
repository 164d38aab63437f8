"""Which ghost cells travel, when, and to whom: exact messages of programs whose messages are known."""

from dataclasses import replace
from itertools import permutations

from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Compute, Refresh, Send, analyse, box, offsets, star

from ..regions.cells import cells
from .known import both, fill, jacobi, moved, partition, whole
from .palette import sweep

# -------------------------------------------------------------------------------------------------------- what and whom


def test_two_slabs_send_each_other_one_plane_of_the_one_field_that_is_read_beside():
    part = partition((1, 1, 2), (4, 5, 6))
    result = analyse([jacobi("p", "rhs", "q", over=whole(part))], part)
    assert moved(result) == [(0, 1, {"p": Box((0, 0, 2), (4, 5, 3))}), (1, 0, {"p": Box((0, 0, 3), (4, 5, 4))})]
    assert result.messages == {(0, 1): 1, (1, 0): 1}


def test_a_star_needs_faces_only():
    part = partition((2, 2, 2), (4, 6, 8))
    result = analyse([jacobi("p", "rhs", "q", over=whole(part))], part)
    faces = {1: (1, 3, 4), 2: (2, 1, 4), 4: (2, 3, 1)}  # blocks differ by 1 along x, by 2 along y, by 4 along z
    assert len(moved(result)) == 24
    for source, target, boxes in moved(result):
        assert boxes.keys() == {"p"}
        assert boxes["p"].shape == faces[source ^ target]
        assert boxes["p"] in part.blocks[source]


def test_a_box_needs_edges_and_corners_too():
    part = partition((2, 2, 2), (4, 6, 8))
    result = analyse([sweep(box(1))("p", "q", over=whole(part))], part)
    assert result.messages == dict.fromkeys(permutations(range(8), 2), 1)
    ghosts = {block: set() for block in range(8)}
    for node in result.graph.of(Send):
        for _, copy in node.message.copies:
            assert copy.source_box in part.owned[node.block]
            assert ghosts[copy.target].isdisjoint(cells(copy.target_box))
            ghosts[copy.target] |= cells(copy.target_box)
    for block, owned, mine in zip(range(8), part.owned, part.blocks, strict=True):
        assert ghosts[block] == cells(part.clip(mine.grow(1))) - cells(owned)


def test_only_the_high_side():
    part = partition((1, 1, 3), (4, 4, 6))
    result = analyse([sweep(offsets(z=(0, 1)))("p", "q", over=whole(part))], part)
    assert moved(result) == [(1, 0, {"p": Box((0, 0, 2), (4, 4, 3))}), (2, 1, {"p": Box((0, 0, 4), (4, 4, 5))})]


def test_only_the_diagonal():
    part = partition((2, 1, 2), (4, 4, 4))
    result = analyse([sweep(offsets(x=(1, 1), z=(-1, -1)))("p", "q", over=Box((0, 0, 1), (3, 4, 4)))], part)
    assert moved(result) == [
        (0, 2, {"p": Box((1, 0, 1), (2, 4, 2))}),  # the rest of the layer below
        (1, 0, {"p": Box((2, 0, 0), (3, 4, 1))}),  # beside: seen from one layer higher
        (1, 2, {"p": Box((2, 0, 1), (3, 4, 2))}),  # the diagonal itself
        (1, 3, {"p": Box((3, 0, 1), (4, 4, 2))}),
        (3, 2, {"p": Box((2, 0, 2), (3, 4, 3))}),
    ]


def test_only_where_it_is_launched():
    part = partition((1, 1, 2), (4, 4, 6))
    result = analyse([jacobi("p", "rhs", "q", over=Box((1, 2, 1), (3, 3, 6)))], part)
    assert moved(result) == [(0, 1, {"p": Box((1, 2, 2), (3, 3, 3))}), (1, 0, {"p": Box((1, 2, 3), (3, 3, 4))})]
    assert not moved(analyse([jacobi("p", "rhs", "q", over=Box((0, 0, 0), (4, 4, 2)))], part))


def test_one_message_per_neighbour_and_moment_with_all_fields_in_their_widths():
    part = partition((1, 1, 2), (4, 4, 8), ghost=2)
    result = analyse([both("p", "q", "r", over=whole(part))], part)
    assert moved(result) == [
        (0, 1, {"p": Box((0, 0, 3), (4, 4, 4)), "q": Box((0, 0, 2), (4, 4, 4))}),
        (1, 0, {"p": Box((0, 0, 4), (4, 4, 5)), "q": Box((0, 0, 4), (4, 4, 6))}),
    ]


def test_periodic_slabs_are_neighbours_on_both_sides():
    part = partition((1, 1, 2), (4, 4, 6), (False, False, True))
    result = analyse([jacobi("p", "rhs", "q", over=whole(part))], part)
    planes = [(n.block, {copy.target_box.lo[2] for _, copy in n.message.copies}) for n in result.graph.of(Send)]
    assert planes == [(0, {2, 6}), (1, {-1, 3})]
    assert result.messages == {(0, 1): 1, (1, 0): 1}


def test_a_block_alone_refreshes_its_own_ghosts():
    part = partition((1, 1, 1), (4, 4, 1), (False, False, True))
    result = analyse([jacobi("p", "rhs", "q", over=whole(part))], part)
    assert not moved(result)
    (refresh,) = result.graph.of(Refresh)
    plane = whole(part)
    assert {(name, copy.source_box, copy.target_box) for name, copy in refresh.copies} == {
        ("p", plane, plane.shift((0, 0, -1))),
        ("p", plane, plane.shift((0, 0, 1))),
    }


def test_points_and_writes_need_nothing():
    part = partition((2, 2, 2), (4, 4, 4), (True, True, True))
    result = analyse([sweep(star(0))("p", "q", over=whole(part)), fill("p", over=whole(part))], part)
    assert not moved(result)
    assert result.messages == {}


# ----------------------------------------------------------------------------------------------------------------- when


def positions(analysis, block):
    """The nodes of a block in program order, by what they are."""
    return [str(node) for node in analysis.graph.nodes if node.block == block]


def test_a_write_beside_what_travels_does_not_hold_it_back():
    """What fills the ghost cells is there when the first launch is over; the second one writes cells beside them."""
    part = partition((1, 1, 2), (4, 4, 4))
    over = whole(part)
    launches = [
        fill("p", over=over),
        fill("p", over=Box((-1, 0, 0), (0, 4, 4))),
        sweep(offsets(z=(0, 1)))("p", "q", over=over),
    ]
    sends = [name for name in positions(analyse(launches, part, split=False), 1) if "p" in name]
    assert sends == ["claim p of 0", "fill(p) whole", "send p to 0", "fill(p) whole", "sweep(p, q) whole"]


def test_nor_does_one_of_the_next_step():
    part = partition((1, 1, 2), (4, 4, 4))
    over = whole(part)
    beside, reader = fill("p", over=Box((-1, 0, 0), (0, 4, 4))), sweep(offsets(z=(0, 1)))("p", "q", over=over)
    result = analyse([fill("p", over=over)], part, following=[beside, reader], split=False)
    assert [name for name in positions(result, 1) if "send" in name] == ["send p to 0"]
    assert result.valid[0, "p"]


def test_copies_begin_when_the_last_of_their_fields_is_written():
    part = partition((1, 1, 2), (4, 4, 4))
    over = whole(part)
    result = analyse(
        [fill("q", over=over), fill("p", over=over), fill("r", over=over), jacobi("p", "q", "rhs", over=over)],
        part,
        split=False,
    )
    assert positions(result, 0) == [
        "fill(q) whole",
        "grant p to 1",
        "claim p of 1",
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
        sweep(offsets(z=(-1, 0)))("p", "r", over=over),
    ]
    assert len(moved(analyse(step, part))) == 2


def test_a_wider_reader_gets_the_layers_that_are_missing_in_the_same_message():
    part = partition((1, 1, 2), (4, 4, 8), ghost=2)
    over = whole(part)
    result = analyse([jacobi("p", "rhs", "q", over=over), sweep(star(2))("p", "r", over=over)], part)
    (first, second) = result.graph.of(Send)
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
    result = analyse(
        [jacobi("p", "rhs", "q", over=over), fill("p", over=over), jacobi("p", "rhs", "q", over=over)], part
    )
    assert [(source, node.message.number) for node in result.graph.of(Send) for source in [node.message.source]] == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
    ]
    assert result.messages == {(0, 1): 2, (1, 0): 2}


def test_a_write_somewhere_else_leaves_ghosts_valid():
    part = partition((1, 1, 2), (4, 4, 6))
    away = Box((0, 0, 0), (4, 4, 2))
    step = [jacobi("p", "rhs", "q", over=whole(part)), fill("p", over=away), jacobi("p", "rhs", "q", over=whole(part))]
    assert len(moved(analyse(step, part))) == 2


def test_after_a_write_to_a_boundary_layer_only_its_cells_travel():
    part = partition((2, 1, 1), (4, 4, 4))
    region, beside = part.region, sweep(offsets(x=(-1, 0)))
    layer, both = region.cells.layer(2, 0, -1, 0), region.cells.expand((0, 0, 1), (0, 0, 0))
    step = [
        beside("p", "q", over=both),
        fill("p", over=layer),
        beside("p", "q", over=both),
    ]
    result = analyse(step, part)
    assert moved(result) == [(0, 1, {"p": Box((1, 0, -1), (2, 4, 4))}), (0, 1, {"p": Box((1, 0, -1), (2, 4, 0))})]


def test_boundary_layers_of_a_neighbour_travel_like_any_cells():
    part = partition((1, 1, 2), (4, 4, 4))
    layer = part.region.bounds.layer(0, 0, 0, 1)
    result = analyse([sweep(offsets(z=(0, 1)))("p", "q", over=layer & whole(part).expand((1, 0, 0), (0, 0, 0)))], part)
    assert moved(result) == [(1, 0, {"p": Box((-1, 0, 2), (0, 4, 3))})]


# ------------------------------------------------------------------------------------------------- ghost cells computed


def deep(layers):
    """Two blocks of 4 x 4 x 6 cells that may compute so many layers of each other's, with memory for all."""
    part = partition((1, 1, 2), (4, 4, 12))
    return replace(part, redundant=layers, reach=(part.region.cells.grow(1),) * 2)


def sweeps_on(part, *layers):
    """Sweeps from p to q and back on so many layers of ghost cells each."""
    names = ("p", "q")
    return [
        jacobi(names[n % 2], "rhs", names[(n + 1) % 2], over=whole(part)).with_ghosts(ghosts)
        for n, ghosts in enumerate(layers)
    ]


def inner(boxes, part):
    """What of boxes is not in the boundary layers."""
    return [box & whole(part) for box in boxes if box & whole(part)]


def test_a_deep_exchange_serves_several_sweeps():
    part = deep(2)
    result = analyse(sweeps_on(part, 2, 1, 0), part, split=False)
    sent = [node.message for node in result.graph.of(Send) if node.block == 0]
    for field, layers in (("p", 3), ("rhs", 2)):
        boxes = [copy.source_box for message in sent for name, copy in message.copies if name == field]
        travel = set().union(*map(cells, inner(boxes, part)))
        assert travel == cells(Box((0, 0, 6 - layers), (4, 4, 6)))
    assert [node.box.hi[2] for node in result.graph.of(Compute) if node.block == 0] == [8, 7, 6]
    again = analyse(sweeps_on(part, 2, 1, 0), part, split=False, valid=result.valid)
    assert again.messages == {(0, 1): 1, (1, 0): 1}


def test_what_a_launch_computes_stays_valid_until_its_owner_writes_again():
    part = deep(2)
    launches = sweeps_on(part, 2, 1)
    assert inner(analyse(launches, part).valid[0, "p"], part) == [Box((0, 0, 6), (4, 4, 7))]
    assert inner(analyse([*launches, fill("p", over=whole(part))], part).valid[0, "p"], part) == []


def test_no_more_ghost_cells_are_computed_than_the_partition_says():
    result = analyse(sweeps_on(deep(1), 2, 1, 0), deep(1), split=False)
    assert [node.box.hi[2] for node in result.graph.of(Compute) if node.block == 0] == [7, 7, 6]
    again = analyse(sweeps_on(deep(1), 2, 1, 0), deep(1), split=False, valid=result.valid)
    assert again.messages == {(0, 1): 2, (1, 0): 2}  # the second sweep lacks a layer of q
