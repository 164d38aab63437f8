"""Cells that travel axis after axis between many blocks: six messages of a block instead of 26, with the same cells."""

import pytest

from taskflow.runtime.regions import Box
from taskflow.runtime.regions import partition as partitions
from taskflow.runtime.tasks import Claim, Receive, Send, analyse, box, exchange, offsets

from ..regions.cells import cells
from .known import fill, jacobi, partition, whole
from .palette import sweep

MIDDLE = 13  # of 3 x 3 x 3 blocks


@pytest.fixture
def many(monkeypatch):
    """Few blocks count as many."""
    monkeypatch.setattr(partitions, "FEW", 0)


def messages(launches, part, block):
    """The messages from and to a block."""
    moments = exchange(launches, part, blocks=[block]).messages.values()
    travelling = [message for moment in moments for message in moment if message.source != message.target]
    return [m for m in travelling if m.source == block], [m for m in travelling if m.target == block]


@pytest.mark.parametrize("periodic", [False, True])
def test_a_box_needs_six_messages_in_three_turns(many, periodic):
    part = partition((3, 3, 3), (6, 9, 6), (periodic,) * 3)
    sent, received = messages([sweep(box(1))("p", "q", over=whole(part))], part, MIDDLE)
    turns = [(4, 2), (10, 1), (12, 0), (14, 0), (16, 1), (22, 2)]
    assert sorted((m.target, m.turn) for m in sent) == sorted((m.source, m.turn) for m in received) == turns
    filled = [cell for m in received for _, copy in m.copies for cell in cells(copy.target_box)]
    assert len(filled) == len(set(filled))
    assert set(filled) == cells(part.blocks[MIDDLE].grow(1)) - cells(part.blocks[MIDDLE])


def test_a_block_gets_no_more_cells_than_directly(monkeypatch):
    part, received = partition((3, 3, 3), (6, 9, 6)), []
    for few in (0, 64):
        monkeypatch.setattr(partitions, "FEW", few)
        received.append(messages([sweep(box(1))("p", "q", over=whole(part).grow(-1))], part, MIDDLE)[1])
    assert [len(some) for some in received] == [6, 26]
    assert len({sum(message.cells for message in some) for some in received}) == 1


def test_few_blocks_send_all_at_once():
    part = partition((4, 4, 4), (8, 8, 8))
    sent, _ = messages([sweep(box(1))("p", "q", over=whole(part))], part, 21)
    assert [message.turn for message in sent] == [0] * 26
    assert not part.relayed
    assert partition((5, 4, 4), (10, 8, 8)).relayed
    assert not partition((1, 1, 80), (4, 4, 80)).relayed  # slabs meet at faces only


def test_faces_travel_at_once(many):
    part = partition((3, 3, 3), (6, 9, 6))
    sent, _ = messages([jacobi("p", "rhs", "q", over=whole(part))], part, MIDDLE)
    assert [message.turn for message in sent] == [0] * 6


def test_what_the_neighbour_does_not_lack_comes_from_its_owner(many):
    part = partition((2, 1, 2), (4, 4, 4))
    launches = [sweep(offsets(x=(1, 1), z=(-1, -1)))("p", "q", over=Box((0, 0, 2), (3, 4, 4)))]
    assert [(m.source, m.turn) for m in messages(launches, part, 2)[1]] == [(0, 0), (1, 0), (3, 0)]


def test_a_block_claims_what_it_passes_on_after_it_has_it(many):
    part = partition((2, 2, 2), (4, 6, 4))
    launches = [fill("p", over=whole(part)), sweep(box(1))("p", "q", over=whole(part))]
    graph = analyse(launches, part, blocks=[0]).graph
    kinds = [(type(node), node.message.turn) for node in graph.nodes if isinstance(node, Claim | Send | Receive)]
    assert kinds == [(kind, turn) for turn in range(3) for kind in (Claim, Send, Receive)]
    [last] = [n for n, node in enumerate(graph.nodes) if isinstance(node, Send) and node.message.turn == 2]
    brought = {n for n, node in enumerate(graph.nodes) if isinstance(node, Receive) and node.message.turn < 2}
    assert brought <= graph.waits[last]


def test_several_fields_share_their_messages(many):
    part = partition((3, 3, 3), (6, 9, 6))
    launches = [sweep(box(1))(*fields, over=whole(part)) for fields in (("p", "q"), ("r", "rhs"))]
    assert [len(some) for some in messages(launches, part, MIDDLE)] == [6, 6]
