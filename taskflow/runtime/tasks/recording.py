"""Programs recorded: their launches, for the roles with which they begin."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from taskflow.common.errors import IN_PROGRAM, BadInput, TaskflowError
from taskflow.runtime.tasks.program import Derive, Loop, Part, Program, Repeat, Roles, Stretch, called
from taskflow.runtime.tasks.task import Launch

_Items = list["list[Launch] | tuple[Repeat, _Items] | Derive"]


@dataclass(eq=False)
class Recordings:
    """Programs, each recorded once for the same initial roles. They have to remain the same."""

    _known: dict[tuple[Program, tuple[tuple[str, str], ...]], tuple[_Items, Roles]] = field(default_factory=dict)

    def plan(self, program: Program, roles: Roles) -> tuple[tuple[Part, ...], Roles]:
        """Return the parts of a program that begins with these roles, and the roles at its end; `roles` is unchanged.

        The program is assumed to follow itself. Identical stretches are one object, recorded once. Raises BadInput if
        the program yields anything but launches, repetitions and derivations, or a loop changes roles.
        """
        items, after = self._recorded(program, roles)
        then, _ = self._recorded(program, after)
        return _parts(items, _head(then), {}), after.copy()

    def record(self, program: Program, roles: Roles) -> tuple[tuple[Launch, ...], Roles]:
        """Return the launches of a program that begins with these roles, loops taken once, and the roles at its end.

        Raises BadInput as `plan` does.
        """
        items, after = self._recorded(program, roles)
        return tuple(_flat(items)), after.copy()

    def _recorded(self, program: Program, roles: Roles) -> tuple[_Items, Roles]:
        key = program, roles.key()
        if key not in self._known:
            after = roles.copy()
            self._known[key] = _items(program, after), after
        return self._known[key]


def plan(program: Program, roles: Roles) -> tuple[tuple[Part, ...], Roles]:
    """As `Recordings.plan`, for one call."""
    return Recordings().plan(program, roles)


def record(program: Program, roles: Roles) -> tuple[tuple[Launch, ...], Roles]:
    """As `Recordings.record`, for one call."""
    return Recordings().record(program, roles)


def _located(yields: Iterable[Any], name: str) -> Iterator[Any]:
    """Yield the items of a program. An error in the program's code gets a note that names the last launch."""
    items, place = iter(yields), "before its first launch"
    while True:
        try:
            item = next(items)
        except StopIteration:
            return
        except Exception as error:
            if not isinstance(error, TaskflowError):
                error.add_note(f"{IN_PROGRAM} {name}, {place}")
            raise
        if isinstance(item, Launch):
            place = f"after the launch of {item.task.name}"
        yield item


def _items(program: Program, roles: Roles) -> _Items:
    """Collect the items of a program, consecutive launches as one list; `roles` become the roles at its end."""
    name, items = called(program), _Items()
    yields = program(roles)
    if not isinstance(yields, Iterable):
        raise BadInput(f"the program {name} returned {yields!r}; it has to yield launches: yield a_task(..., over=box)")
    for item in _located(yields, name):
        if isinstance(item, Repeat):
            before = dict(roles.key())
            items.append((item, _items(item.body, roles)))
            if moved := [role for role, field in roles.key() if before[role] != field]:
                raise BadInput(
                    f"the program {name} repeats something that leaves {', '.join(moved)} with exchanged fields:"
                    " let it exchange them back, say by a second sweep"
                )
        elif isinstance(item, Derive):
            items.append(item)
        elif not isinstance(item, Launch):
            raise BadInput(f"the program {name} yielded {item!r}, which is no launch: yield a_task(..., over=box)")
        elif items and isinstance(items[-1], list):
            items[-1].append(item)
        else:
            items.append([item])
    return items


def _parts(items: _Items, following: tuple[Launch, ...], known: dict[Hashable, Stretch]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for n, item in enumerate(items):
        if isinstance(item, list):
            after = items[n + 1 :]
            stretch = Stretch(tuple(item), _head(after) if after else following)
            parts.append(known.setdefault(stretch.same, stretch))
        elif isinstance(item, Derive):
            parts.append(item)
        else:
            parts.append(Loop(item[0], _parts(item[1], () if _awaited(item[0]) else _head(item[1]), known)))
    return tuple(parts)


def _awaited(repeat: Repeat) -> bool:
    """Return whether the host waits for the numbers of each round: its inputs then travel within the round, so
    that waits are neither needless nor longer.
    """
    return repeat.until is not None and not repeat.lag


def _head(items: _Items) -> tuple[Launch, ...]:
    """The launches with which they begin, as far as these are certain to come."""
    first = next((item for item in items if not isinstance(item, Derive)), [])
    if isinstance(first, list):
        return tuple(first)
    repeat, body = first
    return () if repeat.further and _awaited(repeat) else _head(body)


def _flat(items: _Items) -> Iterator[Launch]:
    for item in items:
        if not isinstance(item, Derive):
            yield from item if isinstance(item, list) else _flat(item[1])
