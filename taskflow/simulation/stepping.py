"""A step of a case in the long run: what it launches, sends and moves, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from taskflow.regions import Partition
from taskflow.simulation.moving import often
from taskflow.simulation.sample import Sample
from taskflow.tasks import (
    Analysis,
    Launch,
    Part,
    Program,
    Roles,
    Settled,
    Traffic,
    analyse,
    counts,
    exchange,
    moved,
    plan,
    settled,
    traffic,
)


@dataclass(frozen=True, eq=False)
class Stepping:
    """The program of a step, done again and again on the blocks of a partition."""

    program: Program
    partition: Partition

    @cached_property
    def sample(self) -> Sample:
        """The blocks that are looked at for all."""
        return Sample(self.partition)

    @cached_property
    def _settled(self) -> Settled:
        return settled(self.program, self.partition, self.sample.blocks, self.sample.known)

    @property
    def launches(self) -> tuple[Launch, ...]:
        """Those of a step, repetitions once."""
        return self._settled.launches

    def analysed(self, *, split: bool) -> Analysis:
        """Their analysis; with `split`, launches are cut into edge and middle."""
        launches, following, valid = settled(self.program, self.partition)
        return analyse(launches, self.partition, following=following, valid=valid, split=split)

    @cached_property
    def traffic(self) -> list[Traffic]:
        """What each block sends, or the one that is looked at in its place."""
        launches, following, valid = self._settled
        blocks, known = self.sample.blocks, self.sample.known
        found = exchange(launches, self.partition, following=following, valid=valid, blocks=blocks, known=known)
        sent = traffic((message for moment in found.messages.values() for message in moment), self.partition)
        return [sent[block] for block in self.sample.like]

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the step, repetitions among them."""
        return plan(self.program, Roles.of(tuple(self.partition.fields)))[0]

    @cached_property
    def counted(self) -> tuple[str, ...]:
        """The scalars that say how often was repeated what a step repeats until it is enough."""
        return tuple(dict.fromkeys(counts(self.parts)))

    def nbytes(self, rounds: Mapping[str, float]) -> float:
        """What the step must move through memory; `rounds` has the numbers of `counted`."""
        return sum(times * self.bytes_of(launches) for launches, times in often(self.parts, rounds))

    def bytes_of(self, launches: Iterable[Launch]) -> int:
        """What some launches must move through memory."""
        return sum(moved(launch, self.partition) for launch in launches)
