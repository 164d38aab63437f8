"""The memory that blocks need, counted before they are made."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

from taskflow.errors import BadInput
from taskflow.runtime.cluster import shortage
from taskflow.runtime.host import Place
from taskflow.runtime.machine.direct import Board, Inboxes
from taskflow.runtime.machine.kernel import partial_bytes
from taskflow.runtime.machine.trace.deadlock import DEPTH
from taskflow.runtime.machine.trace.scalars import MOST
from taskflow.runtime.machine.trace.transfer import packed
from taskflow.runtime.tasks import (
    Exchange,
    Launch,
    Message,
    Part,
    Program,
    Roles,
    Stretch,
    Table,
    Valid,
    exchange,
    place,
    plan,
    tables,
)
from taskflow.simulation.build.simulation import Simulation
from taskflow.simulation.step_cost import Sample

State = int  # the number of a Valid: equal ones have the same


@dataclass(frozen=True)
class Memory:
    """Bytes of a block: fields with their ghost cells; message buffers; the board where GPUs that see each other's
    memory post flags, shares of reductions and packed cells; scalars, with what kernels fold them from; tables; output.
    """

    fields: int = 0
    buffers: int = 0
    board: int = 0
    scalars: int = 0
    tables: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return self.fields + self.buffers + self.board + self.scalars + self.tables + self.output


@dataclass(frozen=True, eq=False)
class Needs:
    """The memory that the blocks of a case need at their places, on a CPU or a GPU (`device`)."""

    sim: Simulation
    placed: Sequence[Place]
    device: str

    @cached_property
    def blocks(self) -> list[Memory]:
        """The memory of each block. Of many, all but the fields is that of the one that is looked at in its place."""
        sample, partition = self.sim.step_cost.sample, self.sim.partition
        sampled = {block: self._of(block) for block in sample.blocks}
        return [replace(sampled[like], fields=partition.nbytes(block)) for block, like in enumerate(sample.like)]

    def check(self) -> None:
        """Raises BadInput where the blocks need more memory than is free where they will live. The
        fewest that a system has are asked first: to find bodies on more cells than fit would take time without end.
        """
        cells, blocks = math.prod(self.sim.case.grid.cells), len(self.placed)
        least = [self.sim.system.fewest * self.sim.value_bytes * cells // blocks] * blocks
        problem = shortage(least, self.placed, self.device)
        if problem or (problem := shortage([memory.total for memory in self.blocks], self.placed, self.device)):
            raise BadInput(
                f"grid.cells = {list(self.sim.case.grid.cells)}: {problem};"
                ' use fewer cells, machine.precision = "single", or more machines'
            )

    def _of(self, block: int) -> Memory:
        sim, partition = self.sim, self.sim.partition
        gpu = self.device == "gpu"
        folds, buffers, looked_up = 0, set[tuple[int, ...]](), set[tuple[Table, int]]()
        for launches, messages in self._passes:
            buffers.update(self._buffers(messages[block]))
            for launch in launches:
                if over := place(launch, partition).owned[block] & launch.over:
                    folds += len(launch.task.reductions) * partial_bytes(over, self.device)
                    used = (table for constant in launch.constants.values() for table in tables(constant))
                    looked_up.update((table, partition.fields[launch.own].nbytes) for table in used)
        value = partition.blocks[block].volume * sim.value_bytes
        return Memory(
            fields=partition.nbytes(block),
            buffers=sum(nbytes for *_, nbytes in buffers),
            board=self._board(block) if gpu and self._sees else 0,
            scalars=8 * MOST + folds,
            tables=sum(len(table.values) * nbytes for table, nbytes in looked_up),
            # A host keeps two records of its block and a checkpoint. A GPU keeps what it has room for, which need
            # be no more than one field at a time.
            output=value if gpu else self._recorded * value + self._saved(block) + self._gathered,
        )

    @property
    def _recorded(self) -> int:
        """Fields in the two largest records that are written one after the other."""
        snapshot, averages = len(self.sim.case.output_fields), self.sim.averages
        return 2 * snapshot if averages is None else snapshot + max(snapshot, len(averages.statistics.written))

    @property
    def _gathered(self) -> int:
        """Bytes of the largest spectra of a field that a block gathers from all, and puts together."""
        return max((2 * 8 * waves.averages.statistics.modes.volume for waves in self.sim.spectra), default=0)

    def _saved(self, block: int) -> int:
        """Bytes of the part of a checkpoint."""
        sim, homes = self.sim, self.sim.partition.homes
        if sim.case.checkpoint.keep == 0:
            return 0
        parts = ((role, box & homes[role].owned[block]) for role, boxes in sim.carried.items() for box in boxes)
        return sum(part.volume * sim.partition.fields[role].nbytes for role, part in parts)

    @cached_property
    def _passes(self) -> list[tuple[tuple[Launch, ...], Mapping[int, Sequence[Message]]]]:
        """The launches of every stretch that a run can come to, and the messages that each block sends or gets in it. A
        run begins with a start and a monitor; after each step there may be one, too, and then whatever is recorded. A
        state that is kept to be compared with, at the start as well, makes no difference to any other field.
        """
        model, monitor = self.sim.model, self.sim.monitor
        recorded = self.sim.recorded
        first = [programs[0] for programs in recorded]
        then: dict[Program, list[Program]] = {
            model.start: [monitor],
            monitor: [model.step, *first],
            model.step: [model.step, monitor, *first],
        }
        if self.sim.settled is not None:
            steadiness = self.sim.settled.steadiness
            then[model.step] = [steadiness.compare, *then[model.step]]
            then[steadiness.keep] = [model.step, monitor, *first]
            then[steadiness.compare] = [steadiness.keep, *then[steadiness.keep]]
        for n, programs in enumerate(recorded):
            then |= {one: [other] for one, other in pairwise(programs)}
            then[programs[-1]] = [model.step, *first[n + 1 :]]
        passes: list[tuple[tuple[Launch, ...], Mapping[int, Sequence[Message]]]] = []
        for stretch, moved in RunPasses(self.sim.step_cost.sample, model.start, then):
            messages: dict[int, list[Message]] = defaultdict(list)
            for message in (message for moment in moved.messages.values() for message in moment):
                if message.source != message.target:
                    messages[message.source].append(message)
                    messages[message.target].append(message)
            passes.append((stretch.launches, messages))
        return passes

    def _buffers(self, messages: Sequence[Message]) -> Iterator[tuple[int, ...]]:
        """The buffers through which the messages of a pass go, each with its size in the end."""
        fields, turns = self.sim.partition.fields, Counter[tuple[int, int, int]]()
        for message in messages:
            if not self._direct(message.source, message.target):
                ring = message.source, message.target, message.cells
                yield *ring, turns[ring] % DEPTH, packed(message, lambda name: fields[name].nbytes)
                turns[ring] += 1

    @property
    def _sees(self) -> bool:
        """Whether blocks on GPUs look for others whose memory they see."""
        return len(self.placed) == 1 or self.sim.case.machine.channel in ("auto", "peer")

    def _direct(self, one: int, other: int) -> bool:
        """Whether two blocks should see each other's memory: on GPUs of one host that they share with no other block
        of their process.
        """
        if self.device == "cpu" or not self._sees or self.placed[one].host != self.placed[other].host:
            return False
        return self._alone[one] and self._alone[other]

    @cached_property
    def _alone(self) -> list[bool]:
        """Whether each block shares its GPU with no other one of its process."""
        homes = [(place.worker, place.gpus[0].identity) for place in self.placed]
        count = Counter(homes)
        return [count[home] == 1 for home in homes]

    def _board(self, block: int) -> int:
        return Board(len(self.placed)).nbytes + self._inboxes.nbytes(block)

    @cached_property
    def _inboxes(self) -> Inboxes:
        return Inboxes(self.sim.partition)


@dataclass(eq=False)
class RunPasses:
    """Every stretch of the passes that can follow `first`, in every state, and what blocks of a sample exchange in it.

    `then` says of each program which ones can come after it.
    """

    sample: Sample
    first: Program
    then: Mapping[Program, Sequence[Program]]
    _exchanged: dict[tuple[Stretch, State], Exchange] = field(default_factory=dict, init=False)
    _state: _States = field(default_factory=lambda: _States(), init=False)

    def __iter__(self) -> Iterator[tuple[Stretch, Exchange]]:
        waiting: list[tuple[Program, Roles, Valid]] = [
            (self.first, Roles.of(tuple(self.sample.partition.fields)), {}),
        ]
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
        yield from ((stretch, moved) for (stretch, _), moved in self._exchanged.items())

    def _through(self, parts: Sequence[Part], valid: Valid) -> list[Valid]:
        """All that can be valid after some parts that are begun with `valid`."""
        ends = [valid]
        for part in parts:
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
        if key not in self._exchanged:
            sample = self.sample
            self._exchanged[key] = exchange(
                stretch.launches, sample.partition, following=stretch.following, valid=valid, blocks=sample.blocks,
                known=sample.known,
            )  # fmt: skip
        return self._exchanged[key].valid


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
