"""The memory of fields, as kernels index it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from taskflow.runtime.regions import Box, Triple


@dataclass(frozen=True)
class Layout:
    """The memory of fields: C-ordered arrays [z, y, x] or [z, y, value, x] whose first element is the cell `origin`."""

    origin: Triple
    shape: tuple[int, ...]
    step: int = 1  # elements from a cell to the next one along x

    def of(self, values: int, private: bool) -> Layout:
        """The same of fields with so many values per cell, which lie behind each other in private ones."""
        between = () if values == 1 else (values,)
        return Layout(self.origin, (*self.shape[:2], *between, self.shape[2]), values if private else 1)

    @cached_property
    def box(self) -> Box:
        """The cells that have memory."""
        return Box(self.origin, self.origin).expand((0, 0, 0), (self.shape[-1], self.shape[1], self.shape[0]))

    @property
    def offset(self) -> int:
        """Elements from the cell (0, 0, 0) to the first one in memory."""
        x, y, z = self.origin
        return self.step * x + math.prod(self.shape[2:]) * (y + self.shape[1] * z)
