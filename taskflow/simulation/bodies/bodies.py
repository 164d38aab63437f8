"""The bodies of a case: their shapes on the grid, those whose forces are followed, and the flags of their cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.flow.obstacles import Body
from taskflow.regions import Box, hull, triple
from taskflow.simulation.bodies.masks import Masks
from taskflow.simulation.bodies.shapes import shapes
from taskflow.simulation.bodies.solids import Solids
from taskflow.simulation.case import Case


@dataclass(frozen=True, eq=False)
class Bodies:
    """The obstacles of a case on its grid. Raises BadInput where a file of theirs cannot be read."""

    case: Case
    grid: StaggeredGrid

    @cached_property
    def solids(self) -> Solids:
        """Their shapes."""
        return Solids(self.grid, shapes(self.case))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of those whose forces are followed."""
        return tuple(dict.fromkeys(obstacle.name for obstacle in self.case.obstacles if obstacle.name))

    @cached_property
    def followed(self) -> tuple[Body, ...]:
        """The bodies with names."""
        return tuple(self._body(name) for name in self.names)

    def masks(self, roles: tuple[str, ...]) -> Masks:
        """What fills the fields of flags that play these roles."""
        numbers = {name: n for n, name in enumerate(self.names, start=1)}
        owners = tuple(numbers.get(obstacle.name or "", 0) for obstacle in self.case.obstacles)
        given = (obstacle.temperature for obstacle in self.case.obstacles)
        return Masks(self.solids, roles, owners, tuple(np.nan if T is None else T for T in given))

    def _body(self, name: str) -> Body:
        parts = [n for n, obstacle in enumerate(self.case.obstacles) if obstacle.name == name]
        around = hull(self.solids.boxes[n] for n in parts)
        points = (self.case.obstacles[n].moment_about for n in parts)
        about = next((point for point in points if point is not None), None) or self._middle(around)
        x, y, z = (a - b for a, b in zip(about, self.grid.origin, strict=True))
        heated = any(self.case.obstacles[n].temperature is not None for n in parts)
        return Body(name, self._faces(around), (x, y, z), heated)

    def _middle(self, cells: Box) -> tuple[float, float, float]:
        ends = zip(cells.lo, cells.hi, self.grid.origin, self.grid.spacing, strict=True)
        x, y, z = (origin + h * (lo + hi) / 2 for lo, hi, origin, h in ends)
        return x, y, z

    def _faces(self, cells: Box) -> Box:
        """The cells whose low faces are those of some cells: these, and the ones behind them."""
        grown, domain = cells.expand((0, 0, 0), (1, 1, 1)), self.grid.box
        round_trip = [p and hi > n for p, hi, n in zip(self.grid.periodic, grown.hi, domain.hi, strict=True)]
        lo = triple(0 if all_of_it else n for all_of_it, n in zip(round_trip, grown.lo, strict=True))
        return Box(lo, grown.hi) & domain
