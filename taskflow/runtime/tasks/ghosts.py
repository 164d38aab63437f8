"""Ghost cells: which of them are valid, which a reader lacks, and the copies that fill them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial

from taskflow.common.caching import cached_property
from taskflow.runtime.regions import Box, Copy, Partition, difference, joined
from taskflow.runtime.tasks.check import check
from taskflow.runtime.tasks.reading import Way, common, place, readings
from taskflow.runtime.tasks.task import Launch

Valid = dict[tuple[int, str], tuple[Box, ...]]  # by piece and field


@dataclass(frozen=True, eq=False)
class GhostGap:
    """Ghost cells of a piece that a reader lacks, as disjoint boxes."""

    piece: int
    boxes: tuple[Box, ...]


@dataclass(frozen=True, eq=False)
class Reader:
    """The reads of a field by a launch over some cells of a region, cut into pieces. Equal reads are one object."""

    over: tuple[Box, ...]
    ghosts: int
    cut: Partition
    way: Way

    def around(self, piece: int, home: Partition) -> list[Box]:
        """Return the cells that are read of a piece of `home`, by the launch on the corresponding pieces of its own
        region: overlapping boxes.
        """
        if home is self.cut:
            readers: Iterable[int] = (piece,)
        else:
            block = home.block_of[piece]
            readers = (n for n in self.cut.pieces_of(block) if self.cut.beside_piece(n, home) == piece)
        shares = (box for n in readers for box in common(self.over, self.cut.computed(n, self.ghosts)))
        return [cells for box in shares for cells in self.way.around(box)]


@dataclass(frozen=True, eq=False)
class GhostState:
    """Valid ghost cells of one field: `boxes` of each piece. One object per state of a geometry, which caches the
    effects of launches, so that a repeated sweep is analysed once.
    """

    geometry: _Geometry
    boxes: tuple[tuple[Box, ...], ...]
    _read: dict[Reader, tuple[list[GhostGap], GhostState]] = field(default_factory=dict)
    _written: dict[tuple[tuple[Box, ...], int], GhostState] = field(default_factory=dict)

    def read(self, reader: Reader) -> tuple[list[GhostGap], GhostState]:
        """Return the gaps of a reader, and the state after they have been filled."""
        if reader not in self._read:
            lacks = [self.geometry.lacks(piece, reader, valid) for piece, valid in self.of_pieces()]
            gaps = [GhostGap(piece, boxes) for piece, boxes in zip(self.geometry.pieces, lacks, strict=True) if boxes]
            filled = tuple(valid + boxes for valid, boxes in zip(self.boxes, lacks, strict=True))
            self._read[reader] = gaps, self.geometry.state(filled)
        return self._read[reader]

    def written(self, over: tuple[Box, ...], ghosts: int) -> GhostState:
        """Return the state after these cells were overwritten: copies of them become invalid, except for the layers of
        ghost cells that blocks compute redundantly.
        """
        if (over, ghosts) not in self._written:
            self._written[over, ghosts] = self.geometry.state(
                tuple(
                    (self.geometry.left(over, valid) if valid else ()) + self.geometry.redone(piece, over, ghosts)
                    for piece, valid in self.of_pieces()
                )
            )
        return self._written[over, ghosts]

    def of_pieces(self) -> Iterable[tuple[int, tuple[Box, ...]]]:
        """Return the boxes with their piece."""
        return zip(self.geometry.pieces, self.boxes, strict=True)


class Geometries:
    """The ghost cells of some blocks of a partition (default: all), with cached results. `fields` are the geometries by
    field.
    """

    @classmethod
    def of(cls, partition: Partition, blocks: Collection[int]) -> Geometries:
        """Return the geometries that determine the messages of these blocks, including their neighbours."""
        return cls(partition, {*blocks}.union(*(partition.neighbours[block] for block in blocks)))

    @classmethod
    def sampled(cls, partition: Partition, blocks: Collection[int]) -> Geometries:
        """Return the geometries that determine the messages of a few of many blocks. They include the blocks that copy
        from these: in all regions if they do so in the first one, else in that region. A launch for which one of the
        others lacks cells of two regions has its messages as if these were all.
        """
        geometries = cls(partition, blocks)
        some = {home: [n for block in blocks for n in home.pieces_of(block)] for home in geometries._of}
        nearby = {partition.block_of[n] for n in partition.targets(some[partition])}
        for home, mine in some.items():
            pieces = home.targets(mine).union(*(home.pieces_of(block) for block in nearby))
            geometries._of[home] = _Geometry(home, sorted(pieces), mine)
        geometries.fields = {name: geometries._of[home] for name, home in partition.homes.items()}
        return geometries

    def __init__(self, partition: Partition, blocks: Iterable[int] | None = None) -> None:
        some = sorted(range(len(partition)) if blocks is None else blocks)
        self._partition, self._possible = partition, set[Hashable]()
        self._reader, self._readers = cache(Reader), dict[Launch, dict[str, list[Reader]]]()
        self._of = {
            home: _Geometry(home, [n for block in some for n in home.pieces_of(block)])
            for home in (partition, *partition.beside)
        }
        self.fields = {name: self._of[home] for name, home in partition.homes.items()}

    def check(self, launches: Iterable[Launch]) -> None:
        """Raises BadInput if a launch is impossible on the partition."""
        check(launches, self._partition, self._possible)

    def readers(self, launch: Launch) -> Mapping[str, Sequence[Reader]]:
        """Return how a launch reads each of its fields that are not constant."""
        if launch not in self._readers:
            where = launch.boxes, launch.ghosts, place(launch, self._partition)
            fields = self._partition.fields
            self._readers[launch] = {
                name: [self._reader(*where, way) for way in ways]
                for name, ways in readings(launch, self._partition).items()
                if not fields[name].constant
            }
        return self._readers[launch]

    @cached_property
    def nothing(self) -> Mapping[str, GhostState]:
        """The states in which no ghost cells are valid."""
        return self.states({})

    def states(self, valid: Valid) -> dict[str, GhostState]:
        return {
            name: geometry.state(tuple(valid.get((piece, name), ()) for piece in geometry.pieces))
            for name, geometry in self.fields.items()
        }

    def valid(self, states: Mapping[str, GhostState]) -> Valid:
        """Return states as ghost cells by piece and field, without empty ones."""
        ghosts = ((n, name, boxes) for name, state in states.items() for n, boxes in state.of_pieces())
        return {(piece, name): boxes for piece, name, boxes in ghosts if boxes}


class _Geometry:
    """Ghost cells of some pieces of a partition, and their states. `sample` are the pieces whose copies count; the
    other pieces are included only for their copies from these.
    """

    def __init__(self, partition: Partition, pieces: Sequence[int], sample: Collection[int] | None = None) -> None:
        self.partition, self.pieces, self._sample = partition, pieces, sample
        self.state = cache(partial(GhostState, self))  # the unique object for these boxes of all pieces
        self._images = cache(partition.region.images)  # shared by fields and launches with equal boxes
        self._copies: dict[GhostGap, tuple[Copy, ...]] = {}
        self._supplied: dict[tuple[GhostGap, tuple[Box, ...]], bool] = {}

    def lacks(self, piece: int, reader: Reader, valid: tuple[Box, ...]) -> tuple[Box, ...]:
        """Return the invalid ghost cells of a piece that a reader reads there."""
        own = self.partition.own[piece]
        lacking: list[Box] = []
        for box in reader.around(piece, self.partition):
            if box not in own[0]:
                lacking += difference([box], [*own, *lacking, *valid])
        return joined(lacking) if reader.ghosts else tuple(lacking)

    def copies(self, gap: GhostGap) -> tuple[Copy, ...]:
        """Return the copies that fill a gap, and count."""
        if gap not in self._copies:
            some = self._sample is not None and gap.piece not in self._sample and not self.partition.relayed
            among = self._sample if some else None
            self._copies[gap] = tuple(self.partition.sources(gap.piece, gap.boxes, among))
        return self._copies[gap]

    def supplied(self, gap: GhostGap, over: tuple[Box, ...]) -> bool:
        """Return whether any source of a gap is in some boxes."""
        if (gap, over) not in self._supplied:
            region = self.partition.region
            images = [image for box in gap.boxes for image, _ in self._images(box)]
            written = [box & region.bounds for box in over]
            self._supplied[gap, over] = any(box.meets(image) for image in images for box in written)
        return self._supplied[gap, over]

    def redone(self, piece: int, over: tuple[Box, ...], ghosts: int) -> tuple[Box, ...]:
        """Return the ghost cells of a piece that a launch over these cells computes redundantly."""
        if not ghosts:
            return ()
        return tuple(difference(common(over, self.partition.computed(piece, ghosts)), self.partition.own[piece]))

    def left(self, over: tuple[Box, ...], valid: Iterable[Box]) -> tuple[Box, ...]:
        """Return the valid ghost cells that are no copies of these cells."""
        inside = common(over, self.partition.region.charts)
        rest = (box for box in valid if not any(box in cells for cells in inside))
        images = (image for box in rest for image in self._images(box))
        return tuple(turn(rest) for image, turn in images for rest in difference([image], over))


@dataclass(frozen=True, eq=False)
class Deciding:
    """Ghost cells before a pass that affect it.

    `read` is the state of each field whose ghost cells are read in the pass or after it, at the first read or else at
    the end of the pass. `others` are the ghost cells of all other fields after the pass. If `read` is equal, messages,
    nodes and their order, and the ghost cells of these fields afterwards are equal, too.
    """

    read: Mapping[str, GhostState]
    others: Valid

    def after(self, equal: Valid) -> Valid:
        """Return the ghost cells after this pass, given those after a pass with an equal `read`."""
        return self.others | {key: boxes for key, boxes in equal.items() if key[1] in self.read}


def deciding(launches: Sequence[Launch], following: Sequence[Launch], valid: Valid, known: Geometries) -> Deciding:
    """Return the ghost cells that affect these launches and the following ones, on the blocks of `known`."""
    states, nothing, read = known.states(valid), known.nothing, dict[str, GhostState]()
    for n, launch in enumerate((*launches, *following)):
        for name, readers in known.readers(launch).items():
            if name not in read and any(nothing[name].read(reader)[0] for reader in readers):
                read[name] = states[name]
        for name in launch.written if n < len(launches) else ():  # later launches do not write in this pass
            if name not in read:
                states[name] = states[name].written(launch.boxes, launch.ghosts)
    return Deciding(read, known.valid({name: state for name, state in states.items() if name not in read}))
