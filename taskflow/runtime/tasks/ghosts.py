"""Ghost cells: which of them hold the present value, which a reader lacks, and who has copies of them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from taskflow.runtime.regions import Box, Copy, Partition, difference, joined, periodic_images
from taskflow.runtime.tasks.check import check
from taskflow.runtime.tasks.reading import Projected
from taskflow.runtime.tasks.stencil import Stencil
from taskflow.runtime.tasks.task import Launch

Valid = dict[tuple[int, str], tuple[Box, ...]]


@dataclass(frozen=True, eq=False)
class Gap:
    """Ghost cells of a block that a reader lacks, as disjoint boxes."""

    block: int
    boxes: tuple[Box, ...]


@dataclass(frozen=True)
class Reader:
    """The way in which a launch over some cells of a region, cut into blocks, reads a field."""

    over: Box
    ghosts: int
    cut: Partition
    way: Stencil | Projected

    def share(self, block: int) -> Box:
        """The cells on which a block does the launch."""
        return self.over & self.cut.computed(block, self.ghosts)


@dataclass(frozen=True, eq=False)
class GhostState:
    """Valid ghost cells of one field: `boxes` of each block. There is one object per state of a geometry, and it
    remembers what launches make of it, so that a sweep that is repeated is worked out once.
    """

    geometry: _Geometry
    boxes: tuple[tuple[Box, ...], ...]
    _read: dict[Reader, tuple[list[Gap], GhostState]] = field(default_factory=dict)
    _written: dict[tuple[Box, int], GhostState] = field(default_factory=dict)

    def read(self, reader: Reader) -> tuple[list[Gap], GhostState]:
        """Return the gaps of a reader, and the state after they have been filled."""
        if reader not in self._read:
            lacks = [self.geometry.lacks(b, reader, held) for b, held in self.of_blocks()]
            gaps = [Gap(block, boxes) for block, boxes in zip(self.geometry.blocks, lacks, strict=True) if boxes]
            filled = tuple(held + boxes for held, boxes in zip(self.boxes, lacks, strict=True))
            self._read[reader] = gaps, self.geometry.state(filled)
        return self._read[reader]

    def written(self, over: Box, ghosts: int) -> GhostState:
        """The state after these cells were overwritten: copies of them are valid no more, but for those layers of ghost
        cells in which blocks did the same.
        """
        if (over, ghosts) not in self._written:
            self._written[over, ghosts] = self.geometry.state(
                tuple(
                    (self.geometry.left(over, held) if held else ()) + self.geometry.redone(block, over, ghosts)
                    for block, held in self.of_blocks()
                )
            )
        return self._written[over, ghosts]

    def of_blocks(self) -> Iterable[tuple[int, tuple[Box, ...]]]:
        """The boxes with their block."""
        return zip(self.geometry.blocks, self.boxes, strict=True)


class Geometries:
    """The ghost cells of some blocks of a partition, by default of all; what was worked out of them is remembered."""

    @classmethod
    def of(cls, partition: Partition, blocks: Collection[int]) -> Geometries:
        """Return the geometries from which the messages of these blocks follow: those of their neighbours, too."""
        return cls(partition, {*blocks}.union(*(partition.neighbours[block] for block in blocks)))

    @classmethod
    def sampled(cls, partition: Partition, blocks: Collection[int]) -> Geometries:
        """What the messages of a few of many blocks are found with: region by region those of who copies from them
        there. A launch by which another block lacks cells of two regions has its messages as if these were all.
        """
        geometries = cls(partition, blocks)
        geometries._of = {home: _Geometry(home, sorted(home.targets(blocks)), blocks) for home in geometries._of}
        geometries._fields = {name: geometries._of[home] for name, home in partition.homes.items()}
        return geometries

    def __init__(self, partition: Partition, blocks: Iterable[int] | None = None) -> None:
        some = sorted(range(len(partition)) if blocks is None else blocks)
        self._partition, self._possible = partition, set[Hashable]()
        self._of = {home: _Geometry(home, some) for home in (partition, *partition.beside)}
        self._fields = {name: self._of[home] for name, home in partition.homes.items()}

    def check(self, launches: Iterable[Launch]) -> None:
        """Raises BadInput where a launch is impossible on the partition."""
        check(launches, self._partition, self._possible)

    def states(self, valid: Valid) -> dict[str, GhostState]:
        """The state of each field."""
        return {
            name: geometry.state(tuple(valid.get((block, name), ()) for block in geometry.blocks))
            for name, geometry in self._fields.items()
        }

    def copies(self, name: str, gap: Gap) -> tuple[Copy, ...]:
        """Return the copies that fill a gap of a field."""
        return self._fields[name].copies(gap)

    def supplied(self, name: str, gap: Gap, over: Box) -> bool:
        """Return whether any of what fills a gap of a field is in a box."""
        return self._fields[name].supplied(gap, over)

    def valid(self, states: Mapping[str, GhostState]) -> Valid:
        """States as ghost cells by block and field, where there are any."""
        held = ((b, name, boxes) for name, state in states.items() for b, boxes in state.of_blocks())
        return {(block, name): boxes for block, name, boxes in held if boxes}


class _Geometry:
    """Ghost cells of some blocks of a partition, and the states in which they were met; `sample` are those blocks whose
    copies matter, where others are here for what they copy from them alone.
    """

    def __init__(self, partition: Partition, blocks: Sequence[int], sample: Collection[int] | None = None) -> None:
        self.partition, self.blocks, self._sample = partition, blocks, sample
        self._states: dict[tuple[tuple[Box, ...], ...], GhostState] = {}
        self._copies: dict[Gap, tuple[Copy, ...]] = {}
        self._supplied: dict[tuple[Gap, Box], bool] = {}

    def state(self, boxes: tuple[tuple[Box, ...], ...]) -> GhostState:
        """The one object for this state."""
        if boxes not in self._states:
            self._states[boxes] = GhostState(self, boxes)
        return self._states[boxes]

    def lacks(self, block: int, reader: Reader, held: tuple[Box, ...]) -> tuple[Box, ...]:
        """The ghost cells of a block that a reader reads there and that are not held."""
        owned = self.partition.owned[block]
        lacking: list[Box] = []
        for box in reader.way.around(reader.share(block)):
            if box not in owned:
                lacking += difference([box], [owned, *lacking, *held])
        return joined(lacking) if reader.ghosts else tuple(lacking)

    def copies(self, gap: Gap) -> tuple[Copy, ...]:
        """Return the copies that fill a gap, and matter."""
        if gap not in self._copies:
            among = None if self._sample is None or gap.block in self._sample else self._sample
            self._copies[gap] = tuple(self.partition.sources(gap.block, gap.boxes, among))
        return self._copies[gap]

    def supplied(self, gap: Gap, over: Box) -> bool:
        """Return whether any of what fills a gap is in a box."""
        if (gap, over) not in self._supplied:
            region = self.partition.region
            images = (image for box in gap.boxes for image in periodic_images(box, region.cells, region.periodic))
            written = over & region.bounds
            self._supplied[gap, over] = any(written.meets(piece) for piece, _ in images)
        return self._supplied[gap, over]

    def redone(self, block: int, over: Box, ghosts: int) -> tuple[Box, ...]:
        """The ghost cells in which a block does a launch over these cells itself."""
        return tuple((over & self.partition.computed(block, ghosts)).subtract(self.partition.owned[block]))

    def left(self, over: Box, held: Iterable[Box]) -> tuple[Box, ...]:
        """The ghost cells held that are no copies of these cells."""
        region = self.partition.region
        inside = over & region.cells
        rest = (box for box in held if box not in inside)
        images = (image for box in rest for image in periodic_images(box, region.cells, region.periodic))
        return tuple(piece.shift(shift) for image, shift in images for piece in image.subtract(over))
