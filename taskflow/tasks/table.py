"""Tables: numbers that a kernel looks up by index."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Numbers by index, the first of them number `first`: as a member of a constant, `const real*` in a kernel text.

    Every device has its own copy, in the precision of the kernel.
    """

    first: int
    values: tuple[float, ...]

    def __getitem__(self, index: int) -> float:
        """Number `index`. Raises IndexError where there is none."""
        if index < self.first:
            raise IndexError(f"the table begins with number {self.first}; there is no number {index}")
        return self.values[index - self.first]


Tables = tuple[Table, Table, Table]  # along x, y and z
