"""Incompressible flow by projection: its model, and the report of its pressure solver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from taskflow.cases import Case
from taskflow.cases.language.capabilities import Supports
from taskflow.cases.tables.projection import PROJECTION
from taskflow.cases.timing.intervals import Tick
from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.common.rows import Row
from taskflow.flow import NavierStokes
from taskflow.flow.models.projection.implicit import ImplicitDiffusion
from taskflow.systems.base.flow import FlowMeasures, FlowSystem
from taskflow.systems.base.physics import implicit
from taskflow.systems.base.pressure import FORCING, choice, described, pressure_numbers, solver, sweeps
from taskflow.systems.base.scales import fastest, fluid_row
from taskflow.systems.base.system import System


@dataclass(frozen=True, eq=False)
class ProjectionMeasures(FlowMeasures):
    """The quantities in the log of a projection."""

    model: NavierStokes
    residuals: ClassVar[tuple[str, ...]] = ("residual",)

    def solved(self, scalars: Mapping[str, float], tick: Tick) -> dict[str, float]:
        return pressure_numbers(self.model.pressure, scalars, tick)


@dataclass(frozen=True, eq=False)
class Projection(FlowSystem):
    """The default system of a case."""

    supports: ClassVar[Supports] = PROJECTION
    measuring: ClassVar[type[FlowMeasures]] = ProjectionMeasures
    accepts_other_grids: ClassVar[bool] = True
    min_fields: ClassVar[int] = 8  # the velocity, its next one or its tendency, pressure and its right-hand side

    @classmethod
    def of(cls, system: System) -> Projection:
        """Return a system as a `Projection`, for the type checker."""
        assert isinstance(system, cls)
        return system

    @classmethod
    def headline(cls, case: Case) -> str:
        return f"Pressure: {described(case)}"

    @cached_property
    def model(self) -> NavierStokes:
        sim = self.sim
        near = sim.bodies.near if sim.case.obstacles else None
        pressure = solver(sim.case, sim.grid.constants, sim.blocks, sim.device, near)
        axis = implicit(sim.case).axis
        along = None if axis is None else ImplicitDiffusion(axis, sim.grid.constants, sim.blocks)
        return NavierStokes(pressure=pressure, implicit=along, **self.physics)

    @property
    def forced(self) -> int:
        """The number of times that the velocity in bodies is forced: FFT does not resolve their faces."""
        return self.sim.case.pressure.forcing or FORCING if choice(self.sim.case).solver == "fft" else 0

    @property
    def sweeps(self) -> int | None:
        return sweeps(self.sim.case)

    def solver_rows(self) -> Iterator[Row]:
        yield fluid_row(self.sim.case, *fastest(self.sim, self.model, self.inflows))
        yield Row("pressure", f"{described(self.sim.case)}; {self.sim.case.machine.precision} precision")

    @property
    def report(self) -> dict[str, Any]:
        return {"pressure": asdict(choice(self.sim.case))}


def system_of(case: Case) -> type[System]:
    """Return the system of a case, by default the projection. Raises BadInput for another kind of object."""
    registered = case.system or Projection
    if not (isinstance(registered, type) and issubclass(registered, System)):
        raise BadInput(f"method.type: its package registers {registered!r}; it has to be a subclass of System")
    return registered
