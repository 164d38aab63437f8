"""A flow on a staggered grid: its fluid and boundaries, and what is in it and acts on it, however it is solved."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass

from taskflow.common.caching import cached_property
from taskflow.flow.bodies import Obstacles
from taskflow.flow.boundaries.condition import Boundaries
from taskflow.flow.boundaries.open_boundaries import OpenBoundaries
from taskflow.flow.boundaries.sides import open_sides
from taskflow.flow.closures.eddy_viscosity import Turbulence
from taskflow.flow.forcing.driving import NO_DRIVING, Driving, Setting, buoyancy_frequency
from taskflow.flow.forcing.field_force import FieldForce, moments
from taskflow.flow.grid import Grid, StaggeredGrid
from taskflow.flow.model import VELOCITY, Ends, Model
from taskflow.flow.operators.momentum import CENTRAL, Buoyancy, Fluid
from taskflow.flow.scalars.quantity import Fixed, Quantity
from taskflow.flow.stability import Stability, StepLimit, Transported
from taskflow.flow.time.schemes import ADAMS_BASHFORTH, DiffusiveRates, TimeScheme
from taskflow.runtime.regions import Location
from taskflow.runtime.tasks import Launch, Roles

NEAREST = "f", "kappa", "nu_t"  # fields that a line through two values would lead out of their range


@dataclass(frozen=True, eq=False)
class FlowModel(Model):
    """A flow of velocity u, v, w on a staggered grid, however its equations are solved: its fluid, its boundaries, and
    what may be in it and act on it. Boundaries, bodies, turbulence, scalars and everything that measures ask for these.

    Without `heat`, a quantity T, there is no temperature, without `obstacles` no body in the flow, without `turbulence`
    no eddy viscosity. `passive` are further quantities that the flow carries. `forces` act by formulas. `varying`: the
    values that enter at inflows change in time. The defaults of limits and stability are those of explicit steps.
    """

    staggered: StaggeredGrid
    fluid: Fluid
    boundaries: Boundaries
    _: KW_ONLY
    heat: Quantity | None = None
    buoyancy: Buoyancy | None = None
    scheme: TimeScheme = ADAMS_BASHFORTH
    driving: Driving = NO_DRIVING
    forces: tuple[FieldForce, ...] = ()
    varying: bool = False
    obstacles: Obstacles | None = None
    passive: tuple[Quantity, ...] = ()
    turbulence: Turbulence | None = None

    @cached_property
    def openings(self) -> OpenBoundaries:
        """The boundaries where fluid enters and leaves."""
        return OpenBoundaries(self.boundaries, self.grid, self.scheme, self.varying)

    @cached_property
    def grid(self) -> Grid:
        """The constants of the grid that kernels read."""
        return self.staggered.constants

    @property
    def uniform_axes(self) -> tuple[int, ...]:
        """The directions along which nothing changes: one cell, periodic or between planes of symmetry. Never all."""
        given = {face for q in self.quantities for face, side in q.faces.items() if isinstance(side, Fixed)}

        def symmetric(axis: int) -> bool:
            faces = ["xyz"[axis] + end for end in ("_min", "_max")]
            sides = (self.boundaries[face] for face in faces if face in self.boundaries)
            return given.isdisjoint(faces) and all(side.symmetric for side in sides)

        axes = tuple(axis for axis in range(3) if self.grid.cells[axis] == 1 and symmetric(axis))
        return axes if len(axes) < 3 else ()

    @cached_property
    def limiting_grid(self) -> Grid:
        """The grid whose spacings bound a step: infinite along the `uniform_axes`."""
        return self.grid.flat(self.uniform_axes)

    @property
    def setting(self) -> Setting:
        """Where the flow is driven."""
        return Setting(self.staggered.box, self.grid, self.fluid, self.obstacles)

    def ends(self, name: str) -> Ends:
        """Return ghost values for fields with boundary conditions, beyond all edges if no side is open."""
        if name in VELOCITY or name in (quantity.name for quantity in self.quantities):
            return "sides" if open_sides(self.boundaries) else "ghost"
        return "nearest" if name in NEAREST else "linear"

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The temperature and passive scalars."""
        return (self.heat, *self.passive) if self.heat else self.passive

    @property
    def moving(self) -> dict[str, float]:
        return {"velocity": self.fluid.viscosity} | {q.name: q.diffusivity for q in self.quantities}

    @property
    def flags(self) -> dict[str, str]:
        if not self.obstacles:
            return {}
        heat, scalars, eddies = self.heat is not None, bool(self.passive), self.turbulence is not None
        return self.obstacles.flags(heat=heat, scalars=scalars, eddies=eddies)

    @property
    def surfaces(self) -> dict[str, Location]:
        return self.obstacles.fields(heat=self.heat is not None) if self.obstacles else {}

    def velocity_before(self, f: Roles) -> tuple[str, str, str]:
        """The fields that hold the velocity of the stage before, after a step."""
        return f.u_new, f.v_new, f.w_new

    def residual(self, f: Roles) -> Iterator[Launch]:
        """The launches that measure how well the equations are solved, where a solver iterates."""
        yield from ()

    def scalars(self, dt: float, ratio: float) -> dict[str, float]:
        return self.scheme.scalars(dt, ratio)

    def moments(self, time: float, dt: float) -> dict[str, float]:
        """The times at which the stages of a step begin and end, where forces depend on them."""
        return moments(self.forces, self.scheme.endings, self.scheme.ends, time, dt)

    def spreads(self, scalars: Mapping[str, float]) -> DiffusiveRates:
        """The largest of viscosity and diffusivities, with what eddies add to them, times 1/dx^2 + 1/dy^2 + 1/dz^2, and
        that of bounded quantities alone: both bound the next step. What is implicit along a direction counts without
        it.
        """
        eddy, part = (scalars["eddy"], 1 / self.turbulence.prandtl) if self.turbulence else (0.0, 0.0)
        once, left = self._once
        carried = [(q.bounded, q.diffusivity * (1.0 if q.bounded else left) + eddy * part) for q in self.quantities]
        return DiffusiveRates.of(self.fluid.viscosity * left + eddy, carried, once)

    @cached_property
    def _once(self) -> tuple[float, float]:
        """1/dx^2 + 1/dy^2 + 1/dz^2, and the share of it along which diffusion is explicit."""
        once = self.limiting_grid.inverse_spacing_squared
        return once, self.limiting_grid.explicit_spacings(self.fluid.implicit.axis) / once

    @property
    def frequency(self) -> float:
        """The largest angular frequency of inertial and buoyant oscillations together, in radians per time."""
        inertial, lift = 2 * math.hypot(*self.driving.rotation), self.buoyancy
        return inertial + (buoyancy_frequency(lift.expansion, lift.gravity, self.driving.gradient) if lift else 0.0)

    def step_limit(self, fixed: float | None, cfl: float, diffusion: float) -> StepLimit:
        most, bounded = self.spreads({"eddy": 0.0})
        within = bounded if any(q.bounded for q in self.quantities) else None
        return StepLimit(fixed, cfl, diffusion, most, self.scheme, self.frequency, within)

    def stability(self, limit: StepLimit) -> Stability | None:
        """Which of the steps within a limit are stable. Bounded quantities have a limit of their own."""
        part = 1 / self.turbulence.prandtl if self.turbulence else 0.0
        carried = (Transported(q.diffusivity, part) for q in self.quantities if not q.bounded)
        momentum = Transported(self.fluid.viscosity, float(bool(self.turbulence)), self.fluid.advection is not CENTRAL)
        return Stability(self.scheme, self.limiting_grid, (momentum, *carried), limit, self.fluid.implicit.axis)
