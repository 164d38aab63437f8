"""Sweeps as kernels take them, and the thread blocks that do them (`sweep.h`, `sweep_whole.h`)."""

from __future__ import annotations

import numpy as np

from taskflow.runtime.machine.device import Array, Device
from taskflow.runtime.machine.kernel.agreement import KernelError
from taskflow.runtime.machine.kernel.call import WARP
from taskflow.runtime.regions import Box, Triple
from taskflow.runtime.tasks import PlacedSweep, SingleSweep, WholeSweep

# struct Sweep of sweep.h
SWEEP = np.dtype(
    [(name, np.intc, 3) for name in ("first", "last", "tile")]
    + [("colour", np.intc)]
    + [(name, np.uint64) for name in ("passed", "alarm", "patience")],
    align=True,
)
COLUMNS = 64  # of cells that a thread block sweeps at once, at most: a tile has as many
WIDE = 8  # of them beside each other along y, where there are several along z
WORDS, TICKET = 8, 0  # words of a bundle, and as many besides, of which the ticket is one, see sweep_whole.h
PATIENCE = 20.0  # seconds that a thread block waits for another one


def sweep_of(placed: PlacedSweep) -> np.ndarray:
    """The struct Sweep, without what thread blocks that pass a sweep on need."""
    memory, colour = np.zeros((), SWEEP), placed.sweep.colour
    memory["first"], memory["last"], memory["tile"] = placed.within.lo, placed.within.hi, placed.tile
    memory["colour"] = -1 if colour is None else colour
    return memory


def passed_on(placed: PlacedSweep, threads: int, rows: int, device: Device) -> tuple[np.ndarray, list[Array]]:
    """The struct Sweep of a launch on a GPU whose thread blocks have at most so many threads, so many for a cell, and
    the memory that it leads to.
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
    """The cells along x, y and z that a thread block does of a sweep through a whole chart: columns along x, of whole
    warps, beside the warp that passes it on. Raises KernelError where there is no room for both.
    """
    unit, (x, _, z) = max(WIDE, WARP // rows), placed.tile
    columns = min(COLUMNS, (threads - WARP) // rows // unit * unit)
    if columns < unit:
        needed = WARP + unit * rows
        raise KernelError(f"a sweep through a whole chart needs thread blocks of {needed} threads: #define BX {needed}")
    wide = columns if z == 1 else WIDE
    return x, wide, columns // wide


def swept_shape(box: Box, placed: PlacedSweep, threads: int, rows: int) -> tuple[Triple, Triple]:
    """(blocks, threads per block) that sweep a box, at most so many threads, and so many for a cell: a thread block per
    tile, of a row of tiles with colours per two; per bundle of a whole chart; or per so many single cells of a plane.
    """
    usual = min(COLUMNS * rows, threads)
    if isinstance(placed.sweep, WholeSweep):
        _, y, z = bundle(placed, threads, rows)
        return (_bundles(placed, threads, rows), 1, 1), (y * z * rows + WARP, 1, 1)
    if isinstance(placed.sweep, SingleSweep):
        x, y, z = box.shape
        across = x if placed.sweep.colour is None else -(-x // 2)
        return (-(-across * y * rows // usual), 1, z), (usual, 1, 1)
    x, y, z = (len(along) for along in placed.numbers(box))
    return (x if placed.sweep.colour is None else -(-x // 2), y, z), (usual, 1, 1)


def _bundles(placed: PlacedSweep, threads: int, rows: int) -> int:
    """How many thread blocks share a whole chart."""
    _, across, down = (-(-n // m) for n, m in zip(placed.tile, bundle(placed, threads, rows), strict=True))
    return across * down
