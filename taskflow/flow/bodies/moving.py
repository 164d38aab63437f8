"""Immersed bodies of which some move as prescribed, each as a rigid body of the velocity u_b.

`taskflow.flow.bodies.immersed` holds for the velocity relative to a body: a closed face stores u_b, the difference
towards a surface is (u_b - u) / (s h), and a cut face stores q = o u + (1 - o) u_b. With r = q - u_b and m = blockage
r, the difference to the velocity at the face centre, both at the start of the step, a cut face has at its end

    q = u_b + o / (1 + a) (u* + m + dt (viscosity Laplacian(m) - grad(p)) - u_b),
    a = dt viscosity (friction + (1 - o) sum(1 / h^2 over neighbours)),

with u* predicted by the momentum equation, and o, friction and u_b at the end of the step. If nothing moves this is the
equation of bodies at rest. A face that opens starts the step with u_b and takes an Euler step.

On closed faces u_b is divergence-free cell by cell, bitwise: its x component depends on y and z only, and so on. Cells
inside need no pressure, and the pressure equation stays solvable.

The geometry at the end of each step is written before it, in the fields of the roles `*_other`. A step starts by
exchanging these with the geometry at its beginning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from taskflow.flow.bodies.forces import PUSH
from taskflow.flow.bodies.immersed import BLOCKAGE, FRICTION, ImmersedObstacles
from taskflow.flow.bodies.moving_scalars import (
    Pass,
    exchange_heat,
    extended,
    heat_from_moving_body,
    hold_temperature,
    keep_inside,
)
from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import BESIDE
from taskflow.flow.kernels import KERNELS
from taskflow.flow.operators.momentum import Fluid
from taskflow.flow.operators.projection import VELOCITY
from taskflow.flow.scalars.quantity import Quantity
from taskflow.flow.scalars.transport import Transport
from taskflow.flow.time.schemes import StagePart
from taskflow.runtime.regions import Box, Location
from taskflow.runtime.tasks import (
    Components,
    Launch,
    Read,
    ReadByte,
    ReadWrite,
    Repeat,
    Roles,
    Scalar,
    Write,
    task,
)

BODY: dict[str, Location] = {"body_x": "fx", "body_y": "fy", "body_z": "fz"}
WARMED: dict[str, Location] = {"push_T": "c"}
OTHER = "_other"
FACES = ("T_faces", "scalar_faces")  # flags of cells for the temperature and passive scalars
KEPT = ("solid", *BLOCKAGE, *BODY, *FACES)  # roles whose geometry at its beginning a step needs, too
SURFACE = Components(
    friction_x=Read, friction_y=Read, friction_z=Read, blockage_x=Read, blockage_y=Read, blockage_z=Read,
    body_x=Read, body_y=Read, body_z=Read,
)  # fmt: skip
SURFACE_BEFORE = Components(
    blockage_x_before=Read[1], blockage_y_before=Read[1], blockage_z_before=Read[1],
    body_x_before=Read[1], body_y_before=Read[1], body_z_before=Read[1],
)  # fmt: skip
MOVING = KERNELS / "bodies" / "moving.cu"


@task(kernel=MOVING)
def move_with_bodies(
    velocity: Components(u=Read[1], v=Read[1], w=Read[1]), tendency: Components(h_u=Read, h_v=Read, h_w=Read),
    velocity_new: Components(u_new=ReadWrite, v_new=ReadWrite, w_new=ReadWrite),
    push: Components(push_x=Write, push_y=Write, push_z=Write), p: Read[BESIDE],
    solid: ReadByte, solid_before: ReadByte, surface: SURFACE, surface_before: SURFACE_BEFORE,
    *, dt: Scalar, grid: Grid, viscosity: float,
) -> None:  # fmt: skip
    """u_new = u_b on closed faces, and q of the equation above next to surfaces, plus dt grad(p) of the coming
    projection.

    push = (u_new before - u_new after) / dt.
    """


@task(kernel=MOVING)
def follow_bodies(
    velocity: VELOCITY, solid: ReadByte, body: Components(body_x=Read, body_y=Read, body_z=Read), *, grid: Grid
) -> None:
    """u = u_b on closed faces that are not on walls"""


@task(kernel=MOVING)
def pressure_beside(p: Read[1], solid_before: ReadByte[1], mean: Write) -> None:
    """mean = mean of p over the neighbours of a cell that were fluid, or p if none was"""


@task(kernel=MOVING)
def fill_pressure(p: ReadWrite, mean: Read, solid: ReadByte, solid_before: ReadByte) -> None:
    """p = mean in cells that were solid and are fluid"""


@dataclass(frozen=True)
class MovingObstacles(ImmersedObstacles):
    """Moving immersed bodies. `near` is the box of all positions of bodies and their adjacent cells."""

    moving: ClassVar[bool] = True

    def fields(self, *, heat: bool) -> dict[str, Location]:
        """Return the fields of `ImmersedObstacles.fields`, and u_b on closed and cut faces in `body_*`."""
        fields, warmed = {**super().fields(heat=heat), **BODY}, WARMED if heat and self.isothermal else {}
        return {**fields, **{f"{role}{OTHER}": fields[role] for role in (*BLOCKAGE, *BODY)}, **PUSH, **warmed}

    def flags(self, *, heat: bool, scalars: bool = False, eddies: bool = False) -> dict[str, str]:
        types = super().flags(heat=heat, scalars=scalars, eddies=eddies)
        return {**types, **{f"{role}{OTHER}": types[role] for role in ("solid", *FACES) if role in types}}

    def start(self, f: Roles, grid: Grid) -> Iterator[Launch | Repeat]:
        """Set u = u_b on closed faces."""
        yield from self.hold(f, (f.u, f.v, f.w), grid)
        if self.isothermal:
            yield hold_temperature(f.T, f.T_faces, f.warm_T, over=self.near)

    def hold(self, f: Roles, velocity: tuple[str, str, str], grid: Grid) -> Iterator[Launch]:
        body = tuple(f[role] for role in BODY)
        yield follow_bodies(velocity, f.solid, body, over=Box.of(grid.cells), grid=grid)

    def begin(self, f: Roles, grid: Grid, quantities: tuple[Quantity, ...]) -> Iterator[Launch]:
        """Move the bodies to the end of the step, and extend quantities into the bodies."""
        flags = {quantity.name: _faces(quantity) for quantity in quantities}
        for role in (role for role in KEPT if role not in FACES or role in flags.values()):
            f.swap(role, f"{role}{OTHER}")
        for quantity in quantities:
            before = f[f"{flags[quantity.name]}{OTHER}"]
            yield from extended(f, quantity.name, before, self.near, grid)

    def predicted(
        self, f: Roles, velocity: tuple[str, str, str], dt: str, grid: Grid, fluid: Fluid, part: StagePart,
        *, driven: bool,
    ) -> Iterator[Launch]:  # fmt: skip
        """Yield the launches for friction at surfaces and u = u_b on closed faces.

        Cells that become fluid take the pressure of their neighbours.
        """
        before = f[f"solid{OTHER}"]
        yield pressure_beside(f.p, before, f.rhs, over=self.near)
        yield fill_pressure(f.p, f.rhs, f.solid, before, over=self.near)
        surface = tuple(f[role] for role in (*FRICTION, *BLOCKAGE, *BODY))
        surface_before = tuple(f[f"{role}{OTHER}"] for role in (*BLOCKAGE, *BODY))
        yield move_with_bodies(
            (f.u, f.v, f.w), (f.h_u, f.h_v, f.h_w), velocity, tuple(f[role] for role in PUSH), f.p, f.solid, before,
            surface, surface_before, over=self.near, dt=dt, grid=grid, viscosity=fluid.viscosity,
        )  # fmt: skip

    def wall_heat_flux(self, T: str, f: Roles, dt: str, diffusivity: float) -> Iterator[Launch]:
        """Yield nothing, because `settle` adds heat from bodies."""
        yield from ()

    def settle(
        self, f: Roles, quantity: Quantity, new: str, old: str, dt: str, part: Pass
    ) -> Iterator[Launch]:
        faces = f[_faces(quantity)]
        yield keep_inside(new, old, faces, over=self.near)
        if self.isothermal and quantity.name == "T":
            constants = {"counts": part.counts, "begins": int(part.begins)}
            conducts = part.conducts * quantity.diffusivity
            surface = faces, f.conductance_T, f.warm_T
            yield exchange_heat(new, f.push_T, *surface, over=self.near, dt=dt, diffusivity=conducts, **constants)

    def heat(self, f: Roles, flux: str, *, bounded: bool, transport: Transport, **where: Any) -> Launch:
        """Return the launch for the heat that the body gave in the last step. See `Obstacles.heat`."""
        return heat_from_moving_body(f.push_T, f.owner_T, flux=flux, **where)


def _faces(quantity: Quantity) -> str:
    """Return the role of the cell flags for a quantity."""
    return "T_faces" if quantity.name == "T" else "scalar_faces"
