"""How far thread blocks march: so that the last one of them ends early."""

import heapq

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskflow.runtime.machine.kernel.call import AGAIN, COPIES, LONGEST, SHORTEST, WAVES, end, march, marches
from taskflow.runtime.regions import Box

ROOM = 264  # thread blocks of two sweeps in single precision that an H200 does at once
WHOLE, CUT = Box.of((512, 512, 256)), Box((0, 0, 1), (512, 512, 254))
boxes = st.tuples(st.integers(1, 2000), st.integers(1, 3000), st.integers(64, 1000))


@pytest.mark.parametrize(
    ("tiles", "planes", "length"),
    [(420, 208, 168), (333, 256, 82), (85, 1024, 166), (210, 416, 167), (95, 256, 47), (85, 256, 84)],
)
def test_what_was_fastest_on_an_h200(tiles, planes, length):
    """Within 1.5 % of the best of some twenty lengths each, measured (docs/notes/performance_log.md)."""
    assert march(tiles, planes, ROOM) == length


@pytest.mark.parametrize(("tiles", "planes", "length"), [(420, 208, 67), (333, 256, 82), (85, 1024, 84)])
def test_what_was_fastest_beside_copies(tiles, planes, length):
    """Within 1 % of the best, with one edge."""
    assert march(tiles, planes, ROOM, 1) == length


@given(st.lists(st.tuples(st.integers(1, 90), st.integers(1, 90)), max_size=6), st.integers(1, 50))
def test_each_thread_block_begins_when_one_before_it_ends(pieces, room):
    busy = [0] * room
    for planes in (planes for count, planes in pieces for _ in range(count)):
        heapq.heapreplace(busy, busy[0] + planes)
    assert end(tuple(pieces), room) == max(busy)


@settings(max_examples=50)
@given(boxes)
def test_no_march_that_is_not_too_long_ends_earlier(box):
    tiles, planes, room = box
    length = march(tiles, planes, room)
    assert min(SHORTEST, planes) <= length <= min(LONGEST, planes)
    others = np.linspace(min(SHORTEST, planes), min(LONGEST, planes), 12).astype(int).tolist()
    result = [end(marches(tiles, planes, item), room) for item in (length, *others)]
    assert result[0] == min(result)


@given(boxes, st.sampled_from((0, 1, 2)))
def test_half_of_a_launch_that_is_cut_comes_behind_its_edges(box, edges):
    tiles, planes, room = box
    length = march(tiles, planes, room, edges)
    assert length >= min(SHORTEST, planes)
    if length > SHORTEST:
        assert 2 * edges * length <= planes
        assert tiles * planes >= WAVES * room * length


def test_a_march_that_is_cut_has_room_for_what_copies_displace():
    """Five marches of 42 planes and less fill 7.95 waves: who has to wait for a copy keeps others waiting."""
    alone, beside = (end((*ahead, *marches(420, 208, 42)), ROOM) for ahead in ((), (COPIES,)))
    assert beside > alone > 7 * (42 + AGAIN)
    assert march(420, 208, ROOM, 2) != 42


@given(boxes, st.integers(1, 3000))
def test_marches_cover_the_box(box, length):
    tiles, planes, _ = box
    pieces = marches(tiles, planes, length)
    assert len(pieces) == -(-planes // length)
    assert {count for count, _ in pieces} == {tiles}
    assert sum(deep - AGAIN for _, deep in pieces) == planes
