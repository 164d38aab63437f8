"""How far thread blocks march: in the fewest planes times waves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskflow.flow.poisson.jacobi import jacobi, jacobi_twice
from taskflow.machine.device import cpu
from taskflow.machine.kernel import compile_cuda
from taskflow.machine.kernel.kernel import CudaKernel
from taskflow.machine.kernel.march import MORE, PIECES, SHORTEST, WAVES, march
from taskflow.regions import Box

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


@pytest.mark.parametrize(("tiles", "planes", "length"), [(85, 1024, 114), (333, 256, 37), (420, 208, 42)])
def test_a_launch_that_is_cut_has_waves_that_make_up_for_what_others_take_and_edges_of_a_quarter(tiles, planes, length):
    assert march(tiles, planes, ROOM, cut=True) == length
    assert -(-tiles * -(-planes // length) // ROOM) >= WAVES
    assert -(-planes // length) >= PIECES


def test_the_tile_of_a_launch_goes_as_far_as_a_march(monkeypatch):
    """Of two sweeps: tiles of 64 x 16 cells, those on the rim being the neighbours', too; other kernels have none."""
    monkeypatch.setattr(compile_cuda, "room", lambda text, name, threads: ROOM if threads == 512 else 0)
    single, twice, once = np.dtype("f4"), Box.of((512, 512, 256)), Box.of((0, 5, 5))
    kernel = CudaKernel(jacobi_twice, single, cpu(1))
    assert kernel.tile(twice) == (62, 14, march(333, 256, ROOM))
    assert kernel.tile(twice, cut=True) == (62, 14, march(333, 256, ROOM, cut=True))
    assert kernel.tile(once) == (62, 14, 5)
    assert CudaKernel(jacobi, single, cpu(1)).tile(twice) is None


@given(st.integers(1, 5000), st.integers(1, 3000), st.integers(1, 1000), st.booleans())
def test_no_other_number_of_marches_costs_less(tiles, planes, room, cut):
    length = march(tiles, planes, room, cut=cut)
    assert 1 <= length <= planes
    others = [-(-planes // count) for count in range(1, max(1, planes // SHORTEST) + 1)]
    assert length in others
    if cut:
        others = [other for other in others if -(-tiles * -(-planes // other) // room) >= WAVES] or others
        others = [other for other in others if -(-planes // other) >= PIECES] or others
    assert cost(tiles, planes, room, length) == min(cost(tiles, planes, room, other) for other in others)
