"""Bodies as stair steps of solid cells: their part of a step, and the forces on them.

A cell is solid if its centre is inside a body (first order in the position of surfaces). The velocity on its faces is
zero (no slip), and the pressure has no gradient across them (after Zaspel & Griebel 2011, section 3.3). If the pressure
solver does not have the faces, the velocity there is forced: `Obstacles.forced`. For second order see
`taskflow.flow.bodies.immersed`.

The coefficients of the pressure equation are 0 on closed faces, which act like walls, and 1 on open ones. If p = 0 on
no face, Jacobi iteration reads the flags of cells instead: one byte instead of three numbers, so a sweep moves little
more data than without bodies. See `taskflow.flow.poisson.Operator`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from taskflow.flow.bodies.bulk_velocity import (
    BulkVelocityTarget,
    apply_uniform_force,
    bulk_velocity_deficit,
    missing_along,
    stage,
)
from taskflow.flow.bodies.forces import (
    PUSH,
    PUSHES,
    ForceTarget,
    force_on_body,
    heat_from_body,
    push_closed_faces,
    stored_lift,
)
from taskflow.flow.bodies.moving_scalars import Pass
from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.grid import Grid, Vector
from taskflow.flow.grid.stencils import BESIDE
from taskflow.flow.kernels import KERNELS
from taskflow.flow.operators.momentum import Buoyancy, Fluid
from taskflow.flow.operators.projection import VELOCITY, correct, divergence
from taskflow.flow.poisson import Operator, Solver
from taskflow.flow.scalars.quantity import Quantity
from taskflow.flow.scalars.transport import Transport
from taskflow.flow.time.schemes import StagePart, TimeScheme
from taskflow.runtime.regions import Box, Location, hull
from taskflow.runtime.tasks import Launch, Read, ReadByte, Repeat, Roles, Scalar, Write, reduced, task


@task(kernel=KERNELS / "bodies" / "velocity.cu")
def stop(velocity: VELOCITY, solid: ReadByte) -> None:
    """u = 0 on closed faces"""


@task(kernel=KERNELS / "bodies" / "velocity.cu")
def stop_and_push(velocity: VELOCITY, solid: ReadByte, push: PUSHES, *, dt: Scalar, stage: StagePart) -> None:
    """push += (share of the stage) u / dt and u = 0, on closed faces"""


@task(kernel=KERNELS / "bodies" / "velocity.cu")
def force(velocity: VELOCITY, p: Read[BESIDE], solid: ReadByte, *, dt: Scalar, grid: Grid) -> None:
    """u = dt grad(p) on closed faces that are not on walls, so that the projection with this p makes them 0"""


@task(kernel=KERNELS / "bodies" / "open_faces.cu")
def open_faces(b_x: Write, b_y: Write, b_z: Write, solid: ReadByte) -> None:
    """b = 1 on open low faces of cells, 0 on closed ones"""


def open_all(b: tuple[str, str, str], solid: str | None, grid: Grid) -> Iterator[Launch]:
    """Yield the launches for the coefficients of div(b grad p) on all faces, outside of any bodies."""
    cells = Box.of(grid.cells)
    for axis, name in enumerate(b):
        if grid.high[axis]:
            yield impose(name, over=cells.layer(axis, 1, -1, 0), value=Value(1.0))
        if solid is None:
            yield impose(name, over=cells, value=Value(1.0))
    if solid is not None:
        yield open_faces(*b, solid, over=cells)


MOST = 100  # bodies with recorded forces: each takes up to fifteen scalars of a run
STANDING = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Body:
    """Body with recorded forces.

    `around`: its cells. `about`: the point for its moment, relative to the lowest corner of the grid. `heated`: heat
    passes through its surface. For `middle` and `period` see `ForceTarget`.
    """

    name: str
    around: Box
    about: Vector
    heated: bool = False
    middle: Vector = STANDING
    period: Vector = STANDING


@dataclass(frozen=True)
class Obstacles:
    """Bodies with recorded forces. Body n has the number n + 1.

    `forced`: the number of times that a projection forces the velocity in bodies and solves for the pressure again, 0
    if the solver has the closed faces. `fluid`: the share of the domain outside of all bodies.
    """

    bodies: tuple[Body, ...] = ()
    forced: int = 0
    fluid: float = field(default=1.0, kw_only=True)
    stairs: ClassVar[bool] = True
    moving: ClassVar[bool] = False

    def fields(self, *, heat: bool) -> dict[str, Location]:
        """Return the numeric fields that describe the bodies, by role, with their locations."""
        return {}

    @property
    def pushed(self) -> dict[str, Location]:
        """Fields of the momentum that bodies with recorded forces take from the fluid, by role."""
        return PUSH if self.bodies else {}

    def face_flags(self, f: Roles, *, eddies: bool) -> tuple[str | None, str | None]:
        """Return the fields of face flags and, with eddies, of edge flags for the momentum equation."""
        return f.faces, f.edges if eddies else None

    def flags(self, *, heat: bool, scalars: bool = False, eddies: bool = False) -> dict[str, str]:
        """Return the flag fields with their types, by role. See `taskflow.flow.bodies.flags`."""
        types = {"solid": "u1", "faces": "u2"}
        if heat:
            types["T_faces"] = "u2"
        if scalars:
            types["scalar_faces"] = "u2"
        if eddies:
            types["edges"] = "u2"
        if self.bodies:
            types |= {f"owner_{axis}": "u1" for axis in "xyz"}
        return types

    def start(self, f: Roles, grid: Grid) -> Iterator[Launch | Repeat]:
        """Set u = 0 on closed faces."""
        yield from self.hold(f, (f.u, f.v, f.w), grid)

    def hold(self, f: Roles, velocity: tuple[str, str, str], grid: Grid) -> Iterator[Launch]:
        """Set closed faces to the velocity of bodies."""
        yield stop(velocity, f.solid, over=Box.of(grid.cells))

    def begin(self, f: Roles, grid: Grid, quantities: tuple[Quantity, ...]) -> Iterator[Launch]:
        """Yield the launches at the start of a step: none if all bodies are at rest."""
        yield from ()

    def keep(self, f: Roles, q: str, dt: str, grid: Grid, fluid: Fluid, bulk: BulkVelocityTarget) -> Iterator[Launch]:
        """Shift a predicted velocity so that the projected one has the prescribed mean over the fluid."""
        over, missing = Box.of(grid.cells), f.scalar(missing_along(bulk.number, stage(dt)))
        old, friction, blockage = self.surfaces_across(f, bulk.number)
        target = replace(bulk, mean=self.fluid * bulk.mean)
        constants = {"grid": grid, "bulk": target, "viscosity": fluid.viscosity if friction else None}
        fields = q, old, f.p, f.solid, friction, blockage
        yield bulk_velocity_deficit(*fields, over=over, missing=missing, rate=f.scalar("rate"), dt=dt, **constants)
        yield apply_uniform_force(q, over=over, missing=missing)

    def surfaces_across(self, f: Roles, number: int) -> tuple[str | None, str | None, str | None]:
        """Return the fields of velocity before the step, friction and blockage along an axis, or None for stair steps.

        See `taskflow.flow.bodies.immersed`.
        """
        return None, None, None

    def push(
        self, f: Roles, ratio: str, grid: Grid, fluid: Fluid, buoyancy: Buoyancy | None, part: StagePart,
        *, eddies: bool,
    ) -> Iterator[Launch]:  # fmt: skip
        """Yield the launch before the momentum equation of a stage that adds its value on closed faces to the push on
        bodies.
        """
        if self.bodies:
            fields = f.p, f.nu_t if eddies else None, f.T if buoyancy else None, f.solid
            written = (f.h_u, f.h_v, f.h_w), tuple(f[role] for role in PUSH)
            constants = {"ratio": ratio, "grid": grid, "fluid": fluid, "buoyancy": buoyancy, "stage": part}
            yield push_closed_faces((f.u, f.v, f.w), *fields, *written, over=self.around, **constants)

    @property
    def around(self) -> Box:
        """Cells around all bodies with recorded forces."""
        return hull(body.around for body in self.bodies)

    def predicted(
        self, f: Roles, velocity: tuple[str, str, str], dt: str, grid: Grid, fluid: Fluid, part: StagePart,
        *, driven: bool,
    ) -> Iterator[Launch]:  # fmt: skip
        """Yield the launches on a velocity before its projection. `driven` if forcing changed it after the momentum
        equation.
        """
        if driven and self.bodies:
            push = tuple(f[role] for role in PUSH)
            yield stop_and_push(velocity, f.solid, push, over=Box.of(grid.cells), dt=dt, stage=part)
        elif driven:
            yield stop(velocity, f.solid, over=Box.of(grid.cells))

    def wall_heat_flux(self, T: str, f: Roles, dt: str, diffusivity: float) -> Iterator[Launch]:
        """Yield the launches for heat from bodies at the end of a step dt. Stair steps conduct in the equation itself.
        """
        yield from ()

    def settle(
        self, f: Roles, quantity: Quantity, new: str, old: str, dt: str, part: Pass
    ) -> Iterator[Launch]:
        """Correct a quantity in bodies, in the field `new`, after a pass of a stage from the field `old`.

        Yields nothing if all bodies are at rest.
        """
        yield from ()

    def projection(
        self, f: Roles, velocity: tuple[str, str, str], dt: str, grid: Grid, pressure: Solver,
        behind: tuple[Box, ...] = (),
    ) -> Iterator[Launch | Repeat]:  # fmt: skip
        """Solve Laplacian(p) = div(u) / dt with closed faces, then u -= dt grad(p) on open ones. The divergence does
        not count in the cells `behind` openings of bodies.

        If `forced`, closed faces first get dt grad(p) with the latest p, which the projection should cancel, and p is
        solved for again, repeatedly. They are then set to 0, which leaves a residual divergence in cells adjacent to
        bodies.
        """
        box = Box.of(grid.cells)
        for _ in range(self.forced):
            yield force(velocity, f.p, f.solid, over=box, dt=dt, grid=grid)
            yield divergence(velocity, f.rhs, over=box, dt=dt, grid=grid)
            yield from pressure.solve(f)
        if self.forced:
            yield correct(velocity, f.p, None, over=box, dt=dt, grid=grid)
            yield stop(velocity, f.solid, over=box)
            return
        yield divergence(velocity, f.rhs, over=box, dt=dt, grid=grid)
        if behind:
            yield impose(f.rhs, over=behind, value=Value(0.0))
        yield from pressure.solve(f)
        yield correct(velocity, f.p, f.solid, over=box, dt=dt, grid=grid)

    def residual(self, f: Roles, grid: Grid) -> Launch:
        """Measure the scalar `residual`, over the fluid unless `forced`. Needs `measure_rhs`."""
        near = None if self.forced else Box.of(grid.cells)
        return Operator(grid, near=near).measure_residual(f)

    def monitor(
        self, f: Roles, grid: Grid, scheme: TimeScheme, buoyancy: Buoyancy | None, heat: Transport | None,
        *, bounded: bool = False,
    ) -> Iterator[Launch]:  # fmt: skip
        """Yield the launches for the scalars forces_N, stored_N and flux_N of each body by its number N.

        `bounded` if the heat transport is bounded.
        """
        last = scheme.stages[-1].share
        for number, body in enumerate(self.bodies, start=1):
            where = {"over": body.around, "grid": grid}
            target = ForceTarget(number, body.about, body.middle, body.period, int(self.stairs), last)
            yield self.force(f, f.scalar(f"forces_{number}"), target=target, **where)
            if buoyancy and not body.heated:
                sums, owners = f.scalar(f"stored_{number}"), (f.owner_x, f.owner_y, f.owner_z)
                about: dict[str, Any] = {"buoyancy": buoyancy, "number": number, **where}
                yield stored_lift(f.T, f.solid, self.surfaces(f)[2], owners, stored=sums, **about)
            if heat and body.heated:
                flux = f.scalar(f"flux_{number}")
                yield self.heat(f, flux, bounded=bounded, transport=heat, number=number, **where)

    def force(self, f: Roles, forces: str, **where: Any) -> Launch:
        """Return the launch for the force on a body and its moment, into the scalars of this name."""
        push, owners = tuple(f[role] for role in PUSH), (f.owner_x, f.owner_y, f.owner_z)
        return force_on_body(f.p, f.solid, push, owners, forces=forces, **where)

    def heat(self, f: Roles, flux: str, *, bounded: bool, transport: Transport, **where: Any) -> Launch:
        """Return the launch for the heat from a body, into a scalar of this name. Nothing is advected through stair
        steps.
        """
        owners = f.owner_x, f.owner_y, f.owner_z
        return heat_from_body(f.T, f.solid, owners, flux=flux, transport=transport, **where)

    def surfaces(self, f: Roles) -> tuple[str, tuple[str, ...] | None, tuple[str, ...] | None]:
        """Return the field of body flags, and None for friction and blockage, which only immersed bodies have."""
        return f.solid, None, None

    def measured(self, scalars: Mapping[str, float]) -> dict[str, dict[str, Any]]:
        """Return the results of `monitor` by body name: force, pressure force, moment, stored lift and heat flux."""
        measured: dict[str, dict[str, Any]] = {}
        for number, body in enumerate(self.bodies, start=1):
            sums = [*reduced(scalars, f"forces_{number}")]
            pressure, friction, moment = sums[:3], sums[3:6], sums[6:]
            force = [a + b for a, b in zip(pressure, friction, strict=True)]
            measured[body.name] = {"force": force, "pressure_force": pressure, "moment": moment}
            if f"stored_{number}.0" in scalars and not body.heated:
                measured[body.name]["stored"] = [*reduced(scalars, f"stored_{number}")]
            if f"flux_{number}" in scalars and body.heated:
                measured[body.name]["heat_flux"] = scalars[f"flux_{number}"]
        return measured
