"""Two immiscible, incompressible fluids with surface tension, after P. Zaspel and M. Griebel (2011).

    rho (du/dt + (u . grad) u) = -grad(p) + div(mu (grad u + grad u^T)) + rho g + sigma kappa grad(f),    div(u) = 0

and passive scalars, which do not depend on phases. Density and viscosity follow the share f of phase 1. A step advects
the interface first. Forces and the density of the projection then use the new interface, so that the pressure can
balance surface tension and weight to rounding. p is a pressure in force per area, at the middle of the step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

from taskflow.common.caching import cached_property
from taskflow.flow.bodies.obstacles import stop
from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.boundaries.condition import Velocity
from taskflow.flow.boundaries.openings import parts
from taskflow.flow.boundaries.sides import normal_velocity, pressure_sides, velocity_ghosts
from taskflow.flow.flow_model import FlowModel
from taskflow.flow.grid import on_face
from taskflow.flow.model import VELOCITY
from taskflow.flow.models.two_phase.convection import Convection, opened_high
from taskflow.flow.models.two_phase.interface import InterfaceMethod
from taskflow.flow.models.two_phase.momentum import (
    begin_old,
    extrapolate_pressure,
    friction_rate,
    take_off_mean_weight,
    weight_on_faces,
)
from taskflow.flow.models.two_phase.outlets import WeighedOutlets
from taskflow.flow.models.two_phase.projection import WholeProjection
from taskflow.flow.operators.phases import Phases
from taskflow.flow.operators.rates import advective_rate, exact_total
from taskflow.flow.poisson import Operator, Solver
from taskflow.flow.scalars.quantity import Mixing
from taskflow.flow.stability import StepLimit
from taskflow.flow.time.schemes import DiffusionTerms, DiffusiveRates
from taskflow.runtime.regions import Location, Partition
from taskflow.runtime.tasks import Launch, Repeat, Roles
from taskflow.runtime.tasks.numbers import PARTS


@dataclass(frozen=True, eq=False)
class TwoPhase(FlowModel):
    """The equations on a uniform grid, with an interface method, which also says how momentum goes with it, and a
    pressure solver with variable coefficients. `capillary` is the largest step over the period of the shortest
    capillary waves.
    """

    _: KW_ONLY
    phases: Phases
    interface: InterfaceMethod
    pressure: Solver
    projecting: type[WholeProjection] = WholeProjection
    capillary: float = 0.7

    @property
    def convection(self) -> Convection:
        """How the interface moves momentum."""
        return self.interface.convection

    @cached_property
    def operator(self) -> Operator:
        """div(1/rho grad p)."""
        return Operator(self.grid, tuple(pressure_sides(self.boundaries)), variable=True)

    @cached_property
    def projection(self) -> WholeProjection:
        """The projection with the solver."""
        about = self.grid, self.boundaries, self.openings, self.phases
        return self.projecting(*about, self.pressure, bool(self.obstacles))

    @cached_property
    def outlets(self) -> WeighedOutlets:
        """The outflows on which the pressure is hydrostatic."""
        return WeighedOutlets(self.grid, self.boundaries, self.phases)

    @property
    def fields(self) -> dict[str, Location]:
        """Every field by role. The state is u, v, w, their last values, p and the interface. h holds friction, in
        velocity form also advection.
        """
        fields: dict[str, Location] = dict(VELOCITY)
        for name, location in VELOCITY.items():
            fields |= {f"{name}_old": location, f"{name}_new": location, f"h_{name}": location}
        fields |= {"p": "c", "p_old": "c", "rhs": "c", **self.pressure.fields, "f": "c", "f_new": "c"}
        fields |= self.convection.fields(self)
        for quantity in self.passive:
            fields |= quantity.fields
        return fields | ({"kappa": "c"} if self.phases.surface_tension else {}) | dict(self.interface.fields)

    @property
    def ghost(self) -> int:
        scalars = (quantity.ghost for quantity in self.passive)
        return max(self.interface.ghost, self.pressure.ghost, self.convection.ghost, *scalars)

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        return (*self.pressure.partitions(main), *self.openings.partitions(main, (*VELOCITY, "f")))

    @property
    def prognostic(self) -> dict[str, float]:
        """The velocity, the shares of phase 1 and passive scalars."""
        return {"velocity": self.phases.kinematic_viscosity, "f": 0.0} | {q.name: q.diffusivity for q in self.passive}

    def velocity_before(self, f: Roles) -> tuple[str, str, str]:
        return f.u_old, f.v_old, f.w_old

    def start(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Compute a divergence-free velocity from the initial u, v, w and interface, with their densities, and p = 0.
        The scalar dt has to be 1.
        """
        yield from self.interface.start(f)
        yield from self.begin_sums(f)
        yield from self.convection.start(f, self)
        yield from normal_velocity((f.u, f.v, f.w), self.boundaries, self.grid)
        if self.obstacles:
            yield stop((f.u, f.v, f.w), f.solid, over=self.staggered.box)
        yield from self.openings.begin(f)
        yield impose(f.p, over=self.staggered.box, value=Value(0.0))
        yield from self.projection.start(f, (f.u, f.v, f.w), f.f)
        for name in (f.p, f.rhs):
            yield impose(name, over=self.staggered.box, value=Value(0.0))
        yield from self.openings.begin_ghosts((f.u, f.v, f.w))
        yield from velocity_ghosts((f.u, f.v, f.w), self.boundaries, self.grid)
        yield from self.enter(f.f, (f.u, f.v, f.w))
        for over in (self.staggered.box, *(on_face(face, self.grid) for face in opened_high(self.boundaries))):
            for name in VELOCITY:
                yield begin_old(f[name], f[f"{name}_old"], over=over)
        for quantity in self.passive:
            yield from quantity.ghosts(f[quantity.name], self.sides, (f.u, f.v, f.w))
        yield from self.limits(f)

    def restarted(self, f: Roles, step: int) -> None:
        """See `Model`. f and f_new change fields in each step, by which an interface recognises odd steps."""
        if step % 2:
            f.swap("f", "f_new")

    @property
    def changeable(self) -> frozenset[str]:
        """The velocity and passive scalars. The shares follow from the interface."""
        return super().changeable - {"f"}

    def refresh(self, f: Roles) -> Iterator[Launch | Repeat]:
        """See `Model`. The next step makes the velocity divergence-free."""
        yield from normal_velocity((f.u, f.v, f.w), self.boundaries, self.grid)
        yield from velocity_ghosts((f.u, f.v, f.w), self.boundaries, self.grid)
        yield from self.enter(f.f, (f.u, f.v, f.w))
        for quantity in self.passive:
            yield from quantity.ghosts(f[quantity.name], self.sides, (f.u, f.v, f.w))
        yield from self.limits(f)

    def after_overwrite(self, f: Roles) -> Iterator[Launch | Repeat]:
        """See `Model`. The interface follows from its own fields."""
        yield from self.interface.shares(f)
        yield from self.begin_sums(f)
        yield from self.refresh(f)

    def restore_sums(self, f: Roles) -> Iterator[Launch | Repeat]:
        """See `Model`. The interface then has the sum of the shares as the volume of phase 1."""
        yield from self.interface.restore_sums(f)
        yield from self.begin_sums(f)
        yield from self.limits(f)

    def after_removal(self, f: Roles) -> Iterator[Launch]:
        """Compute everything derived from shares that the host has changed. The scalar `brought` is unchanged."""
        yield from self.interface.extend(f)
        yield from self.begin_shares(f)
        yield from self.limits(f)

    @property
    def checkpoint_defaults(self) -> dict[str, float]:
        """See `Model`. Earlier builds did not count the volume that was brought."""
        return dict.fromkeys((f"brought.0.{part}" for part in PARTS), 0.0)

    def begin_sums(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Compute the scalar `brought`, the initial volume of phase 1, and everything derived from the shares."""
        solid = f.solid if self.obstacles else None
        yield exact_total(f.f, solid, over=self.staggered.box, total=f.scalar("brought"), bound=1.0)
        yield from self.begin_shares(f)
        if self.outlets.columns and self.phases.weighed_apart:
            yield from self.interface.fall(f, f.f, self.phases)
        yield from self.outlets.begin(f, f.f, self.weighed(f))

    def begin_shares(self, f: Roles) -> Iterator[Launch]:
        """Fill ghost values of the shares, and compute the curvature for output: a step computes its own."""
        yield from self.interface.ghosts(f.f, (f.u, f.v, f.w))
        if self.phases.surface_tension:
            yield from self.interface.curvature(f, f.f)

    def step(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Yield a time step: the interface, forces of the new interface, the pressure, passive scalars."""
        new, now = (f.u_new, f.v_new, f.w_new), (f.u, f.v, f.w)
        yield from self.interface.advance(f)
        yield from self.interface.ghosts(f.f_new, now)
        yield from self.prediction(f)
        yield from self.balance_weight(f)
        yield from normal_velocity(new, self.boundaries, self.grid)
        yield from self.openings.advance(f, 0)
        yield from self.outlets.weigh(f, f.f_new, self.weighed(f))
        yield from self.outlets.push(f, f.f_new)
        yield extrapolate_pressure(f.p, f.p_old, over=self.staggered.box, ratio="ratio")
        f.swap("p", "p_old")  # p_old holds the first guess
        yield from self.projection.step(f, new, f.f_new)
        yield from self.openings.ghosts(f, new, now, 0)
        yield from velocity_ghosts(new, self.boundaries, self.grid)
        yield from self.enter(f.f_new, new)
        for quantity in self.passive:
            mixing = Mixing(faces=f.scalar_faces if self.obstacles else None)
            yield from quantity.advance(f, "dt", self.staggered, self.sides, mixing)
        for name in VELOCITY:
            f.swap(name, f"{name}_new")
            f.swap(f"{name}_new", f"{name}_old")
        f.swap("f", "f_new")
        yield from self.limits(f)

    def enter(self, share: str, velocity: Velocity) -> Iterator[Launch]:
        """Fill ghost values of shares where a new velocity decides whether fluid enters."""
        for side, condition in parts(self.boundaries, self.grid):
            if not condition.enters:
                yield from condition.share_ghosts(share, velocity, side)

    def prediction(self, f: Roles) -> Iterator[Launch]:
        """Compute u_new, v_new, w_new without the pressure, from the old interface to the new one."""
        yield from self.convection.fluxes(f, self, self.phases)
        if self.phases.surface_tension:
            yield from self.interface.curvature(f, f.f_new)
        if self.phases.weighed_apart:
            yield from self.interface.fall(f, f.f_new, self.phases)
        yield from self.convection.predict(f, self, self.phases, self.weighed(f))

    def weighed(self, f: Roles) -> str | None:
        """Return the field of g.(x - place) in a step, None if both phases weigh the same or nothing."""
        return f[self.interface.weighed] if self.phases.weighed_apart else None

    @property
    def unsupported(self) -> list[str]:
        """The periodic directions with gravity, if no wall, body or open side supports the fluid."""
        supported = self.obstacles or any(not side.symmetric for side in self.boundaries.values())
        around = zip("xyz", self.staggered.periodic, self.phases.gravity, strict=True)
        return [] if supported else [axis for axis, periodic, g in around if periodic and g]

    def balance_weight(self, f: Roles) -> Iterator[Launch]:
        """Subtract the mean weight from the predicted velocity along the `unsupported` directions."""
        box, total, phases = self.staggered.box, f.scalar("weight"), self.phases
        rho, long = max(phases.density_1, phases.density_2), max(self.grid.resolved) / min(self.grid.resolved)
        bound = rho * sum(map(abs, phases.gravity)) * long
        for axis in self.unsupported:
            q = f[f"{'uvw'['xyz'.index(axis)]}_new"]
            where: dict[str, Any] = {"along": axis, "over": box, "phases": phases}
            yield weight_on_faces(f.f_new, self.weighed(f), weight=total, grid=self.grid, bound=bound, **where)
            yield take_off_mean_weight(q, f.f_new, total=total, dt="dt", part=1 / box.volume, **where)

    def limits(self, f: Roles) -> Iterator[Launch]:
        """Compute the scalars `rate` and `friction`, which bound the next step."""
        box, grid = self.staggered.box, self.limiting_grid
        yield advective_rate(f.u, f.v, f.w, over=box, rate=f.scalar("rate"), grid=grid)
        yield friction_rate(f.f, over=box, friction=f.scalar("friction"), grid=grid, phases=self.phases)

    def residual(self, f: Roles) -> Iterator[Launch]:
        """Compute the scalars `norm` and `residual` of the pressure equation, and `curvature_failed` with surface
        tension.
        """
        yield self.operator.measure_rhs(f, centred=self.operator.singular)
        yield self.operator.measure_residual(f)
        if self.phases.surface_tension:
            yield from self.interface.failures(f)

    @property
    def carried(self) -> DiffusiveRates:
        """The largest diffusive rates of passive scalars."""
        of_each = ((q.bounded, q.diffusivity) for q in self.passive)
        return DiffusiveRates.of(0.0, of_each, self.limiting_grid.inverse_spacing_squared)

    @cached_property
    def diffusion(self) -> DiffusionTerms:
        """The largest rates of friction on a face and of diffusion."""
        most, bounded = self.carried
        return DiffusionTerms(1.0, diffusivity=most, bounded=bounded, eddy="friction")

    def step_limit(self, fixed: float | None, cfl: float, diffusion: float) -> StepLimit:
        """Return the limit of steps: one `fixed` length, or up to these CFL and diffusion numbers, both together, and
        the capillary limit.
        """
        shortest = self.capillary * self.phases.capillary_step(min(self.grid.resolved))
        fall = max(abs(g) / d for g, d in zip(self.phases.gravity, self.limiting_grid.spacing, strict=True))
        damping, bounded = self.convection.damping, self.carried.bounded if self.passive else None
        return StepLimit(
            fixed, cfl, diffusion, bounded=bounded, longest_step=shortest, fall=fall, damping=damping
        )

    def stability(self, limit: StepLimit) -> None:
        """Return None: waves with jumps of density and viscosity have no analysis."""
