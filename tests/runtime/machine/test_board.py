"""Where blocks post on each other's boards."""

from itertools import product

from taskflow.runtime.machine.direct.board import NUMBER, NUMBERS, Board


def test_no_two_all_reduces_share_a_place():
    """A pass may end with an all-reduce of one number and the next begin with one of many."""
    board = Board(3, pointer=512)
    places = [
        board.share(fold, block) + NUMBER * 3 * (2 * number + half)
        for fold, number, half, block in product(range(4), range(NUMBERS), range(2), range(3))
    ]
    assert len(set(places)) == len(places) == 4 * NUMBERS * 2 * 3
    assert max(places) < board.shared(0, 0)
