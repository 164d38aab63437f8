"""Exchange: which ghost cells hold the present value, which copies readers still need, and the messages they are in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from taskflow.errors import BadInput
from taskflow.regions import Box, Copy, Partition, difference, joined, periodic_images
from taskflow.tasks.check import check
from taskflow.tasks.graph import Message
from taskflow.tasks.reading import Projected, place, readings
from taskflow.tasks.stencil import Stencil
from taskflow.tasks.task import Launch

Valid = dict[tuple[int, str], tuple[Box, ...]]
Copies = tuple[tuple[str, Copy], ...]


@dataclass(frozen=True, eq=False)
class Exchange:
    """What moves between blocks in a step, and the ghost cells of each block and field that are valid after it.

    `messages` has, per launch after which they can begin (-1: at once), the messages of that moment, those of a block
    to itself included.
    """

    messages: dict[int, list[Message]]
    valid: Valid

    def by_block(self) -> dict[int, dict[int, list[Message]]]:
        """For each block the messages that it takes part in, by moment."""
        found: dict[int, dict[int, list[Message]]] = defaultdict(lambda: defaultdict(list))
        for moment, messages in self.messages.items():
            for message in messages:
                for block in {message.source, message.target}:
                    found[block][moment].append(message)
        return found

    @property
    def count(self) -> dict[tuple[int, int], int]:
        """Messages per pair of blocks."""
        count: dict[tuple[int, int], int] = defaultdict(int)
        for message in (message for moment in self.messages.values() for message in moment):
            count[message.source, message.target] += 1
        return dict(count)


def exchange(
    launches: Sequence[Launch],
    partition: Partition,
    *,
    following: Sequence[Launch] = (),
    valid: Valid | None = None,
    blocks: Iterable[int] | None = None,
    known: Geometries | None = None,
) -> Exchange:
    """The messages of a step in which any of `blocks` (all of them by default) takes part.

    A ghost cell is valid from the copy that filled it until its owner writes it again. Only the fields, the widths and
    the neighbours that a reader's stencil touches are copied; what can travel at one moment travels together. `valid`
    are the ghost cells valid at the start. `following` is what comes after the step: what its readers miss and nothing
    there overwrites before travels in this step already, so that the transfer can overlap with it. Every block comes
    to the same result on the messages that it is part of. `known` is what other exchanges of these blocks, or of all,
    have worked out on this partition. Raises BadInput where a launch is impossible on this partition.
    """
    mine = frozenset(range(len(partition)) if blocks is None else blocks)
    _check_partition(partition, mine, valid or {})
    geometry = known or Geometries.of(partition, mine)
    geometry.check((*launches, *following))
    now, written = geometry.states(valid or {}), _Written(geometry)
    after, ahead = now, Valid()
    found: dict[int, list[tuple[str, Gap]]] = defaultdict(list)
    for n, launch in enumerate((*launches, *following)):
        if n == len(launches):
            after = dict(now)
        gaps: dict[int, list[tuple[str, Gap]]] = defaultdict(list)
        cut = place(launch, partition)
        for name, ways in readings(launch, partition).items():
            for way in ways:
                missing, now[name] = now[name].read(Reader(launch.over, launch.ghosts, cut, way))
                for gap in missing:
                    gaps[gap.block].append((name, gap))
        for block in sorted(gaps):
            moment = max(written.last(name, gap) for name, gap in gaps[block])
            if moment < len(launches):
                found[moment] += gaps[block]
            if moment < len(launches) <= n:
                for name, gap in gaps[block]:
                    ahead[block, name] = ahead.get((block, name), ()) + gap.boxes
        for name in launch.written:
            now[name] = now[name].written(launch.over, launch.ghosts)
            written.add(name, launch.over, n)
    held = geometry.valid(after if following else now)
    held.update({key: held.get(key, ()) + boxes for key, boxes in ahead.items()})
    return Exchange(_messages(found, mine, geometry), held)


def _check_partition(partition: Partition, blocks: Collection[int], valid: Valid) -> None:
    """Raises BadInput where blocks or ghost cells are those of another partition."""
    for block in (*blocks, *(block for block, _ in valid)):
        if block not in range(len(partition)):
            raise BadInput(f"there is no block {block}: the partition has blocks 0 to {len(partition) - 1}")
    for (block, name), boxes in valid.items():
        memory = partition.homes.get(name, partition).memory[block]
        if name not in partition.homes or not all(box in memory for box in boxes):
            cells = ", ".join(map(str, boxes))
            raise BadInput(
                f"valid ghost cells of {name!r} on block {block}, {cells}: they are not of this partition, where the"
                f" block has memory for {', '.join(partition.fields)} in {memory}"
            )


def _messages(
    found: Mapping[int, list[tuple[str, Gap]]], mine: Collection[int], geometry: Geometries
) -> dict[int, list[Message]]:
    """All copies of one moment between two blocks as one message; those within a block as a message to itself."""
    messages: dict[int, list[Message]] = {}
    count: dict[tuple[int, int], int] = defaultdict(int)
    pairs: dict[tuple[tuple[str, Gap], ...], list[tuple[tuple[int, int], Copies]]] = {}
    for moment in sorted(found):
        gaps = tuple(found[moment])
        if gaps not in pairs:
            grouped: dict[tuple[int, int], Copies] = defaultdict(tuple)
            for name, gap in gaps:
                for copy in geometry.copies(name, gap):
                    if copy.source in mine or copy.target in mine:
                        grouped[copy.source, copy.target] += ((name, copy),)
            pairs[gaps] = sorted(grouped.items(), key=lambda pair: pair[0])
        messages[moment] = [Message(*pair, count[pair], copies) for pair, copies in pairs[gaps]]
        for pair, _ in pairs[gaps]:
            count[pair] += 1
    return messages


class _Written:
    """Which launches have written which cells."""

    def __init__(self, geometry: Geometries) -> None:
        self._geometry = geometry
        self._writes: dict[str, dict[Box, int]] = defaultdict(dict)  # by field: boxes, and the last to write each

    def add(self, name: str, over: Box, launch: int) -> None:
        """The next launch writes a field in these cells."""
        writes = self._writes[name]
        writes.pop(over, None)  # the last ones come last
        writes[over] = launch

    def last(self, name: str, gap: Gap) -> int:
        """The last launch that wrote anything of what fills a gap of a field, or -1."""
        writes = reversed(self._writes[name].items())
        return next((n for over, n in writes if self._geometry.supplied(name, gap, over)), -1)


@dataclass(frozen=True, eq=False)
class Gap:
    """Ghost cells of a block that a reader lacks, as disjoint boxes."""

    block: int
    boxes: tuple[Box, ...]


@dataclass(frozen=True)
class Reader:
    """How a launch over some cells of a region, cut into blocks, reads a field."""

    over: Box
    ghosts: int
    cut: Partition
    way: Stencil | Projected

    def share(self, block: int) -> Box:
        """The cells on which a block does the launch."""
        return self.over & self.cut.computed(block, self.ghosts)


@dataclass(frozen=True, eq=False)
class _State:
    """Valid ghost cells of one field: `boxes` of each block. There is one object per state of a geometry, and it
    remembers what launches make of it, so that a sweep that is repeated is worked out once.
    """

    geometry: _Geometry
    boxes: tuple[tuple[Box, ...], ...]
    _read: dict[Reader, tuple[list[Gap], _State]] = field(default_factory=dict)
    _written: dict[tuple[Box, int], _State] = field(default_factory=dict)

    def read(self, reader: Reader) -> tuple[list[Gap], _State]:
        """What a reader lacks, and the state after it has been copied."""
        if reader not in self._read:
            lacks = [self.geometry.lacks(b, reader, held) for b, held in self.of_blocks()]
            gaps = [Gap(block, boxes) for block, boxes in zip(self.geometry.blocks, lacks, strict=True) if boxes]
            filled = tuple(held + boxes for held, boxes in zip(self.boxes, lacks, strict=True))
            self._read[reader] = gaps, self.geometry.state(filled)
        return self._read[reader]

    def written(self, over: Box, ghosts: int) -> _State:
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
        """What the messages of these blocks are found with: those of their neighbours, too."""
        return cls(partition, {*blocks}.union(*(partition.neighbours[block] for block in blocks)))

    @classmethod
    def sampled(cls, partition: Partition, blocks: Collection[int]) -> Geometries:
        """What the messages of a few of many blocks are found with: region by region those of who copies from them
        there. A launch by which another block lacks cells of two regions has its messages as if these were all.
        """
        found = cls(partition, blocks)
        found._of = {each: _Geometry(each, sorted(each.targets(blocks)), blocks) for each in found._of}
        found._fields = {name: found._of[each] for name, each in partition.homes.items()}
        return found

    def __init__(self, partition: Partition, blocks: Iterable[int] | None = None) -> None:
        some = sorted(range(len(partition)) if blocks is None else blocks)
        self._partition, self._possible = partition, set[Hashable]()
        self._of = {each: _Geometry(each, some) for each in (partition, *partition.beside)}
        self._fields = {name: self._of[each] for name, each in partition.homes.items()}

    def check(self, launches: Iterable[Launch]) -> None:
        """Raises BadInput where a launch is impossible on the partition."""
        check(launches, self._partition, self._possible)

    def states(self, valid: Valid) -> dict[str, _State]:
        """The state of each field."""
        return {
            name: geometry.state(tuple(valid.get((block, name), ()) for block in geometry.blocks))
            for name, geometry in self._fields.items()
        }

    def copies(self, name: str, gap: Gap) -> tuple[Copy, ...]:
        """Those that fill a gap of a field."""
        return self._fields[name].copies(gap)

    def supplied(self, name: str, gap: Gap, over: Box) -> bool:
        """Whether any of what fills a gap of a field is in a box."""
        return self._fields[name].supplied(gap, over)

    def valid(self, states: Mapping[str, _State]) -> Valid:
        """States as ghost cells by block and field, where there are any."""
        found = ((b, name, boxes) for name, state in states.items() for b, boxes in state.of_blocks())
        return {(block, name): boxes for block, name, boxes in found if boxes}


class _Geometry:
    """Ghost cells of some blocks of a partition, and the states in which they were met; `sample` are those blocks whose
    copies matter, where others are here for what they copy from them alone.
    """

    def __init__(self, partition: Partition, blocks: Sequence[int], sample: Collection[int] | None = None) -> None:
        self.partition, self.blocks, self._sample = partition, blocks, sample
        self._states: dict[tuple[tuple[Box, ...], ...], _State] = {}
        self._copies: dict[Gap, tuple[Copy, ...]] = {}
        self._supplied: dict[tuple[Gap, Box], bool] = {}

    def state(self, boxes: tuple[tuple[Box, ...], ...]) -> _State:
        """The one object for this state."""
        if boxes not in self._states:
            self._states[boxes] = _State(self, boxes)
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
        """Those that fill a gap, and matter."""
        if gap not in self._copies:
            among = None if self._sample is None or gap.block in self._sample else self._sample
            self._copies[gap] = tuple(self.partition.sources(gap.block, gap.boxes, among))
        return self._copies[gap]

    def supplied(self, gap: Gap, over: Box) -> bool:
        """Whether any of what fills a gap is in a box."""
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
