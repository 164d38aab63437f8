"""Traffic: data moved by a step, between blocks in messages, and through the memory of all blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass, replace
from operator import add

from taskflow.runtime.regions import Partition, triple
from taskflow.runtime.tasks.graph import Message
from taskflow.runtime.tasks.privilege import Privilege
from taskflow.runtime.tasks.reading import place, reading
from taskflow.runtime.tasks.stencil import ALL, Stencil
from taskflow.runtime.tasks.sweep import PlacedSweep
from taskflow.runtime.tasks.task import Launch


@dataclass(frozen=True, order=True)
class Traffic:
    """Messages, their bytes, and their numbers to neighbours across faces, edges and corners of a block."""

    messages: int = 0
    nbytes: int = 0
    faces: int = 0
    edges: int = 0
    corners: int = 0

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(*map(add, astuple(self), astuple(other)))


def traffic(messages: Iterable[Message], partition: Partition) -> list[Traffic]:
    """Return the traffic that each block sends with these messages, without copies within a block."""
    fields = partition.fields
    sent = [Traffic()] * len(partition)
    for message in messages:
        if message.source != message.target:
            places = zip(partition.place(message.source), partition.place(message.target), strict=True)
            across = 1 if partition.pieces is not None else sum(a != b for a, b in places)
            nbytes = sum(copy.source_box.volume * fields[name].nbytes for name, copy in message.copies)
            sent[message.source] += Traffic(1, nbytes, *(int(across == n) for n in (1, 2, 3)))
    return sent


def visited(launch: Launch, partition: Partition) -> int:
    """Return the number of cells of the launch, summed over all blocks that have them."""
    home = place(launch, partition)
    return _done(launch, home) * home.copies


def moved(launch: Launch, partition: Partition) -> int:
    """Return the bytes moved through memory: each field is read once, and written once. Of a foreign field, the cells
    that correspond to the launch are counted. Stencils beyond these cells are not.
    """
    home = place(launch, partition)
    nbytes = sum(
        _cells(name, privilege, launch, partition)
        * partition.fields[name].nbytes
        * (privilege.reads + privilege.writes)
        for name, privilege in launch.requirements
    )
    return nbytes * home.copies


def _cells(name: str, privilege: Privilege, launch: Launch, partition: Partition) -> int:
    if not privilege.foreign:
        return _done(launch, partition.homes[name])
    if privilege.stencil.roams:
        return partition.homes[name].region.count
    within = reading(name, replace(privilege, stencil=_lines(privilege.stencil)), launch, partition)
    return max((box.volume for box in within.around(launch.over)), default=0)


def _done(launch: Launch, home: Partition) -> int:
    """Return the number of cells of a launch: all, or those in tiles of a colour."""
    if launch.swept is None:
        return launch.volume
    _, direction, sweep = launch.swept
    inside = [(box & part, part) for box in launch.boxes for part in home.parts if box.meets(part)]
    placed = ((box, PlacedSweep(sweep, direction, sweep.around(home.region, part))) for box, part in inside)
    return sum(shape.volume(box) for box, shape in placed)


def _lines(stencil: Stencil) -> Stencil:
    """Return the stencil without its neighbours, except whole lines."""

    def kept(offsets: tuple[int, int, int]) -> tuple[int, int, int]:
        return triple(n if abs(n) == ALL else 0 for n in offsets)

    return Stencil(tuple((kept(first), kept(last)) for first, last in stencil.offsets))
