"""What blocks need in the memory where they live, counted before they are made."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from taskflow.cluster import shortage
from taskflow.errors import BadInput
from taskflow.host import Place
from taskflow.machine.direct import Board, Inboxes
from taskflow.machine.kernel import partial_bytes
from taskflow.machine.trace.rings import DEPTH
from taskflow.machine.trace.scalars import MOST
from taskflow.machine.trace.transfer import packed
from taskflow.simulation.passes import Passes
from taskflow.simulation.setup import Setup
from taskflow.tasks import Launch, Message, Program, Table, place, tables

LEAST = 8  # fields of any flow: the velocity, its next one or its tendency, pressure and its right-hand side


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
    """What the blocks of a case need at their places, on a CPU or a GPU (`device`)."""

    setup: Setup
    placed: Sequence[Place]
    device: str

    @cached_property
    def blocks(self) -> list[Memory]:
        """The memory of each block. Of many, all but the fields is that of the one that is looked at in its place."""
        sample, partition = self.setup.stepping.sample, self.setup.partition
        found = {block: self._of(block) for block in sample.blocks}
        return [replace(found[like], fields=partition.nbytes(block)) for block, like in enumerate(sample.like)]

    def check(self) -> None:
        """Raises BadInput where the blocks need more memory than is free where they will live. What flows have at the
        least is asked first: to find bodies on more cells than fit would take memory and time without end.
        """
        cells, blocks = math.prod(self.setup.case.grid.cells), len(self.placed)
        least = [LEAST * self.setup.value_bytes * cells // blocks] * blocks
        problem = shortage(least, self.placed, self.device)
        if problem or (problem := shortage([memory.total for memory in self.blocks], self.placed, self.device)):
            raise BadInput(
                f"grid.cells = {list(self.setup.case.grid.cells)}: {problem};"
                ' use fewer cells, machine.precision = "single", or more machines'
            )

    def _of(self, block: int) -> Memory:
        setup, partition = self.setup, self.setup.partition
        gpu = self.device == "gpu"
        folds, buffers, looked_up = 0, set[tuple[int, ...]](), set[tuple[Table, int]]()
        for launches, messages in self._passes:
            buffers.update(self._buffers(messages[block]))
            for launch in launches:
                if over := place(launch, partition).owned[block] & launch.over:
                    folds += len(launch.task.reductions) * partial_bytes(over, self.device)
                    found = (table for constant in launch.constants.values() for table in tables(constant))
                    looked_up.update((table, partition.fields[launch.own].nbytes) for table in found)
        value = partition.blocks[block].volume * setup.value_bytes
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
        snapshot, averages = len(self.setup.case.output_fields), self.setup.averages
        return 2 * snapshot if averages is None else snapshot + max(snapshot, len(averages.statistics.written))

    @property
    def _gathered(self) -> int:
        """Bytes of the largest spectra of a field that a block gathers from all, and puts together."""
        return max((2 * 8 * waves.averages.statistics.modes.volume for waves in self.setup.spectra), default=0)

    def _saved(self, block: int) -> int:
        """Bytes of the part of a checkpoint."""
        setup, homes = self.setup, self.setup.partition.homes
        if setup.case.checkpoint.keep == 0:
            return 0
        parts = ((role, box & homes[role].owned[block]) for role, boxes in setup.carried.items() for box in boxes)
        return sum(part.volume * setup.partition.fields[role].nbytes for role, part in parts)

    @cached_property
    def _passes(self) -> list[tuple[tuple[Launch, ...], Mapping[int, Sequence[Message]]]]:
        """The launches of every stretch that a run can come to, and the messages that each block sends or gets in it. A
        run begins with a start and a monitor; after each step there may be one, too, and then whatever is recorded. A
        state that is kept to be compared with, at the start as well, makes no difference to any other field.
        """
        model, monitor = self.setup.model, self.setup.monitor
        recorded = self.setup.recorded
        first = [programs[0] for programs in recorded]
        then: dict[Program, list[Program]] = {
            model.start: [monitor],
            monitor: [model.step, *first],
            model.step: [model.step, monitor, *first],
        }
        if self.setup.settled is not None:
            steadiness = self.setup.settled.steadiness
            then[model.step] = [steadiness.compare, *then[model.step]]
            then[steadiness.keep] = [model.step, monitor, *first]
            then[steadiness.compare] = [steadiness.keep, *then[steadiness.keep]]
        for n, programs in enumerate(recorded):
            then |= {one: [other] for one, other in pairwise(programs)}
            then[programs[-1]] = [model.step, *first[n + 1 :]]
        found: list[tuple[tuple[Launch, ...], Mapping[int, Sequence[Message]]]] = []
        for stretch, moved in Passes(self.setup.stepping.sample, model.start, then):
            messages: dict[int, list[Message]] = defaultdict(list)
            for message in (message for moment in moved.messages.values() for message in moment):
                if message.source != message.target:
                    messages[message.source].append(message)
                    messages[message.target].append(message)
            found.append((stretch.launches, messages))
        return found

    def _buffers(self, messages: Sequence[Message]) -> Iterator[tuple[int, ...]]:
        """The buffers through which the messages of a pass go, each with its size in the end."""
        fields, turns = self.setup.partition.fields, Counter[tuple[int, int, int]]()
        for message in messages:
            if not self._direct(message.source, message.target):
                ring = message.source, message.target, message.cells
                yield *ring, turns[ring] % DEPTH, packed(message, lambda name: fields[name].nbytes)
                turns[ring] += 1

    @property
    def _sees(self) -> bool:
        """Whether blocks on GPUs look for others whose memory they see."""
        return len(self.placed) == 1 or self.setup.case.machine.channel in ("auto", "peer")

    def _direct(self, one: int, other: int) -> bool:
        """Whether two blocks should see each other's memory: on GPUs of one host that they share with no other block
        of their process.
        """
        if self.device == "cpu" or not self._sees or self.placed[one].host != self.placed[other].host:
            return False
        return self._alone[one] and self._alone[other]

    @cached_property
    def _alone(self) -> list[bool]:
        """Of each block, whether it shares its GPU with no other one of its process."""
        homes = [(place.worker, place.gpus[0].identity) for place in self.placed]
        count = Counter(homes)
        return [count[home] == 1 for home in homes]

    def _board(self, block: int) -> int:
        return Board(len(self.placed)).nbytes + self._inboxes.nbytes(block)

    @cached_property
    def _inboxes(self) -> Inboxes:
        return Inboxes(self.setup.partition)
