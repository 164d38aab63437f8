"""Ghost validity: which ghost cells hold the present value, and which copies readers still need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product

from taskflow.errors import BadInput
from taskflow.regions import Box, Copy, Partition, Triple, difference, periodic_images
from taskflow.tasks.task import Launch

Valid = dict[tuple[int, str], tuple[Box, ...]]
Moments = dict[int, list[tuple[str, Copy]]]


@dataclass(frozen=True, eq=False)
class GhostAnalysis:
    """Finds the copies that fill ghost cells, for some blocks of a partition.

    A ghost cell is valid from the copy that filled it until its owner writes it again. Only the fields, the widths and
    the neighbours that a reader's stencil touches are copied; what can travel at one moment travels together.
    """

    partition: Partition
    blocks: frozenset[int]
    _needs: dict[tuple[object, ...], tuple[Box, ...]] = field(default_factory=dict, repr=False)
    _copies: dict[tuple[int, tuple[Box, ...]], list[Copy]] = field(default_factory=dict, repr=False)
    _left: dict[tuple[Box, tuple[Box, ...]], tuple[Box, ...]] = field(default_factory=dict, repr=False)

    def moments(self, launches: Sequence[Launch], following: Sequence[Launch], valid: Valid) -> tuple[Moments, Valid]:
        """The copies of a step by the launch after which they can begin (-1: at once), and the ghosts valid at its end.

        `valid` are the ghost cells valid at the start. `following` is what comes after the step: what its readers miss
        and nothing there overwrites before travels in this step already, so that the transfer can overlap with it.
        Every block comes to the same result on the copies that it is part of. Raises BadInput where a launch is
        impossible on this partition.
        """
        now, after_step = dict(valid), dict(valid)
        writer: dict[str, int] = {}
        found: Moments = {}
        for n, launch in enumerate((*launches, *following)):
            if n == len(launches):
                after_step = dict(now)
            self._check(launch)
            for block in sorted(self.blocks):
                missing = self._missing(launch, block, now)
                if not missing:
                    continue
                moment = max(writer.get(name, -1) for name in missing)
                for name, boxes in missing.items():
                    now[block, name] = now.get((block, name), ()) + boxes
                    if moment < len(launches):
                        found.setdefault(moment, []).extend((name, copy) for copy in self._sources(block, boxes))
                    if moment < len(launches) <= n:
                        after_step[block, name] = after_step.get((block, name), ()) + boxes
            for name, privilege in launch.requirements:
                if privilege.writes:
                    writer[name] = n
                    self._invalidate(name, launch.over, now)
        return found, after_step if following else now

    def _missing(self, launch: Launch, block: int, valid: Valid) -> dict[str, tuple[Box, ...]]:
        """Per field: the ghost cells of a block that the launch reads and that are not valid."""
        missing: dict[str, tuple[Box, ...]] = {}
        for name, privilege in launch.requirements:
            if privilege.reads:
                held = (*valid.get((block, name), ()), *missing.get(name, ()))
                key = (block, launch.over, privilege.stencil, held)
                if key not in self._needs:
                    owned = self.partition.owned[block]
                    needed: list[Box] = []
                    for box in privilege.stencil.around(launch.over & owned):
                        needed += difference([box], [owned, *needed, *held])
                    self._needs[key] = tuple(needed)
                if self._needs[key]:
                    missing[name] = missing.get(name, ()) + self._needs[key]
        return missing

    def _sources(self, block: int, boxes: tuple[Box, ...]) -> list[Copy]:
        if (block, boxes) not in self._copies:
            self._copies[block, boxes] = self.partition.sources(block, boxes)
        return self._copies[block, boxes]

    def _invalidate(self, name: str, over: Box, valid: Valid) -> None:
        """Ghost copies of cells that have been overwritten are valid no more."""
        region = self.partition.region
        for block in self.blocks:
            if boxes := valid.get((block, name)):
                if (over, boxes) not in self._left:
                    images = (image for box in boxes for image in periodic_images(box, region.cells, region.periodic))
                    self._left[over, boxes] = tuple(p.shift(shift) for cut, shift in images for p in cut.subtract(over))
                valid[block, name] = self._left[over, boxes]

    def _check(self, launch: Launch) -> None:
        region = self.partition.region
        if launch.over not in region.bounds:
            raise BadInput(f"{launch} is launched over {launch.over}, outside the region's bounds {region.bounds}")
        for name, privilege in launch.requirements:
            if name not in region.fields:
                raise BadInput(f"{launch} uses the field {name!r}; the region has {', '.join(region.fields)}")
            if privilege.reads and privilege.stencil.width > region.ghost:
                raise BadInput(
                    f"{launch} reads {name!r} {privilege.stencil.width} cells away; the region has {region.ghost} ghost"
                    f" layers: give it ghost={privilege.stencil.width}"
                )
            if privilege.reads:
                for box in privilege.stencil.around(launch.over):
                    if self.partition.clip(box) != box:
                        raise BadInput(
                            f"{launch} is launched over {launch.over} and reads {name!r} in {box}, beyond the region's"
                            f" bounds {region.bounds}: launch it over fewer cells"
                        )
            if privilege.reads and privilege.writes:
                self._check_race(launch, name, _offsets(privilege.stencil.offsets))

    def _check_race(self, launch: Launch, name: str, offsets: Iterable[Triple]) -> None:
        """Point tasks of one launch run at the same time: none may read what another one writes."""
        region = self.partition.region
        for offset in offsets:
            images = periodic_images(launch.over.shift(offset), region.cells, region.periodic)
            if any(piece.meets(launch.over) for piece, _ in images):
                raise BadInput(
                    f"{launch} reads {name!r} at the offset {offset}, where it also writes it: use a second field"
                )


def _offsets(boxes: Iterable[tuple[Triple, Triple]]) -> set[Triple]:
    """Every neighbour in a union of offset boxes, the cell itself left out."""
    found: set[Triple] = set()
    for (x0, y0, z0), (x1, y1, z1) in boxes:
        found.update(product(range(x0, x1 + 1), range(y0, y1 + 1), range(z0, z1 + 1)))
    return found - {(0, 0, 0)}
