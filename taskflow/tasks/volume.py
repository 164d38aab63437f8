"""How much a launch does, on all blocks together: the cells that it visits, and the bytes that it must move."""

from __future__ import annotations

from dataclasses import replace

from taskflow.regions import Partition, triple
from taskflow.tasks.privilege import Privilege
from taskflow.tasks.reading import place, reading
from taskflow.tasks.stencil import ALL, Stencil
from taskflow.tasks.task import Launch


def visited(launch: Launch, partition: Partition) -> int:
    """Cells: those of the launch, once for each block where every block has all of them."""
    home = place(launch, partition)
    return launch.over.volume * (len(home) if home.replicated else 1)


def moved(launch: Launch, partition: Partition) -> int:
    """Bytes through memory: each field is read once, and written once; of a foreign one those cells that correspond to
    the launch's. What stencils reach beyond these is not counted.
    """
    home = place(launch, partition)
    nbytes = sum(
        _cells(name, privilege, launch, partition)
        * partition.fields[name].nbytes
        * (privilege.reads + privilege.writes)
        for name, privilege in launch.requirements
    )
    return nbytes * (len(home) if home.replicated else 1)


def _cells(name: str, privilege: Privilege, launch: Launch, partition: Partition) -> int:
    if not privilege.foreign:
        return launch.over.volume
    within = reading(name, replace(privilege, stencil=_lines(privilege.stencil)), launch, partition)
    return max((box.volume for box in within.around(launch.over)), default=0)


def _lines(stencil: Stencil) -> Stencil:
    """The stencil without its neighbours, but for whole lines."""

    def kept(offsets: tuple[int, int, int]) -> tuple[int, int, int]:
        return triple(n if abs(n) == ALL else 0 for n in offsets)

    return Stencil(tuple((kept(first), kept(last)) for first, last in stencil.offsets))
