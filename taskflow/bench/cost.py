"""Bytes that a program must move, as counted by `taskflow check`, and its arithmetic operations.

The operations of a kernel are counted by executing it: its text is compiled with a counting number type (`counted.h`).
Additions, subtractions, multiplications and divisions count as one each, as written, if they involve a field.
Operations on constants alone are the same in all cells and not counted, nor are comparisons, selections, signs,
conversions and square roots.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine.device import Lane, cpu
from taskflow.runtime.machine.kernel import KernelError, compile_host
from taskflow.runtime.machine.kernel.call import Layout
from taskflow.runtime.machine.kernel.host_call import host_call
from taskflow.runtime.machine.kernel.kernel import Arguments, HostKernel, side_by_side
from taskflow.runtime.machine.kernel.text import explained
from taskflow.runtime.machine.kernel.texts import text_with_thunk
from taskflow.runtime.regions import Box, Partition, hull, triple
from taskflow.runtime.tasks import Launch, PlacedSweep, Privilege, Program, Roles, Task, plan, visited
from taskflow.runtime.tasks.reading import Way, reading
from taskflow.systems.base.step_cost import often

REAL = np.dtype("f8")
FLAGS = {"u1": "u1", "u2": "u2"}  # integer fields
CELLS = (16, 4, 4)  # of the count: even, for tasks on every other cell
# A single counter, without threads and vectors. Counts need no optimisation, which takes ten times as long.
ALONE = ("-O0", "-fno-openmp", "-fno-openmp-simd")

Done = Sequence[tuple[tuple[Launch, ...], float]]  # launches, and their repetitions


@dataclass(frozen=True)
class Cost:
    """Bytes through memory, and operations, None if a kernel's are unknown."""

    nbytes: float
    operations: float | None


def cost(setup: RunSetup, program: Program, iterations: Mapping[str, float]) -> Cost:
    """Return the cost of a pass on all blocks together.

    `iterations` has the repetitions of each conditional loop, by the name of the scalar that counts them.
    """
    parts, _ = plan(program, Roles.of(tuple(setup.partition.fields)))
    done = list(often(parts, iterations))
    nbytes = sum(times * setup.step_cost.bytes_of(launches) for launches, times in done)
    return Cost(nbytes, _operations(done, setup.partition))


def _operations(done: Done, partition: Partition) -> float | None:
    """Return the operations of all launches, or None if a library does one, or a kernel cannot be counted.

    A kernel may use more of a compiler than arithmetic, and a machine with GPUs may have no compiler for its CPU.
    """
    first = {launch.task: launch for launches, _ in reversed(done) for launch in reversed(launches)}
    if any(task.kernel is None for task in first):
        return None
    try:
        prepare(first)
        known = {task: operations(launch, partition) for task, launch in first.items()}
    except (BadInput, KernelError):
        return None
    return sum(
        times * known[launch.task] * visited(launch, partition) for launches, times in done for launch in launches
    )


def operations(launch: Launch, partition: Partition) -> float:
    """Return the operations per cell of a launch, as the mean over some of its cells.

    Raises BadInput without a C++ compiler, and KernelError if the task has no kernel text or needs built-in numbers.
    """
    lo, hi, swept = launch.over.lo, launch.over.hi, launch.swept
    wide = max(CELLS[0], 2 * (swept[2].tile or CELLS)[0]) if swept else CELLS[0]  # with tiles of both colours
    box = Box(lo, triple(min(hi[a], lo[a] + (wide, *CELLS[1:])[a]) for a in range(3)))
    placed = {swept[0]: PlacedSweep(swept[2], swept[1], box)} if swept else {}
    done = sum(each.volume(box) for each in placed.values()) if placed else box.volume
    kernel, layout = _Counting(launch.task), _layout([box, *_around(box, launch.stencils.values())])
    privileges = launch.task.fields
    foreign = {
        parameter: _layout(_around(box, [reading(name, privileges[parameter], launch, partition)]))
        for parameter, name in launch.foreign.items()
    }
    fields = [
        _unknown(foreign.get(parameter, layout), privilege, np.dtype(FLAGS.get(privilege.precision or "", REAL)))
        for parameter, privilege in privileges.items()
    ]
    scalars = {name: np.array([0.5]) for name in launch.scalars}
    results = {name: np.zeros(1) for name in launch.reductions}
    call = kernel.bind(box, layout, fields, launch.constants | placed, scalars, results, others=foreign)
    counter = ctypes.c_longlong.in_dll(_library(launch.task), "operations")
    counter.value = 0
    call()
    return counter.value / max(1, done)


def prepare(tasks: Iterable[Task]) -> None:
    """Compile the counting kernels of these tasks concurrently. Raises as `operations` does."""
    side_by_side(_library, set(tasks), len(os.sched_getaffinity(0)))


def _around(box: Box, stencils: Iterable[Way]) -> list[Box]:
    """Return the boxes that these stencils read for the cells of a box."""
    return [cells for stencil in stencils for cells in stencil.around(box)]


def _layout(boxes: Sequence[Box]) -> Layout:
    cells = hull(boxes)
    return Layout(cells.lo, cells.shape[::-1])


def _unknown(layout: Layout, privilege: Privilege, dtype: np.dtype) -> np.ndarray:
    """Return an array of NaN, or of 0 for integers."""
    shape, number = layout.of(privilege.values).shape, np.nan if dtype.kind == "f" else 0
    if privilege.together and len(shape) == 4:
        return np.full((*shape[:2], shape[3], shape[2]), number, dtype).swapaxes(2, 3)
    return np.full(shape, number, dtype)


class _Counting(HostKernel):
    """Kernel of a task, compiled to count. Its results are NaN."""

    def __init__(self, task: Task) -> None:
        super().__init__(task, REAL, cpu(1))

    def _call(self, arguments: Arguments, lane: Lane | None) -> Callable[[], None]:
        return host_call(_library(self.task), self.task.symbol, arguments.values, arguments.keep)


@cache
def _library(task: Task) -> Any:
    with explained(task):
        counted = Path(__file__).with_name("counted.h").read_text(encoding="utf-8")
        return compile_host.library(counted + text_with_thunk(task, REAL), ALONE)
