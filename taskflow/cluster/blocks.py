"""Blocks at work: the fields of one's own program, filled, computed and read where they live."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.cluster.jobs import Call, Fill, Passes, Profile, Ran, Read, indices
from taskflow.cluster.parcel import Parcel
from taskflow.errors import BadInput, Interrupted, RunFailed, TaskflowError
from taskflow.machine import Gang, Job, cause, watch
from taskflow.machine.profile import summarise, write_chrome
from taskflow.regions import Box, Partition
from taskflow.tasks import Loop, Part, Program, Roles, analyse, counts, plan, record, settled


class Blocks:
    """A region on blocks, whose fields live where the blocks do.

    `region`, `partition`, `device` ("cpu" or "gpu"); `transports` has, per block, how it exchanges messages with each
    other one. `scalars` has the named numbers after the last run, reductions among them. A call that fails on a block
    ends all blocks: what is left then is to distribute the region again.
    """

    def __init__(self, gang: Gang, transports: list[dict[int, str]], opened: ExitStack) -> None:
        self.partition, self.region = gang.plan.partition, gang.plan.partition.region
        self.device, self.transports = gang.plan.device, transports
        self.scalars: dict[str, float] = {}
        self._gang, self._opened, self._ended = gang, opened, ""
        self._possible: set[Parcel] = set()  # programs that these blocks can run

    def __enter__(self) -> Blocks:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        shape, workers = "x".join(map(str, self.partition.shape)), len(set(self._gang.workers))
        return f"<{shape} blocks of {self.region.cells} on {self.device}, {workers} processes>"

    def close(self) -> None:
        """Give everything back: fields, devices, and a cluster that was begun for the blocks. Idempotent."""
        self._ended = self._ended or "they were closed"
        self._opened.close()

    def fill(self, /, **values: float | np.ndarray | Sequence[Any] | Callable[..., Any]) -> None:
        """Write fields, by role: on their cells and on the boundary layers across directions that are not periodic.

        A value is a number, or a function of cell indices i, j, k (along x, y, z) that is called on every block with
        arrays that broadcast to [z, y, x], or an array or nested lists [z, y, x] of all cells (with or without the
        boundary layers). Raises BadInput where there is no such field or the shape is another one.
        """
        for role, value in values.items():
            home = self._home(role)
            if callable(value):
                value(*indices(Box.of((1, 1, 1)).shift(home.region.cells.lo)))  # an error in it is told here
            if isinstance(value, list | tuple):
                value = np.asarray(value)
            box = _extent(role, np.shape(value), home) if isinstance(value, np.ndarray) else home.region.bounds
            self._do([Fill(role, Parcel.of(self._share(value, box, owned)), box) for owned in home.owned])

    def run(self, program: Program, /, times: int = 1, **scalars: float) -> Ran:
        """Pass through a program so many times, as one call per block: no message of Dask is on the way of a step.

        `scalars` are the named numbers that its tasks read; their values stay until they are given again. Returns
        passes, seconds and rate (cells per second). Raises BadInput where the program is impossible on these blocks,
        RunFailed where a block fails, Interrupted after Ctrl-C: all blocks have then stopped after the same pass, and
        their fields can be read.
        """
        if times < 0:
            raise BadInput(f"times = {times}; a program is passed through 0 times or more")
        parcel, numbers = self._prepared(program, scalars)
        job = Passes(parcel, times, numbers)
        ran = max(self._do([job] * len(self.partition), whole=False), key=lambda each: each.seconds)
        self.scalars = ran.scalars
        if ran.passes < times:
            raise Interrupted(f"stopped by Ctrl-C after {ran.passes} of {times} passes")
        return ran

    def profile(
        self, program: Program, /, times: int = 20, path: str | PathLike[str] = "profile.json", **scalars: float
    ) -> dict[str, Any]:
        """Pass through a program some more times, and find out where the time goes.

        Writes a timeline of all blocks for Perfetto (https://ui.perfetto.dev) or chrome://tracing, and returns what it
        says: see `taskflow.machine.profile.summarise`. Raises as `run` does.
        """
        parcel, numbers = self._prepared(program, scalars)
        timelines = self._do([Profile(parcel, times, numbers)] * len(self.partition))
        self.scalars = numbers
        write_chrome(Path(path), timelines)
        return summarise(timelines)

    def draw(self, program: Program, path: str | PathLike[str]) -> None:
        """Draw what the runtime made of a pass of a program: edges, middles, messages, and what waits for what.

        The suffix of `path` says the format: `.png`, `.svg` or `.pdf`.
        """
        from taskflow.plots.graph import plot_graph
        from taskflow.tasks.drawing import draw

        launches, following, valid = settled(program, self.partition)
        mapper = self._gang.plan.mapper.decide(self.partition)
        found = analyse(launches, self.partition, following=following, valid=valid, split=mapper.split)
        plot_graph(draw(found.graph), Path(path), getattr(program, "__name__", "one pass"))

    def read(self, role: str, box: Box | None = None) -> np.ndarray:
        """The values [z, y, x] of the field in this role in all cells of its region, or in those of `box`.

        Raises BadInput where there is no such field or the box reaches beyond the region and its boundary layers.
        """
        region = self._home(role).region
        box = region.cells if box is None else box
        if box not in region.bounds:
            raise BadInput(f"read({role!r}, {box}): there are values in {region.bounds} only")
        parts = [part for part in self._do([Read(role, box)] * len(self.partition)) if part is not None]
        whole = np.empty(box.shape[::-1], parts[0][1].dtype if parts else "f8")
        for cells, values in parts:
            whole[cells.slices(box.lo)] = values
        return whole

    def call(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """What `function(shard, *arguments)` returns on each block, in their order; on the block's own thread.

        The function may run programs, fold numbers over all blocks (`shard.allreduce`) and read and write the block's
        cells; what waits for other blocks has to be called on all of them.
        """
        job = Call(Parcel.of(function), Parcel.of(arguments))
        return self._do([job] * len(self.partition))

    # ------------------------------------------------------------------------------------------------------- within

    def _do(self, jobs: Sequence[Job], *, whole: bool = True) -> list[Any]:
        """What the jobs of all blocks return. After Ctrl-C raises Interrupted if they are `whole`: it came too late."""
        if self._ended:
            raise RunFailed(f"these blocks have ended: {self._ended}; distribute the region again")
        try:
            statuses, interrupted = watch(self._gang, jobs)
            if failure := cause(statuses):
                block = next(n for n, status in enumerate(statuses) if status.error is failure)
                failure.add_note(f"block {block} on worker {self._gang.workers[block]}")
                raise failure
            results = self._gang.results()
        except (TaskflowError, KeyboardInterrupt) as error:
            self._ended = str(error) or "Ctrl-C"
            raise
        if interrupted and whole:
            raise Interrupted("stopped by Ctrl-C")
        return results

    def _home(self, role: str) -> Partition:
        """The partition of the region that has a field. Raises BadInput where there is none."""
        if role not in self.partition.homes:
            raise BadInput(f"no field plays {role!r}; there are {', '.join(self.partition.fields)}")
        return self.partition.homes[role]

    def _prepared(self, program: Program, given: Mapping[str, float]) -> tuple[Parcel, dict[str, float]]:
        """The program to be sent, and all numbers that its tasks may read. Raises BadInput, before any block is
        troubled, where a field or a number is not there or the program is impossible on these blocks.
        """
        numbers = {**self.scalars, **{name: float(value) for name, value in given.items()}}
        roles = Roles.of(tuple(self.partition.fields))
        launches, _ = record(program, roles)
        parts, _ = plan(program, roles)
        read, produced = set[str](), {*numbers, *counts(parts)}
        for launch in launches:
            for name in launch.fields:
                self._home(name)
            for name in launch.scalars.values():
                if name not in produced:
                    raise BadInput(f"{launch.task.name} reads {name!r}, which has no value; run(..., {name}=value)")
                read.add(name)
            produced.update(name for name, _ in launch.reductions.values())
        for name in given:
            if name not in read and not _asks(parts):
                raise BadInput(f"no task reads {name!r}; they read {', '.join(sorted(read)) or 'no numbers'}")
        parcel = Parcel.of(program)
        if parcel not in self._possible:
            settled(program, self.partition)
            self._possible.add(parcel)
        return parcel, numbers

    @staticmethod
    def _share(value: Any, box: Box, owned: Box) -> Any:
        return np.ascontiguousarray(value[(box & owned).slices(box.lo)]) if isinstance(value, np.ndarray) else value


def _extent(role: str, shape: tuple[int, ...], home: Partition) -> Box:
    for box in (home.region.cells, home.region.bounds):
        if shape == box.shape[::-1]:
            return box
    raise BadInput(f"{role} = array of shape {shape}; the region has {home.region.cells.shape[::-1]}, [z, y, x]")


def _asks(parts: Sequence[Part]) -> bool:
    """Whether a program decides by its numbers, so that not only its tasks read them."""
    return any(isinstance(part, Loop) and (part.repeat.until is not None or _asks(part.body)) for part in parts)
