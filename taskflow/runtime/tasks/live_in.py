"""Live-in cells: those that a pass of programs reads before anything has written them, so that they carry the state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from taskflow.runtime.regions import Box, Partition, difference, joined
from taskflow.runtime.tasks.program import Program, Roles, record
from taskflow.runtime.tasks.reading import readings
from taskflow.runtime.tasks.task import Launch

Cells = dict[str, tuple[Box, ...]]


def live_in(programs: Sequence[Program], partition: Partition, read: Iterable[str] = ()) -> Cells:
    """The cells, as disjoint boxes by role, that decide all that the programs will do, done in turn for ever.

    Everything else they overwrite before they read it. Cells beyond periodic faces are those that they are images of.
    After each turn the fields in the roles `read` are read as a whole, of a box with boundary layers. Raises BadInput
    where a program is none.
    """
    accesses = _Accesses(partition)
    for launches, roles in _turns(programs, partition):
        for launch in launches:
            accesses.launch(launch)
        for role in read:
            region = partition.homes[roles[role]].region
            accesses.read(roles[role], [region.bounds] if region.atlas is None else region.charts)
    return {name: joined(boxes) for name, boxes in accesses.needed.items() if boxes}


def overwritten(programs: Sequence[Program], partition: Partition) -> Cells:
    """The cells, as disjoint boxes by field, that the programs write, done in turn for ever. Raises BadInput where one
    is none.
    """
    accesses = _Accesses(partition)
    for launches, _ in _turns(programs, partition):
        for launch in launches:
            accesses.writes(launch)
    return {name: tuple(boxes) for name, boxes in accesses.written.items()}


def _turns(programs: Sequence[Program], partition: Partition) -> Iterator[tuple[list[Launch], Roles]]:
    """The launches of each turn, and the roles after it, until these come again: then nothing new happens any more."""
    roles, met = Roles.of(tuple(partition.fields)), set[tuple[tuple[str, str], ...]]()
    while roles.key() not in met:
        met.add(roles.key())
        turn: list[Launch] = []
        for program in programs:
            launches, roles = record(program, roles)
            turn += launches
        yield turn, roles


class _Accesses:
    """The cells written so far, and those read before that, by field."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.written: dict[str, list[Box]] = defaultdict(list)
        self.needed: dict[str, list[Box]] = defaultdict(list)
        self._met: dict[str, set[Box]] = defaultdict(set)  # what has been read, or written: again it adds nothing
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
