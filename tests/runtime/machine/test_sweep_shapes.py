"""Thread blocks of sweeps on a GPU: every cell is in one, and blocks of a whole chart have room to pass it on."""

import ctypes

import pytest

from taskflow.common.errors import RunFailed
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.kernel.agreement import KernelError
from taskflow.runtime.machine.kernel.call import WARP
from taskflow.runtime.machine.kernel.sweeping import COLUMNS, WORDS, bundle, passed_on, sweep_of, swept_shape
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import PlacedSweep, PlaneSweep, SingleSweep, WholeSweep, sweeps


def placed(sweep, shape, direction="up"):
    return PlacedSweep(sweep, direction, Box.of(shape))


@pytest.mark.parametrize(("shape", "threads", "rows", "expected"), [
    ((40, 64, 64), 544, 1, (40, 8, 8)),
    ((40, 64, 1), 544, 1, (40, 64, 1)),
    ((40, 64, 64), 544, 8, (40, 8, 8)),
    ((40, 64, 64), 160, 4, (40, 8, 4)),
    ((40, 64, 1), 160, 4, (40, 32, 1)),
])  # fmt: skip
def test_bundles_fill_warps_next_to_the_one_that_passes_on(shape, threads, rows, expected):
    """As many columns as a tile has, or as the threads permit."""
    x, y, z = bundle(placed(WholeSweep(None), shape), threads, rows)
    assert (x, y, z) == expected
    assert y * z <= COLUMNS
    assert (y * z * rows) % WARP == 0
    assert y * z * rows + WARP <= threads


def test_a_bundle_that_has_no_room_says_what_it_needs():
    with pytest.raises(KernelError, match=r"needs thread blocks of 96 threads: #define BX 96"):
        bundle(placed(WholeSweep(None), (8, 8, 8)), 64, 8)


@pytest.mark.parametrize("shape", [(9, 17, 3), (64, 8, 8), (5, 1, 1), (7, 20, 1)])
@pytest.mark.parametrize("ordering", ["tiles", "colours", "hyperplanes", "jacobi"])
def test_thread_blocks_hold_all_cells_of_a_box(ordering, shape):
    """Those of one colour hold half of the tiles of each row, rounded up."""
    threads, rows = 544, 4
    for sweep in sweeps(ordering, "up", (8, 4, 4)):
        where = placed(sweep, shape)
        (bx, by, bz), (tx, ty, tz) = swept_shape(where.within, where, threads, rows)
        assert (ty, tz) == (1, 1)
        assert tx <= threads
        halves = 1 if sweep.colour is None else 2
        if isinstance(sweep, WholeSweep):
            _, y, z = bundle(where, threads, rows)
            assert bx == -(-shape[1] // y) * -(-shape[2] // z)
            assert tx == y * z * rows + WARP
        elif isinstance(sweep, SingleSweep):
            assert bz == shape[2]
            assert (bx - 1) * tx < -(-shape[0] // halves) * shape[1] * rows <= bx * tx
        else:
            tiles = [-(-n // m) for n, m in zip(shape, (8, 4, 4), strict=True)]
            assert (bx, by, bz) == (-(-tiles[0] // halves), tiles[1], tiles[2])


def test_a_plane_has_the_cells_of_one_row_at_most():
    """i follows from j, k and the plane."""
    sweep = PlaneSweep(plane=5)
    (bx, by, bz), (tx, _, _) = swept_shape(Box.of((9, 17, 3)), placed(sweep, (9, 17, 3)), 256, 1)
    assert (by, bz) == (1, 3)
    assert bx * tx >= 17
    assert sweep_of(placed(sweep, (9, 17, 3)))["colour"] == 5


def test_only_a_whole_chart_is_passed_on_by_memory():
    """Zeros, for each bundle and the ticket, and where to raise the alarm."""
    device = cpu()
    for sweep in (*sweeps("tiles", "up"), *sweeps("jacobi", "up")):
        struct, memory = passed_on(placed(sweep, (8, 8, 8)), 544, 1, device)
        assert memory == []
        assert struct["passed"] == 0
    struct, (words,) = passed_on(placed(WholeSweep(None), (8, 20, 9), "down"), 544, 1, device)
    assert words.size == WORDS * (1 + 3 * 2)
    assert not words.any()
    assert struct["passed"] == words.ctypes.data
    assert [*struct["tile"]] == [8, 8, 8]
    ctypes.c_uint32.from_address(int(struct["alarm"])).value = 2
    with pytest.raises(RunFailed, match="thread block 2 timed out"):
        device.alarm.check()
    assert [*struct["last"]] == [8, 20, 9]
