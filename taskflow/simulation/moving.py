"""What a step moves through memory, task by task, and how often it repeats what it repeats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from taskflow.regions import Partition
from taskflow.tasks import Launch, Loop, Part, moved, place

LAYERS = "boundary layers"


@dataclass(frozen=True)
class Moved:
    """What the launches of a task move, on all blocks together; `reads` and `writes` are the fields by parameter."""

    task: str
    launches: float
    nbytes: float
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


def often(parts: Iterable[Part], rounds: Mapping[str, float]) -> Iterator[tuple[tuple[Launch, ...], float]]:
    """Launches, and how often they are done; `rounds` says how often repetitions are, by the scalar that counts them,
    where that is less than their limit.
    """
    for part in parts:
        if isinstance(part, Loop):
            passes = rounds.get(part.repeat.count or "", part.repeat.times)
            yield from ((launches, passes * times) for launches, times in often(part.body, rounds))
        else:
            yield part.launches, 1.0


def table(parts: Iterable[Part], rounds: Mapping[str, float], partition: Partition) -> list[Moved]:
    """A row per task, in the order in which they come first; launches over less than half of a region's cells, those
    that fill boundary layers, are one row, the last.
    """
    rows: dict[str, Moved] = {}
    for launches, times in often(parts, rounds):
        for launch in launches:
            small = 2 * launch.over.volume < place(launch, partition).region.cells.volume
            name = LAYERS if small else launch.task.name
            fields = {} if small else launch.task.fields
            reads = tuple(field for field, privilege in fields.items() if privilege.reads)
            writes = tuple(field for field, privilege in fields.items() if privilege.writes)
            before = rows.get(name, Moved(name, 0, 0))
            nbytes = before.nbytes + times * moved(launch, partition)
            rows[name] = Moved(name, before.launches + times, nbytes, reads, writes)
    return sorted(rows.values(), key=lambda row: row.task == LAYERS)
