"""The passes that a run can come to, stretch by stretch, with the ghost cells that are valid before each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from taskflow.simulation.sample import Sample
from taskflow.tasks import Exchange, Part, Program, Roles, Stretch, Valid, exchange, plan

State = int  # the number of a Valid: equal ones have the same


@dataclass(eq=False)
class Passes:
    """Every stretch of the passes that can follow `first`, in every state, and what blocks of a sample exchange in it.

    `then` says of each program which ones can come after it.
    """

    sample: Sample
    first: Program
    then: Mapping[Program, Sequence[Program]]
    _found: dict[tuple[Stretch, State], Exchange] = field(default_factory=dict, init=False)
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
                after.update({self._state(each): each for each in found})
            ends = list(after.values())
        return ends

    def _rounds(self, body: Sequence[Part], valid: Valid, times: int) -> list[Valid]:
        """What can be valid after each of at most so many rounds, as long as that is new."""
        found: dict[State, Valid] = {}
        now = [valid]
        for _ in range(times):
            ends = [end for each in now for end in self._through(body, each)]
            now = [end for end in ends if self._state(end) not in found]
            found.update({self._state(end): end for end in ends})
            if not now:
                break
        return list(found.values())

    def _done(self, stretch: Stretch, valid: Valid) -> Valid:
        key = stretch, self._state(valid)
        if key not in self._found:
            sample = self.sample
            self._found[key] = exchange(
                stretch.launches, sample.partition, following=stretch.following, valid=valid, blocks=sample.blocks,
                known=sample.known,
            )  # fmt: skip
        return self._found[key].valid


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
