"""Functions on the fields of a simulation, called in place in the process of each block."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from operator import add
from typing import Any

import numpy as np

from taskflow.common.errors import BadInput, RunFailed
from taskflow.flow.measures.around import FetchGhosts
from taskflow.runs.block.commands import Drive
from taskflow.runs.block.job import RunLoop
from taskflow.runtime.cluster.jobs import Pickled
from taskflow.runtime.machine import Control, Shard
from taskflow.runtime.regions import Box
from taskflow.systems.base.domain import Points

FOLDS: dict[str, Callable[[float, float], float]] = {"sum": add, "min": min, "max": max}


class BlockFields(Mapping[str, Any]):
    """Fields of a block in place, by name: arrays [z, y, x] of its cells, NumPy on a CPU and CuPy on a GPU.

    Fields not declared as written are read-only on a CPU, and must not be written on a GPU either. A velocity has the
    low face of each cell; the last face, on a wall, is not included. On charts a block may have several pieces, and a
    function is called with each. `block` is its number, `cells` are its cells in the index space of the region, `time`,
    `dt` and `step` belong to the present state.

    With ghost cells arrays have one more layer of cells on each side; `inside` are the slices of the block's own cells.
    """

    def __init__(
        self, loop: RunLoop, names: tuple[str, ...], writes: tuple[str, ...], cells: Box, *, ghosts: bool = False
    ) -> None:
        self._loop, self._names, self._writes, self.cells = loop, names, writes, cells
        self._covered = cells.grow(int(ghosts))
        self.inside = cells.slices(self._covered.lo)
        self.block = loop.shard.block
        self.time, self.dt, self.step = loop.now.time, loop.now.dt, loop.now.step

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(f"{name} was not declared; on_blocks(..., fields=[{name!r}, ...])")
        shard = self._loop.shard
        (piece, *_) = (n for n in shard.partition.pieces_of(self.block) if self.cells in shard.partition.parts[n])
        array = shard.instances.view(shard.roles[name], self._covered, piece)
        if name not in self._writes and shard.device.kind == "cpu":
            array.flags.writeable = False
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def points(self, name: str) -> Points:
        """Return x, y and z of the values of a field at the present time: NumPy arrays that broadcast to its shape.
        Ghost cells are mirrored at walls, and continue across periodic sides.
        """
        return self._loop.spec.domain.points(self._loop.model.fields[name], self._covered, self.time)


@dataclass(frozen=True)
class BlocksJob:
    """Call a function with the `fields` of each block, with ghost cells or without, and reduce the numbers that it
    returns over all blocks. After writes derived fields are recomputed.

    Returns the names of the numbers and their values, or, on all blocks, the error text if the function failed on one.
    """

    function: Pickled
    fields: tuple[str, ...]
    writes: tuple[str, ...]
    fold: str
    ghosts: bool = False

    def __call__(self, shard: Shard, control: Control) -> tuple[tuple[str, ...], list[float]] | str:
        loop = Drive.of(control).for_job(control)
        failure, numbers = "", dict[str, float]()
        if self.ghosts:
            if shard.region.atlas is not None:
                shard.run(loop.model.refresh)  # steps on charts begin with it
            shard.run(FetchGhosts(self.fields, loop.spec.domain.boxes))
        shard.synchronize()
        try:
            function = self.function.shared()
            for cells in shard.partition.cells_of(shard.block):
                new = _numbers(function(BlockFields(loop, self.fields, self.writes, cells, ghosts=self.ghosts)))
                fold = FOLDS[self.fold]
                numbers = {name: fold(numbers[name], x) if name in numbers else x for name, x in new.items()}
        except Exception as error:
            remedy = "; name the fields that it changes in writes=[...]" if "read-only" in str(error) else ""
            failure = f"block {shard.block}: {type(error).__name__}: {error}{remedy}\n{traceback.format_exc()}"
        shard.synchronize()
        if self.writes:
            shard.write_parts(self.writes, ())  # mark as written: ghost cells of other blocks are outdated
            shard.run(loop.model.refresh)
            loop.stepping.disturbed()
            loop.records.ranges.changed()
        failed, most, least = shard.allreduce([bool(failure), len(numbers), -len(numbers)], "max")
        if failed:
            return failure or "another block failed"
        if most != -least:
            return f"the function returned {len(numbers)} numbers on block {shard.block}, and others on another block"
        names = tuple(sorted(numbers))
        return names, shard.allreduce([numbers[name] for name in names], self.fold).tolist() if names else []


def _numbers(result: Any) -> dict[str, float]:
    """Return the numbers returned by a function, by name; a single number has an empty name."""
    if result is None:
        return {}
    named = result if isinstance(result, Mapping) else {"": result}
    return {str(name): _number(name, value) for name, value in named.items()}


def _number(name: Any, value: Any) -> float:
    """Return a number, also from NumPy or CuPy. Raises TypeError if it is invalid."""
    with suppress(TypeError, ValueError):
        if np.ndim(value) == 0 and not isinstance(value, str | bytes):
            return float(value)
    what = f"an array of shape {np.shape(value)}" if hasattr(value, "shape") else f"{value!r:.60}"
    of = f" for {name!r}" if name != "" else ""
    raise TypeError(f"it returned {what}{of}; return a number, a dictionary of numbers, or nothing")


def answer(results: list[tuple[tuple[str, ...], list[float]] | str]) -> dict[str, float] | float | None:
    """Return the result of all blocks. Raises RunFailed if one failed, BadInput if their names differ."""
    failures = [result for result in results if isinstance(result, str)]
    if failures:
        first = next((text for text in failures if text.startswith("block ")), failures[0])
        words, _, trace = first.partition("\n")
        failure = RunFailed(f"on_blocks: {words}")
        failure.add_note(trace)
        raise failure
    answers = [result for result in results if not isinstance(result, str)]
    names, values = answers[0]
    if any(other != names for other, _ in answers):
        raise BadInput("on_blocks: the function returns numbers of other names on other blocks; give all the same")
    if not names:
        return None
    return values[0] if names == ("",) else dict(zip(names, values, strict=True))
