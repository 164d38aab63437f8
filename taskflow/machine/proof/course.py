"""The course that a run can take: which stretch of which program can follow which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from taskflow.tasks import Part, Program, Roles, Stretch, plan

Programs = Mapping[Program, Iterable[str]]
"""Programs, each with the scalars to which the host gives a value before every pass."""


@dataclass(frozen=True, eq=False)
class Laid:
    """A program begun with some roles, laid out: its stretches, those that can follow each, and those that end it."""

    after: Roles
    scalars: tuple[str, ...]
    stretches: list[Stretch] = field(default_factory=list)
    following: list[list[int]] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def lay(self, parts: Sequence[Part]) -> tuple[int, list[int]]:
        """Add some parts, one after the other, loops at least once; returns the first stretch, and the last ones."""
        first, last = len(self.stretches), list[int]()
        for part in parts:
            if isinstance(part, Stretch):
                begin, end = len(self.stretches), [len(self.stretches)]
                self.stretches.append(part)
                self.following.append([])
            else:
                begin, end = self.lay(part.body)
                if not end:
                    continue
                for stretch in end:
                    self.following[stretch].append(begin)
            for stretch in last:
                self.following[stretch].append(begin)
            last = end
        return first, last


@dataclass(frozen=True)
class Moment:
    """A stretch about to be done: number `index` of a program that was begun at some stage."""

    stage: int
    laid: Laid
    index: int

    @property
    def key(self) -> object:
        """Equal for equal moments."""
        return self.stage, id(self.laid), self.index

    @property
    def stretch(self) -> Stretch:
        """What is done."""
        return self.laid.stretches[self.index]

    @property
    def scalars(self) -> tuple[str, ...]:
        """What the host sets before; it does so when a program begins."""
        return self.laid.scalars if self.index == 0 else ()


class Course:
    """One pass of each program of `start`, and then any number of passes of `programs`, in any order."""

    def __init__(self, programs: Programs, start: Programs) -> None:
        self._menus = [*([entry] for entry in start.items()), list(programs.items())]
        self._laid: dict[object, Laid] = {}

    def begin(self, roles: Roles, stage: int = 0) -> list[Moment]:
        """The moments with which a run can begin, or go on at a stage."""
        found, waiting, seen = list[Moment](), [(roles, stage)], set()
        while waiting:
            roles, stage = waiting.pop()
            stage = min(stage, len(self._menus) - 1)
            if (stage, roles.key()) in seen:
                continue
            seen.add((stage, roles.key()))
            for program, scalars in self._menus[stage]:
                laid = self._lay(program, tuple(scalars), roles)
                if laid.stretches:
                    found.append(Moment(stage, laid, 0))
                else:  # it launches nothing, and what counts comes after it
                    waiting.append((laid.after, stage + 1))
        return found

    def after(self, moment: Moment) -> list[Moment]:
        """Those that can follow."""
        found = [Moment(moment.stage, moment.laid, index) for index in moment.laid.following[moment.index]]
        if moment.index in moment.laid.ends:
            found += self.begin(moment.laid.after, moment.stage + 1)
        return found

    def _lay(self, program: Program, scalars: tuple[str, ...], roles: Roles) -> Laid:
        key = program, scalars, roles.key()
        if key not in self._laid:
            parts, after = plan(program, roles)
            laid = self._laid[key] = Laid(after, scalars)
            laid.ends.extend(laid.lay(parts)[1])
        return self._laid[key]
