"""How many messages and bytes a step costs: counted, and worked out by hand."""

from math import prod

import pytest

from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Read, Traffic, Write, box, exchange, offsets, star, task, traffic

from .known import both, duplicate, fill, jacobi, partition, whole
from .palette import sweep

SHAPES = [(1, 1, 4), (3, 1, 1), (1, 2, 1), (1, 3, 2), (2, 2, 2), (3, 2, 3)]


def sent(launches, part, **options):
    """What each block sends."""
    result = exchange(launches, part, **options)
    return traffic((message for moment in result.messages.values() for message in moment), part)


def beside(part, block, offset):
    """Whether a block has a neighbour in this direction."""
    return all(0 <= n + o < blocks for n, o, blocks in zip(part.place(block), offset, part.shape, strict=True))


def cells_of(part, block, *offsets, width=1):
    """Cells in so many layers of a block on its sides, edges and corners in these directions."""
    return sum(
        prod(width if o else n for o, n in zip(offset, part.blocks[block].shape, strict=True)) for offset in offsets
    )


FACES = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
ALL = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) != (0, 0, 0)]


@pytest.mark.parametrize("shape", SHAPES)
def test_seven_points_send_faces_and_nothing_else(shape):
    part = partition(shape, (8, 6, 9))
    for block, result in enumerate(sent([jacobi("p", "rhs", "q", over=whole(part))], part)):
        faces = [offset for offset in FACES if beside(part, block, offset)]
        assert result == Traffic(len(faces), 8 * cells_of(part, block, *faces), faces=len(faces))


@pytest.mark.parametrize("shape", SHAPES)
def test_twenty_seven_points_send_edges_and_corners_too(shape):
    """Across walls a reader needs boundary layers as well: so the launch stays away from them."""
    part = partition(shape, (8, 6, 9))
    inside = whole(part).grow(-1)
    for block, result in enumerate(sent([sweep(box(1))("p", "q", over=inside)], part)):
        around = [offset for offset in ALL if beside(part, block, offset)]
        kinds = [sum(1 for offset in around if sum(map(abs, offset)) == n) for n in (1, 2, 3)]
        assert result == Traffic(len(around), 8 * cells_of(part, block, *around), *kinds)


def test_a_whole_torus():
    """Every block of a periodic box has 6 faces, 12 edges and 8 corners: what it sends is its own next layer."""
    part = partition((3, 3, 3), (9, 12, 15), (True, True, True))
    item = 3 * 4 * 5
    assert sent([jacobi("p", "rhs", "q", over=whole(part))], part) == [Traffic(6, 8 * 2 * (12 + 15 + 20), 6)] * 27
    assert (
        sent([sweep(box(1))("p", "q", over=whole(part))], part) == [Traffic(26, 8 * (5 * 6 * 7 - item), 6, 12, 8)] * 27
    )


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("side", [-1, 1])
def test_one_sided_stencils_send_one_way_only(axis, side):
    part = partition((2, 3, 2), (4, 6, 8))
    reach = {"xyz"[axis]: (min(side, 0), max(side, 0))}
    away = tuple(-side * (n == axis) for n in range(3))  # who reads at higher z is served by the block above
    for block, result in enumerate(sent([sweep(offsets(**reach))("p", "q", over=whole(part))], part)):
        serves = [away] if beside(part, block, away) else []
        assert result == Traffic(len(serves), 8 * cells_of(part, block, *serves), faces=len(serves))


@pytest.mark.parametrize("shape", SHAPES)
def test_every_field_in_its_own_width_and_precision_in_one_message(shape):
    @task
    def three(p: Read[1], q: Read[star(2)], r: Read, out: Write):
        """Reads one layer of p, two of q and none of r."""

    fields = FieldSpace([Field("p", "f4"), Field("q", "f8"), Field("r", "f8"), Field("out", "f4")])
    part = Partition(Region(Box.of((8, 6, 9)), fields, ghost=2), shape)
    for block, result in enumerate(sent([three("p", "q", "r", "out", over=whole(part))], part)):
        faces = [offset for offset in FACES if beside(part, block, offset)]
        nbytes = 4 * cells_of(part, block, *faces) + 8 * cells_of(part, block, *faces, width=2)
        assert result == Traffic(len(faces), nbytes, faces=len(faces))


def test_fields_written_one_after_another_travel_together_after_the_last():
    part, over = partition((1, 1, 2), (4, 5, 6), ghost=2), Box.of((4, 5, 6))
    result = exchange([fill("p", over=over), fill("q", over=over), both("p", "q", "r", over=over)], part)
    assert {moment: len(messages) for moment, messages in result.messages.items()} == {1: 2}
    assert (
        sent([fill("p", over=over), fill("q", over=over), both("p", "q", "r", over=over)], part)
        == [Traffic(1, 8 * 20 * (1 + 2), 1)] * 2
    )


def test_points_send_nothing():
    part = partition((2, 2, 2))
    assert sent([duplicate("p", "q", over=whole(part)), fill("p", over=whole(part))], part) == [Traffic()] * 8


def test_a_loop_of_sweeps_costs_one_message_per_sweep_and_neighbour():
    part = partition((1, 2, 2), (8, 8, 8))
    sweeps = [jacobi(p, "rhs", q, over=whole(part)) for p, q in ("pq", "qp") * 3]
    valid = exchange(sweeps, part, following=sweeps).valid
    item = Traffic(2, 8 * 2 * 8 * 4, 2)
    assert sent(sweeps, part, following=sweeps, valid=valid) == [sum([item] * 6, Traffic())] * 4


def test_what_a_block_copies_within_itself_is_no_traffic():
    part = partition((1, 1, 1), (4, 4, 4), (True, True, True))
    assert sent([jacobi("p", "rhs", "q", over=whole(part))], part) == [Traffic()]


def test_a_block_alone_counts_its_own_part():
    part = partition((2, 3, 2), (6, 6, 8), (False, True, True))
    everywhere = sent([sweep(box(1))("p", "q", over=whole(part))], part)
    for block in range(len(part)):
        assert sent([sweep(box(1))("p", "q", over=whole(part))], part, blocks=[block])[block] == everywhere[block]
