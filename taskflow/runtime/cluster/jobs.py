"""Jobs of the blocks of a region: run a program, write and read values, call a function.

Functions and values are pickled, by value if no module holds them. Functions with the same content are one object per
process, so a program that is run again finds its traces.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import cloudpickle
import numpy as np

from taskflow.common.errors import BadInput, RunFailed
from taskflow.runtime.machine import Control, Shard
from taskflow.runtime.profile import Timeline, profiled
from taskflow.runtime.regions import Box, Field

AT_ONCE = 1 << 22  # cells for which a function is evaluated at once
TRIALS = 100  # passes in which the mapper may still try ways to overlap
FIRST = 4  # passes in which a program may meet a state that it has not been in
INTERVAL = 0.2  # seconds between two moments at which the blocks agree whether to go on
KEPT = 128  # functions that a process keeps
_lock = threading.Lock()


@dataclass(frozen=True)
class Pickled:
    """A value as bytes, with everything that a function refers to (constants, tasks, its closure) in its present state.
    """

    content: bytes

    @classmethod
    def of(cls, value: object) -> Pickled:
        """Pickle a value. Raises BadInput if it, or an object that it refers to, cannot be sent."""
        try:
            return cls(cloudpickle.dumps(value))
        except Exception as error:
            name = getattr(value, "__name__", None) or repr(value)
            raise BadInput(
                f"{name} cannot be sent to the blocks ({type(error).__name__}: {error}); files, clients and blocks"
                " stay here: pass only the needed data"
            ) from error

    def open(self) -> Any:
        """Return a new copy of the value. Raises RunFailed if a module is missing."""
        try:
            return cloudpickle.loads(self.content)
        except ModuleNotFoundError as error:
            raise RunFailed(
                f"{error}: what a script imports has to be installed, or on PYTHONPATH, where the blocks live too"
            ) from error

    def shared(self) -> Any:
        """Return the value, the same object for all calls in this process: for functions. Raises as `open` does."""
        with _lock:
            return _kept(self)


_kept = lru_cache(KEPT)(Pickled.open)


class Ran(NamedTuple):
    """Outcome of `Blocks.run`.

    Attributes
    ----------
    passes : int
    seconds : float
        Wall-clock time of the passes.
    rate : float
        Cells per second over all blocks, in the second half of the passes.
    scalars : dict
        Named numbers.
    """

    passes: int
    seconds: float
    rate: float
    scalars: dict[str, float]


def run_job(program: Pickled, times: int, scalars: Mapping[str, float], shard: Shard, control: Control) -> Ran:
    """Do `times` passes of a program; `scalars` are the numbers before the first pass.

    Blocks synchronise as the program requires, and every INTERVAL to agree whether to stop.
    """
    passing = program.shared()
    half, done, stride = times // 2, 0, 1
    began = middle = last = time.perf_counter()
    while done < times:
        count = min(stride, (half if done < half else times) - done)
        for _ in range(count):
            shard.run(passing, **scalars)
            scalars = {}
        shard.synchronize()
        done += count
        stop, seconds = shard.allreduce([control.stop, time.perf_counter() - last], "max")
        last = time.perf_counter()
        if done == half:
            middle = last
        if stop:
            break
        stride = max(1, min(4 * count, int(count * INTERVAL / max(seconds, 1e-9))))
    cells = shard.region.count * max(0, done - half)
    return Ran(done, last - began, cells / max(last - middle, 1e-9), dict(shard.scalars))


def profile_job(program: Pickled, times: int, scalars: Mapping[str, float], shard: Shard, control: Control) -> Timeline:
    """Time every operation of `times` passes, after the passes that compile, analyse and choose an overlap."""
    passing = program.shared()
    shard.run(passing, **scalars)
    for _ in range(TRIALS):
        if shard.trying:
            shard.run(passing)
    with profiled(shard) as profiler:
        for _ in range(FIRST + times):
            shard.run(passing)
            profiler.step()
    return profiler.timeline


def fill_job(role: str, pickled: Pickled, boxes: tuple[Box, ...], shard: Shard, control: Control) -> None:
    """Write a field in some boxes: a number, a function of cell indices, or an array per box."""
    value, field = pickled.open(), shard.partition.fields[shard.roles[role]]
    values = value if isinstance(value, list) else [value] * len(boxes)
    shard.write_parts([role], ((box, {role: _array(one, box, field)}) for box, one in zip(boxes, values, strict=True)))


class Values(NamedTuple):
    """Field that has a role, and its values by box."""

    field: Field
    values: list[tuple[Box, np.ndarray]]


def read_job(role: str, boxes: tuple[Box, ...], shard: Shard, control: Control) -> Values:
    return Values(shard.partition.fields[shard.roles[role]], [(box, shard.read(role, box)) for box in boxes])


def call_job(function: Pickled, arguments: Pickled, shard: Shard, control: Control) -> Any:
    return function.shared()(shard, *arguments.open())


def indices(cells: Box) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the indices i, j, k of cells along x, y, z, as arrays that broadcast to the shape [z, y, x]."""
    i, j, k = (np.arange(cells.lo[axis], cells.hi[axis]) for axis in range(3))
    return i[None, None, :], j[None, :, None], k[:, None, None]


def _array(value: Any, box: Box, field: Field) -> np.ndarray:
    """Return the values of a number, a function or an array in the cells of a box."""
    return evaluated(value, box, field) if callable(value) else np.broadcast_to(value, field.shape(box))


def evaluated(function: Callable[..., Any], cells: Box, field: Field) -> np.ndarray:
    """Return the values [z, y, x], or [z, y, value, x], of a function of cell indices.

    The function is called for a few planes at a time, because its temporaries may be large. Raises BadInput for values
    that the field cannot hold.
    """
    values = np.empty(field.shape(cells), field.dtype)
    planes = max(1, AT_ONCE // (cells.shape[0] * cells.shape[1]))
    for first in range(0, len(values), planes):
        some = cells.layer(2, 0, first, min(first + planes, len(values)))
        places = indices(some) if field.values == 1 else (place[:, :, None] for place in indices(some))
        values[some.slices(cells.lo)] = field.held(np.asarray(function(*places)), field.name)
    return values
