"""The memory that blocks need for their programs, counted before they are made, by the rules of what allocates it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from taskflow.runtime.machine.direct import Board, Inboxes
from taskflow.runtime.machine.kernel import partial_bytes
from taskflow.runtime.machine.mapper import Mapper
from taskflow.runtime.machine.trace.deadlock import DEPTH
from taskflow.runtime.machine.trace.ordering import Ordering
from taskflow.runtime.machine.trace.scalars import MOST
from taskflow.runtime.machine.trace.transfer import packed
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import (
    Derive,
    Exchange,
    Geometries,
    Known,
    LookupTable,
    Message,
    Part,
    Program,
    Roles,
    Stretch,
    Valid,
    analyse,
    exchange,
    plan,
    shares_of,
    tables,
)

State = int  # the number of a Valid: equal ones have the same


@dataclass(frozen=True)
class BlockMemory:
    """Bytes of a block: fields with their ghost cells; message buffers; the board where GPUs that see each other's
    memory post flags, shares of reductions and packed cells; scalars, with what kernels fold them from; tables.
    """

    fields: int = 0
    buffers: int = 0
    board: int = 0
    scalars: int = 0
    tables: int = 0

    @property
    def total(self) -> int:
        """Bytes in all."""
        return self.fields + self.buffers + self.board + self.scalars + self.tables


class Pass(NamedTuple):
    """A stretch of a program in a state of ghost cells, and what some blocks exchange in it."""

    stretch: Stretch
    valid: Valid
    exchange: Exchange


@dataclass(eq=False)
class MemoryCount:
    """Counts the memory of blocks that do some `passes` on a device, in each of some `ways`, to the byte: all that they
    can come to hold.

    `direct` says of two blocks whether they see each other's memory: their messages need no buffers. It is None where
    no block looks for others, and has no board. `known` is the geometry of the blocks that are asked for.
    """

    partition: Partition
    device: str
    passes: Iterable[Pass]
    direct: Callable[[int, int], bool] | None = None
    ways: Sequence[Mapper] = (Mapper("none"),)
    known: Geometries | None = None

    def of(self, block: int) -> BlockMemory:
        """The memory of a block, whose messages the exchanges of the passes have to know."""
        partition = self.partition
        folds, buffers, looked_up = 0, set[tuple[int, ...]](), set[tuple[LookupTable, int]]()
        known = Known(partition, [block], self.known)
        for each, messages in self._by_block:
            buffers.update(self._buffers(each, messages[block], block, known))
            for launch in each.stretch.launches:
                shared = shares_of(launch, partition, block)
                if shared and launch.task.kernel is not None:
                    parts = sum(partial_bytes(cells, self.device) for _, cells in shared)
                    folds += len(launch.task.reductions) * parts
                    used = (table for constant in launch.constants.values() for table in tables(constant))
                    looked_up.update((table, partition.fields[launch.own].nbytes) for table in used)
        return BlockMemory(
            fields=partition.nbytes(block),
            buffers=sum(nbytes for *_, nbytes in buffers),
            board=Board(len(partition)).nbytes + self._inboxes.nbytes(block) if self.direct is not None else 0,
            scalars=8 * MOST + folds,
            tables=sum(len(table.values) * nbytes for table, nbytes in looked_up),
        )

    @cached_property
    def _by_block(self) -> list[tuple[Pass, Mapping[int, Sequence[Message]]]]:
        """Every pass, and the messages with others that each block sends or gets in it and that need buffers."""
        passes: list[tuple[Pass, Mapping[int, Sequence[Message]]]] = []
        for each in self.passes:
            messages: dict[int, list[Message]] = defaultdict(list)
            for message in (message for moment in each.exchange.messages.values() for message in moment):
                if message.source != message.target and not self._sees(message):
                    messages[message.source].append(message)
                    messages[message.target].append(message)
            passes.append((each, messages))
        return passes

    def _sees(self, message: Message) -> bool:
        """Whether a message goes straight into the ghost cells of its target."""
        return self.direct is not None and self.direct(message.source, message.target)

    def _buffers(
        self, each: Pass, messages: Sequence[Message], block: int, known: Known
    ) -> Iterator[tuple[int, ...]]:
        """The buffers through which the messages of a pass go, each with its size in the end. Only where a ring has
        more messages than usual buffers it matters in which order a block does its nodes.
        """
        fields, turns = self.partition.fields, Counter[tuple[int, int, int]]()
        plain: dict[Message, int] = {}
        for message in messages:
            ring = message.source, message.target, message.cells
            plain[message] = turns[ring]
            turns[ring] += 1
        ways = [plain]
        if max(turns.values(), default=0) > DEPTH:
            ways = [self._slots(each, way, block, known) for way in self.ways]
        for message, slot in (item for way in ways for item in way.items()):
            yield message.source, message.target, message.cells, slot, packed(message, fields)

    def _slots(self, each: Pass, way: Mapper, block: int, known: Known) -> dict[Message, int]:
        """The numbers of buffers in their rings, as a tracer gives them."""
        launches = each.stretch.launches
        analysis = analyse(
            launches, self.partition, following=each.stretch.following, valid=each.valid, blocks=[block],
            split=way.cuts(launches), known=known,
        )  # fmt: skip
        return Ordering.of(analysis.graph, way, self._sees, two=self.device == "gpu").rings.slots

    @cached_property
    def _inboxes(self) -> Inboxes:
        return Inboxes(self.partition)


class _States:
    """Ghost cells as values that can be compared: one and the same for equal ones."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[Valid, State]] = {}  # by identity, with what has it
        self._number: dict[tuple[object, ...], State] = {}

    def __call__(self, valid: Valid) -> State:
        if id(valid) not in self._of:
            key = tuple(sorted(valid.items()))
            self._of[id(valid)] = valid, self._number.setdefault(key, len(self._number))
        return self._of[id(valid)][1]


@dataclass(eq=False)
class Passes:
    """Every stretch of the passes that can follow `first`, in every state, and what some `blocks` exchange in it.

    `then` says of each program which ones can come after it; `known` is the geometry of these blocks.
    """

    partition: Partition
    blocks: Sequence[int]
    known: Geometries
    first: Program
    then: Mapping[Program, Sequence[Program]]
    _passes: dict[tuple[Stretch, State], Pass] = field(default_factory=dict, init=False)
    _state: _States = field(default_factory=_States, init=False)

    def __iter__(self) -> Iterator[Pass]:
        waiting: list[tuple[Program, Roles, Valid]] = [(self.first, Roles.of(tuple(self.partition.fields)), {})]
        plans: dict[object, tuple[tuple[Part, ...], Roles]] = {}
        begun = set[object]()
        while waiting:
            program, roles, valid = waiting.pop()
            key = program, roles.key()
            if (*key, self._state(valid)) in begun:
                continue
            begun.add((*key, self._state(valid)))
            parts, after = plans.setdefault(key, plan(program, roles))
            ends = self._through(parts, valid)
            waiting += [(later, after, end) for later in self.then[program] for end in ends]
        yield from self._passes.values()

    def _through(self, parts: Sequence[Part], valid: Valid) -> list[Valid]:
        """All that can be valid after some parts that are begun with `valid`."""
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
        """All that can be valid after each of at most so many rounds, as long as that is new."""
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
        if key not in self._passes:
            exchanged = exchange(
                stretch.launches, self.partition, following=stretch.following, valid=valid, blocks=self.blocks,
                known=self.known,
            )  # fmt: skip
            self._passes[key] = Pass(stretch, valid, exchanged)
        return self._passes[key].exchange.valid
