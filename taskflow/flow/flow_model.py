"""A flow on a staggered grid, for any solver: fluid, boundaries, bodies, scalars and forces."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass

from taskflow.common.caching import cached_property
from taskflow.flow.bodies import Obstacles
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.condition import Boundaries
from taskflow.flow.boundaries.open_boundaries import OpenBoundaries
from taskflow.flow.boundaries.openings import parts
from taskflow.flow.boundaries.sides import open_sides
from taskflow.flow.closures.eddy_viscosity import Turbulence
from taskflow.flow.forcing.driving import NO_DRIVING, Driving, Setting, buoyancy_frequency
from taskflow.flow.forcing.field_force import FieldForce, stage_times
from taskflow.flow.forcing.stored import StoredForces
from taskflow.flow.grid import Grid, StaggeredGrid
from taskflow.flow.model import VELOCITY, Ends, Model
from taskflow.flow.operators.momentum import CENTRAL, Buoyancy, Fluid
from taskflow.flow.scalars.quantity import Quantity
from taskflow.flow.stability import Stability, StepLimit, Transported
from taskflow.flow.time.schemes import ADAMS_BASHFORTH, DiffusionTerms, DiffusiveRates, TimeScheme
from taskflow.flow.time.step_clock import StepClock
from taskflow.runtime.regions import Location
from taskflow.runtime.tasks import Launch, Roles

NEAREST = "f", "kappa", "nu_t"  # fields that a line through two values would lead out of their range


@dataclass(frozen=True, eq=False)
class FlowModel(Model):
    """A flow of velocity u, v, w on a staggered grid, for any solver. Boundaries, bodies, turbulence, scalars and all
    measures read these attributes.

    - `heat`: the temperature T, or None. `passive`: further transported quantities.
    - `obstacles`: the bodies, or None. `turbulence`: the eddy viscosity, or None.
    - `forces`: forces given by formulas.
    - `varying`: inflow values change in time.

    Limits and stability are by default for explicit steps.
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
        """The open boundaries."""
        return OpenBoundaries(self.boundaries, self.grid, self.scheme, self.varying)

    @cached_property
    def grid(self) -> Grid:
        """The constants of the grid that kernels read."""
        return self.staggered.constants

    @cached_property
    def sides(self) -> tuple[BoxSide, ...]:
        """The sides, and their openings."""
        return tuple(side for side, _ in parts(self.boundaries, self.grid))

    @cached_property
    def scalar_sides(self) -> tuple[BoxSide, ...]:
        """The sides with ghost values of passive scalars: in faces of bodies only outflows."""
        return tuple(side for side, condition in parts(self.boundaries, self.grid)
                     if not side.in_body or (condition.permeable and not condition.enters))  # fmt: skip

    @property
    def uniform_axes(self) -> tuple[int, ...]:
        """Directions without variation: one cell, periodic or between planes of symmetry. Empty if all three are."""
        given = {face for q in self.quantities for face, side in q.faces.items() if side.prescribed}

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
        """The box, grid, fluid and bodies that driving forces act on."""
        return Setting(self.staggered.box, self.grid, self.fluid, self.obstacles)

    @property
    def stored_forces(self) -> StoredForces | None:
        """The means over bodies of forces given by formulas, or None without bodies."""
        return StoredForces(self.forces, self.obstacles, self.scheme) if self.obstacles else None

    def ends(self, name: str) -> Ends:
        """Return "ghost", or with open sides "sides", for prognostic fields, "nearest" for `NEAREST`, else "linear"."""
        if name in VELOCITY or name in (quantity.name for quantity in self.quantities):
            return "sides" if open_sides(self.boundaries) else "ghost"
        return "nearest" if name in NEAREST else "linear"

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The temperature and passive scalars."""
        return (self.heat, *self.passive) if self.heat else self.passive

    @property
    def prognostic(self) -> dict[str, float]:
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
        """Return the fields that hold the velocity of the previous stage after a step."""
        return f.u_new, f.v_new, f.w_new

    def residual(self, f: Roles) -> Iterator[Launch]:
        """Yield the launches that measure the residual, for iterative solvers."""
        yield from ()

    def scalars(self, dt: float, ratio: float) -> dict[str, float]:
        return self.scheme.scalars(dt, ratio)

    def stage_times(self, time: float, dt: float) -> dict[str, float]:
        """Return the times at which the stages of a step begin and end, if forces depend on them."""
        return stage_times(self.forces, self.scheme.endings, self.scheme.ends, time, dt)

    def diffusive_rates(self, scalars: Mapping[str, float]) -> DiffusiveRates:
        """Return the diffusive rates that bound the next step: max(nu + nu_t, kappa + nu_t/Pr_t) (1/dx^2 + 1/dy^2 +
        1/dz^2), and the maximum over bounded quantities.

        Molecular diffusion along an implicit axis is excluded, except for bounded quantities.
        """
        return self.diffusion.rates(scalars)

    @cached_property
    def diffusion(self) -> DiffusionTerms:
        """The terms of `diffusive_rates`."""
        (once, left), quantities = self._once, self.quantities
        return DiffusionTerms(
            once,
            self.fluid.viscosity * left,
            max((q.diffusivity * (1.0 if q.bounded else left) for q in quantities), default=0.0),
            max((q.diffusivity for q in quantities if q.bounded), default=None),
            1 / self.turbulence.prandtl if self.turbulence and quantities else 0.0,
            "eddy" if self.turbulence else None,
        )

    @property
    def clock(self) -> StepClock | None:
        return StepClock(self.scheme, self.diffusion)

    @cached_property
    def _once(self) -> tuple[float, float]:
        """1/dx^2 + 1/dy^2 + 1/dz^2, and the share of it along explicit directions."""
        once = self.limiting_grid.inverse_spacing_squared
        return once, self.limiting_grid.explicit_spacings(self.fluid.implicit.axis) / once

    @property
    def frequency(self) -> float:
        """Largest angular frequency of inertial plus buoyant oscillations, in radians per time."""
        inertial, lift = 2 * math.hypot(*self.driving.rotation), self.buoyancy
        return inertial + (buoyancy_frequency(lift.expansion, lift.gravity, self.driving.gradient) if lift else 0.0)

    def step_limit(self, fixed: float | None, cfl: float, diffusion: float) -> StepLimit:
        most, bounded = self.diffusive_rates({"eddy": 0.0})
        within = bounded if any(q.bounded for q in self.quantities) else None
        return StepLimit(fixed, cfl, diffusion, most, self.scheme, self.frequency, within)

    def stability(self, limit: StepLimit) -> Stability | None:
        """Return which steps are stable. Bounded quantities are excluded: their own bound is in the limit."""
        part = 1 / self.turbulence.prandtl if self.turbulence else 0.0
        carried = (Transported(q.diffusivity, part) for q in self.quantities if not q.bounded)
        momentum = Transported(self.fluid.viscosity, float(bool(self.turbulence)), self.fluid.advection is not CENTRAL)
        return Stability(self.scheme, self.limiting_grid, (momentum, *carried), limit, self.fluid.implicit.axis)
