"""The passes that a run can come to, stretch by stretch, with the ghost cells that are valid before each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from taskflow.regions import Partition
from taskflow.tasks import Exchange, Geometries, Part, Program, Roles, Stretch, Valid, exchange, plan

State = tuple[object, ...]  # a Valid as a value that can be compared


@dataclass(eq=False)
class Passes:
    """Every stretch of the passes that can follow `first`, in every state, and what is exchanged in it.

    `then` says of each program which ones can come after it.
    """

    partition: Partition
    first: Program
    then: Mapping[Program, Sequence[Program]]
    _found: dict[tuple[Stretch, State], Exchange] = field(default_factory=dict, init=False)

    @cached_property
    def _known(self) -> Geometries:
        return Geometries(self.partition)

    def __iter__(self) -> Iterator[tuple[Stretch, Exchange]]:
        waiting: list[tuple[Program, Roles, Valid]] = [
            (self.first, Roles.of(tuple(self.partition.fields)), {}),
        ]
        plans: dict[object, tuple[tuple[Part, ...], Roles]] = {}
        begun = set[object]()
        while waiting:
            program, roles, valid = waiting.pop()
            key = program, roles.key()
            if (*key, _state(valid)) in begun:
                continue
            begun.add((*key, _state(valid)))
            parts, after = plans.setdefault(key, plan(program, roles))
            ends = self._through(parts, valid)
            waiting += [(later, after, end) for later in self.then[program] for end in ends]
        yield from ((stretch, moved) for (stretch, _), moved in self._found.items())

    def _through(self, parts: Sequence[Part], valid: Valid) -> list[Valid]:
        """What can be valid after some parts that are begun with `valid`."""
        ends = [valid]
        for part in parts:
            after: dict[State, Valid] = {}
            for end in ends:
                if isinstance(part, Stretch):
                    found = [self._done(part, end)]
                else:
                    found = self._rounds(part.body, end, part.repeat.times)
                    if part.repeat.further:
                        found.insert(0, end)
                    if part.repeat.until is None:
                        found = found[-1:]
                after.update({_state(each): each for each in found})
            ends = list(after.values())
        return ends

    def _rounds(self, body: Sequence[Part], valid: Valid, times: int) -> list[Valid]:
        """What can be valid after each of at most so many rounds, as long as that is new."""
        found: dict[State, Valid] = {}
        now = [valid]
        for _ in range(times):
            ends = [end for each in now for end in self._through(body, each)]
            now = [end for end in ends if _state(end) not in found]
            found.update({_state(end): end for end in ends})
            if not now:
                break
        return list(found.values())

    def _done(self, stretch: Stretch, valid: Valid) -> Valid:
        key = stretch, _state(valid)
        if key not in self._found:
            self._found[key] = exchange(
                stretch.launches, self.partition, following=stretch.following, valid=valid, known=self._known
            )
        return self._found[key].valid


def _state(valid: Valid) -> State:
    return tuple(sorted(valid.items()))
