"""Kernels: the text of a task, compiled for a device and bound to the memory of a block."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from taskflow.runtime.machine.device import Array, Device, Lane
from taskflow.runtime.machine.kernel import compile_cuda, compile_host
from taskflow.runtime.machine.kernel.call import (
    BX,
    BY,
    PARTIAL,
    Layout,
    address,
    cuda_call,
    cuda_shape,
    field_value,
    host_parts,
    march,
    range_of,
    table_address,
    tiled_shape,
)
from taskflow.runtime.machine.kernel.host_call import Value, host_call
from taskflow.runtime.machine.kernel.sweeping import passed_on, sweep_of, swept_shape
from taskflow.runtime.machine.kernel.text import explained, packed, settings
from taskflow.runtime.machine.kernel.texts import cuda_text, symbol, text_for, text_with_thunk
from taskflow.runtime.regions import Box, Triple
from taskflow.runtime.tasks import PlacedSweep, Task, is_choice

COMPILERS = 16  # most concurrent compilers
Made = tuple[Task, np.dtype, str, bool]  # task, precision, kind of device, whether for lists of pieces
Tile = Triple | PlacedSweep | None  # work of a thread block: cells along x, y, z, or a tile of a sweep
_lock = threading.RLock()
_made: set[Made] = set()


@dataclass(frozen=True, eq=False)
class Arguments:
    """Arguments of a kernel over a box: parameter values, the arrays that their addresses refer to, and the cells per
    thread block. `idle`: no cells, and nothing to reduce.
    """

    box: Box
    values: list[Value]
    keep: list[Array]
    tile: Tile
    idle: bool


class Kernel(ABC):
    """A task compiled for a device in single or double precision."""

    def __init__(self, task: Task, real: np.dtype, device: Device) -> None:
        self.task, self.real, self.device = task, real, device

    def bind(self, *values: Any, **others: Any) -> Callable[[], None]:
        """Do `call` with the `arguments` of these values. Raises ValueError as `arguments`."""
        return self.call(self.arguments(*values, **others), None)

    def call(self, arguments: Arguments, lane: Lane | None) -> Callable[[], None]:
        """Return an operation that does the task with these arguments. On a GPU it is a launch on `lane`, by default on
        the current stream of each call.
        """
        return _nothing if arguments.idle else self._call(arguments, lane)

    def arguments(
        self,
        box: Box,
        layout: Layout,
        arrays: Sequence[Array],
        constants: Mapping[str, Any],
        scalars: Mapping[str, Array],
        results: Mapping[str, Array] | None = None,
        others: Mapping[str, Layout] | None = None,
        tile: Triple | None = None,
        *,
        further: bool = False,
    ) -> Arguments:
        """Return the arguments of the task in the cells of `box`. If the kernel has tiles, `tile` is their size, by
        default `tile(box)`.

        `arrays` are the fields in the order of the task's parameters. `others` are separate layouts by parameter, of
        foreign and private fields. `constants`, `scalars` (arrays of one float64 that are read) and `results` (arrays
        of one float64 that receive a reduction over the box) are by parameter. If `further`, reductions also fold the
        present values of the results.

        Raises ValueError if the task would access cells without memory, or if an array does not match the kernel.
        """
        places = dict.fromkeys(self.task.fields, layout) | dict(others or {})
        layouts = {name: places[name].of(way.values) for name, way in self.task.fields.items()}
        self._check(box, layouts, arrays)
        tile = tile or self.tile(box)
        values: list[Value] = [range_of(box, layout.shape, self.device.threads, tile[2] if tile else 0)]
        for (name, privilege), array in zip(self.task.fields.items(), arrays, strict=True):
            values.append(field_value(self.device, array, layouts[name], privilege, self.task.base.fields[name]))
        keep: list[Array] = [*arrays]
        for name in self.task.keywords:
            if is_choice(self.task.constants.get(name)):
                continue
            if isinstance(constant := constants.get(name), PlacedSweep):
                value, words = self._sweep(constant)
                values.append(value)
                keep += words
                continue
            if name in self.task.constants:
                table = partial(table_address, real=self.real, device=self.device)
                values.append(packed(constants[name], self.real, table))
                continue
            several = self.task.numbers.get(name)
            names = several.of(name) if several else (name,)
            if names[0] in self.task.scalars:
                pointers = np.array([address(self.device.pointer(scalars[scalar])) for scalar in names])
                values.append(pointers if several else pointers[0])
                keep += [scalars[scalar] for scalar in names]
            else:
                folded = [(results or {})[scalar] for scalar in names]
                partials, memory = self._partials(folded, self._parts(box, tile))
                partials["before"] = partials["result"] if further else 0
                values.append(partials)
                keep += [*folded, *memory]
        sweep = next((value for value in constants.values() if isinstance(value, PlacedSweep)), tile)
        return Arguments(box, values, keep, sweep, not box and not self.task.reductions)

    def tile(self, cells: Box, middle: Box | None = None) -> Triple | None:
        """Return the cells per thread block of a launch, whole or cut into a `middle` and edges, or None if the text
        has no tiles.
        """
        return None

    def _sweep(self, placed: PlacedSweep) -> tuple[Value, list[Array]]:
        """Return the struct of a sweep, and the arrays that it refers to."""
        return sweep_of(placed), []

    def _partials(self, results: Sequence[Array], parts: int) -> tuple[np.ndarray, list[Array]]:
        """Return the structs of numbers that are reduced from `parts` partial results, and their memory."""
        count, memory = len(results), self.device.allocate((len(results), parts), "f8")
        partials = np.zeros(count, PARTIAL)
        partials["result"] = [self.device.pointer(result) for result in results]
        partials["parts"] = self.device.pointer(memory) + memory.strides[0] * np.arange(count, dtype=np.uint64)
        return partials, [memory]

    @abstractmethod
    def _parts(self, box: Box, tile: Triple | None) -> int:
        """Return the number of partial results of a reduction over the box."""

    @abstractmethod
    def _call(self, arguments: Arguments, lane: Lane | None) -> Callable[[], None]:
        """Return the operation with these arguments."""

    def _check(self, box: Box, layouts: Mapping[str, Layout], arrays: Sequence[Array]) -> None:
        for (name, privilege), array in zip(self.task.fields.items(), arrays, strict=True):
            layout = layouts[name]
            own = privilege.precision
            real = self.real if own in (None, "any") else np.dtype(own)
            apart = privilege.together and layout.tile is None  # the values of a cell are contiguous there
            rows = array.swapaxes(2, -1) if apart else array
            if array.shape != layout.memory or array.dtype != real or not rows.flags.c_contiguous:
                actual, expected = f"{array.dtype} {array.shape}", f"{real} {layout.memory} in C order"
                raise ValueError(f"{self.task.name}: {name} is {actual}, not {expected}")
            around = privilege.reads and not privilege.swept  # a sweep accesses nothing outside its tiles
            touched = (box, *(privilege.stencil.around(box) if around else ()))
            for cells in () if privilege.foreign else touched:
                if cells not in layout.box:
                    where = f"{name} in {cells}; there is memory for {layout.box}"
                    raise ValueError(f"{self.task.name} over {box} touches {where}")


class HostKernel(Kernel):
    """A kernel in a shared library built by the host compiler."""

    def _parts(self, box: Box, tile: Triple | None) -> int:
        return host_parts(box)

    def _call(self, arguments: Arguments, lane: Lane | None) -> Callable[[], None]:
        library = compile_host.library(text_with_thunk(self.task, self.real))
        return host_call(library, self.task.symbol, arguments.values, arguments.keep)


class CudaKernel(Kernel):
    """A kernel in a module built by NVRTC."""

    def _partials(self, results: Sequence[Array], parts: int) -> tuple[np.ndarray, list[Array]]:
        """Add the ticket that counts thread blocks, shared by all numbers."""
        partials, memory = super()._partials(results, parts)
        ticket = self.device.allocate((1,), "u4")
        partials["ticket"] = self.device.pointer(ticket)
        return partials, [*memory, ticket]

    def _parts(self, box: Box, tile: Triple | None) -> int:
        grid, _ = self.shape(box, tile)
        return int(np.prod(grid, dtype=np.int64))

    def tile(self, cells: Box, middle: Box | None = None) -> Triple | None:
        rim = 2 * self.setting("OVERLAP", 0)
        if not rim:
            return None
        wide, high = self.threads
        x, y = wide - rim, high * self.setting("UY") - rim
        across, down, planes = (max(1, n) for n in cells.shape)
        ends = None if middle is None else (cells.lo[2] < middle.lo[2]) + (middle.hi[2] < cells.hi[2])
        room = compile_cuda.room(cuda_text(self.task, self.real), self.task.symbol, wide * high)
        return x, y, march(-(-across // x) * -(-down // y), planes, room, ends)

    def shape(self, box: Box, tile: Tile = None) -> tuple[Triple, Triple]:
        """Return (blocks, threads per block) for a box."""
        x, y = self.threads
        if isinstance(tile, PlacedSweep):
            return swept_shape(box, tile, x * y, self.setting("ROWS"))
        if tile:
            return tiled_shape(box.shape, tile, (x, y, 1))
        least = self.setting("NARROWEST")
        return cuda_shape(box.shape, self.setting("UZ"), x, x * y, whole=self.task.whole, narrowest=least)

    def _sweep(self, placed: PlacedSweep) -> tuple[Value, list[Array]]:
        x, y = self.threads
        return passed_on(placed, x * y, self.setting("ROWS"), self.device)

    @property
    def threads(self) -> tuple[int, int]:
        """The largest thread blocks of the text, along x and y."""
        return self.setting("BX", BX), self.setting("BY", BY)

    def setting(self, name: str, default: int = 1) -> int:
        """Return the number that the text defines as a macro, or the default."""
        return settings(self.task, self.real).get(name, default)

    def _call(self, arguments: Arguments, lane: Lane | None) -> Callable[[], None]:
        return self.launch(self.shape(arguments.box, arguments.tile), arguments.values, lane, arguments.keep)

    def launch(
        self, shape: tuple[Triple, Triple], values: Sequence[Value], lane: Lane | None, keep: object, *,
        listed: bool = False,
    ) -> Callable[[], None]:  # fmt: skip
        """Return a launch of a shape (blocks, threads per block), over one box or over a list."""
        function, shared = compile_cuda.kernel(text_for(self.task, self.real, "gpu", listed), symbol(self.task, listed))
        return cuda_call(function, shape, values, lane, keep, shared)


def compiled(task: Task, real: np.dtype | str, device: Device) -> Kernel:
    """Return the kernel of a task for a device, compiled on first use and cached by the process and on disk.

    Raises BadInput if no compiler is available, and KernelError if the text does not compile with the task's
    declaration.
    """
    compile_together([(task, np.dtype(real), False)], device)
    return kernel_of(task, real, device)


def kernel_of(task: Task, real: np.dtype | str, device: Device) -> Kernel:
    """Return the kernel of a task for a device, without compiling it."""
    return (HostKernel if device.kind == "cpu" else CudaKernel)(task, np.dtype(real), device)


def compile_together(tasks: Iterable[tuple[Task, np.dtype, bool]], device: Device) -> None:
    """Compile kernels of tasks, each in a precision, for one box or for lists of pieces. New ones are compiled
    concurrently, as each takes a core for seconds. Raises as `compiled`.
    """
    with _lock:
        new = {(task, real, device.kind, listed) for task, real, listed in tasks} - _made
        if not new:
            return
        cores = device.threads if device.kind == "cpu" else len(os.sched_getaffinity(0))
        texts = {text_for(*key): key for key in new}
        side_by_side(partial(_make, device), sorted(texts.values(), key=_longest), cores)
        _made.update(new)


def side_by_side(make: Callable[[Any], object], things: Collection[Any], cores: int) -> None:
    """Call `make` for all things, on `cores` cores. Raises the first exception."""
    if len(things) > 1:
        with ThreadPoolExecutor(min(cores, COMPILERS, len(things)), "taskflow-compiler") as pool:
            list(pool.map(make, things))
    else:
        for thing in things:
            make(thing)


def _longest(made: Made) -> tuple[bool, int]:
    """Order by expected time to compile, the longest first: tasks on whole blocks, then long texts."""
    return not made[0].whole, -len(text_for(*made))


def _make(device: Device, made: Made) -> None:
    device.activate()
    with explained(made[0]):
        (compile_host.library if device.kind == "cpu" else compile_cuda.module)(text_for(*made))


def _nothing() -> None:
    """A launch over no cells."""
