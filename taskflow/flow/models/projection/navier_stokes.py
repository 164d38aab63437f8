"""Incompressible flow by projection on a staggered grid, after Jacobsen & Senocak (2010, 2013).

    du/dt + div(u u) = -grad(p) + viscosity Laplacian(u) - expansion (T - reference) gravity + force,    div(u) = 0
    dT/dt + div(u T) = diffusivity Laplacian(T) + source

and like T any number of passive scalars. What else drives the flow: see `taskflow.flow.forcing.driving`.

With turbulence, viscosity Laplacian(u) is div((viscosity + nu_t) (grad u + grad u^T)), and diffusivity Laplacian(T) is
div((diffusivity + nu_t / prandtl) grad T).

A step has one or more stages (see `taskflow.flow.time.schemes`). Each predicts a velocity without the pressure, solves
Laplacian(p) = div(u) / dt with the last pressure as the first guess, and corrects u by -dt grad(p), dt being the length
of the stage. p belongs to the middle of the last one: with Adams-Bashforth to t - dt/2.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property

from taskflow.flow.bodies import Obstacles
from taskflow.flow.boundaries.boundary import (
    Boundaries,
    Value,
    impose,
    normal_velocity,
    temperature_ghosts,
    velocity_ghosts,
)
from taskflow.flow.boundaries.open_boundaries import OpenBoundaries
from taskflow.flow.boundaries.rough_wall import Supply, heat_supplies, supply_ghosts
from taskflow.flow.forcing.driving import NO_DRIVING, Driving, Setting
from taskflow.flow.forcing.stratification import buoyancy_frequency
from taskflow.flow.grid import Grid, StaggeredGrid
from taskflow.flow.operators.diagnostics import advective_rate
from taskflow.flow.operators.momentum import CENTRAL, Buoyancy, Fluid, momentum
from taskflow.flow.operators.projection import correct, divergence
from taskflow.flow.poisson import Solver
from taskflow.flow.scalars.quantity import Flux, Mixing, Quantity
from taskflow.flow.stability import Stability, StepLimit, Transported
from taskflow.flow.time.schemes import ADAMS_BASHFORTH, Scheme, Spreads
from taskflow.flow.turbulence.eddy_viscosity import Turbulence, eddy_viscosity
from taskflow.runtime.regions import Location, Partition
from taskflow.runtime.tasks import Launch, Repeat, Roles

VELOCITY: dict[str, Location] = {"u": "fx", "v": "fy", "w": "fz"}


@dataclass(frozen=True, eq=False)
class NavierStokes:
    """The equations on a grid, with a solver for the pressure; without `heat`, a quantity T, there is no temperature,
    without `obstacles` no body in the flow, without `turbulence` no eddy viscosity.

    Its programs read the scalars that `scalars` gives, `start` reads dt = 1, and leave their results in scalars; the
    roles are the names of `fields`. `varying`: what enters at inflows changes in time. What steps with open boundaries
    need besides says `taskflow.flow.boundaries.open_boundaries`.
    """

    staggered: StaggeredGrid
    fluid: Fluid
    boundaries: Boundaries
    pressure: Solver
    _: KW_ONLY
    heat: Quantity | None = None
    buoyancy: Buoyancy | None = None
    scheme: Scheme = ADAMS_BASHFORTH
    driving: Driving = NO_DRIVING
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
        """What kernels know of the grid."""
        return self.staggered.constants

    @property
    def setting(self) -> Setting:
        """Where the flow is driven."""
        return Setting(self.staggered.box, self.grid, self.fluid, self.obstacles)

    @property
    def fields(self) -> dict[str, Location]:
        """Every field by role, with its location. The state is u, v, w, p, T and passive scalars; h is the last
        right-hand side, *_new the next state.
        """
        fields: dict[str, Location] = dict(VELOCITY)
        fields |= {f"{name}_new": location for name, location in VELOCITY.items()}
        fields |= {f"h_{name}": location for name, location in VELOCITY.items()}
        fields |= {"p": "c", "rhs": "c", **self.pressure.fields}
        for quantity in self.quantities:
            fields |= quantity.fields
        if self.turbulence:
            fields["nu_t"] = "c"
        return {**fields, **self.surfaces}

    @property
    def flags(self) -> dict[str, str]:
        """Fields of flags that say where bodies are, by role, each with its type. Nothing ever writes them."""
        if not self.obstacles:
            return {}
        heat, scalars, eddies = self.heat is not None, bool(self.passive), self.turbulence is not None
        return self.obstacles.flags(heat=heat, scalars=scalars, eddies=eddies)

    @property
    def surfaces(self) -> dict[str, Location]:
        """Fields of numbers that say where surfaces of bodies are, by role. Nothing ever writes them."""
        return self.obstacles.fields(heat=self.heat is not None) if self.obstacles else {}

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """What the flow carries: the temperature and passive scalars."""
        return (self.heat, *self.passive) if self.heat else self.passive

    @property
    def moving(self) -> dict[str, float]:
        """All that moves, each with its diffusivity."""
        return {"velocity": self.fluid.viscosity} | {each.name: each.diffusivity for each in self.quantities}

    @property
    def ghost(self) -> int:
        """Layers of ghost cells that the equations need."""
        return max(self.fluid.advection.ghost, self.pressure.ghost, *(quantity.ghost for quantity in self.quantities))

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """Regions beside that of `fields`, on the blocks of `main`."""
        entering = (*VELOCITY, "T") if self.heat else tuple(VELOCITY)
        return (*self.pressure.partitions(main), *self.openings.partitions(main, entering))

    @property
    def state(self) -> tuple[str, ...]:
        """The roles of what each stage advances at once: u, v, w and, where its differences are central, T."""
        return (*VELOCITY, "T") if self.heat and not self.heat.bounded else tuple(VELOCITY)

    def scalars(self, dt: float, ratio: float) -> dict[str, float]:
        """The numbers that `step` reads, for a step of dt, `ratio` times as long as the last one (0: at first)."""
        return self.scheme.scalars(dt, ratio)

    def start(self, f: Roles) -> Iterator[Launch | Repeat]:
        """From initial values of u, v, w, T and passive scalars: a velocity as free of divergence as the solver makes
        it, and p = 0.

        The scalar dt has to be 1.
        """
        yield from normal_velocity((f.u, f.v, f.w), self.boundaries, self.grid)
        yield from self.openings.begin(f)
        yield impose(f.p, over=self.staggered.box, value=Value(0.0))
        if self.obstacles:
            yield from self.obstacles.start(f, self.grid, self.pressure)
        yield from self.driving.begin(f, self.setting)
        yield from self.pressure.prepare(f)
        yield from self.projection(f, (f.u, f.v, f.w), "dt")
        for name in (f.p, f.rhs):
            yield impose(name, over=self.staggered.box, value=Value(0.0))
        yield from self.openings.begin_ghosts(tuple(f[name] for name in self.state))
        yield from self.update_derived_fields(f, (f.u, f.v, f.w))
        for quantity in self.quantities:
            yield from self.ghosts(f, quantity, f[quantity.name], -1)
        yield from self.limits(f)

    def step(self, f: Roles) -> Iterator[Launch | Repeat]:
        """One time step; on return u, v, w, p, T and passive scalars are the new ones, u_new, v_new, w_new those of
        the last stage before.
        """
        for n, names in enumerate(self.scheme.names):
            new, old = (tuple(f[f"{name}{age}"] for name in self.state) for age in ("_new", ""))
            yield from self.prediction(f, names)
            yield from normal_velocity((f.u_new, f.v_new, f.w_new), self.boundaries, self.grid)
            yield from self.openings.advance(f, n)
            yield from self.projection(f, (f.u_new, f.v_new, f.w_new), names["dt"])
            yield from self.openings.ghosts(f, new, old, n)
            yield from self.update_derived_fields(f, (f.u_new, f.v_new, f.w_new))
            for quantity in self.quantities:
                yield from self.advance_scalar(f, quantity, n)
            for name in VELOCITY:
                f.swap(name, f"{name}_new")
        yield from self.limits(f)

    def prediction(self, f: Roles, names: Mapping[str, str]) -> Iterator[Launch]:
        """u_new, v_new, w_new without the pressure, and T_new and passive scalars where differences are central;
        `names` are those of the stage's dt and ratio.
        """
        velocity, tendency, new = ((f.u, f.v, f.w), (f.h_u, f.h_v, f.h_w), (f.u_new, f.v_new, f.w_new))
        nu_t = f.nu_t if self.turbulence else None
        buoyancy = self.buoyancy if self.heat else None
        faces, edges = self.obstacles.face_flags(f, eddies=nu_t is not None) if self.obstacles else (None, None)
        yield momentum(
            velocity, nu_t, f.T if buoyancy else None, faces, edges, tendency, new,
            over=self.staggered.box, grid=self.grid, fluid=self.fluid, buoyancy=buoyancy, **names,
        )  # fmt: skip
        for quantity in self.quantities:
            if not quantity.bounded:
                yield from quantity.central(f, names, self.staggered, self.mixing(f, quantity))
                yield from self.wall_heat_flux(f, quantity, f[f"{quantity.name}_new"], names["dt"])
        yield from self.driving.act(f, names, self.setting)
        if self.obstacles:
            driven = self.driving != NO_DRIVING
            yield from self.obstacles.predicted(f, new, names["dt"], self.grid, self.fluid, driven=driven)

    def projection(self, f: Roles, velocity: tuple[str, str, str], dt: str) -> Iterator[Launch | Repeat]:
        """Laplacian(p) = div(u) / dt, solved from the last p as the first guess; then u -= dt grad(p)."""
        box = self.staggered.box
        if self.obstacles:
            yield from self.obstacles.projection(f, velocity, dt, self.grid, self.pressure)
        else:
            yield divergence(velocity, f.rhs, over=box, dt=dt, grid=self.grid)
            yield from self.pressure.solve(f)
            yield correct(velocity, f.p, None, over=box, dt=dt, grid=self.grid)
        yield from self.openings.correct(velocity, f.p, dt)

    def update_derived_fields(self, f: Roles, velocity: tuple[str, str, str]) -> Iterator[Launch]:
        """Boundary values of a velocity along walls, and the eddy viscosity that follows from it."""
        yield from velocity_ghosts(velocity, self.boundaries, self.grid)
        if self.turbulence:
            solid, viscosity = f.solid if self.obstacles else None, self.fluid.viscosity
            yield from eddy_viscosity(f, velocity, solid, self.turbulence, self.boundaries, self.grid, viscosity)

    def advance_scalar(self, f: Roles, quantity: Quantity, n: int) -> Iterator[Launch]:
        """Advances a scalar quantity to the end of stage n, with its ghost values, once the velocity is known."""
        if quantity.bounded:
            dt, mixing = self.scheme.names[n]["dt"], self.mixing(f, quantity)
            yield from quantity.euler(f, dt, self.staggered, mixing)
            yield from self.wall_heat_flux(f, quantity, f[f"{quantity.name}_new"], dt)
            yield from self.ghosts(f, quantity, f[f"{quantity.name}_new"], n)
            yield from quantity.heun(f, dt, self.staggered, mixing)
            yield from self.wall_heat_flux(f, quantity, f[quantity.name], dt, 0.5)
        else:
            f.swap(quantity.name, f"{quantity.name}_new")
        yield from self.ghosts(f, quantity, f[quantity.name], n)

    def mixing(self, f: Roles, quantity: Quantity) -> Mixing:
        """The eddies and bodies in the transport equation of a quantity."""
        faces = f["T_faces" if quantity is self.heat else "scalar_faces"] if self.obstacles else None
        return Mixing(f.nu_t, faces, self.turbulence.prandtl) if self.turbulence else Mixing(faces=faces)

    def wall_heat_flux(
        self, f: Roles, quantity: Quantity, name: str, dt: str, part: float = 1.0
    ) -> Iterator[Launch]:
        """Heat from immersed bodies into the temperature in the field of a name, in this part of a step dt."""
        if self.obstacles and quantity is self.heat:
            yield from self.obstacles.wall_heat_flux(name, f, dt, part * quantity.diffusivity)

    def ghosts(self, f: Roles, quantity: Quantity, name: str, n: int) -> Iterator[Launch]:
        """Boundary values of a quantity in the field of a name at the end of stage n; those of a temperature with
        central differences beyond open boundaries are there already.
        """
        if quantity is self.heat:
            if quantity.bounded:
                yield from self.openings.bounded_ghosts(name, n)
            yield from temperature_ghosts(name, self.boundaries, self.grid, quantity.diffusivity)
            supplies = heat_supplies(self.boundaries)
        else:
            yield from quantity.ghosts(name, self.grid)
            fluxes = {face: each.flux for face, each in quantity.faces.items() if isinstance(each, Flux)}
            supplies = {face: Supply(flux) for face, flux in fluxes.items() if flux != 0}
        if self.turbulence:
            prandtl = self.turbulence.prandtl
            yield from supply_ghosts(name, f.nu_t, supplies, self.grid, quantity.diffusivity, prandtl)

    def limits(self, f: Roles) -> Iterator[Launch]:
        """rate = max(|u|/dx + |v|/dy + |w|/dz): what bounds the next step. The eddy viscosity comes with it."""
        if not self.turbulence:
            yield advective_rate(f.u, f.v, f.w, over=self.staggered.box, rate=f.scalar("rate"), grid=self.grid)

    def spreads(self, scalars: Mapping[str, float]) -> Spreads:
        """The largest of viscosity and diffusivities, with what eddies add to them, times 1/dx^2 + 1/dy^2 + 1/dz^2, and
        that of bounded quantities alone: what bounds the next step, too.
        """
        eddy, part = (scalars["eddy"], 1 / self.turbulence.prandtl) if self.turbulence else (0.0, 0.0)
        carried = [(each.bounded, each.diffusivity + eddy * part) for each in self.quantities]
        return Spreads.of(self.fluid.viscosity + eddy, carried, self.grid.inverse_spacing_squared)

    @property
    def frequency(self) -> float:
        """The largest angular frequency of inertial and buoyant oscillations together, in radians per time."""
        inertial, lift = 2 * math.hypot(*self.driving.rotation), self.buoyancy
        return inertial + (buoyancy_frequency(lift.expansion, lift.gravity, self.driving.gradient) if lift else 0.0)

    def step_limit(self, fixed: float | None, cfl: float, diffusion: float) -> StepLimit:
        """The longest steps: of one `fixed` length, or up to these CFL and diffusion numbers."""
        most, bounded = self.spreads({"eddy": 0.0})
        within = bounded if any(quantity.bounded for quantity in self.quantities) else None
        return StepLimit(fixed, cfl, diffusion, most, self.scheme, self.frequency, within)

    def stability(self, limit: StepLimit) -> Stability:
        """Which of the steps within a limit are stable. Bounded quantities have a limit of their own."""
        part = 1 / self.turbulence.prandtl if self.turbulence else 0.0
        carried = (Transported(each.diffusivity, part) for each in self.quantities if not each.bounded)
        momentum = Transported(self.fluid.viscosity, float(bool(self.turbulence)), self.fluid.advection is not CENTRAL)
        return Stability(self.scheme, self.grid, (momentum, *carried), limit)
