"""Exchange: copies of ghost cells that readers still need, the earliest time of each, and their messages; for one pass
of a program, and for one after many others.

Cells for blocks across edges and corners can be relayed. A block in the middle of a box has 26 neighbours, of which six
share a face. If a face neighbour lacks the same cells at the same moment, it receives them first, along x, and passes
them on, along y and then z: six messages in three turns instead of 26 at once. That pays where a message costs more
than a turn, as between many blocks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from taskflow.common.errors import BadInput
from taskflow.runtime.regions import Box, Copy, Partition, difference, triple
from taskflow.runtime.tasks.ghosts import Geometries, GhostGap, Valid
from taskflow.runtime.tasks.graph import Message
from taskflow.runtime.tasks.program import Program, Roles
from taskflow.runtime.tasks.recording import Recordings
from taskflow.runtime.tasks.task import Launch

Copies = tuple[tuple[str, Copy], ...]
Travelling = tuple[tuple[int, int], Copies, int]


@dataclass(frozen=True, eq=False)
class Exchange:
    """The messages of a step, and the ghost cells of each piece and field that are valid after it.

    `messages` has, per launch after which they can begin (-1: at the start), the messages of that moment, including
    messages of a block to itself.
    """

    messages: dict[int, list[Message]]
    valid: Valid

    def by_block(self) -> dict[int, dict[int, list[Message]]]:
        """Return for each block its messages, by moment."""
        messages_of: dict[int, dict[int, list[Message]]] = defaultdict(lambda: defaultdict(list))
        for moment, messages in self.messages.items():
            for message in messages:
                for block in {message.source, message.target}:
                    messages_of[block][moment].append(message)
        return messages_of

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
    """Return the messages of a step from or to any of `blocks` (default: all).

    A ghost cell is valid from the copy that filled it until its owner writes it again. Only the fields, widths and
    neighbours in a reader's stencil are copied, and copies of one moment are sent together. `valid` are the ghost cells
    valid at the start. `following` are the launches after the step: ghost cells that they miss, and that are not
    overwritten before, are already sent in this step, so that the transfer can overlap with it. Every block gets the
    same result for its own messages. `known` are earlier results for these blocks, or for all, on this partition.
    Raises BadInput if a launch is impossible on this partition.
    """
    mine = frozenset(range(len(partition)) if blocks is None else blocks)
    _check_partition(partition, mine, valid or {})
    geometry = known or Geometries.of(partition, mine)
    geometry.check((*launches, *following))
    now = geometry.states(valid or {})
    written: dict[str, dict[tuple[Box, ...], int]] = defaultdict(dict)  # by field: the last writer of some boxes
    after, ahead = now, Valid()
    lacking: dict[int, list[tuple[str, GhostGap]]] = defaultdict(list)
    for n, launch in enumerate((*launches, *following)):
        if n == len(launches):
            after = dict(now)
        gaps: dict[int, list[tuple[str, GhostGap]]] = defaultdict(list)
        for name, readers in geometry.readers(launch).items():
            for reader in readers:
                missing, now[name] = now[name].read(reader)
                for gap in missing:
                    gaps[partition.homes[name].block_of[gap.piece]].append((name, gap))
        for block in sorted(gaps):
            moment = max(_last(written[name], name, gap, geometry) for name, gap in gaps[block])
            if moment < len(launches):
                lacking[moment] += gaps[block]
            if moment < len(launches) <= n:
                for name, gap in gaps[block]:
                    ahead[gap.piece, name] = ahead.get((gap.piece, name), ()) + gap.boxes
        for name in launch.written:
            now[name] = now[name].written(launch.boxes, launch.ghosts)
            written[name].pop(launch.boxes, None)  # keeps the latest last
            written[name][launch.boxes] = n
    left = geometry.valid(after if following else now)
    left.update({key: left.get(key, ()) + boxes for key, boxes in ahead.items()})
    return Exchange(_messages(lacking, mine, geometry), left)


def _check_partition(partition: Partition, blocks: Collection[int], valid: Valid) -> None:
    """Raises BadInput if blocks or ghost cells belong to another partition."""
    for block in blocks:
        if block not in range(len(partition)):
            raise BadInput(f"there is no block {block}: the partition has blocks 0 to {len(partition) - 1}")
    what = "block" if partition.pieces is None else "piece"
    for piece, name in valid:
        pieces = partition.homes.get(name, partition).memory
        if piece not in range(len(pieces)):
            raise BadInput(f"there is no {what} {piece}: the partition has {what}s 0 to {len(pieces) - 1}")
    for (piece, name), boxes in valid.items():
        pieces = partition.homes.get(name, partition).memory
        if name not in partition.homes or not all(box in pieces[piece] for box in boxes):
            cells = ", ".join(map(str, boxes))
            raise BadInput(
                f"valid ghost cells of {name!r} on {what} {piece}, {cells}: they are not of this partition, where the"
                f" {what} has memory for {', '.join(partition.fields)} in {pieces[piece]}"
            )


def _messages(
    lacking: Mapping[int, list[tuple[str, GhostGap]]], mine: Collection[int], geometry: Geometries
) -> dict[int, list[Message]]:
    """Return the copies of one moment between two blocks as one message. A block has one to itself."""
    messages: dict[int, list[Message]] = {}
    count: dict[tuple[int, int], int] = defaultdict(int)
    travelling: dict[tuple[tuple[str, GhostGap], ...], list[Travelling]] = {}
    for moment in sorted(lacking):
        gaps = tuple(lacking[moment])
        if gaps not in travelling:
            travelling[gaps] = _travelling(gaps, mine, geometry)
        messages[moment] = [Message(*pair, count[pair], copies, turn) for pair, copies, turn in travelling[gaps]]
        for pair, _, _ in travelling[gaps]:
            count[pair] += 1
    return messages


@dataclass(frozen=True, eq=False)
class Relayed:
    """A copy from the block that passes the cells on, and its turn: 0 from an owner, else the axis along which a block
    passes them on.
    """

    copy: Copy
    turn: int


class Relays:
    """The ways of the cells that fill some gaps at one moment. Every block that takes part finds the same ways."""

    def __init__(self, gaps: Iterable[tuple[str, GhostGap]]) -> None:
        self._lacking: dict[tuple[str, int], list[Box]] = defaultdict(list)
        for name, gap in gaps:
            self._lacking[name, gap.piece] += gap.boxes

    def last(self, name: str, copy: Copy, home: Partition) -> Relayed:
        """Return the last part of the way of these cells: from their owner, or from the block next to the target along
        the last axis along which both differ, if that block lacks the cells, too.
        """
        source, target = home.place(copy.source), home.place(copy.target)
        differing = [axis for axis in range(3) if source[axis] != target[axis]]
        if len(differing) > 1:
            axis = differing[-1]
            nx, ny, _ = home.shape
            a, b, c = (source[n] if n == axis else target[n] for n in range(3))
            relay = a + nx * (b + ny * c)
            ends = zip(copy.source_box.lo, copy.target_box.lo, strict=True)
            periods = triple(0 if n == axis else there - here for n, (here, there) in enumerate(ends))
            cells = copy.source_box.shift(periods)
            lacking = self._lacking.get((name, relay))
            if lacking and not difference([cells], lacking):
                return Relayed(Copy(relay, cells, copy.target, copy.target_box, copy.axes), axis)
        return Relayed(copy, 0)


def _travelling(
    gaps: Sequence[tuple[str, GhostGap]], mine: Collection[int], geometry: Geometries
) -> list[Travelling]:
    """Return for each pair of blocks the copies between them that fill some gaps, and the turn of their message."""
    copies: dict[tuple[int, int], Copies] = defaultdict(tuple)
    turns: dict[tuple[int, int], int] = defaultdict(int)
    relays = Relays(gaps)
    for name, gap in gaps:
        home = geometry.fields[name].partition
        relayed = home.relayed
        for copy in geometry.fields[name].copies(gap):
            last = relays.last(name, copy, home) if relayed else Relayed(copy, 0)
            pair = home.block_of[last.copy.source], home.block_of[last.copy.target]
            if pair[0] in mine or pair[1] in mine:
                copies[pair] += ((name, last.copy),)
                turns[pair] = max(turns[pair], last.turn)
    return [(pair, copies[pair], turns[pair]) for pair in sorted(copies)]


def _last(written: dict[tuple[Box, ...], int], name: str, gap: GhostGap, geometry: Geometries) -> int:
    """Return the last launch that wrote a source of a gap of a field, or -1."""
    return next((n for over, n in reversed(written.items()) if geometry.fields[name].supplied(gap, over)), -1)


class SettledPass(NamedTuple):
    """The launches of a pass and of the next one (roles change), and the ghost cells that are valid before them."""

    launches: tuple[Launch, ...]
    following: tuple[Launch, ...]
    valid: Valid


def settled(
    program: Program,
    partition: Partition,
    blocks: Iterable[int] | None = None,
    known: Geometries | None = None,
    recordings: Recordings | None = None,
) -> SettledPass:
    """Return the second pass of a program. All later ones are equal except for the roles of the fields. `blocks` and
    `known` are as in `exchange`. `recordings` are those so far.

    Raises BadInput if the program is impossible on this partition.
    """
    recordings = recordings or Recordings()
    first, roles = recordings.record(program, Roles.of(tuple(partition.fields)))
    second, roles = recordings.record(program, roles)
    third, _ = recordings.record(program, roles)
    return SettledPass(second, third, exchange(first, partition, following=second, blocks=blocks, known=known).valid)
