"""How far thread blocks march: in the fewest planes times waves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskflow.machine.kernel.march import CUT, MORE, SHORTEST, march

ROOM = 264  # thread blocks of two sweeps in single precision that an H200 does at once


def cost(tiles, planes, room, length):
    return -(-tiles * -(-planes // length) // room) * (length + MORE)


@pytest.mark.parametrize(
    ("tiles", "planes", "length"),
    [(420, 208, 42), (210, 416, 84), (85, 128, 43), (85, 256, 86), (95, 256, 32), (170, 512, 171)],
)
def test_what_was_fastest_on_an_h200(tiles, planes, length):
    """Among 1 to 64 marches one behind the other, measured (docs/performance.md)."""
    assert march(tiles, planes, ROOM) == length


def test_a_launch_that_is_cut_has_waves_that_make_up_for_what_others_take():
    length = march(85, 1024, ROOM, CUT)
    assert -(-85 * -(-1024 // length) // ROOM) == CUT
    assert march(85, 1024, ROOM) > length


@given(st.integers(1, 5000), st.integers(1, 3000), st.integers(1, 1000), st.integers(1, 4))
def test_no_other_number_of_marches_costs_less(tiles, planes, room, waves):
    length = march(tiles, planes, room, waves)
    assert 1 <= length <= planes
    others = [-(-planes // count) for count in range(1, max(1, planes // SHORTEST) + 1)]
    enough = [other for other in others if -(-tiles * -(-planes // other) // room) >= waves]
    assert cost(tiles, planes, room, length) == min(cost(tiles, planes, room, other) for other in enough or others)
    assert not enough or length in enough
