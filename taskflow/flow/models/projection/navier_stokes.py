"""Incompressible flow by projection on a staggered grid, after Jacobsen & Senocak (2010, 2013).

    du/dt = -div(u u) + viscosity Laplacian(u) + force - expansion (T - reference) gravity - grad(p),    div(u) = 0
    dT/dt = -div(u T) + diffusivity Laplacian(T) + source

and passive scalars like T. Further driving forces: see `taskflow.flow.forcing.driving`.

With turbulence, viscosity Laplacian(u) is div((viscosity + nu_t) (grad u + grad u^T)), and diffusivity Laplacian(T) is
div((diffusivity + nu_t / prandtl) grad T).

A step has one or more stages (see `taskflow.flow.time.schemes`). Each predicts a velocity without the pressure, solves
Laplacian(p) = div(u) / dt with the last pressure as the first guess, and corrects u by -dt grad(p), dt being the length
of the stage. p belongs to the middle of the last stage: with Adams-Bashforth to t - dt/2.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from taskflow.flow.bodies.bulk_velocity import stage
from taskflow.flow.bodies.moving_scalars import EULER, HEUN, WHOLE
from taskflow.flow.bodies.obstacles import open_all
from taskflow.flow.boundaries.boundary import Value, add, impose
from taskflow.flow.boundaries.inflow import placed_ghosts
from taskflow.flow.boundaries.openings import closed_faces, held_in_bodies
from taskflow.flow.boundaries.rough_wall import Supply, heat_supplies, supply_ghosts
from taskflow.flow.boundaries.sides import normal_velocity, temperature_ghosts, velocity_ghosts
from taskflow.flow.boundaries.wall import body_walls, drag
from taskflow.flow.closures.eddy_viscosity import eddy_viscosity
from taskflow.flow.flow_model import FlowModel
from taskflow.flow.forcing.driving import NO_DRIVING
from taskflow.flow.model import VELOCITY
from taskflow.flow.models.projection.first_pressure import first_pressure
from taskflow.flow.models.projection.implicit import ImplicitDiffusion, factors
from taskflow.flow.operators.momentum import momentum
from taskflow.flow.operators.projection import correct, divergence
from taskflow.flow.operators.rates import advective_rate
from taskflow.flow.poisson import Solver
from taskflow.flow.scalars.quantity import Mixing, Quantity
from taskflow.runtime.regions import Location, Partition
from taskflow.runtime.tasks import Derive, Launch, Repeat, Roles


@dataclass(frozen=True, eq=False)
class NavierStokes(FlowModel):
    """The equations on a grid, with a pressure solver. With `implicit`, also named in `fluid` and central quantities,
    diffusion along one direction is implicit.

    Programs read the scalars from `scalars`, `start` reads dt = 1, and results are left in scalars. Roles are the names
    of `fields`. For the scalars of open boundaries see `taskflow.flow.boundaries.open_boundaries`.
    """

    pressure: Solver
    implicit: ImplicitDiffusion | None = None

    @property
    def fields(self) -> dict[str, Location]:
        """Fields by role: u, v, w, p, T and scalars, h, the last right-hand side, and *_new, the next state."""
        fields: dict[str, Location] = dict(VELOCITY)
        fields |= {f"{name}_new": location for name, location in VELOCITY.items()}
        fields |= {f"h_{name}": location for name, location in VELOCITY.items()}
        fields |= {"p": "c", "rhs": "c", **self.pressure.fields}
        for quantity in self.quantities:
            fields |= quantity.fields
        if self.turbulence:
            fields["nu_t"] = "c"
        return {**fields, **self.surfaces, **(self.obstacles.pushed if self.obstacles else {})}

    @property
    def ghost(self) -> int:
        return max(self.fluid.advection.ghost, self.pressure.ghost, *(quantity.ghost for quantity in self.quantities))

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        entering = (*VELOCITY, "T") if self.heat else tuple(VELOCITY)
        lines = self.implicit.partitions(main, tuple(q.name for q in self.diffused)) if self.implicit else ()
        return (*self.pressure.partitions(main), *self.openings.partitions(main, entering), *lines)

    @property
    def diffused(self) -> tuple[Quantity, ...]:
        """The quantities that may diffuse implicitly: with central differences and non-zero diffusivity."""
        return tuple(q for q in self.quantities if not q.bounded and q.diffusivity > 0)

    @property
    def state(self) -> tuple[str, ...]:
        """The roles that each stage advances together: u, v, w and, with central differences, T."""
        return (*VELOCITY, "T") if self.heat and not self.heat.bounded else tuple(VELOCITY)

    def start(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """Compute a velocity from the initial u, v, w, T and passive scalars, divergence-free to the tolerance of the
        solver, and p = 0 or, around immersed bodies, `first_pressure`. The scalar dt has to be 1.
        """
        yield from normal_velocity((f.u, f.v, f.w), self.boundaries, self.grid)
        yield from self.openings.begin(f)
        yield impose(f.p, over=self.staggered.box, value=Value(0.0))
        yield from self.driving.begin(f, self.setting)
        if self.obstacles:
            yield from self.obstacles.start(f, self.grid)
            yield from self.openings.begin_in_bodies(f)
        yield from self.prepare(f)
        yield from self.projection(f, (f.u, f.v, f.w), "dt")
        for name in (f.p, f.rhs):
            yield impose(name, over=self.staggered.box, value=Value(0.0))
        yield from self.openings.begin_ghosts(tuple(f[name] for name in self.state))
        yield from self.update_derived_fields(f, (f.u, f.v, f.w), -1)
        for quantity in self.quantities:
            yield from self.ghosts(f, quantity, f[quantity.name], -1)
        if self.obstacles and not self.obstacles.stairs:
            yield from first_pressure(self, f, self.obstacles)
        yield from self.limits(f)

    def prepare(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Compute the fields of the grid and of bodies that the pressure solver needs."""
        if "b_x" in self.pressure.fields:
            b = f.b_x, f.b_y, f.b_z
            yield from open_all(b, f.solid if self.obstacles else None, self.grid)
            for axis, faces in closed_faces(self.boundaries, self.grid):
                yield impose(b[axis], over=faces, value=Value(0.0))
        if "screen" in self.pressure.fields:
            yield impose(f.screen, over=self.staggered.box, value=Value(0.0))
            for side in held_in_bodies(self.boundaries, self.grid):
                yield add(f.screen, over=side.last, value=Value(2 / side.width**2))
        yield from self.pressure.prepare(f)

    def refresh(self, f: Roles) -> Iterator[Launch | Repeat]:
        """See `Model`. The next step makes the velocity divergence-free."""
        yield from normal_velocity((f.u, f.v, f.w), self.boundaries, self.grid)
        yield from self.update_derived_fields(f, (f.u, f.v, f.w), -1)
        for quantity in self.quantities:
            yield from self.ghosts(f, quantity, f[quantity.name], -1)
        yield from self.limits(f)

    def step(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Yield a time step. At its end u_new, v_new, w_new hold the velocity of the previous stage."""
        if self.obstacles:
            yield from self.obstacles.begin(f, self.grid, self.quantities)
            if self.obstacles.moving:
                yield from self.prepare(f)
        for n, names in enumerate(self.scheme.names):
            new, old = (tuple(f[f"{name}{age}"] for name in self.state) for age in ("_new", ""))
            yield from self.prediction(f, names)
            yield from normal_velocity((f.u_new, f.v_new, f.w_new), self.boundaries, self.grid)
            if self.implicit:
                yield from self.implicit_diffusion(f, self.implicit, n)
            yield from self.openings.advance(f, n)
            yield from self.openings.resist(f, n)
            yield from self.projection(f, (f.u_new, f.v_new, f.w_new), names["dt"])
            yield from self.openings.ghosts(f, new, old, n)
            yield from self.update_derived_fields(f, (f.u_new, f.v_new, f.w_new), n)
            for together in (self.quantities,) if self.forces else ((quantity,) for quantity in self.quantities):
                yield from self.advance_scalars(f, together, n)
            for name in VELOCITY:
                f.swap(name, f"{name}_new")
        yield from self.limits(f)

    def prediction(self, f: Roles, names: Mapping[str, str]) -> Iterator[Launch]:
        """Compute u_new, ... without pressure, and T_new, scalars by central differences. `names`: dt and ratio."""
        new, part = (f.u_new, f.v_new, f.w_new), self.scheme.part(self.scheme.names.index(names))
        if self.obstacles:
            buoyancy, eddies = self.buoyancy if self.heat else None, self.turbulence is not None
            yield from self.obstacles.push(f, names["ratio"], self.grid, self.fluid, buoyancy, part, eddies=eddies)
        yield from self.accelerate(f, names)
        for quantity in self.quantities:
            if not quantity.bounded:
                yield from quantity.central(f, names, self.staggered, self.mixing(f, quantity))
                yield from self.wall_heat_flux(f, quantity, f[f"{quantity.name}_new"], names["dt"])
        bounded = {quantity.name for quantity in self.quantities if quantity.bounded}
        for force in self.forces:
            if force.on not in bounded:
                flags = self.solid_flags(f, force.on)
                yield force.act(f, names, f"begins{stage(names['dt'])}", self.grid, flags)
        yield from self.driving.act(f, names, self.setting)
        if self.obstacles:
            driven = self.driving != NO_DRIVING or bool(self.forces)
            yield from self.obstacles.predicted(f, new, names["dt"], self.grid, self.fluid, part, driven=driven)
            for quantity in self.quantities:
                if not quantity.bounded:
                    now, next_ = f[quantity.name], f[f"{quantity.name}_new"]
                    yield from self.obstacles.settle(f, quantity, next_, now, names["dt"], WHOLE)

    def accelerate(self, f: Roles, names: Mapping[str, str]) -> Iterator[Launch]:
        """Compute u_new, v_new, w_new by the momentum equation and the friction on moving faces of bodies alone."""
        velocity, tendency, new = ((f.u, f.v, f.w), (f.h_u, f.h_v, f.h_w), (f.u_new, f.v_new, f.w_new))
        nu_t = f.nu_t if self.turbulence else None
        buoyancy = self.buoyancy if self.heat else None
        faces, edges = self.obstacles.face_flags(f, eddies=nu_t is not None) if self.obstacles else (None, None)
        yield momentum(
            velocity, nu_t, f.T if buoyancy else None, faces, edges, tendency, new,
            over=self.staggered.box, grid=self.grid, fluid=self.fluid, buoyancy=buoyancy, **names,
        )  # fmt: skip
        yield from drag(f, body_walls(self.boundaries, self.grid), names, self.fluid.viscosity)

    def implicit_diffusion(self, f: Roles, along: ImplicitDiffusion, n: int) -> Iterator[Launch]:
        """Diffusion along the implicit direction in stage n, of u_new, v_new, w_new, T_new and passive scalars."""
        dt = self.scheme.names[n]["dt"]
        if self.fluid.viscosity > 0:
            yield from along.begin(f, dt)
            yield from self.velocity_ghosts((f.u_new, f.v_new, f.w_new), n)
            yield from along.velocity(f, self.boundaries, self.fluid.viscosity, dt)
        for quantity in self.diffused:
            yield from self.ghosts(f, quantity, f[f"{quantity.name}_new"], n)
            sides = factors(self.boundaries, self.grid, quantity, heats=quantity is self.heat)
            yield from along.quantity(f, quantity.name, sides, quantity.diffusivity, dt)

    def projection(self, f: Roles, velocity: tuple[str, str, str], dt: str) -> Iterator[Launch | Repeat]:
        """Solve Laplacian(p) = div(u) / dt, with the last p as the first guess, then u -= dt grad(p)."""
        box = self.staggered.box
        if self.obstacles:
            yield from self.obstacles.projection(f, velocity, dt, self.grid, self.pressure, self.openings.in_bodies)
        else:
            yield divergence(velocity, f.rhs, over=box, dt=dt, grid=self.grid)
            yield from self.pressure.solve(f)
            yield correct(velocity, f.p, None, over=box, dt=dt, grid=self.grid)
        yield from self.openings.correct(velocity, f.p, dt)

    def update_derived_fields(self, f: Roles, velocity: tuple[str, str, str], n: int) -> Iterator[Launch]:
        """Fill the tangential velocity's ghost values at the end of stage n, and compute the eddy viscosity."""
        yield from self.velocity_ghosts(velocity, n)
        if self.turbulence:
            solid, viscosity = f.solid if self.obstacles else None, self.fluid.viscosity
            yield from eddy_viscosity(f, velocity, solid, self.turbulence, self.boundaries, self.grid, viscosity)

    def velocity_ghosts(self, velocity: tuple[str, str, str], n: int) -> Iterator[Launch]:
        """Fill the tangential velocity's ghost values at the end of stage n."""
        yield from velocity_ghosts(velocity, self.boundaries, self.grid, self.scheme.endings[n], self.fluid.viscosity)
        along = dict(zip(VELOCITY, velocity, strict=True))
        yield from placed_ghosts(along, self.boundaries, self.grid, self.openings.endings[n])

    def advance_scalars(self, f: Roles, quantities: tuple[Quantity, ...], n: int) -> Iterator[Launch]:
        """Advance scalars to the end of stage n, with their ghost values, after the velocity.

        First values of all scalars precede second ones, as a source of one may depend on any other at the beginning and
        at the end of the stage.
        """
        bounded = [quantity for quantity in quantities if quantity.bounded]
        dt, ending = self.scheme.names[n]["dt"], self.scheme.endings[n]
        for quantity in bounded:
            new = f[f"{quantity.name}_new"]
            yield from quantity.euler(f, dt, self.staggered, self.mixing(f, quantity))
            yield from self.forced(f, quantity, new, 1.0, dt, f"begins{ending}")
            yield from self.wall_heat_flux(f, quantity, new, dt)
            if self.obstacles:
                yield from self.obstacles.settle(f, quantity, new, f[quantity.name], dt, EULER)
        for quantity in quantities:
            if not quantity.bounded:
                f.swap(quantity.name, f"{quantity.name}_new")
            name = f"{quantity.name}_new" if quantity.bounded else quantity.name
            yield from self.ghosts(f, quantity, f[name], n)
        end = f.copy()
        for name in (*VELOCITY, *(quantity.name for quantity in bounded)):
            end.swap(name, f"{name}_new")
        for quantity in bounded:
            yield from quantity.heun(f, dt, self.staggered, self.mixing(f, quantity))
            yield from self.forced(end, quantity, f[quantity.name], 0.5, dt, f"ends{ending}")
            yield from self.wall_heat_flux(f, quantity, f[quantity.name], dt, 0.5)
            if self.obstacles:
                yield from self.obstacles.settle(f, quantity, f[quantity.name], f[f"{quantity.name}_new"], dt, HEUN)
            yield from self.ghosts(f, quantity, f[quantity.name], n)

    def forced(self, f: Roles, quantity: Quantity, q: str, part: float, dt: str, time: str) -> Iterator[Launch]:
        """Add `part` of the forces to a bounded quantity in the field q, from the fields with these roles."""
        for force in self.forces:
            if force.on == quantity.name:
                yield force.release(q, f, part, dt, time, self.grid, self.solid_flags(f, quantity.name))

    def solid_flags(self, f: Roles, name: str) -> str | None:
        """Return the flags of solid cells, for the velocity or a quantity; None without bodies."""
        role = "solid" if name in VELOCITY else "T_faces" if name == "T" else "scalar_faces"
        return f[role] if self.obstacles else None

    def mixing(self, f: Roles, quantity: Quantity) -> Mixing:
        """Return the eddies and bodies in the transport equation of a quantity."""
        faces = self.solid_flags(f, quantity.name)
        return Mixing(f.nu_t, faces, self.turbulence.prandtl) if self.turbulence else Mixing(faces=faces)

    def wall_heat_flux(self, f: Roles, quantity: Quantity, name: str, dt: str, part: float = 1.0) -> Iterator[Launch]:
        """Add the heat from immersed bodies to the temperature in the field `name`, for this part of a step dt."""
        if self.obstacles and quantity is self.heat:
            yield from self.obstacles.wall_heat_flux(name, f, dt, part * quantity.diffusivity)

    def ghosts(self, f: Roles, quantity: Quantity, name: str, n: int) -> Iterator[Launch]:
        """Fill the boundary values of a quantity in the field `name` at the end of stage n. Ghost values at open
        boundaries are already filled for a temperature with central differences.
        """
        velocity = (f.u, f.v, f.w) if n < 0 else (f.u_new, f.v_new, f.w_new)
        if quantity is self.heat:
            if quantity.bounded:
                yield from self.openings.bounded_ghosts(name, velocity, n)
            ending = self.scheme.endings[n]
            yield from temperature_ghosts(name, self.boundaries, self.grid, quantity.diffusivity, ending)
            yield from placed_ghosts({"T": name}, self.boundaries, self.grid, self.openings.endings[n])
            supplies = heat_supplies(self.boundaries, self.grid)
        else:
            yield from quantity.ghosts(name, self.scalar_sides, velocity, self.scheme.endings[n])
            faces = [(side, quantity.faces[side.key]) for side in self.scalar_sides]
            supplies = [(side, Supply(face.flux)) for side, face in faces if face.flux != 0]
        if self.turbulence:
            yield from supply_ghosts(name, f.nu_t, supplies, quantity.diffusivity, self.turbulence.prandtl)

    def limits(self, f: Roles) -> Iterator[Launch]:
        """Compute rate = max(|u|/dx + |v|/dy + |w|/dz), unless the eddy viscosity does."""
        if not self.turbulence:
            yield advective_rate(f.u, f.v, f.w, over=self.staggered.box, rate=f.scalar("rate"), grid=self.limiting_grid)

    def residual(self, f: Roles) -> Iterator[Launch]:
        """Compute the scalars `norm` and `residual` of the pressure equation, in the fluid."""
        yield from self.openings.residual(f, partial(self.obstacles.residual, f) if self.obstacles else None)
