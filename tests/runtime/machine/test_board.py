"""Where blocks post on each other's boards, and where the packed cells of messages go, as both ends work it out."""

from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import pytest

from taskflow.runtime.machine.direct import exchange
from taskflow.runtime.machine.direct.board import NUMBER, NUMBERS, SHARE, Board, Inboxes
from taskflow.runtime.machine.direct.exchange import DirectExchange
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Message

WHERE = {0: 1 << 20, 1: 1 << 30}  # where each block sees the board of block 1
FIELDS = FieldSpace([Field("a", "f4"), Field("b", "f8"), Field("c", "f4")])


def near(partition, block):
    """A neighbourhood of paper."""
    boards = {n: Board(2, WHERE[block] if n == 1 else 512) for n in range(2)}
    return SimpleNamespace(
        partition=partition, block=block, boards=boards, board=boards[block], inboxes=Inboxes(partition),
        instances=SimpleNamespace(dtype=lambda name: np.dtype(partition.region.fields[name].dtype),
                                  source=lambda name, copy: (name, copy.source_box),
                                  target=lambda name, copy: (name, copy.target_box), fields=partition.region.fields),
        fields={1: SimpleNamespace(target=lambda name, copy: (name, copy.target_box))},
        watch=SimpleNamespace(argument=None), device=SimpleNamespace(xp=None, ordinal=0),
    )  # fmt: skip


@pytest.fixture
def ends(monkeypatch):
    """What the source and the target of messages from block 0 to block 1 make of them."""
    monkeypatch.setattr(exchange, "view", lambda xp, place, shape, dtype, *_: (place, shape, dtype))
    partition = Partition(Region(Box.of((6, 3, 5)), FIELDS, ghost=1), (2, 1, 1))
    copies = [copy for copy in partition.sources(1, [Box((2, 0, 0), (3, 3, 5))]) if copy.source == 0]
    parts = tuple((name, copy) for copy in copies for name in FIELDS)
    messages = [Message(0, 1, number, parts) for number in range(3)]
    return [DirectExchange(near(partition, block), reversed(messages)) for block in (0, 1)], messages, partition


def test_both_ends_agree_where_packed_cells_are(ends):
    (source, target), messages, _ = ends
    for message in messages:
        sent = [place for place, _ in source.copies(message)]
        got = [place for _, place in target.unpack(message)]
        assert len(sent) == len(got) == 3
        for (here, shape, dtype), (present, *same) in zip(sent, got, strict=True):
            assert (here - WHERE[0], [shape, dtype]) == (present - WHERE[1], same)


def test_packed_cells_begin_where_their_numbers_may_and_lie_apart(ends):
    """Fifteen numbers of four bytes end where no number of eight may begin."""
    (source, _), messages, partition = ends
    places = sorted(
        (place, place + int(np.prod(shape)) * dtype.itemsize, dtype.itemsize)
        for message in messages for (place, shape, dtype), _ in source.copies(message)
    )  # fmt: skip
    assert all(first % size == 0 for first, _, size in places)
    assert all(last <= first for (_, last, _), (first, *_) in pairwise(places))
    room = Board(2).nbytes + WHERE[0]
    assert room <= places[0][0] < places[-1][1] <= room + Inboxes(partition).nbytes(1)


def test_narrow_blocks_do_not_live_for_their_inboxes():
    """Blocks of six columns of which each has memory for all cells, as for a transpose."""
    space = Region(Box.of((48, 1024, 512)), FieldSpace([Field("a")]), (True, True, True))
    narrow = Partition(space, (8, 1, 1), reach=(space.cells,) * 8)
    assert all(0 < Inboxes(narrow).nbytes(block) <= narrow.nbytes(block) / SHARE + 8 * 512 for block in range(8))


def test_no_two_all_reduces_share_a_place():
    """A pass may end with an all-reduce of one number and the next begin with one of many."""
    board = Board(3, pointer=512)
    places = [
        board.share(fold, block) + NUMBER * 3 * (2 * number + half)
        for fold, number, half, block in product(range(4), range(NUMBERS), range(2), range(3))
    ]
    assert len(set(places)) == len(places) == 4 * NUMBERS * 2 * 3
    assert max(places) < board.shared(0, 0)
