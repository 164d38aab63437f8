"""The owners of scalars: programs that use the same names can be parts of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from taskflow.common.errors import BadInput
from taskflow.runtime.tasks.numbers import ScalarMapping, together
from taskflow.runtime.tasks.program import Derive, Program, Repeat, Roles, called
from taskflow.runtime.tasks.task import Launch


@dataclass(frozen=True)
class OwnedScalars(ScalarMapping):
    """The scalars of an owner, by the names in its program."""

    owner: str
    scalars: Mapping[str, float]

    def __getitem__(self, name: str) -> float:
        return self.scalars[f"{self.owner}.{name}"]

    def together(self, names: Sequence[str]) -> list[float]:
        return together(self.scalars, _owned_names(self.owner, tuple(names)))

    def __contains__(self, name: object) -> bool:
        return f"{self.owner}.{name}" in self.scalars

    def __iter__(self) -> Iterator[str]:
        mine = f"{self.owner}."
        return (name.removeprefix(mine) for name in self.scalars if name.startswith(mine))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True)
class Owned:
    """A program whose scalars belong to an owner. Make it with `owned`."""

    owner: str
    program: Program

    @property
    def __name__(self) -> str:
        return called(self.program)

    def __call__(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """Yield the items of the program. Decisions and derivations on the host see the owner's scalars only."""
        for item in self.program(f.owned(self.owner)):
            if isinstance(item, Repeat):
                yield self._repeat(item)
            else:
                yield self._derive(item) if isinstance(item, Derive) else item

    def _repeat(self, item: Repeat) -> Repeat:
        until, otherwise, mine = item.until, item.otherwise, partial(OwnedScalars, self.owner)
        return replace(
            item,
            body=Owned(self.owner, item.body),
            until=until and (lambda scalars: until(mine(scalars))),
            otherwise=otherwise and (lambda rounds: otherwise([*map(mine, rounds)])),
            count=item.count and f"{self.owner}.{item.count}",
        )

    def _derive(self, item: Derive) -> Derive:
        names = _owned_names(self.owner, item.names)
        mine = dict(zip(item.names, names, strict=True))

        def function(scalars: Mapping[str, float]) -> Mapping[str, float]:
            values = item.function(OwnedScalars(self.owner, scalars))
            return {mine.get(name, f"{self.owner}.{name}"): value for name, value in values.items()}

        return Derive(function, names)


@cache
def _owned_names(owner: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{owner}.{name}" for name in names)


def owned(owner: str, program: Program) -> Owned:
    """Return the program with separate scalars, so that it can be combined with others that use the same names: its
    `f.scalar("residual")` is `OWNER.residual` outside, as are the counts of its repetitions. Its `until` and
    `otherwise` see only these scalars, by the names in the program.

        yield from owned("heat", solver.solve)(f)

    Raises BadInput if `owner` is empty, no string or contains a dot.
    """
    if not isinstance(owner, str) or not owner or "." in owner:
        raise BadInput(f"owned({owner!r}, ...): give the name of an owner, without a dot")
    return Owned(owner, program)
