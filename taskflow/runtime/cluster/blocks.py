"""Blocks at work: the fields of one's own program, filled, computed and read where they live."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import chain
from operator import index
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np

from taskflow.common.errors import BadInput, Interrupted, RunFailed, TaskflowError
from taskflow.runtime.cluster.block_group import BlockGroup, cause, watch
from taskflow.runtime.cluster.jobs import Pickled, Ran, call_job, fill_job, indices, profile_job, read_job, run_job
from taskflow.runtime.machine import Job
from taskflow.runtime.profile import summarise, write_chrome
from taskflow.runtime.regions import Box, Partition, difference, whole_number
from taskflow.runtime.tasks import Loop, Part, Program, Roles, analyse, counts, derived, plan, record, settled


class Blocks:
    """A region on blocks, whose fields live where the blocks do.

    `region`, `partition`, `device` ("cpu" or "gpu"); `transports` has, per block, how it exchanges messages with each
    other one. `scalars` has the named numbers after the last run, reductions among them. A call that fails on a block
    ends all blocks: what is left then is to distribute the region again.
    """

    def __init__(self, group: BlockGroup, transports: list[dict[int, str]], opened: ExitStack) -> None:
        self.partition, self.region = group.plan.partition, group.plan.partition.region
        self.device, self.transports = group.plan.device, transports
        self.scalars: dict[str, float] = {}
        self._group, self._opened, self._ended = group, opened, ""
        self._possible: set[Pickled] = set()  # programs that these blocks can run
        self._working = threading.Lock()  # held by the call for which the blocks work

    def __enter__(self) -> Blocks:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        shape, workers = "x".join(map(str, self.partition.shape)), len(set(self._group.workers))
        if self.region.atlas:
            shape = f"{len(self.partition)} blocks ({len(self.partition.parts)} pieces)"
            return f"<{shape} of {len(self.region.charts)} charts on {self.device}, {workers} processes>"
        return f"<{shape} blocks of {self.region.cells} on {self.device}, {workers} processes>"

    def close(self) -> None:
        """Give everything back: fields, devices, and a cluster that was begun for the blocks. Idempotent."""
        self._ended = self._ended or "they were closed"
        self._opened.close()

    def fill(self, /, **values: float | np.ndarray | Sequence[Any] | Callable[..., Any]) -> None:
        """Write fields, by role: on their cells and on their boundary layers; constant fields on all ghost cells, too.

        A value is a number, or a function of cell indices i, j, k (along x, y, z) that is called on every block with
        arrays that broadcast to [z, y, x], or an array or nested lists [z, y, x] of all cells (with or without the
        boundary layers; of a constant field with all ghost layers). On an atlas it is a list of arrays, one of each
        chart. Raises BadInput where there is no such field, the shape is another one, or the field cannot hold a value.
        """
        for role, value in values.items():
            home = self._home(role)
            parts, field = self._parts(home, role), home.fields[role]
            if callable(value):
                probe = value(*indices(Box.of((1, 1, 1)).shift(home.region.charts[0].lo)))  # errors in it are told here
                field.held(np.asarray(probe), role)
            if isinstance(value, list | tuple) or np.ndim(cast(Any, value)):
                shared = _shares(role, value, home, parts)
                self._do([partial(fill_job, role, Pickled.of(list(mine.values())), tuple(mine)) for mine in shared])
            else:
                pickled = Pickled.of(value if callable(value) else field.held(np.asarray(value), role))
                self._do([partial(fill_job, role, pickled, mine) for mine in parts])

    def run(self, program: Program, /, times: int = 1, **scalars: float) -> Ran:
        """Pass through a program so many times, as one call per block: no message of Dask is on the way of a step.

        `scalars` are the named numbers that its tasks read; their values stay until they are given again. Returns
        passes, seconds and rate (cells per second). Raises BadInput where the program is impossible on these blocks, or
        another thread uses them, RunFailed where a block fails, Interrupted after Ctrl-C: all blocks have then stopped
        after the same pass, and their fields can be read.
        """
        times, (pickled, numbers) = _counted(times), self._prepared(program, scalars)
        job = partial(run_job, pickled, times, numbers)
        ran = max(self._do([job] * len(self.partition), whole=False), key=lambda ran: ran.seconds)
        self.scalars = ran.scalars
        if ran.passes < times:
            raise Interrupted(f"stopped by Ctrl-C after {ran.passes} of {times} passes")
        return ran

    def profile(
        self, program: Program, /, times: int = 20, path: str | PathLike[str] = "profile.json", **scalars: float
    ) -> dict[str, Any]:
        """Pass through a program some more times, and find out where the time goes.

        Writes a timeline of all blocks for Perfetto (https://ui.perfetto.dev) or chrome://tracing, and returns what it
        says: see `taskflow.runtime.profile.summarise`. Raises as `run` does.
        """
        times, (pickled, numbers) = _counted(times), self._prepared(program, scalars)
        timelines = self._do([partial(profile_job, pickled, times, numbers)] * len(self.partition))
        self.scalars = numbers
        write_chrome(Path(path), timelines)
        return summarise(timelines)

    def draw(self, program: Program, path: str | PathLike[str]) -> None:
        """Draw what the runtime made of a pass of a program: edges, middles, messages, and what waits for what.

        The suffix of `path` says the format: `.png`, `.svg` or `.pdf`.
        """
        from taskflow.runtime.profile.drawing import draw
        from taskflow.runtime.profile.graph import plot_graph

        launches, following, valid = settled(_checked(program), self.partition)
        mapper = self._group.plan.mapper.decide(self.partition)
        analysis = analyse(launches, self.partition, following=following, valid=valid, split=mapper.split)
        plot_graph(draw(analysis.graph), Path(path), getattr(program, "__name__", "one pass"))

    def read(self, role: str, box: Box | None = None) -> Any:
        """Return the values [z, y, x] of the field in this role in all cells of its region, or in those of `box`. On an
        atlas all cells are a list of arrays, one of each chart.

        Raises BadInput where there is no such field, or the box has cells without values of their own: beyond the
        region and its boundary layers, or beyond the seams of a chart.
        """
        region = self._home(role).region
        if box is not None:
            return self._read(role, box)
        return [self._read(role, chart) for chart in region.charts] if region.atlas else self._read(role, region.cells)

    def _read(self, role: str, box: Box) -> np.ndarray:
        home = self._home(role)
        region, declared = home.region, home.fields[role]
        inside: Iterable[Box] = region.charts if declared.private else chain(*region.own)
        if declared.constant:
            inside = [chart.grow(region.ghost) for chart in region.charts]
        if difference([box], inside):
            held = " and ".join(map(str, region.charts)) + ", and beyond" if region.atlas else f"{region.bounds} only"
            raise BadInput(f"read({role!r}, {box}): there are values in {held}")
        parts = self._parts(home, role)
        jobs = [partial(read_job, role, tuple(both for cells in mine if (both := cells & box))) for mine in parts]
        read = self._do(jobs)
        field = read[0].field  # that has the role now, which may be of another precision
        whole = np.empty(field.shape(box), field.dtype)
        for cells, values in chain.from_iterable(part.values for part in read):
            whole[cells.slices(box.lo)] = values
        return whole

    def call(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Call `function(shard, *arguments)` on each block's own thread; returns the results of all blocks.

        The function may run programs, fold numbers over all blocks (`shard.allreduce`) and read and write the block's
        cells; what waits for other blocks has to be called on all of them.
        """
        return self.do(partial(call_job, Pickled.of(function), Pickled.of(arguments)))

    def do(self, job: Job) -> list[Any]:
        """Let all blocks do a job; returns their results."""
        return self._do([job] * len(self.partition))

    # ------------------------------------------------------------------------------------------------------- within

    def _do(self, jobs: Sequence[Job], *, whole: bool = True) -> list[Any]:
        """Do the jobs of all blocks; returns their results. Raises Interrupted after Ctrl-C if they are `whole`."""
        if self._ended:
            raise RunFailed(f"these blocks have ended: {self._ended}; distribute the region again")
        if not self._working.acquire(blocking=False):
            raise BadInput("these blocks are at work for a call of another thread: call them when it has returned")
        try:
            statuses, interrupted = watch(self._group, jobs)
            if failure := cause(statuses):
                block = next(n for n, status in enumerate(statuses) if status.error is failure)
                failure.add_note(f"block {block} on worker {self._group.workers[block]}")
                raise failure
            results = self._group.results()
        except (TaskflowError, KeyboardInterrupt) as error:
            self._ended = str(error) or "Ctrl-C"
            raise
        finally:
            self._working.release()
        if interrupted and whole:
            raise Interrupted("stopped by Ctrl-C")
        return results

    def _home(self, role: str) -> Partition:
        """Return the partition of the region that has a field. Raises BadInput where there is none."""
        if role not in self.partition.homes:
            raise BadInput(f"no field plays {role!r}; there are {', '.join(self.partition.fields)}")
        return self.partition.homes[role]

    def _prepared(self, program: Program, scalars: Mapping[str, float]) -> tuple[Pickled, dict[str, float]]:
        """Return the program to be sent, and all numbers that its tasks may read.

        Raises BadInput, before any block is troubled, where a field or a number is not there or the program is
        impossible on these blocks.
        """
        numbers = {**self.scalars, **{name: _number(name, value) for name, value in scalars.items()}}
        roles = Roles.of(tuple(self.partition.fields))
        launches, _ = record(_checked(program), roles)
        parts, _ = plan(program, roles)
        read, produced = set[str](), {*numbers, *counts(parts), *derived(parts)}
        for launch in launches:
            for name in launch.fields:
                self._home(name)
            for name in launch.scalars.values():
                if name not in produced:
                    taken = name == "times"
                    remedy = "rename it: run(..., times=n) says how often" if taken else f"run(..., {name}=value)"
                    raise BadInput(f"{launch.task.name} reads {name!r}, which has no value; {remedy}")
                read.add(name)
            produced.update(name for name, _ in launch.reductions.values())
        for name in scalars:
            if name not in read and not _asks(parts):
                raise BadInput(f"no task reads {name!r}; they read {', '.join(sorted(read)) or 'no numbers'}")
        pickled = Pickled.of(program)
        if pickled not in self._possible:
            settled(program, self.partition)
            self._possible.add(pickled)
        return pickled, numbers

    @staticmethod
    def _parts(home: Partition, role: str) -> list[tuple[Box, ...]]:
        """Per block: the boxes of cells that it owns; of a constant field all that it has memory for."""
        blocks = range(len(home))
        if home.fields[role].constant:
            return [tuple(home.memory[piece] for piece in home.pieces_of(block)) for block in blocks]
        return [home.own_of(block, role) for block in blocks]


def _counted(times: int) -> int:
    """Return the number of passes. Raises BadInput where that is none."""
    if not whole_number(times, 0):
        raise BadInput(f"times = {times!r}; give a whole number, 0 or more")
    return index(times)


def _number(name: str, value: float) -> float:
    """Return the value of a scalar. Raises BadInput where it is none."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"{name} = {value!r}; give a number") from None


def _checked(program: object) -> Program:
    """Return the program. Raises BadInput for what is none, or is not hashable: traces are found by their program."""
    if not callable(program):
        kind = type(program).__name__
        raise BadInput(f"program = a {kind}; give a function of the roles that yields launches: def step(f): yield ...")
    try:
        hash(program)
    except TypeError as error:
        remedy = f"make {type(program).__name__} a function, or its class a @dataclass(frozen=True) of what is hashable"
        raise BadInput(f"program = {program!r}: {error}; {remedy}") from None
    return cast(Program, program)


def _shares(role: str, value: Any, home: Partition, parts: list[tuple[Box, ...]]) -> list[dict[Box, np.ndarray]]:
    """Return what each block gets of arrays: its parts of their boxes, with the values."""
    region = home.region
    if region.atlas and len(value) != len(region.charts):
        has = f"the region has {len(region.charts)} charts: give a list of as many arrays, one of each"
        raise BadInput(f"{role} = {len(value)} arrays; {has}")
    held = partial(region.fields[role].held, name=role)
    arrays = [held(np.asarray(array)) for array in (value if region.atlas else [value])]
    extents = [_extent(role, array.shape, home, n) for n, array in enumerate(arrays)]
    pairs = list(zip(extents, arrays, strict=True))
    return [
        {both: np.ascontiguousarray(a[both.slices(e.lo)]) for box in mine for e, a in pairs if (both := box & e)}
        for mine in parts
    ]


def _extent(role: str, shape: tuple[int, ...], home: Partition, n: int) -> Box:
    """The cells of which an array of this shape has the values on a chart."""
    region, field = home.region, home.region.fields[role]
    chart, wide = region.charts[n], region.charts[n].grow(region.ghost)
    possible = (wide,) if field.constant else (chart, wide if region.atlas else region.bounds)
    for box in possible:
        if shape == field.shape(box):
            return box
    axes = "[z, y, x]" if field.values == 1 else "[z, y, value, x]"
    has = f"chart {n} has" if region.atlas else "the region has"
    ghosts = ", with all ghost layers" if field.constant else ""
    raise BadInput(f"{role} = array of shape {shape}; {has} {field.shape(possible[0])}, {axes}{ghosts}")


def _asks(parts: Sequence[Part]) -> bool:
    """Return whether a program decides by its numbers, so that not only its tasks read them."""
    loops = (part for part in parts if isinstance(part, Loop))
    return any(derived(parts)) or any(part.repeat.until is not None or _asks(part.body) for part in loops)
