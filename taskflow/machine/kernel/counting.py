"""The arithmetic of a kernel, counted by doing it: its text is compiled with a number that counts what becomes of it.

Additions, subtractions, multiplications and divisions count as one each, as the text has them, where a field has a part
in them: what follows from constants alone is the same in all cells. Comparisons, choices, signs, conversions and square
roots do not count.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from taskflow.machine.device import Lane, cpu
from taskflow.machine.kernel import compile_host
from taskflow.machine.kernel.call import Value, host_call
from taskflow.machine.kernel.kernel import HostKernel, Layout, side_by_side, text_with_thunk
from taskflow.machine.kernel.text import INCLUDE, explained
from taskflow.regions import Box, Partition, Triple, hull, triple
from taskflow.tasks import Launch, Stencil, Task
from taskflow.tasks.reading import Projected, reading

REAL = np.dtype("f8")
CELLS = (16, 4, 4)  # that are counted in: even, for tasks that do every other cell
ALONE = ("-fno-openmp", "-fno-openmp-simd")  # the counter is one number, for one thread and no vector


def operations(launch: Launch, partition: Partition) -> float:
    """Operations per cell of a launch: the mean over some of its cells.

    Raises BadInput where there is no C++ compiler, and KernelError where the task has no kernel text or that uses
    something that only built-in numbers can do.
    """
    lo, hi = launch.over.lo, launch.over.hi
    box = Box(lo, triple(min(hi[a], lo[a] + CELLS[a]) for a in range(3)))
    kernel, layout = _Counting(launch.task), _layout([box, *_around(box, launch.stencils.values())])
    privileges = launch.task.fields
    foreign = {
        parameter: _layout(_around(box, [reading(name, privileges[parameter], launch, partition)]))
        for parameter, name in launch.foreign.items()
    }
    fields = [
        _unknown(foreign.get(parameter, layout), np.dtype(privilege.precision or REAL))
        for parameter, privilege in privileges.items()
    ]
    scalars = {name: np.array([0.5]) for name in launch.scalars}
    results = {name: np.zeros(1) for name in launch.reductions}
    call = kernel.bind(box, layout, fields, launch.constants, scalars, results, foreign=foreign)
    counter = ctypes.c_longlong.in_dll(_library(launch.task), "operations")
    counter.value = 0
    call()
    return counter.value / box.volume


def prepare(tasks: Iterable[Task]) -> None:
    """Compile what counts the operations of these tasks, side by side. Raises as `operations` does."""
    side_by_side(_library, set(tasks), len(os.sched_getaffinity(0)))


def _around(box: Box, stencils: Iterable[Stencil | Projected]) -> list[Box]:
    """What is read by these stencils for the cells of a box."""
    return [cells for stencil in stencils for cells in stencil.around(box)]


def _layout(boxes: Sequence[Box]) -> Layout:
    """Memory for all these cells."""
    cells = hull(boxes)
    return Layout(cells.lo, cells.shape[::-1])


def _unknown(layout: Layout, dtype: np.dtype) -> np.ndarray:
    """An array of NaN, or of 0 where numbers are whole."""
    return np.full(layout.shape, np.nan if dtype.kind == "f" else 0, dtype)


class _Counting(HostKernel):
    """The kernel of a task, compiled to count. What it computes is NaN."""

    def __init__(self, task: Task) -> None:
        super().__init__(task, REAL, cpu(1))

    def _call(
        self, box: Box, values: list[Value], lane: Lane | None, keep: object, tile: Triple | None
    ) -> Callable[[], None]:
        return host_call(_library(self.task), self.task.symbol, values, keep)


@cache
def _library(task: Task) -> Any:
    with explained(task):
        counted = (INCLUDE / "counted.h").read_text(encoding="utf-8")
        return compile_host.library(counted + text_with_thunk(task, REAL), ALONE)
