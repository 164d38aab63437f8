"""A case on its blocks, before any equations: its cells, its bodies, and the state of elsewhere that it names."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.runtime.regions import Triple
from taskflow.simulation.bodies import Bodies, Survey, survey
from taskflow.simulation.case import Case
from taskflow.simulation.conditions.initial import named_state

if TYPE_CHECKING:
    from taskflow.output import SavedState


@dataclass(frozen=True, eq=False)
class CaseOnBlocks:
    """A case on nx x ny x nz blocks, each on a "cpu" or a "gpu"."""

    case: Case
    blocks: Triple
    device: str = field(default="cpu", kw_only=True)

    @cached_property
    def grid(self) -> StaggeredGrid:
        return self.case.staggered

    @property
    def dtype(self) -> str:
        """The type of numbers in all fields."""
        return "f8" if self.case.machine.precision == "double" else "f4"

    @property
    def value_bytes(self) -> int:
        return np.dtype(self.dtype).itemsize

    @cached_property
    def bodies(self) -> Bodies:
        """The bodies on the grid. Raises BadInput where a file of theirs cannot be read."""
        return Bodies(self.case, self.grid)

    @cached_property
    def survey(self) -> Survey | None:
        """The volumes, gaps and warnings of the bodies; None without any. Raises BadInput where they cannot be."""
        return survey(self.bodies) if self.case.obstacles else None

    @cached_property
    def source(self) -> SavedState | None:
        """The state of elsewhere with which it begins; None where it has formulas. Raises BadInput where it cannot be
        read.
        """
        return named_state(self.case.initial)
