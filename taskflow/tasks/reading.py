"""Reading: the cells that a launch reads of each field, in the region that has the field."""

from __future__ import annotations

from dataclasses import dataclass

from taskflow.regions import Box, Partition, Triple, triple
from taskflow.tasks.privilege import Privilege
from taskflow.tasks.stencil import ALL, Stencil
from taskflow.tasks.task import Launch


@dataclass(frozen=True)
class Projected:
    """A stencil around the cells of a region, cut as in `home`, that correspond to cells of a region of another scale."""

    stencil: Stencil
    home: Partition
    scale: Triple

    def around(self, box: Box) -> list[Box]:
        """The cells that are read by a launch over `box`, a box of the other region: overlapping boxes."""
        if not box:
            return []
        corresponding = self.home.region.corresponding(box, self.scale)
        return [self.home.clip(self._whole(cells)) for cells in self.stencil.around(corresponding)]

    def _whole(self, cells: Box) -> Box:
        """Along an axis that the stencil covers from end to end: just that."""
        ends = self.home.region.cells
        far = [hi - lo >= ALL for lo, hi in zip(cells.lo, cells.hi, strict=True)]
        lo = triple(end if whole else at for at, end, whole in zip(cells.lo, ends.lo, far, strict=True))
        return Box(lo, triple(end if whole else at for at, end, whole in zip(cells.hi, ends.hi, far, strict=True)))


def place(launch: Launch, partition: Partition) -> Partition:
    """The partition of the region over whose cells a launch is launched: that of its fields that are not foreign."""
    return next(partition.homes[name] for name, privilege in launch.requirements if not privilege.foreign)


def reading(name: str, privilege: Privilege, launch: Launch, partition: Partition) -> Stencil | Projected:
    """How a launch reads a field."""
    if not privilege.foreign:
        return privilege.stencil
    return Projected(privilege.stencil, partition.homes[name], place(launch, partition).region.scale)


def readings(launch: Launch, partition: Partition) -> dict[str, list[Stencil | Projected]]:
    """The fields that a launch reads, each with all the ways in which it does."""
    found: dict[str, list[Stencil | Projected]] = {}
    joined = launch.stencils
    for name, privilege in launch.requirements:
        if privilege.foreign:
            found.setdefault(name, []).append(reading(name, privilege, launch, partition))
        elif privilege.reads and name not in found:
            found[name] = [joined[name]]
    return found
