"""A region on blocks: the fields of one's own program, on the cores of a laptop, on GPUs, or on a cluster."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from taskflow.cluster.jobs import Call, Fill, Passes, Ran, Read, indices
from taskflow.cluster.lending import lent
from taskflow.cluster.memory import shortage
from taskflow.cluster.parcel import Parcel
from taskflow.cluster.placement import cut, placed, slabs, threads_per_block
from taskflow.errors import BadInput, Interrupted, RunFailed, TaskflowError
from taskflow.machine import Gang, Job, Mapper, Plan, cause, choose_device, survey, watch
from taskflow.regions import Box, Partition, Region, Triple, triple
from taskflow.tasks import Program, Roles, record

if TYPE_CHECKING:
    from distributed import Client

    from taskflow.machine.mapper import Overlap

Auto = Literal["auto"]


@dataclass(frozen=True)
class Means:
    """What a region is distributed over: the arguments of `distribute` that say how many of what."""

    device: str
    blocks: Triple | Auto
    workers: int | Auto
    threads: int | Auto


def distribute(
    region: Region,
    *,
    blocks: Sequence[int] | Auto = "auto",
    device: Literal["auto", "cpu", "gpu"] = "auto",
    workers: int | Auto = "auto",
    threads: int | Auto = "auto",
    channel: str = "auto",
    overlap: Overlap = "auto",
    client: Client | None = None,
    scheduler_file: str | PathLike[str] | None = None,
) -> Blocks:
    """Cut a region into blocks and give each a place to live: use the result in a `with` statement, or close it.

    The blocks live on the workers of `client`, or of the cluster behind `scheduler_file`, or on this machine: one for
    each of its GPUs, or one for all of its cores. `blocks` = (nx, ny, nz) says how many there are along x, y and z;
    more than one on cores have a process each. The other arguments are those of a case file's [machine].
    Raises BadInput where an argument cannot be obeyed, RunFailed where a worker does not answer.
    """
    with ExitStack() as stack, _arguments():
        means = _checked(device, blocks, workers, threads, overlap)
        cells = region.cells.shape
        cluster, here = stack.enter_context(lent(means, cells, client, scheduler_file))
        places = survey(cluster, embedded=here)
        kind: Literal["cpu", "gpu"] = "gpu" if choose_device(device, places) == "gpu" else "cpu"
        partition = Partition(region, cut(means, cells, slabs(places, kind, embedded=here), region.ghost))
        where = placed(means, partition.shape, places, embedded=here)
        if problem := shortage([_bytes(region, box) for box in partition.blocks], where, kind):
            raise BadInput(f"the region {problem}; use fewer cells, fewer fields or more machines")
        plan = Plan(
            run=f"program-{uuid.uuid4().hex[:12]}",
            partition=partition,
            device=kind,
            threads=threads_per_block(means, where),
            channel=channel,
            mapper=Mapper(overlap),
            ordinals=tuple(place.gpus[0].ordinal if kind == "gpu" else 0 for place in where),
        )
        gang = stack.enter_context(Gang(cluster, plan, [place.worker for place in where]))
        transports = gang.connect()
        return Blocks(gang, transports, stack.pop_all())


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

    def fill(self, **values: float | np.ndarray | Callable[..., Any]) -> None:
        """Write fields, by role: on their cells and on the boundary layers across directions that are not periodic.

        A value is a number, or a function of cell indices i, j, k (along x, y, z) that is called on every block with
        arrays that broadcast to [z, y, x], or an array [z, y, x] of all cells (with or without the boundary layers).
        Raises BadInput where there is no such field or the shape is another one.
        """
        for role, value in values.items():
            self._check(role)
            if callable(value):
                value(*indices(Box.of((1, 1, 1)).shift(self.region.cells.lo)))  # an error in it is told here
            box = self._extent(role, np.shape(value)) if isinstance(value, np.ndarray) else self.region.bounds
            self._do([Fill(Parcel.of({role: self._share(value, box, owned)}), box) for owned in self.partition.owned])

    def run(self, program: Program, times: int = 1, **scalars: float) -> Ran:
        """Pass through a program so many times, as one call per block: no message of Dask is on the way of a step.

        `scalars` are the named numbers that its tasks read; their values stay until they are given again. Returns
        passes, seconds and rate (cells per second). Raises BadInput where the program is impossible on these blocks,
        RunFailed where a block fails, Interrupted after Ctrl-C: all blocks have then stopped after the same pass, and
        their fields can be read.
        """
        known = {**self.scalars, **{name: float(value) for name, value in scalars.items()}}
        self._check_program(program, scalars, known)
        job = Passes(Parcel.of(program), times, known)
        ran = max(self._do([job] * len(self.partition), whole=False), key=lambda each: each.seconds)
        self.scalars = ran.scalars
        if ran.passes < times:
            raise Interrupted(f"stopped by Ctrl-C after {ran.passes} of {times} passes")
        return ran

    def read(self, role: str, box: Box | None = None) -> np.ndarray:
        """The values [z, y, x] of the field in this role in all cells of the region, or in those of `box`.

        Raises BadInput where there is no such field or the box reaches beyond the region and its boundary layers.
        """
        self._check(role)
        box = self.region.cells if box is None else box
        if box not in self.region.bounds:
            raise BadInput(f"read({role!r}, {box}): there are values in {self.region.bounds} only")
        parts = self._do([Read(role, box)] * len(self.partition))
        whole = np.empty(box.shape[::-1], parts[0][1].dtype)
        for cells, values in parts:
            if cells:
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

    def _check(self, role: str) -> None:
        if role not in self.region.fields:
            raise BadInput(f"no field plays {role!r}; there are {', '.join(self.region.fields)}")

    def _check_program(self, program: Program, given: Mapping[str, float], known: Mapping[str, float]) -> None:
        """Raises BadInput for a field or a number that is not there: before any block is troubled."""
        launches, _ = record(program, Roles.of(tuple(self.region.fields)))
        read: set[str] = set()
        produced = set(known)
        for launch in launches:
            for name in launch.fields:
                self._check(name)
            read.update(launch.scalars.values())
            for name in launch.scalars.values():
                if name not in produced:
                    raise BadInput(f"{launch.task.name} reads {name!r}, which has no value; run(..., {name}=value)")
            produced.update(name for name, _ in launch.reductions.values())
        for name in given:
            if name not in read:
                raise BadInput(f"no task reads {name!r}; they read {', '.join(sorted(read)) or 'no numbers'}")

    def _extent(self, role: str, shape: tuple[int, ...]) -> Box:
        for box in (self.region.cells, self.region.bounds):
            if shape == box.shape[::-1]:
                return box
        raise BadInput(f"{role} = array of shape {shape}; the region has {self.region.cells.shape[::-1]}, [z, y, x]")

    @staticmethod
    def _share(value: Any, box: Box, owned: Box) -> Any:
        return np.ascontiguousarray(value[(box & owned).slices(box.lo)]) if isinstance(value, np.ndarray) else value


def _checked(
    device: str, blocks: Sequence[int] | Auto, workers: int | Auto, threads: int | Auto, overlap: str
) -> Means:
    for name, value, known in (("device", device, "auto cpu gpu"), ("overlap", overlap, "auto none comm full")):
        if value not in known.split():
            raise BadInput(f"{name} = {value!r}; use one of {', '.join(known.split())}")
    for name, count in (("workers", workers), ("threads", threads)):
        if count != "auto" and not (isinstance(count, int) and count >= 1):
            raise BadInput(f'{name} = {count!r}; use a whole number from 1, or "auto"')
    if blocks != "auto" and not (len(blocks) == 3 and all(isinstance(n, int) and n >= 1 for n in blocks)):
        raise BadInput(f'blocks = {blocks!r}; use three whole numbers (nx, ny, nz), or "auto"')
    return Means(device, "auto" if blocks == "auto" else triple(blocks), workers, threads)


def _bytes(region: Region, block: Box) -> int:
    """What the fields of a block take, ghost cells included."""
    return block.grow(region.ghost).volume * sum(field.nbytes for field in region.fields.values())


@contextmanager
def _arguments() -> Iterator[None]:
    """The arguments of `distribute` are the keys of a case file's [machine]: messages leave the table's name out."""
    try:
        yield
    except BadInput as error:
        raise BadInput(str(error).replace("machine.", "").replace("--scheduler-file", "scheduler_file =")) from error
