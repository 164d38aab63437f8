"""Kernels: the text of a task, compiled for a device and bound to the memory of a block."""

from __future__ import annotations

import math
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from taskflow.runtime.machine.device import Array, Device, Lane
from taskflow.runtime.machine.kernel import compile_cuda, compile_host
from taskflow.runtime.machine.kernel.call import (
    PARTIAL,
    Value,
    address,
    cuda_call,
    cuda_shape,
    host_call,
    range_of,
    strided_field,
    sweep_of,
    swept_shape,
    table_address,
    thunk,
    tiled_shape,
)
from taskflow.runtime.machine.kernel.march import march
from taskflow.runtime.machine.kernel.parameters import parameters
from taskflow.runtime.machine.kernel.text import complete, defined, explained, packed
from taskflow.runtime.regions import Box, Triple
from taskflow.runtime.tasks import PlacedSweep, Task

BUNDLE = 16  # rows that a reduction on a CPU folds into one part, as in visit_host.h
BX, BY = 128, 4  # the largest thread blocks of a kernel that defines none of its own
COMPILERS = 16  # at once, at most
COLUMNS = 64  # threads of a thread block that sweeps, at most: a tile has as many columns of cells
Made = tuple[Task, np.dtype, str]  # a task in a precision, for a kind of device
Tile = Triple | PlacedSweep | None  # what a thread block does of a launch: so many cells, or a tile of a sweep
_lock = threading.RLock()
_made: set[Made] = set()


@dataclass(frozen=True)
class Layout:
    """The memory of fields: C-ordered arrays [z, y, x] or [z, y, value, x] whose first element is the cell `origin`."""

    origin: Triple
    shape: tuple[int, ...]
    step: int = 1  # elements from a cell to the next one along x

    def of(self, values: int, private: bool) -> Layout:
        """The same of fields with so many values per cell, which lie behind each other in private ones."""
        between = () if values == 1 else (values,)
        return Layout(self.origin, (*self.shape[:2], *between, self.shape[2]), values if private else 1)

    @cached_property
    def box(self) -> Box:
        """The cells that have memory."""
        return Box(self.origin, self.origin).expand((0, 0, 0), (self.shape[-1], self.shape[1], self.shape[0]))

    @property
    def offset(self) -> int:
        """Elements from the cell (0, 0, 0) to the first one in memory."""
        x, y, z = self.origin
        return self.step * x + math.prod(self.shape[2:]) * (y + self.shape[1] * z)


class Kernel(ABC):
    """A task compiled for a device in single or double precision."""

    def __init__(self, task: Task, real: np.dtype, device: Device) -> None:
        self.task, self.real, self.device = task, real, device

    def bind(
        self,
        box: Box,
        layout: Layout,
        arrays: Sequence[Array],
        constants: Mapping[str, Any],
        scalars: Mapping[str, Array],
        results: Mapping[str, Array] | None = None,
        lane: Lane | None = None,
        others: Mapping[str, Layout] | None = None,
        tile: Triple | None = None,
        *,
        further: bool = False,
    ) -> Callable[[], None]:
        """An operation that does the task in the cells of `box`; where the kernel has tiles, in those of a size, by
        default `tile(box)`.

        `arrays` are the fields in the order of the task's parameters; `others` have a layout of their own, by
        parameter: those that are foreign or private. `constants`, `scalars` (arrays of one float64 that are read) and
        `results` (arrays of one float64 that receive a reduction's value over the box) are by parameter. On a GPU the
        operation is a launch on `lane`, by default on the stream that is current when it is called. If `further`, what
        is reduced is folded into what the results hold.
        Raises ValueError where the task would touch cells without memory, or an array is not as the kernel takes it.
        """
        places = dict.fromkeys(self.task.fields, layout) | dict(others or {})
        layouts = {name: places[name].of(each.values, each.unshared) for name, each in self.task.fields.items()}
        self._check(box, layouts, arrays)
        tile = tile or self.tile(box)
        values: list[Value] = [range_of(box, layout.shape, self.device.threads, tile[2] if tile else 0)]
        for (name, privilege), array in zip(self.task.fields.items(), arrays, strict=True):
            first = self.device.pointer(array) - layouts[name].offset * array.dtype.itemsize
            own = privilege.precision is not None and self.task.base.fields[name].precision == "any"
            strided = own or privilege.foreign or privilege.values > 1
            field = strided_field(first, layouts[name].shape, private=privilege.unshared)
            values.append(field if strided else address(first))
        keep: list[Array] = [*arrays]
        for name in self.task.keywords:
            if isinstance(constant := constants.get(name), PlacedSweep):
                values.append(sweep_of(constant))
                continue
            if name in self.task.constants:
                table = partial(table_address, real=self.real, device=self.device)
                values.append(packed(constants[name], self.real, table))
                continue
            several = self.task.numbers.get(name)
            names = several.of(name) if several else (name,)
            if names[0] in self.task.scalars:
                pointers = np.array([address(self.device.pointer(scalars[each])) for each in names])
                values.append(pointers if several else pointers[0])
                keep += [scalars[each] for each in names]
            else:
                memory = [self._memory((results or {})[each], self._parts(box, tile)) for each in names]
                partials = [tuple(map(self.device.pointer, each)) for each in memory]
                values.append(np.array([(*each, each[0] if further else 0) for each in partials], PARTIAL))
                keep += memory
        if not box and not self.task.reductions:
            return _nothing
        sweep = next((each for each in constants.values() if isinstance(each, PlacedSweep)), tile)
        return self._call(box, values, lane, keep, sweep)

    def tile(self, cells: Box, middle: Box | None = None) -> Triple | None:
        """The cells that a thread block does of a launch over some cells, where a text has tiles: of one that is whole,
        or cut into a `middle` and edges.
        """
        return None

    def _memory(self, result: Array, parts: int) -> tuple[Array, Array, Array]:
        """Return the memory of a number that is reduced: the result, its parts, and the ticket."""
        return result, self.device.allocate((parts,), "f8"), self.device.allocate((1,), "u4")

    @abstractmethod
    def _parts(self, box: Box, tile: Triple | None) -> int:
        """Return how many values a reduction over the box folds at its end."""

    @abstractmethod
    def _call(
        self, box: Box, values: list[Value], lane: Lane | None, keep: object, tile: Tile
    ) -> Callable[[], None]:
        """The operation, with these values for the parameters."""

    def _check(self, box: Box, layouts: Mapping[str, Layout], arrays: Sequence[Array]) -> None:
        for (name, privilege), array in zip(self.task.fields.items(), arrays, strict=True):
            layout = layouts[name]
            own = privilege.precision
            real = self.real if own in (None, "any") else np.dtype(own)
            rows = array.swapaxes(2, -1) if privilege.unshared else array  # the values of a cell are neighbours there
            if array.shape != layout.shape or array.dtype != real or not rows.flags.c_contiguous:
                actual, expected = f"{array.dtype} {array.shape}", f"{real} {layout.shape} in C order"
                raise ValueError(f"{self.task.name}: {name} is {actual}, not {expected}")
            around = privilege.reads and not privilege.swept  # beyond tiles that are alone a sweep touches nothing
            touched = (box, *(privilege.stencil.around(box) if around else ()))
            for cells in () if privilege.foreign else touched:
                if cells not in layout.box:
                    where = f"{name} in {cells}; there is memory for {layout.box}"
                    raise ValueError(f"{self.task.name} over {box} touches {where}")


class HostKernel(Kernel):
    """A kernel in a shared library that the host compiler made."""

    def _parts(self, box: Box, tile: Triple | None) -> int:
        return _host_parts(box)

    def _call(
        self, box: Box, values: list[Value], lane: Lane | None, keep: object, tile: Tile
    ) -> Callable[[], None]:
        return host_call(compile_host.library(text_with_thunk(self.task, self.real)), self.task.symbol, values, keep)


class CudaKernel(Kernel):
    """A kernel in a module that NVRTC made."""

    def _parts(self, box: Box, tile: Triple | None) -> int:
        grid, _ = self._shape(box, tile)
        return int(np.prod(grid, dtype=np.int64))

    def tile(self, cells: Box, middle: Box | None = None) -> Triple | None:
        text = cuda_text(self.task, self.real)
        rim = 2 * defined(text, "OVERLAP", 0)
        if not rim:
            return None
        wide, high = self._threads(text)
        x, y = wide - rim, high * defined(text, "UY", 1) - rim
        across, down, planes = (max(1, n) for n in cells.shape)
        ends = None if middle is None else (cells.lo[2] < middle.lo[2]) + (middle.hi[2] < cells.hi[2])
        room = compile_cuda.room(text, self.task.symbol, wide * high)
        return x, y, march(-(-across // x) * -(-down // y), planes, room, ends)

    def _shape(self, box: Box, tile: Tile = None) -> tuple[Triple, Triple]:
        text = cuda_text(self.task, self.real)
        x, y = self._threads(text)
        if isinstance(tile, PlacedSweep):
            return swept_shape(box, tile, min(COLUMNS, x * y))
        if tile:
            return tiled_shape(box.shape, tile, (x, y, 1))
        return cuda_shape(box.shape, defined(text, "UZ", 1), x, x * y, whole=self.task.whole)

    def _threads(self, text: str) -> tuple[int, int]:
        return defined(text, "BX", BX), defined(text, "BY", BY)

    def _call(
        self, box: Box, values: list[Value], lane: Lane | None, keep: object, tile: Tile
    ) -> Callable[[], None]:
        module = compile_cuda.module(cuda_text(self.task, self.real))
        return cuda_call(module.get_function(self.task.symbol), self._shape(box, tile), values, lane, keep)


def compiled(task: Task, real: np.dtype | str, device: Device) -> Kernel:
    """The kernel of a task for a device: compiled at first use, then kept by the process and on disk.

    Raises BadInput where there is no compiler and KernelError where the text does not compile with the task's
    declaration.
    """
    precision = np.dtype(real)
    compile_together([(task, precision)], device)
    return (HostKernel if device.kind == "cpu" else CudaKernel)(task, precision, device)


def compile_together(tasks: Iterable[tuple[Task, np.dtype]], device: Device) -> None:
    """Have the kernels of tasks, each in a precision, as `compiled` gives them. Those that are not there yet are
    compiled side by side: a text keeps a compiler and its core busy for seconds. Raises as `compiled` does.
    """
    with _lock:
        new = {(task, real, device.kind) for task, real in tasks} - _made
        if not new:
            return
        cores = device.threads if device.kind == "cpu" else len(os.sched_getaffinity(0))
        side_by_side(partial(_make, device), {_text(*each): each for each in new}.values(), cores)
        _made.update(new)


def side_by_side(make: Callable[[Any], object], things: Collection[Any], cores: int) -> None:
    """Make all of them, on so many cores. Raises what is raised first."""
    if len(things) > 1:
        with ThreadPoolExecutor(min(cores, COMPILERS, len(things)), "taskflow-compiler") as pool:
            list(pool.map(make, things))
    else:
        for each in things:
            make(each)


def _make(device: Device, made: Made) -> None:
    device.activate()
    with explained(made[0]):
        (compile_host.library if device.kind == "cpu" else compile_cuda.module)(_text(*made))


def _text(task: Task, real: np.dtype, kind: str) -> str:
    return text_with_thunk(task, real) if kind == "cpu" else cuda_text(task, real)


@cache
def text_with_thunk(task: Task, real: np.dtype) -> str:
    """Make the text for the host compiler: that of the task without its siblings, of which a program often uses one or
    two, and how the task is called.
    """
    kinds = [kind for kind, _ in parameters(task)]
    return complete(task, real, 'extern "C"', alone=True) + thunk(task.symbol, ["Range", *kinds])


@cache
def cuda_text(task: Task, real: np.dtype) -> str:
    return complete(task, real, 'extern "C" __global__')


def partial_bytes(box: Box, device: str) -> int:
    """Bytes in which a reduction over a box keeps what it folds at its end; on a GPU those of a kernel that defines no
    shape of its own.
    """
    parts = _host_parts(box) if device == "cpu" else int(np.prod(cuda_shape(box.shape, 1, BX, BX * BY)[0]))
    return 8 * parts + 4  # and the count of those that are there


def _host_parts(box: Box) -> int:
    _, ny, nz = box.shape
    return max(1, -(-ny * nz // BUNDLE))


def _nothing() -> None:
    """A launch over no cells."""
