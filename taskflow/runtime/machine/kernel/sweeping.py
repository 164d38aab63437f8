"""Sweeps as kernels take them, and their thread blocks (`sweep.h`, `sweep_whole.h`)."""

from __future__ import annotations

import numpy as np

from taskflow.runtime.machine.device import Array, Device
from taskflow.runtime.machine.kernel.agreement import KernelError
from taskflow.runtime.machine.kernel.call import WARP
from taskflow.runtime.regions import Box, Triple
from taskflow.runtime.tasks import PlacedSweep, PlaneSweep, SingleSweep, WholeSweep

# struct Sweep of sweep.h
SWEEP = np.dtype(
    [(name, np.intc, 3) for name in ("first", "last", "tile")]
    + [("colour", np.intc)]
    + [(name, np.uint64) for name in ("passed", "alarm", "patience")],
    align=True,
)
COLUMNS = 64  # most columns of cells that a thread block sweeps at a time: as many as a tile has
WIDE = 8  # columns side by side along y, if several along z
WORDS, TICKET = 8, 0  # words per bundle, and as many for the launch, including the ticket, see sweep_whole.h
PATIENCE = 20.0  # seconds that a thread block waits for another one


def sweep_of(placed: PlacedSweep) -> np.ndarray:
    """Return the struct Sweep, without the members for thread blocks that pass a sweep on."""
    memory = np.zeros((), SWEEP)
    memory["first"], memory["last"], memory["tile"] = placed.within.lo, placed.within.hi, placed.tile
    memory["colour"] = placed.sweep.number
    return memory


def passed_on(placed: PlacedSweep, threads: int, rows: int, device: Device) -> tuple[np.ndarray, list[Array]]:
    """Return the struct Sweep of a launch on a GPU with at most `threads` threads per block and `rows` threads per
    cell, and the memory that it refers to.
    """
    sweep = sweep_of(placed)
    if not isinstance(placed.sweep, WholeSweep):
        return sweep, []
    sweep["tile"] = bundle(placed, threads, rows)
    words = device.allocate((WORDS * (1 + _bundles(placed, threads, rows)),), "u4")
    sweep["passed"], sweep["alarm"] = device.pointer(words), device.alarm.pointer
    sweep["patience"] = int(PATIENCE * 1e9)
    return sweep, [words]


def bundle(placed: PlacedSweep, threads: int, rows: int) -> Triple:
    """Return the cells along x, y and z of a thread block in a sweep through a whole chart: columns along x, in whole
    warps, in addition to the warp that passes the sweep on. Raises KernelError if a thread block is too small.
    """
    unit, (x, _, z) = max(WIDE, WARP // rows), placed.tile
    columns = min(COLUMNS, (threads - WARP) // rows // unit * unit)
    if columns < unit:
        needed = WARP + unit * rows
        raise KernelError(f"a sweep through a whole chart needs thread blocks of {needed} threads: #define BX {needed}")
    wide = columns if z == 1 else WIDE
    return x, wide, columns // wide


def swept_shape(box: Box, placed: PlacedSweep, threads: int, rows: int) -> tuple[Triple, Triple]:
    """Return (blocks, threads per block) that sweep a box, with at most `threads` threads per block and `rows` threads
    per cell.

    One thread block per tile, or per two tiles of a row if the sweep has colours; per bundle of a whole chart; or per
    group of single cells of a plane.
    """
    usual = min(COLUMNS * rows, threads)
    if isinstance(placed.sweep, WholeSweep):
        _, y, z = bundle(placed, threads, rows)
        return (_bundles(placed, threads, rows), 1, 1), (y * z * rows + WARP, 1, 1)
    if isinstance(placed.sweep, SingleSweep):
        x, y, z = box.shape
        across = 1 if isinstance(placed.sweep, PlaneSweep) else x if placed.sweep.colour is None else -(-x // 2)
        return (-(-across * y * rows // usual), 1, z), (usual, 1, 1)
    x, y, z = (len(along) for along in placed.numbers(box))
    return (x if placed.sweep.colour is None else -(-x // 2), y, z), (usual, 1, 1)


def _bundles(placed: PlacedSweep, threads: int, rows: int) -> int:
    """Return the number of thread blocks that share a whole chart."""
    _, across, down = (-(-n // m) for n, m in zip(placed.tile, bundle(placed, threads, rows), strict=True))
    return across * down
