"""The cost of a repeated step: its launches, messages and memory traffic, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from taskflow.common.caching import cached_property
from taskflow.common.rows import Row
from taskflow.common.units import plural, size
from taskflow.runtime.regions import Box, Partition, triple
from taskflow.runtime.tasks import (
    Analysis,
    Geometries,
    Launch,
    Loop,
    Part,
    Program,
    Recordings,
    Roles,
    SettledPass,
    Stretch,
    Traffic,
    analyse,
    counts,
    exchange,
    moved,
    place,
    settled,
    traffic,
)
from taskflow.runtime.tasks.reading import readings

MANY = 16  # blocks: up to this number all are analysed
LAYERS = "boundary layers"


@dataclass(frozen=True, eq=False)
class Sample:
    """Representative blocks: at the low end and the middle of every direction, for slabs also the last."""

    partition: Partition

    @property
    def complete(self) -> bool:
        """True if all blocks are analysed. Pieces of charts have no representatives."""
        return len(self.partition) <= MANY or self.partition.pieces is not None

    @cached_property
    def blocks(self) -> tuple[int, ...]:
        """The analysed blocks, in order."""
        return tuple(sorted(set(self.like)))

    @cached_property
    def like(self) -> tuple[int, ...]:
        """The representative of each block: a block with as many sides on the domain boundary."""
        if self.complete:
            return tuple(range(len(self.partition)))
        nx, ny, nz = self.partition.shape
        lone = len(self.partition) in (nx, ny, nz)
        x, y, z = ([_like(n, blocks, lone) for n in range(blocks)] for blocks in (nx, ny, nz))
        return tuple(a + nx * (b + ny * c) for c, b, a in product(z, y, x))

    @cached_property
    def known(self) -> Geometries:
        """Cached geometry of exchanges between these blocks."""
        return Geometries(self.partition) if self.complete else Geometries.sampled(self.partition, self.blocks)


def _like(n: int, blocks: int, lone: bool) -> int:
    """Return the representative of block n in a row of `blocks`."""
    if n in (0, blocks - 1):
        return n if lone else 0
    return blocks // 2


@dataclass(frozen=True)
class TaskTraffic:
    """The bytes moved by all launches of a task; `reads` and `writes` are the fields by parameter."""

    task: str
    launches: float
    nbytes: float
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


def often(parts: Iterable[Part], iterations: Mapping[str, float]) -> Iterator[tuple[tuple[Launch, ...], float]]:
    """Yield launches with the number of times each is done. `iterations`: repetitions by counting scalar."""
    for part in parts:
        if isinstance(part, Loop):
            passes = iterations.get(part.repeat.count or "", part.repeat.times)
            yield from ((launches, passes * times) for launches, times in often(part.body, iterations))
        elif isinstance(part, Stretch):
            yield part.launches, 1.0


def _uncounted(parts: Iterable[Part]) -> bool:
    loops = [part for part in parts if isinstance(part, Loop)]
    open_ended = any(loop.repeat.until is not None and loop.repeat.count is None for loop in loops)
    return open_ended or any(_uncounted(loop.body) for loop in loops)


def table(parts: Iterable[Part], iterations: Mapping[str, float], partition: Partition) -> list[TaskTraffic]:
    """Return a row per task, in launch order. Launches over less than half of a region form the last row."""
    rows: dict[str, TaskTraffic] = {}
    for launches, times in often(parts, iterations):
        for launch in launches:
            small = 2 * sum(box.volume for box in launch.boxes) < place(launch, partition).region.count
            name = LAYERS if small else launch.task.name
            fields = {} if small else launch.task.fields
            reads = tuple(field for field, privilege in fields.items() if privilege.reads)
            writes = tuple(field for field, privilege in fields.items() if privilege.writes)
            before = rows.get(name, TaskTraffic(name, 0, 0))
            nbytes = before.nbytes + times * moved(launch, partition)
            rows[name] = TaskTraffic(name, before.launches + times, nbytes, reads, writes)
    return sorted(rows.values(), key=lambda row: row.task == LAYERS)


@dataclass(frozen=True, eq=False)
class StepCost:
    """The program of a step, repeated on the blocks of a partition."""

    program: Program
    partition: Partition
    recordings: Recordings = field(default_factory=Recordings)

    @cached_property
    def sample(self) -> Sample:
        """The representative blocks."""
        return Sample(self.partition)

    @cached_property
    def _settled(self) -> SettledPass:
        return settled(self.program, self.partition, self.sample.blocks, self.sample.known, self.recordings)

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The launches of a step, with the body of a repetition once."""
        return self._settled.launches

    @cached_property
    def depths(self) -> dict[str, int]:
        """The largest distance in cells at which launches of a step read each field, by its role at the start."""
        depths: dict[str, int] = {}
        for launch in self.recordings.record(self.program, Roles.of(tuple(self.partition.fields)))[0]:
            for name, ways in readings(launch, self.partition).items():
                cell = Box(launch.boxes[0].lo, triple(n + 1 for n in launch.boxes[0].lo))
                for box in (box for way in ways for box in way.around(cell)):
                    reach = [max(a - b, d - c) for a, b, c, d in zip(cell.lo, box.lo, cell.hi, box.hi, strict=True)]
                    depths[name] = max(depths.get(name, 0), *reach)
        return depths

    def analysed(self, *, split: bool) -> Analysis:
        """Return the analysis of the launches; with `split`, launches are cut into edge and middle."""
        launches, following, valid = settled(self.program, self.partition, recordings=self.recordings)
        return analyse(launches, self.partition, following=following, valid=valid, split=split)

    @cached_property
    def traffic(self) -> list[Traffic]:
        """The messages that each block, or its representative, sends."""
        launches, following, valid = self._settled
        blocks, known = self.sample.blocks, self.sample.known
        exchanged = exchange(launches, self.partition, following=following, valid=valid, blocks=blocks, known=known)
        sent = traffic((message for moment in exchanged.messages.values() for message in moment), self.partition)
        return [sent[block] for block in self.sample.like]

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        return self.recordings.plan(self.program, Roles.of(tuple(self.partition.fields)))[0]

    @cached_property
    def counted(self) -> tuple[str, ...]:
        """The scalars that count conditional repetitions."""
        return tuple(dict.fromkeys(counts(self.parts)))

    @cached_property
    def bounded(self) -> bool:
        """True if `nbytes` is an upper bound, as some conditional repetitions are not counted."""
        return _uncounted(self.parts)

    def nbytes(self, iterations: Mapping[str, float]) -> float:
        """Return the bytes that the step must move, at most if `bounded`; `iterations` has the numbers of `counted`."""
        return sum(times * self.bytes_of(launches) for launches, times in often(self.parts, iterations))

    def bytes_of(self, launches: Iterable[Launch]) -> int:
        """Return the bytes that some launches must move through memory."""
        return sum(moved(launch, self.partition) for launch in launches)

    def rows(self, iterations: Mapping[str, float], iteration: str, bandwidth: float) -> Iterator[Row]:
        """Yield rows of `taskflow check`: memory traffic of a step and of its tasks.

        `iteration` names a repetition of `iterations`, `bandwidth` is the copy bandwidth in bytes per second.
        """
        cells, nbytes, most = self.partition.region.count, self.nbytes(iterations), "at most " if self.bounded else ""
        copy = f"a copy reaches {size(bandwidth)}/s (measured now)"
        yield Row("step", f"moves {most}{size(nbytes)}, {nbytes / cells:.0f} bytes per cell; {copy}")
        if iterations:
            number = max(iterations.values())
            each = (nbytes - self.nbytes(dict.fromkeys(iterations, 0.0))) / cells / number
            share = f"of these {each:.0f} bytes per cell in each {iteration}"
            yield Row("", f"{share}, for {number:.0f} of them: their number is known only after a run")
        yield Row("tasks", f"{'bytes/cell':>10}  {'times':>5}  {'task':<18}  reads -> writes")
        for row in table(self.parts, iterations, self.partition):
            fields = f"{' '.join(row.reads)} -> {' '.join(row.writes)}" if row.reads or row.writes else ""
            line = f"{row.nbytes / cells:>10.1f}  {row.launches:>5.0f}  {row.task:<18}  {fields}"
            yield Row("", line.rstrip())

    def message_rows(self, iterations: Mapping[str, float], iteration: str) -> Iterator[Row]:
        """Yield rows of `taskflow check`: messages of the busiest block of a sample, and of all blocks."""
        sample, most, total = self.sample, max(self.traffic), sum(self.traffic, Traffic())
        looked, about = ("", "") if sample.complete else (f" of the {len(sample.blocks)} that were looked at", "about ")
        repeated = "repetitions counted once" if self.bounded else f"with one {iteration}"
        once = f" ({repeated})" if self.bounded or iterations else ""
        sent = f"{plural(most.messages, 'message')} and {size(most.nbytes)} per step{once}"
        yield Row("messages", f"{sent} from the busiest block{looked}")
        kinds = [f"{n:,} across {name}" for name in ("faces", "edges", "corners") if (n := getattr(total, name))]
        yield Row("", f"{about}{total.messages:,} and {size(total.nbytes)} from all: {', '.join(kinds)}")
