"""Tables: numbers that a kernel looks up by index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Table:
    """Numbers by index, the first of them number `first`: as a member of a constant, `const real*` in a kernel text.

    Every device has its own copy, in the precision of the kernel.
    """

    first: int
    values: tuple[float, ...]

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Found once: there may be many numbers, and tables are looked up whenever a launch is bound."""
        return hash((self.first, self.values))

    def __getitem__(self, index: int) -> float:
        """Number `index`. Raises IndexError where there is none."""
        if index < self.first:
            raise IndexError(f"the table begins with number {self.first}; there is no number {index}")
        return self.values[index - self.first]


Tables = tuple[Table, Table, Table]  # along x, y and z


def tables(constant: Any) -> Iterator[Table]:
    """Those that a constant has for members, or three of them for one."""
    members = [getattr(constant, field.name) for field in fields(constant)] if is_dataclass(constant) else []
    for member in members:
        yield from (each for each in (member if isinstance(member, tuple) else (member,)) if isinstance(each, Table))
