"""Blocks at work: fields of a user's program, filled, computed and read where they are stored."""

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
from taskflow.runtime.cluster.block_group import BlockGroup
from taskflow.runtime.cluster.jobs import Pickled, Ran, call_job, fill_job, indices, profile_job, read_job, run_job
from taskflow.runtime.cluster.watch import cause, watch
from taskflow.runtime.machine import Job
from taskflow.runtime.profile import summarise, write_chrome
from taskflow.runtime.regions import Box, Partition, difference, whole_number
from taskflow.runtime.tasks import Loop, Part, Program, Roles, analyse, counts, derived, plan, record, settled


class Blocks:
    """A region on running blocks; `distribute` returns one.

    A call that fails on a block ends all blocks. Distribute the region again after that.

    Attributes
    ----------
    region : Region
    partition : Partition
    device : {"cpu", "gpu"}
    transports : list of dict
        Channel per block and neighbour.
    scalars : dict
        Named numbers after the last run, with reductions.
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
        """Release fields, devices and an embedded cluster. Idempotent."""
        self._ended = self._ended or "they were closed"
        self._opened.close()

    def fill(self, /, **values: float | np.ndarray | Sequence[Any] | Callable[..., Any]) -> None:
        """Write fields, by role, on their cells and boundary layers; constant fields also on all ghost cells.

        Parameters
        ----------
        **values : float, callable, array or nested lists
            A callable takes cell indices i, j, k along x, y, z as arrays that broadcast to [z, y, x], and is called on
            every block. An array [z, y, x] has all cells, with or without boundary layers; for a constant field, with
            all ghost layers. On an atlas give a list of arrays, one per chart.

        Raises
        ------
        BadInput
            If a field does not exist, a shape does not match, or a field cannot hold a value.
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
        """Execute a program `times` times, with one remote call per block.

        Parameters
        ----------
        program : callable
            Function of `Roles` that yields launches.
        times : int
            Number of passes.
        **scalars : float
            Named numbers of its tasks. They keep their values until they are given again.

        Returns
        -------
        Ran

        Raises
        ------
        BadInput
            If the program is impossible on these blocks, or another thread is using them.
        RunFailed
            If a block fails.
        Interrupted
            After Ctrl-C. All blocks have stopped after the same pass, and fields can be read.
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
        """Time the operations of further passes of a program.

        Writes a timeline of all blocks for Perfetto (https://ui.perfetto.dev) or chrome://tracing.

        Parameters
        ----------
        program : callable
        times : int
        path : path-like
            File of the timeline, JSON.
        **scalars : float

        Returns
        -------
        dict
            Shares of the time (see `taskflow.runtime.profile.summarise`). Raises as `run`.
        """
        times, (pickled, numbers) = _counted(times), self._prepared(program, scalars)
        timelines = self._do([partial(profile_job, pickled, times, numbers)] * len(self.partition))
        self.scalars = numbers
        write_chrome(Path(path), timelines)
        return summarise(timelines)

    def draw(self, program: Program, path: str | PathLike[str]) -> None:
        """Draw the task graph of a pass of a program: edges, middles, messages and dependences.

        Parameters
        ----------
        program : callable
        path : path-like
            Picture: .png, .svg or .pdf.
        """
        from taskflow.runtime.profile.drawing import draw
        from taskflow.runtime.profile.graph import plot_graph

        launches, following, valid = settled(_checked(program), self.partition)
        mapper = self._group.plan.mapper.decide(self.partition)
        analysis = analyse(launches, self.partition, following=following, valid=valid, split=mapper.split)
        plot_graph(draw(analysis.graph), Path(path), getattr(program, "__name__", "one pass"))

    def read(self, role: str, box: Box | None = None) -> Any:
        """Return the values of a field.

        Parameters
        ----------
        role : str
        box : Box, optional
            Cells to read. Default: all cells of the region.

        Returns
        -------
        array [z, y, x], or on an atlas without `box` a list of arrays, one per chart

        Raises
        ------
        BadInput
            If the field does not exist, or the box has cells outside the region and its boundary layers.
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
        """Call `function(shard, *arguments)` on the thread of each block and return all results.

        The function may run programs, reduce numbers over all blocks (`shard.allreduce`), and read and write the cells
        of its block. Collective operations have to be called on all blocks.
        """
        return self.do(partial(call_job, Pickled.of(function), Pickled.of(arguments)))

    def do(self, job: Job) -> list[Any]:
        """Run a job on all blocks and return its results."""
        return self._do([job] * len(self.partition))

    # ------------------------------------------------------------------------------------------------------- within

    def _do(self, jobs: Sequence[Job], *, whole: bool = True) -> list[Any]:
        """Run the jobs of all blocks and return their results. Raises Interrupted after Ctrl-C if they are `whole`."""
        if self._ended:
            raise RunFailed(f"these blocks have ended: {self._ended}; distribute the region again")
        if not self._working.acquire(blocking=False):
            raise BadInput("these blocks are busy with a call of another thread: wait until it returns")
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
        """Return the partition of the region that has a field. Raises BadInput if no partition has it."""
        if role not in self.partition.homes:
            raise BadInput(f"no field plays {role!r}; there are {', '.join(self.partition.fields)}")
        return self.partition.homes[role]

    def _prepared(self, program: Program, scalars: Mapping[str, float]) -> tuple[Pickled, dict[str, float]]:
        """Return the pickled program, and all numbers that its tasks may read.

        Raises BadInput on the client if a field or number is missing or the program is impossible on these blocks.
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
                    remedy = "rename it: run(..., times=n) gives the passes" if taken else f"run(..., {name}=value)"
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
        """Return the boxes of cells that each block owns; for a constant field, all boxes with memory."""
        blocks = range(len(home))
        if home.fields[role].constant:
            return [tuple(home.memory[piece] for piece in home.pieces_of(block)) for block in blocks]
        return [home.own_of(block, role) for block in blocks]


def _counted(times: int) -> int:
    if not whole_number(times, 0):
        raise BadInput(f"times = {times!r}; give an integer, 0 or more")
    return index(times)


def _number(name: str, value: float) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"{name} = {value!r}; give a number") from None


def _checked(program: object) -> Program:
    """Return the program. Raises BadInput if it is not callable or not hashable: traces are keyed by their program."""
    if not callable(program):
        kind = type(program).__name__
        raise BadInput(f"program = a {kind}; give a function of the roles that yields launches: def step(f): yield ...")
    try:
        hash(program)
    except TypeError as error:
        remedy = f"make {type(program).__name__} a function, or its class a @dataclass(frozen=True) of hashable values"
        raise BadInput(f"program = {program!r}: {error}; {remedy}") from None
    return cast(Program, program)


def _shares(role: str, value: Any, home: Partition, parts: list[tuple[Box, ...]]) -> list[dict[Box, np.ndarray]]:
    """Return the values that each block receives of arrays, by box."""
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
    """Return the cells of a chart that an array of this shape covers."""
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
    """Return True if the host of a program reads its numbers, not only its tasks."""
    loops = (part for part in parts if isinstance(part, Loop))
    return any(derived(parts)) or any(part.repeat.until is not None or _asks(part.body) for part in loops)
