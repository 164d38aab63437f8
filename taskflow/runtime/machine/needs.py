"""Memory that blocks need for their programs, computed in advance by the rules of the allocations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from taskflow.common.caching import cached_property
from taskflow.runtime.machine.direct import Board, Inboxes
from taskflow.runtime.machine.kernel import partial_bytes
from taskflow.runtime.machine.trace.deadlock import DEPTH
from taskflow.runtime.machine.trace.scalars import MOST
from taskflow.runtime.machine.trace.transfer import packed
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import (
    Deciding,
    Derive,
    Exchange,
    Geometries,
    Launch,
    LookupTable,
    Message,
    Part,
    Program,
    Recordings,
    Roles,
    Stretch,
    Valid,
    deciding,
    exchange,
    shares_of,
    tables,
)

State = int  # number of a Valid; equal ones have the same number


@dataclass(frozen=True)
class BlockMemory:
    """Memory of a block, in bytes.

    Fields include ghost cells. On the board, GPUs that access each other's memory post flags, shares of reductions and
    packed cells. Scalars include the partial results of reductions.
    """

    fields: int = 0
    buffers: int = 0
    board: int = 0
    scalars: int = 0
    tables: int = 0

    @property
    def total(self) -> int:
        return self.fields + self.buffers + self.board + self.scalars + self.tables


@dataclass(eq=False)
class MemoryCount:
    """Computes the exact memory of blocks that do some `passes` on a device.

    `direct` returns whether two blocks access each other's memory, so that their messages need no buffers. It is None
    if no block does. GPUs then have a board.
    """

    partition: Partition
    device: str
    passes: Iterable[tuple[Stretch, Exchange]]
    direct: Callable[[int, int], bool] | None = None

    def of(self, block: int) -> BlockMemory:
        """Return the memory of a block. The exchanges of the passes must include its messages."""
        partition = self.partition
        folds, buffers, looked_up = 0, set[tuple[int, ...]](), set[tuple[LookupTable, int]]()
        bound, boards = set[Hashable](), self.device == "gpu" and self.direct is not None
        for launches, messages in self._by_block:
            buffers.update(self._buffers(chain(*messages[block].values())))
            for launch in launches:
                shared = shares_of(launch, partition, block)
                if shared and launch.task.kernel is not None:
                    once = launch.kind, launch.same_constants, tuple(shared)
                    if self.device != "cpu" or once not in bound:  # CPUs reuse the memory of equal launches
                        parts = sum(partial_bytes(cells, self.device) for _, cells in shared)
                        folds += len(launch.task.reductions) * parts
                        bound.add(once)
                    used = (table for constant in launch.constants.values() for table in tables(constant))
                    looked_up.update((table, partition.fields[launch.own].nbytes) for table in used)
        return BlockMemory(
            fields=partition.nbytes(block),
            buffers=sum(nbytes for *_, nbytes in buffers),
            board=Board(len(partition)).nbytes + self._inboxes.nbytes(block) if boards else 0,
            scalars=8 * MOST + folds,
            tables=sum(len(table.values) * nbytes for table, nbytes in looked_up),
        )

    @cached_property
    def _by_block(self) -> list[tuple[tuple[Launch, ...], dict[int, dict[int, list[Message]]]]]:
        """The launches of every pass, and its messages by block and moment."""
        return [(stretch.launches, exchanged.by_block()) for stretch, exchanged in self.passes]

    def _buffers(self, messages: Iterable[Message]) -> Iterator[tuple[int, ...]]:
        """Yield the buffers of the messages of a pass: source, target, cells, number in the ring, bytes."""
        fields, turns = self.partition.fields, Counter[tuple[int, int, int]]()
        for message in messages:
            apart = message.source != message.target
            if apart and (self.direct is None or not self.direct(message.source, message.target)):
                ring = message.source, message.target, message.cells
                yield *ring, turns[ring] % DEPTH, packed(message, fields)
                turns[ring] += 1

    @cached_property
    def _inboxes(self) -> Inboxes:
        return Inboxes(self.partition)


class _States:
    """Numbers of states of ghost cells. Equal states have the same number."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[Valid, State]] = {}  # by id of the Valid, which is kept alive
        self._number: dict[tuple[object, ...], State] = {}

    def __call__(self, valid: Valid) -> State:
        if id(valid) not in self._of:
            key = tuple(sorted(valid.items()))
            self._of[id(valid)] = valid, self._number.setdefault(key, len(self._number))
        return self._of[id(valid)][1]


@dataclass(eq=False)
class Passes:
    """Every stretch of the passes that can follow `first`, in every state of ghost cells, with the messages of some
    `blocks`.

    `then` maps a program to its possible successors; `known` is the geometry of these blocks.
    """

    partition: Partition
    blocks: Sequence[int]
    known: Geometries
    first: Program
    then: Mapping[Program, Sequence[Program]]
    recordings: Recordings = field(default_factory=Recordings)
    _exchanged: dict[Stretch, list[tuple[Deciding, Exchange]]] = field(default_factory=dict, init=False)
    _after: dict[tuple[Stretch, State], Valid] = field(default_factory=dict, init=False)
    _ends: dict[tuple[int, State], list[Valid]] = field(default_factory=dict, init=False)  # by id of parts
    _state: _States = field(default_factory=_States, init=False)

    def __iter__(self) -> Iterator[tuple[Stretch, Exchange]]:
        waiting: list[tuple[Program, Roles, Valid]] = [(self.first, Roles.of(tuple(self.partition.fields)), {})]
        plans: dict[object, tuple[tuple[Part, ...], Roles]] = {}
        begun = set[object]()
        while waiting:
            program, roles, valid = waiting.pop()
            key = program, roles.key()
            if (*key, self._state(valid)) in begun:
                continue
            begun.add((*key, self._state(valid)))
            if key not in plans:
                plans[key] = self.recordings.plan(program, roles)
            parts, after = plans[key]
            ends = self._through(parts, valid)
            waiting += [(later, after, end) for later in self.then[program] for end in ends]
        yield from ((stretch, one) for stretch, exchanged in self._exchanged.items() for _, one in exchanged)

    def _through(self, parts: Sequence[Part], valid: Valid) -> list[Valid]:
        """Return all states that some parts can lead to from `valid`. Cached, as repetitions often start in equal
        states.
        """
        key = id(parts), self._state(valid)
        if key not in self._ends:
            self._ends[key] = self._after_all(parts, valid)
        return self._ends[key]

    def _after_all(self, parts: Sequence[Part], valid: Valid) -> list[Valid]:
        ends = [valid]
        for part in parts:
            if isinstance(part, Derive):
                continue
            after: dict[State, Valid] = {}
            for end in ends:
                if isinstance(part, Stretch):
                    ends_here = [self._done(part, end)]
                else:
                    ends_here = self._rounds(part.body, end, part.repeat.times)
                    if part.repeat.further:
                        ends_here.insert(0, end)
                    if part.repeat.until is None:
                        ends_here = ends_here[-1:]
                after.update({self._state(then): then for then in ends_here})
            ends = list(after.values())
        return ends

    def _rounds(self, body: Sequence[Part], valid: Valid, times: int) -> list[Valid]:
        """Return all states that can follow 1 to `times` rounds of the body, until no new one occurs."""
        known: dict[State, Valid] = {}
        now = [valid]
        for _ in range(times):
            ends = [end for begin in now for end in self._through(body, begin)]
            now = [end for end in ends if self._state(end) not in known]
            known.update({self._state(end): end for end in ends})
            if not now:
                break
        return list(known.values())

    def _done(self, stretch: Stretch, valid: Valid) -> Valid:
        key = stretch, self._state(valid)
        if key not in self._after:
            mine = deciding(stretch.launches, stretch.following, valid, self.known)
            exchanged = self._exchanged.setdefault(stretch, [])
            alike = next((one for other, one in exchanged if other.read == mine.read), None)
            if alike is None:
                alike = exchange(
                    stretch.launches, self.partition, following=stretch.following, valid=valid, blocks=self.blocks,
                    known=self.known,
                )  # fmt: skip
                exchanged.append((mine, alike))
            self._after[key] = mine.after(alike.valid)
        return self._after[key]
