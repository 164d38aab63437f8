"""Live-in cells: cells that a pass of programs reads before they are written, so that they carry the state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from taskflow.runtime.regions import Box, Partition, difference, joined
from taskflow.runtime.tasks.program import Program, Roles
from taskflow.runtime.tasks.reading import readings
from taskflow.runtime.tasks.recording import Recordings
from taskflow.runtime.tasks.task import Launch

Cells = dict[str, tuple[Box, ...]]


def live_in(
    programs: Sequence[Program],
    partition: Partition,
    read: Iterable[str] = (),
    recordings: Recordings | None = None,
) -> Cells:
    """Return the cells, as disjoint boxes by role, that determine an indefinite cyclic execution of the programs.

    All other cells are overwritten before they are read. Cells beyond periodic faces are mapped to their originals.
    After each cycle the fields in the roles `read` are read completely, of a box with boundary layers. `recordings` are
    those so far. Raises BadInput if a program is invalid.
    """
    accesses = _Accesses(partition)
    for launches, roles in _turns(programs, partition, recordings or Recordings()):
        for launch in launches:
            accesses.launch(launch)
        for role in read:
            region = partition.homes[roles[role]].region
            accesses.read(roles[role], [region.bounds] if region.atlas is None else region.charts)
    return {name: joined(boxes) for name, boxes in accesses.needed.items() if boxes}


def overwritten(
    programs: Sequence[Program], partition: Partition, recordings: Recordings | None = None
) -> Cells:
    """Return the cells, as disjoint boxes by field, that a cyclic execution of the programs writes. Raises BadInput if
    one is invalid.
    """
    accesses = _Accesses(partition)
    for launches, _ in _turns(programs, partition, recordings or Recordings()):
        for launch in launches:
            accesses.writes(launch)
    return {name: tuple(boxes) for name, boxes in accesses.written.items()}


def _turns(
    programs: Sequence[Program], partition: Partition, recordings: Recordings
) -> Iterator[tuple[list[Launch], Roles]]:
    """Yield the launches of each cycle, and the roles after it, until the roles recur."""
    roles, met = Roles.of(tuple(partition.fields)), set[tuple[tuple[str, str], ...]]()
    while roles.key() not in met:
        met.add(roles.key())
        turn: list[Launch] = []
        for program in programs:
            launches, roles = recordings.record(program, roles)
            turn += launches
        yield turn, roles


class _Accesses:
    """The cells written so far, and those read before they were written, by field."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.written: dict[str, list[Box]] = defaultdict(list)
        self.needed: dict[str, list[Box]] = defaultdict(list)
        self._met: dict[str, set[Box]] = defaultdict(set)  # boxes that were read: repeated ones add nothing
        self._filled: dict[str, set[Box]] = defaultdict(set)

    def launch(self, launch: Launch) -> None:
        for name, ways in readings(launch, self.partition).items():
            for way in ways:
                self.read(name, [box for cells in launch.boxes for box in way.around(cells)])
        if launch.coloured:  # cells of other colours keep their values
            for name in launch.written:
                self.read(name, launch.boxes)
        self.writes(launch)

    def writes(self, launch: Launch) -> None:
        for name in launch.written:
            new = [box for box in launch.boxes if box not in self._filled[name]]
            self._filled[name].update(new)
            self.written[name] += difference(new, self.written[name])

    def read(self, name: str, boxes: Iterable[Box]) -> None:
        home = self.partition.homes[name]
        for box in () if self.partition.fields[name].constant else boxes:
            if box in self._met[name]:
                continue
            self._met[name].add(box)
            for piece, _ in home.region.images(home.clip(box)):
                self.needed[name] += difference([piece], [*self.written[name], *self.needed[name]])
