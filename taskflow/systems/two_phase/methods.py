"""The interface methods of a case: their words, initial fields and models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taskflow.flow.boundaries.condition import Boundaries
from taskflow.flow.grid import Grid, StaggeredGrid
from taskflow.flow.measures.surfaces import PlaneSurface, Surface, ValueSurface
from taskflow.flow.models.two_phase.convection import SCHEMES
from taskflow.flow.models.two_phase.interface import InterfaceMethod
from taskflow.flow.models.two_phase.level_set import LevelSet
from taskflow.flow.models.two_phase.volume_of_fluid import VolumeOfFluid
from taskflow.flow.operators.phases import Phases
from taskflow.systems.initial.fields import CellMeans
from taskflow.systems.two_phase.shares import Phi, shares
from taskflow.systems.two_phase.start import long_cells

if TYPE_CHECKING:
    from taskflow.cases import Case


@dataclass(frozen=True)
class InitialShares(CellMeans):
    """The shares of cells in which phi is positive, from their centres."""

    phi: Phi
    grid: StaggeredGrid
    bent: bool = False  # by surface tension, which acts in cells that the interface cuts

    def __call__(self, x: Any, y: Any, z: Any) -> np.ndarray:
        """Return the shares [z, y, x]."""
        divided = tuple(axis for axis in range(3) if self.grid.cells[axis] > 1)
        return shares(self.phi, (x, y, z), self.grid.spacing, divided, bent=self.bent)


@dataclass(frozen=True)
class CapturingMethod:
    """A method that captures the interface.

    - `words`: its name for people
    - `field`: its own field, which initial values give
    - `initial`: returns these from phi, positive in phase 1, on a grid, with surface tension or without
    - `interface`: returns the model for a case, grid, phases and sides
    - `surface`: returns the surface whose area is measured, of the model
    - `caution`: yields warnings of cells that do not suit it
    """

    words: str
    field: str
    initial: Callable[[Phi, StaggeredGrid, bool], Any]
    interface: Callable[[Case, Grid, Phases, Boundaries], InterfaceMethod]
    surface: Callable[[Any], Surface]
    caution: Callable[[Grid, float], Iterator[str]] = lambda grid, thickness: iter(())

    @property
    def sources(self) -> Mapping[str, str]:
        """Fields with the initial ones from which they follow."""
        return {} if self.field == "f" else {"f": self.field}


def _level_set(case: Case, grid: Grid, phases: Phases, boundaries: Boundaries) -> InterfaceMethod:
    own, convection, bodies = case.own, SCHEMES[case.fluid.scheme], bool(case.obstacles)
    leans = not own.surface_tension
    return LevelSet(grid, own.thickness, own.reinitialise, own.conserve, boundaries, bodies, convection, leans)


def _volume_of_fluid(case: Case, grid: Grid, phases: Phases, boundaries: Boundaries) -> InterfaceMethod:
    return VolumeOfFluid(grid, phases, boundaries, bool(case.obstacles))


def surface_on(field: str, value: float, boundaries: Boundaries) -> ValueSurface:
    """Return the surface on which f or phi has a value. f has ghost values, phi has none."""
    return ValueSurface(field, value, () if field == "f" else tuple(boundaries))


def _zero_of_phi(interface: LevelSet) -> Surface:
    """phi is nearly linear there. On f = 1/2 the perimeter of a circle would be 0.6 % too long at every spacing."""
    return surface_on("phi", 0.0, interface.boundaries)


def _planes(interface: VolumeOfFluid) -> Surface:
    return PlaneSurface(interface.shares_beyond.inner)


METHODS = {
    "levelset": CapturingMethod("level set", "phi", lambda phi, *_: phi, _level_set, _zero_of_phi, long_cells),
    "vof": CapturingMethod("volume of fluid", "f", InitialShares, _volume_of_fluid, _planes),
}
"""The methods by their names in a case."""
